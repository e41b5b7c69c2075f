"""Which rooms hold more devices than their limit? On your own files, with a promise you choose.

presence.csv has columns device, room: one row for each device in a room. rooms.csv has columns room, limit: the public
list of rooms to ask about. Room names must match exactly; rows of rooms that are not listed are ignored. Without files,
the invented building that comes with Louver is used.

Printed is only what may be published: the price, the promise and the flagged rooms. No budget is kept: every run spends
the price again. What is wrong in rooms.csv, which is public, is named; what is wrong in single rows of presence.csv,
which is private, is not: such rows are left out.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np

import louver
from louver.noise import reaches
from louver.privacy import one_shot

BUILDING = Path(louver.__file__).parent / "cli" / "building"


class FileError(louver.LouverError):
    """A file that cannot be used."""

    exit_code = 4


def main(arguments: list[str] | None = None) -> int:
    chosen = parse(arguments)
    try:
        test = one_shot(miss_rate=chosen.miss_rate, slack=chosen.slack)
        limits = read_limits(chosen.rooms)
        pairs = {(row["device"], row["room"]) for row in read(chosen.presence, ("device", "room"))}
    except louver.LouverError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    devices = Counter(room for _, room in pairs)
    margins = np.array([devices[room] - limit for room, limit in limits.items()], dtype=np.int64)
    flagged = reaches(test.aligned(margins), test.epsilon, test.cut)
    price = math.ceil(test.epsilon * 10_000) / 10_000  # rounded up: never less than what is paid
    print(f"price: epsilon {price:.4f} for one device's presence in one room")
    print(f"promise: misses and false alarms at most {float(chosen.miss_rate):g} for each room, slack {chosen.slack}")
    print("flagged:", ", ".join(room for room, over in zip(limits, flagged, strict=True) if over) or "none")
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="presence.csv and rooms.csv")
    parser.add_argument("--miss-rate", type=rate, default=Fraction(1, 20), help="largest miss rate, 0.05 by default")
    parser.add_argument("--slack", type=int, default=10, help="so far below the limit either may happen; 10 by default")
    chosen = parser.parse_args(arguments)
    if len(chosen.files) not in (0, 2):
        parser.error("give both files, presence.csv and rooms.csv, or none")
    chosen.presence, chosen.rooms = chosen.files or (BUILDING / "presence.csv", BUILDING / "rooms.csv")
    return chosen


def rate(text: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise argparse.ArgumentTypeError(f"{text!r} is no number; 0.05 means at most 1 in 20") from None


def read_limits(path: Path) -> dict[str, int]:
    limits: dict[str, int] = {}
    for line, row in enumerate(read(path, ("room", "limit")), start=2):
        if not row["limit"].isdecimal() or len(row["limit"]) > 9:
            raise FileError(f"{path}, line {line}: the limit {row['limit']!r} must be a whole number.")
        if row["room"] in limits:
            raise FileError(f"{path}, line {line}: room {row['room']!r} is listed twice.")
        limits[row["room"]] = int(row["limit"])
    if not limits:
        raise FileError(f"{path} lists no room, so there is nothing to ask about.")
    return limits


def read(path: Path, columns: tuple[str, str]) -> Iterator[dict[str, str]]:
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            rows = csv.DictReader(file)
            missing = [column for column in columns if column not in (rows.fieldnames or ())]
            if missing:
                raise FileError(f"{path} needs a first line with the columns {' and '.join(columns)}, split by commas.")
            yield from (row for row in rows if all(row[column] for column in columns))
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}.") from None
    except csv.Error:
        raise FileError(f"{path} is no CSV file.") from None


if __name__ == "__main__":
    sys.exit(main())
