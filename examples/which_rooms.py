"""Which rooms hold more devices than their limit? On your own files, with a promise and a budget you choose.

presence.csv has columns device, room: one row for each device in a room. rooms.csv has columns room, limit: the public
list of rooms to ask about. Room names must match exactly; rows of rooms that are not listed are ignored, and a device
counts once in a room. Without files, the invented building that comes with Louver is used.

Printed is only what may be published: what is protected, the flagged rooms, the promise, the price and what remains.
The budget is kept in a ledger: every run pays from it, and is refused when it is used up. What is wrong in rooms.csv,
which is public, is named; what is wrong in single rows of presence.csv, which is private, is not: they are left out.
"""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from pathlib import Path

import louver
from louver.ledger import Cap, Ledger
from louver.privacy import Unit
from louver.question import col, count
from louver.source import Domain, Source, Table

BUILDING = Path(louver.__file__).parent / "cli" / "building"


def main(arguments: list[str] | None = None) -> int:
    chosen = parse(arguments)
    try:
        table = Table(chosen.presence, dataset=chosen.dataset, unit=Unit("device", "room"))
        source = Source(table, domains=Domain.read(chosen.rooms, keys=["room"]))
        crowded = count().by("room") > col("limit")
        plan = louver.plan(source, crowded, miss_rate=chosen.miss_rate, slack=chosen.slack)  # states price and promise
        with opened(chosen.ledger, table, chosen.cap) as ledger:
            print(louver.ask(source, plan, ledger=ledger))
    except louver.LouverError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def opened(path: Path, table: Table, cap: Fraction) -> Ledger:
    """The ledger of these rows, made on first use."""
    if path.exists():
        return Ledger.open(path)
    ledger, tokens = Ledger.create(path, dataset=table.dataset, unit=table.unit, caps=[Cap(epsilon=cap)])
    for name, token in tokens.items():
        print(f"made {path}; keep the token of its {name}, which is shown only now: {token}")
    return ledger


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="presence.csv and rooms.csv")
    parser.add_argument("--miss-rate", type=number, default=Fraction(1, 20), help="largest miss rate, 0.05 by default")
    parser.add_argument("--slack", type=int, default=10, help="so far below the limit either may happen; 10 by default")
    parser.add_argument("--ledger", type=Path, default=Path("which_rooms.ledger"), help="where the budget is kept")
    parser.add_argument("--cap", type=number, default=Fraction(1), help="the budget of a new ledger, 1 by default")
    parser.add_argument("--dataset", default="which rooms", help="the name of these rows, which the ledger keeps")
    chosen = parser.parse_args(arguments)
    if len(chosen.files) not in (0, 2):
        parser.error("give both files, presence.csv and rooms.csv, or none")
    chosen.presence, chosen.rooms = chosen.files or (BUILDING / "presence.csv", BUILDING / "rooms.csv")
    return chosen


def number(text: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise argparse.ArgumentTypeError(f"{text!r} is no number; 0.05 means at most 1 in 20") from None


if __name__ == "__main__":
    sys.exit(main())
