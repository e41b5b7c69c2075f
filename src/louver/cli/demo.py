"""`louver demo`: which rooms of an invented building hold more devices than their limit.

The rows come with the package and are nobody's, so the demo may read them directly and show how often its own promise
held.
"""

from __future__ import annotations

import csv
from collections import Counter
from fractions import Fraction
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from louver.noise import reaches
from louver.privacy.calibrate import OneShot, one_shot, tslm

MISS_RATE = Fraction(1, 20)
SLACK = 10
TRIALS = 1_000_000


def run() -> None:
    limits = {row["room"]: int(row["limit"]) for row in _rows("rooms.csv")}
    rows = {(row["device"], row["room"]) for row in _rows("presence.csv")}
    devices = Counter(room for _, room in rows)
    test = one_shot(miss_rate=MISS_RATE, slack=SLACK)
    margins = np.array([devices[room] - limit for room, limit in limits.items()], dtype=np.int64)
    flagged = [room for room, over in zip(limits, _answer(test, margins), strict=True) if over]

    print("Which rooms hold more devices than their limit?")
    print(f"An invented building during one hour: {len(limits)} rooms, {len(rows):,} rows of (device, room).\n")
    print("protected  one row, not one person: one device's presence in one room during the hour")
    print(f"promise    a room over its limit is missed in at most {_one_in(MISS_RATE)} cases;")
    print(f"           a room {SLACK} or more below its limit is flagged in at most {_one_in(MISS_RATE)} cases;")
    print("           in between, either may happen")
    published = tslm(MISS_RATE, Fraction(SLACK - 1, 2)).epsilon
    print(f"price      {_up(test.epsilon)} epsilon in each room; the published threshold shift pays {_up(published)}")
    print(f"flagged    {', '.join(flagged) or 'none'}\n")
    missed, alarmed = _rates(test)
    exactly = 1 - float(test.acceptance(1).upper), float(test.acceptance(-SLACK).lower)
    print(f"Worst cases, in {TRIALS:,} more answers each and computed from the law of the noise:")
    print(f"           a room one over its limit is missed in {missed:.2%} (exactly {exactly[0]:.4%})")
    print(f"           a room {SLACK} below its limit is flagged in {alarmed:.2%} (exactly {exactly[1]:.4%})\n")
    print("The rows are invented and there is no ledger yet, so nothing was charged.")


def _rows(name: str) -> list[dict[str, str]]:
    text = (resources.files("louver.cli") / "building" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _answer(test: OneShot, margins: NDArray[np.int64]) -> NDArray[np.bool_]:
    return reaches(test.aligned(margins), test.epsilon, test.cut)


def _rates(test: OneShot) -> tuple[float, float]:
    just_over, just_outside = (np.full(TRIALS, margin, dtype=np.int64) for margin in (1, -SLACK))
    return 1 - float(_answer(test, just_over).mean()), float(_answer(test, just_outside).mean())


def _one_in(rate: Fraction) -> str:
    return f"{rate.numerator} of {rate.denominator}"


def _up(price: Fraction) -> str:
    """A price to four places, rounded up: what is shown is never less than what is paid."""
    return f"{float(Fraction((price * 10_000).__ceil__(), 10_000)):.4f}"
