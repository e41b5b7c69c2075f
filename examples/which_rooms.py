"""Which rooms hold more devices than their limit? On your own files, with a promise and a budget you choose.

presence.csv has columns device, room: one row for each device in a room. rooms.csv has columns room, limit: the public
list of rooms to ask about. Room names must match exactly; rows of rooms that are not listed are ignored, and a device
counts once in a room. Without files, the invented building that comes with Louver is used.

Printed is only what may be published: the price, the promise, the flagged rooms and what remains. The budget is kept in
a ledger: every run pays from it, and is refused when it is used up. What is wrong in rooms.csv, which is public, is
named; what is wrong in single rows of presence.csv, which is private, is not: such rows are left out.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from fractions import Fraction
from pathlib import Path

import louver
from louver.decide import OneShotCounts
from louver.ledger import Cap, Ledger
from louver.privacy import Unit, largest_total
from louver.source import Table
from louver.steward import Steward

BUILDING = Path(louver.__file__).parent / "cli" / "building"
PRESENCE = Unit("device", "room")


def main(arguments: list[str] | None = None) -> int:
    chosen = parse(arguments)
    try:
        limits = read_limits(chosen.rooms)
        plan = OneShotCounts("room", limits, unit=PRESENCE, miss_rate=chosen.miss_rate, slack=chosen.slack)
        table = Table(chosen.presence, dataset=chosen.dataset, unit=PRESENCE)
        if not chosen.presence.is_file():
            raise louver.DataError(f"There is no file {chosen.presence}.")
        with opened(chosen.ledger, table, chosen.cap) as ledger:
            release = Steward(table, ledger).run(plan)
            left = math.floor(ledger.remaining() * 10_000) / 10_000
    except louver.LouverError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    price = math.ceil(largest_total(plan.worst).price * 10_000) / 10_000  # rounded up: never less than what is paid
    print(f"price: epsilon {price:.4f} for one device's presence in one room")
    print(f"promise: {release.promise}")
    print("flagged:", ", ".join(release.answer["flagged"]) or "none")
    print(f"remaining: epsilon {left:.4f} in {chosen.ledger}")
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


def read_limits(path: Path) -> dict[str, int]:
    limits: dict[str, int] = {}
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            rows = csv.DictReader(file)
            if not {"room", "limit"} <= set(rows.fieldnames or ()):
                raise louver.DataError(f"{path} needs a first line with the columns room and limit, split by commas.")
            for line, row in enumerate(rows, start=2):
                room, limit = row["room"] or "", row["limit"] or ""
                if not limit.isdecimal() or len(limit) > 9:
                    raise louver.DataError(f"{path}, line {line}: the limit {limit!r} must be a whole number.")
                if room in limits:
                    raise louver.DataError(f"{path}, line {line}: room {room!r} is listed twice.")
                limits[room] = int(limit)
    except OSError as error:
        raise louver.DataError(f"{path} cannot be read: {error.strerror}.") from None
    except csv.Error:
        raise louver.DataError(f"{path} is no CSV file.") from None
    if not limits:
        raise louver.DataError(f"{path} lists no room, so there is nothing to ask about.")
    return limits


if __name__ == "__main__":
    sys.exit(main())
