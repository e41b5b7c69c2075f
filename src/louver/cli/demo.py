"""`louver demo`: which rooms of an invented building hold more devices than their limit.

It asks through the steward, with a ledger that is made for it and thrown away, until the ledger refuses. The rows come
with the package and are nobody's, so the demo may also read them directly, show the truth beside its answer, and try
how often its own promise holds.
"""

from __future__ import annotations

import csv
import textwrap
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from louver.decide import OneShotCounts
from louver.errors import BudgetError
from louver.ledger import Cap, Ledger
from louver.noise import reaches
from louver.privacy import OneShot, Pure, Unit, largest_total, tslm
from louver.source import Table
from louver.steward import Release, Steward

MISS_RATE = Fraction(1, 20)
SLACK = 10
CAP = 1
TRIALS = 1_000_000
WIDTH = 120


def run() -> None:
    limits = {row["room"]: int(row["limit"]) for row in _rows("rooms.csv")}
    rows = _rows("presence.csv")
    plan = OneShotCounts("room", limits, unit=Unit.row(), miss_rate=MISS_RATE, slack=SLACK)
    print("Which rooms hold more devices than their limit?")
    print(f"An invented building during one hour: {len(limits)} rooms, {len(rows):,} rows of (device, room).\n")
    _print_plan(plan)
    first = _ask_until_refused(plan)
    devices = Counter(row["room"] for row in rows)
    _print_truth({room: devices[room] - limit for room, limit in limits.items()}, set(first.answer["flagged"]))
    _print_worst_cases(plan.test)


def _print_plan(plan: OneShotCounts) -> None:
    """What is known before anything is read."""
    price = largest_total(plan.worst).price
    published = tslm(MISS_RATE, Fraction(SLACK - 1, 2)).epsilon
    sure = Fraction((Pure(price).posterior(Fraction(1, 2)) * 1000).__ceil__(), 1000)
    _say("protected", f"{plan.unit.protected()}: one device's presence in one room during the hour")
    _say("promise", plan.promise)
    _say("price", f"epsilon {_up(price)} for a device in a room, and again each time the room is asked about;")
    _say("", f"the published threshold shift (TSLM) pays {_up(published)} for the same promise")
    _say(
        "meaning", f"whoever gave even odds that the device was there can be at most {float(sure):.1%} sure afterwards"
    )
    _say("budget", f"epsilon {CAP} for each row, kept by a ledger\n")


def _ask_until_refused(plan: OneShotCounts) -> Release:
    """The first answer; each further one pays again, until the ledger cannot."""
    with TemporaryDirectory() as folder, resources.as_file(_building()) as building:
        table = Table(building / "presence.csv", dataset="invented building", unit=plan.unit)
        where = Path(folder) / "building.ledger"
        ledger, _ = Ledger.create(
            where, dataset=table.dataset, unit=table.unit, caps=[Cap(epsilon=CAP)], key=Path(folder) / "key"
        )
        with ledger:
            steward, releases = Steward(table, ledger), list[Release]()
            try:
                while True:
                    releases.append(steward.run(plan))
                    _say("flagged" if len(releases) == 1 else "again", _listed(releases[-1].answer["flagged"]))
                    _say("", f"charged {_up(releases[-1].charged)}, {_down(ledger.remaining())} remains")
            except BudgetError as refusal:
                _say("refused", f"{refusal}\n")
    return releases[0]


def _print_truth(margins: dict[str, int], flagged: set[str]) -> None:
    """What only an invented building may show, about the first answer."""
    over = [room for room, margin in margins.items() if margin > 0]
    between = [room for room in flagged if -SLACK < margins[room] <= 0]
    wrong = [room for room in flagged if margins[room] <= -SLACK]
    missed = [room for room in over if room not in flagged]
    _say("In truth", f"{len(over)} rooms are over; missed at first: {_listed(missed)};")
    _say("", f"flagged within the slack: {_listed(between)}; false alarms: {_listed(wrong)}\n")


def _print_worst_cases(test: OneShot) -> None:
    for what, margin, found in (("missed", 1, False), ("flagged", -SLACK, True)):
        accepted = test.acceptance(margin)
        exactly = accepted.upper if found else 1 - accepted.lower
        margins = test.aligned(np.full(TRIALS, margin, dtype=np.int64))
        tried = (reaches(margins, test.epsilon, test.cut) == found).mean()
        where = "one over" if margin > 0 else f"{SLACK} below"
        _say("Worst case", f"a room {where} its limit is {what} with probability {float(exactly):.6f} by computation;")
        _say("", f"{TRIALS:,} trials, which scatter by 0.0005: {tried:.4f}")


def _building() -> Traversable:
    return resources.files("louver.cli") / "building"


def _rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((_building() / name).read_text(encoding="utf-8").splitlines()))


def _say(what: str, words: str) -> None:
    lines = textwrap.wrap(words, WIDTH - 11) or [""]
    for number, line in enumerate(lines):
        print(f"{what if number == 0 else '':<11}{line}")
    if words.endswith("\n"):
        print()


def _listed(rooms: Iterable[str]) -> str:
    return ", ".join(rooms) or "none"


def _up(price: Fraction) -> str:
    """A price to four places, rounded up: what is shown is never less than what is paid."""
    return f"{float(Fraction((price * 10_000).__ceil__(), 10_000)):.4f}"


def _down(left: Fraction) -> str:
    """What remains, to four places, rounded down: what is shown is never more than what is there."""
    return f"{float(Fraction((left * 10_000).__floor__(), 10_000)):.4f}"
