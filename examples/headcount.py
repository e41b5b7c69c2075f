"""How full is each room, if everybody knows how many people are in the building?

A turnstile counts who comes in, and the number hangs at the door. Noise on every room would contradict it. Here the
rooms get noise that adds up to 0: the headcount is exact, and so not protected, and protected is who is in which room.

The file is CSV or Parquet with a column room, one row for each person inside. Rooms are a public list, given with
--rooms and never taken from the file. Without a file, an invented building is used. For your own file a ledger is kept:
every run pays from it, and is refused when the budget is used up.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import louver
from louver.ledger import Cap, Ledger
from louver.privacy import Unit
from louver.source import Domain, Source, Table
from louver.steward import check
from louver.table import TablePlan, publish_table, table

ROOMS = {"Hall": 64, "Canteen": 41, "Library": 23, "Lab": 9, "Office": 4, "Attic": 0}


def main(arguments: list[str] | None = None) -> int:
    chosen = parse(arguments)
    try:
        with tempfile.TemporaryDirectory() as folder:
            published(Path(folder), chosen)
    except louver.LouverError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def published(folder: Path, chosen: argparse.Namespace) -> None:
    file, rooms = (chosen.file, chosen.rooms) if chosen.file else (invented(folder), list(ROOMS))
    rows = Table(file, dataset=chosen.dataset, unit=Unit.row())
    source = Source(rows, domains=Domain({"room": rooms}, keys=["room"]))
    plan = table(source, exact="all", epsilon=chosen.epsilon)
    check(rows, plan)  # a file that does not fit must not leave a ledger behind
    with opened(chosen.ledger if chosen.file else None, folder, plan, chosen) as ledger:
        made = publish_table(source, plan, ledger=ledger)
    print(made.protected)
    print(made.promise)
    print(f"Price: epsilon {float(made.release.worst):.4f}; {float(made.remaining or 0):.4f} remains.")
    for room, count in zip(rooms, made.counts.tolist(), strict=True):
        print(f"{room:12} {count:5,}")
    print(f"{'together':12} {sum(made.counts.tolist()):5,}  exactly")
    for warning in made.warnings:
        print(warning)


def opened(path: Path | None, folder: Path, plan: TablePlan, chosen: argparse.Namespace) -> Ledger:
    """The ledger of these rows, made on first use, which allows the headcount to be exact and nothing else."""
    if path is not None and path.exists():
        return Ledger.open(path)
    made = folder / "ledger" if path is None else path
    caps = [Cap(epsilon=chosen.cap, exact=[plan.invariants])]
    ledger, tokens = Ledger.create(made, dataset=chosen.dataset, unit=plan.unit, caps=caps)
    for name, token in tokens.items() if path is not None else ():
        print(f"made {path}; keep the token of its {name}, which is shown only now: {token}")
    return ledger


def invented(folder: Path) -> Path:
    people = [room for room, count in ROOMS.items() for _ in range(count)]
    random.Random(7).shuffle(people)  # noqa: S311 nothing here is secret
    file = folder / "people.csv"
    file.write_text("\n".join(["room", *people]) + "\n", encoding="utf-8")
    return file


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="who is where; invented unless given")
    parser.add_argument("--rooms", type=lambda text: text.split(","), metavar="A,B,C", help="the rooms, a public list")
    parser.add_argument("--epsilon", type=number, default=Fraction(1), help="the price, 1 by default")
    parser.add_argument("--ledger", type=Path, default=Path("headcount.ledger"), help="where the budget is kept")
    parser.add_argument("--cap", type=number, default=Fraction(2), help="the budget of a new ledger, 2 by default")
    parser.add_argument("--dataset", default="headcount", help="the name of these rows, which the ledger keeps")
    chosen = parser.parse_args(arguments)
    if (chosen.file is None) != (chosen.rooms is None):
        parser.error("give a file and its --rooms, or neither")
    return chosen


def number(text: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None


if __name__ == "__main__":
    sys.exit(main())
