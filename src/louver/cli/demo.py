"""`louver demo`: which rooms of an invented building hold more devices than their limit.

The rows come with the package and are nobody's, so the demo may read them directly, show the truth beside its answer,
and try how often its own promise holds.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from louver.noise import reaches
from louver.privacy import OneShot, Pure, one_shot, tslm

MISS_RATE = Fraction(1, 20)
SLACK = 10
TRIALS = 1_000_000


def run() -> None:
    limits = {row["room"]: int(row["limit"]) for row in _rows("rooms.csv")}
    rows = {(row["device"], row["room"]) for row in _rows("presence.csv")}
    devices = Counter(room for _, room in rows)
    test = one_shot(miss_rate=MISS_RATE, slack=SLACK)
    margins = {room: devices[room] - limit for room, limit in limits.items()}
    answer = _answer(test, np.array(list(margins.values()), dtype=np.int64))
    flagged = {room for room, over in zip(margins, answer, strict=True) if over}

    print("Which rooms hold more devices than their limit?")
    print(f"An invented building during one hour: {len(limits)} rooms, {len(rows):,} rows of (device, room).\n")
    _print_promise(test)
    print(f"flagged    {_listed(room for room in limits if room in flagged)}\n")
    _print_truth(margins, flagged)
    _print_worst_cases(test)
    print("The rows are invented and there is no ledger yet, so nothing was charged.")


def _print_promise(test: OneShot) -> None:
    print("protected  one row, not one person: one device's presence in one room during the hour")
    print("promise    for each room, each time it is asked:")
    print(f"           over its limit, it is missed with a probability of at most {_one_in(MISS_RATE)};")
    print(f"           {SLACK} or more below its limit, it is flagged with at most {_one_in(MISS_RATE)};")
    print("           in between, either may happen")
    published = tslm(MISS_RATE, Fraction(SLACK - 1, 2)).epsilon
    print(
        f"price      epsilon {_up(test.epsilon)} for a device in a room, and again each time the room is asked about;"
    )
    print(f"           the published threshold shift (TSLM) pays {_up(published)} for the same promise")
    sure = Fraction((Pure(test.epsilon).posterior(Fraction(1, 2)) * 1000).__ceil__(), 1000)
    print(
        f"meaning    whoever gave even odds that the device was there can be at most {float(sure):.1%} sure afterwards"
    )


def _print_truth(margins: dict[str, int], flagged: set[str]) -> None:
    """What only an invented building may show."""
    over = [room for room, margin in margins.items() if margin > 0]
    between = [room for room in flagged if -SLACK < margins[room] <= 0]
    wrong = [room for room in flagged if margins[room] <= -SLACK]
    print(f"In truth   {len(over)} rooms are over; missed: {_listed(room for room in over if room not in flagged)};")
    print(f"           flagged within the slack: {_listed(between)}; false alarms: {_listed(wrong)}\n")


def _print_worst_cases(test: OneShot) -> None:
    for what, margin, found in (("missed", 1, False), ("flagged", -SLACK, True)):
        accepted = test.acceptance(margin)
        exactly = accepted.upper if found else 1 - accepted.lower
        tried = (_answer(test, np.full(TRIALS, margin, dtype=np.int64)) == found).mean()
        where = "one over" if margin > 0 else f"{SLACK} below"
        print(f"Worst case a room {where} its limit is {what} with probability {float(exactly):.6f} by computation;")
        print(f"           {TRIALS:,} trials, which scatter by 0.0005: {tried:.4f}")
    print()


def _answer(test: OneShot, margins: NDArray[np.int64]) -> NDArray[np.bool_]:
    return reaches(test.aligned(margins), test.epsilon, test.cut)


def _rows(name: str) -> list[dict[str, str]]:
    text = (resources.files("louver.cli") / "building" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _listed(rooms: Iterable[str]) -> str:
    return ", ".join(rooms) or "none"


def _one_in(rate: Fraction) -> str:
    return f"{rate.numerator} in {rate.denominator}"


def _up(price: Fraction) -> str:
    """A price to four places, rounded up: what is shown is never less than what is paid."""
    return f"{float(Fraction((price * 10_000).__ceil__(), 10_000)):.4f}"
