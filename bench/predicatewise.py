"""How long the largest total of many charges takes, beside a plain sort of the same range edges.

Run: python bench/predicatewise.py [boxes]
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from fractions import Fraction

from bench.clock import seconds
from louver.privacy.predicatewise import Charge, ExPost, Peak, largest_total, spent
from louver.privacy.ranges import Among, Between, Range
from louver.privacy.scope import Scope

WIDTH = 1 << 30


def wide(source: random.Random) -> Between:
    start, end = sorted(source.sample(range(WIDTH), 2))
    return Between(start, end)


def narrow(source: random.Random) -> Between:
    start = source.randrange(WIDTH)
    return Between(start, start + source.randint(1, WIDTH // 20))


def price(source: random.Random) -> Fraction:
    return Fraction(source.randint(1, 1000), 1000)


def boxes(count: int, columns: int, range_of: Callable[[random.Random], Range], seed: int) -> list[Charge]:
    source = random.Random(seed)
    return [
        Charge(Scope({f"column {number}": range_of(source) for number in range(columns)}), price(source))
        for _ in range(count)
    ]


def rooms_by_slots(rooms: int = 64, slots: int = 288) -> list[Charge]:
    source = random.Random(1)
    return [
        Charge(Scope({"room": f"room {room}", "slot": Between(slot, slot + 1)}), price(source))
        for slot in range(slots)
        for room in range(rooms)
    ]


def half_of_the_rooms(count: int) -> list[Charge]:
    source = random.Random(2)
    names = [f"room {room}" for room in range(100)]
    return [
        Charge(Scope({"room": Among(source.sample(names, 50)), "at": wide(source)}), price(source))
        for _ in range(count)
    ]


def named_and_open(count: int) -> list[Charge]:
    source = random.Random(3)
    charges = []
    for number in range(count):
        ranges: dict[str, Range] = {"from": wide(source), "to": wide(source)}
        if number % 2:
            ranges["device"] = Among(number)
        charges.append(Charge(Scope(ranges), price(source)))
    return charges


def uneven_prices(count: int) -> list[Charge]:
    return [
        Charge(charge.scope, Fraction(1, 1 + number % 300))
        for number, charge in enumerate(boxes(count, 2, wide, seed=4))
    ]


def edges(charges: list[Charge]) -> list[int]:
    return [
        edge
        for charge in charges
        for _, kept in charge.scope.ranges
        if isinstance(kept, Between)
        for edge in (kept.start, kept.end)
        if isinstance(edge, int)
    ]


def report(name: str, charges: list[Charge], work: Callable[[], Peak | ExPost]) -> None:
    ends = edges(charges)
    floor = seconds(lambda: sorted(ends))
    taken = seconds(work)
    print(f"{name:44} {len(charges):>7,} {taken * 1000:>9.0f} ms {floor * 1000:>7.1f} ms {taken / floor:>8.0f}")


def main(count: int = 10_000) -> None:
    print(f"{'shape':44} {'boxes':>7} {'time':>12} {'sort':>10} {'times':>8}")
    shapes = [
        ("64 rooms x 288 slots", rooms_by_slots()),
        ("1 column, wide ranges", boxes(count, 1, wide, seed=5)),
        ("2 columns, wide ranges", boxes(count, 2, wide, seed=6)),
        ("2 columns, narrow ranges", boxes(count, 2, narrow, seed=7)),
        ("3 columns, wide ranges", boxes(count, 3, wide, seed=8)),
        ("3 columns, narrow ranges", boxes(count, 3, narrow, seed=9)),
        ("half of 100 rooms x wide ranges", half_of_the_rooms(count)),
        ("2 columns, half of them for one device each", named_and_open(count)),
        ("2 columns, wide, 300 denominators", uneven_prices(count)),
    ]
    for name, charges in shapes:
        report(name, charges, lambda charges=charges: largest_total(charges))  # type: ignore[misc]
    day = shapes[0][1]
    report("spent in one room, of 64 x 288", day, lambda: spent(day, Scope({"room": "room 7"})))
    two = shapes[2][1]
    lower = [Charge(charge.scope, charge.price / 2) for charge in two]
    report("2 columns, wide, charged against reserved", two, lambda: ExPost(two, lower))
    other = boxes(count, 2, wide, seed=10)
    report("2 columns, wide, signed", two, lambda: largest_total(two, less=other))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
