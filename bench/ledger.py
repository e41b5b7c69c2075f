"""How long a reservation takes as a ledger grows, beside the least that a durable commit takes in the same file system.

A rule over 64 regions asks every five minutes: each request reserves 64 scopes of one slot, and settles. Printed for
each day are the medians of that day. Run: python -m bench.ledger [days]
"""

from __future__ import annotations

import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

from louver.ledger import Cap, Ledger
from louver.noise.bits import Bits
from louver.privacy import Between, Charge, Outcome, Scope, Unit, one_shot

REGIONS = [f"region {number}" for number in range(64)]
SLOT = timedelta(minutes=5)
SLOTS_A_DAY = 288
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
PRICE = one_shot(miss_rate=Fraction(1, 20), slack=10).epsilon


@dataclass(frozen=True)
class Rule:
    """A plan that states the prices of one slot."""

    worst: tuple[Charge, ...]
    gradual: bool = False
    unit: Unit = Unit.row()  # noqa: RUF009 it never changes
    mechanism: str = "bench"
    promise: str = "A region over its limit is missed in at most 1 of 20 cases."
    sensitivity: Fraction = Fraction(1)
    reading: Any = None

    def run(self, view: Any, bits: Bits) -> Outcome:  # noqa: ARG002 nothing to run
        return Outcome(None)

    def cheaper(self, price: Fraction) -> tuple[str, ...]:  # noqa: ARG002
        return ()

    def parameters(self) -> dict[str, Any]:
        return {"regions": REGIONS}


def slot(number: int, gradual: bool = False) -> Rule:
    start = BEGINNING + number * SLOT
    ranges = {"slot": Between(start, start + SLOT)}
    return Rule(tuple(Charge(Scope({"region": region, **ranges}), PRICE) for region in REGIONS), gradual)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    made = work()
    return time.perf_counter() - start, made


def bare_commits(folder: Path, count: int = 200) -> float:
    """The floor: one row of an entry's size, written and made durable, without any question whether it may be."""
    connection = sqlite3.connect(folder / "bare", isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=FULL"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("CREATE TABLE entries (number INTEGER PRIMARY KEY, body TEXT)")
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO entries (body) VALUES (?)", ("x" * 2000,))
        connection.execute("COMMIT")
        taken.append(time.perf_counter() - start)
    connection.close()
    return median(taken)


def main(days: int = 30) -> None:
    folder = Path(tempfile.mkdtemp())
    ledger, _ = Ledger.create(folder / "bench.ledger", dataset="bench", unit=Unit.row(), caps=[Cap(epsilon=2)])
    floor = bare_commits(folder)
    print(f"a bare commit, median of 200: {floor * 1000:.2f} ms")
    print(f"{'day':>4} {'scopes':>9} {'reserve':>10} {'settle':>10} {'reserve / commit':>17} {'file':>8}")
    for day in range(days):
        reserved, settled = [], []
        for number in range(day * SLOTS_A_DAY, (day + 1) * SLOTS_A_DAY):
            plan = slot(number)
            taken, reservation = timed(lambda plan=plan: ledger.reserve(plan))  # type: ignore[misc]
            reserved.append(taken)
            settled.append(timed(lambda reservation=reservation: ledger.settle(reservation))[0])  # type: ignore[misc]
        if day in (0, 1, 2, 4, 9, 19, days - 1):
            size = (folder / "bench.ledger").stat().st_size / 2**20
            times = (
                f"{median(reserved) * 1000:7.2f} ms {median(settled) * 1000:7.2f} ms {median(reserved) / floor:17.1f}"
            )
            print(f"{day + 1:>4} {(day + 1) * SLOTS_A_DAY * len(REGIONS):>9,} {times} {size:5.0f} MB", flush=True)
    report(ledger, days)
    ledger.close()


def report(ledger: Ledger, days: int) -> None:
    source = random.Random(1)
    old = [slot(source.randrange(days * SLOTS_A_DAY)) for _ in range(50)]
    again = [timed(lambda plan=plan: ledger.reserve(plan))[0] for plan in old]  # type: ignore[misc]
    print(f"a second rule on old slots, median of 50: {median(again) * 1000:.2f} ms")
    gradual = []
    for number in range(50):
        plan = slot(days * SLOTS_A_DAY + number, gradual=True)
        reservation = ledger.reserve(plan)
        lower = [Charge(charge.scope, charge.price / (1 + place % 4)) for place, charge in enumerate(plan.worst)]
        gradual.append(timed(lambda made=reservation, less=lower: ledger.settle(made, less))[0])  # type: ignore[misc]
    print(f"settling below the reservation, median of 50: {median(gradual) * 1000:.2f} ms")
    month = Rule(tuple(Charge(Scope({"region": region}), Fraction(1, 100)) for region in REGIONS))
    print(f"one reserve over all regions and all time: {timed(lambda: ledger.reserve(month))[0] * 1000:.0f} ms")
    print(f"what was spent anywhere: {timed(ledger.spent)[0] * 1000:.0f} ms")
    one = Scope({"region": REGIONS[7]})
    print(f"what remains in one region at any time: {timed(lambda: ledger.remaining(one))[0] * 1000:.0f} ms")
    taken, verdict = timed(ledger.verify)
    print(f"verifying {verdict.entries:,} entries: {taken:.1f} s ({'fine' if verdict.ok else verdict.sentence})")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
