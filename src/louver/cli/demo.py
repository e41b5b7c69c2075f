"""`louver demo`: which rooms of an invented building hold more devices than their limit.

It asks in SQL through the steward, with a ledger that is made for it and thrown away, until the ledger refuses. The
rows come with the package and are nobody's, so the demo may also read them directly, show the truth beside its answer,
and try how often its own promise holds.
"""

from __future__ import annotations

import argparse
import csv
import textwrap
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from louver.decide.answer import Answer
from louver.decide.asking import run as answered
from louver.decide.planning import plan as planned
from louver.decide.shown import down, up
from louver.errors import BudgetError, DataError
from louver.ledger import Cap, Ledger
from louver.noise import reaches
from louver.privacy import OneShot, Pure, largest_total, tslm
from louver.source.description import Source

QUESTION = "SELECT room FROM presence JOIN rooms USING (room) GROUP BY room HAVING count(*) > rooms.limit"
FILES = ("presence.csv", "rooms.csv", "louver.toml")
CAP = 1
TRIALS = 1_000_000
WIDTH = 120


def add_arguments(parser: argparse.ArgumentParser) -> None:
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--files", metavar="FOLDER", help="copies the building's files there, to ask about yourself")
    instead.add_argument(
        "--plot", metavar="FILE.svg", help="publishes a day of another invented building, and draws it beside the truth"
    )


def run(arguments: argparse.Namespace) -> None:
    if arguments.files is not None:
        _copy_files(Path(arguments.files))
        return
    if arguments.plot is not None:
        from louver.cli import demo_stream

        demo_stream.run(Path(arguments.plot))
        return
    with resources.as_file(resources.files("louver.cli") / "building") as building:
        source = Source.read(building / "louver.toml")
        rows = list(csv.DictReader((building / "presence.csv").read_text(encoding="utf-8").splitlines()))
        rooms = source.domain()
        limits = dict(zip(rooms.column("room"), rooms.numbers("limit"), strict=True))
        plan: Any = planned(source, QUESTION)
        print("Which rooms hold more devices than their limit?")
        print(f"An invented building during one hour: {len(limits)} rooms, {len(rows):,} rows of (device, room).\n")
        _print_plan(plan)
        first = _ask_until_refused(source, plan)
    devices = Counter(row["room"] for row in rows)
    slack, flagged = int(plan.slack[0]), {str(room) for (room,) in first.flagged}
    _print_truth({str(room): int(devices[str(room)] - limit) for room, limit in limits.items()}, flagged, slack)
    _print_worst_cases(plan.tests[0], slack)


def _copy_files(folder: Path) -> None:
    """The building's rows, rooms and description; nothing that is there is written over."""
    building = resources.files("louver.cli") / "building"
    files = {name: (building / name).read_bytes() for name in FILES}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = next((name for name in FILES if (folder / name).exists()), None)
        if taken is not None:
            raise DataError(f"{folder / taken} is there already; name another folder.")
        for name, content in files.items():
            (folder / name).write_bytes(content)
    except OSError as fault:
        raise DataError(f"{folder} cannot be written: {fault.strerror or 'the system gave no reason'}.") from None
    print(f"Wrote {', '.join(FILES[:-1])} and {FILES[-1]} into {folder}.")


def _print_plan(plan: Any) -> None:
    """What is known before anything is read."""
    price = largest_total(plan.worst).price
    published = tslm(plan.miss_rate, (plan.slack[0] - 1) / 2).epsilon
    sure = Fraction((Pure(price).posterior(Fraction(1, 2)) * 1000).__ceil__(), 1000)
    _say("question", QUESTION)
    _say("protected", f"{plan.unit.protected()}: one device's presence in one room during the hour")
    _say("promise", plan.promise)
    for warning in plan.warnings:
        _say("warning", warning)
    _say("price", f"epsilon {up(price)} for a device in a room, and again each time the room is asked about;")
    _say("", f"the published threshold shift (TSLM) pays {up(published)} for the same promise")
    _say(
        "meaning", f"whoever gave even odds that the device was there can be at most {float(sure):.1%} sure afterwards"
    )
    _say("budget", f"epsilon {CAP} for each row, kept by a ledger\n")


def _ask_until_refused(source: Source, plan: Any) -> Answer:
    """The first answer; each further one pays again, until the ledger cannot."""
    answers: list[Answer] = []
    with TemporaryDirectory() as folder:
        ledger, _ = Ledger.create(
            Path(folder) / "building.ledger",
            dataset=source.table.dataset,
            unit=source.table.unit,
            caps=[Cap(epsilon=CAP)],
            key=Path(folder) / "key",
        )
        with ledger:
            try:
                while True:
                    answers.append(answered(source, plan, ledger=ledger))
                    rooms = _listed(str(room) for (room,) in answers[-1].flagged)
                    _say("flagged" if len(answers) == 1 else "again", rooms)
                    remaining = down(answers[-1].remaining or Fraction(0))
                    _say("", f"charged {up(answers[-1].release.charged)}, {remaining} remains")
            except BudgetError as refusal:
                _say("refused", f"{refusal}\n")
    return answers[0]


def _print_truth(margins: dict[str, int], flagged: set[str], slack: int) -> None:
    """What only an invented building may show, about the first answer."""
    over = [room for room, margin in margins.items() if margin > 0]
    between = [room for room in margins if room in flagged and -slack < margins[room] <= 0]
    wrong = [room for room in margins if room in flagged and margins[room] <= -slack]
    missed = [room for room in over if room not in flagged]
    _say("In truth", f"{len(over)} rooms are over; missed at first: {_listed(missed)};")
    _say("", f"flagged within the slack: {_listed(between)}; false alarms: {_listed(wrong)}\n")


def _print_worst_cases(test: OneShot, slack: int) -> None:
    for what, margin, found in (("missed", 1, False), ("flagged", -slack, True)):
        accepted = test.acceptance(margin)
        exactly = accepted.upper if found else 1 - accepted.lower
        margins = test.aligned(np.full(TRIALS, margin, dtype=np.int64))
        tried = (reaches(margins, test.epsilon, test.cut) == found).mean()
        where = "one over" if margin > 0 else f"{slack} below"
        _say("Worst case", f"a room {where} its limit is {what} with probability {float(exactly):.6f} by computation;")
        _say("", f"{TRIALS:,} trials, which scatter by 0.0005: {tried:.4f}")


def _say(what: str, words: str) -> None:
    lines = textwrap.wrap(words, WIDTH - 11) or [""]
    for number, line in enumerate(lines):
        print(f"{what if number == 0 else '':<11}{line}")
    if words.endswith("\n"):
        print()


def _listed(rooms: Iterable[str]) -> str:
    return ", ".join(rooms) or "none"
