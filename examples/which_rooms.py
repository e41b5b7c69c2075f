"""Which rooms hold more devices than their limit? On your own files, with a promise you choose.

    python examples/which_rooms.py presence.csv rooms.csv --miss-rate 0.05 --slack 10

presence.csv has columns device, room (one row for each device in a room); rooms.csv has columns room, limit. Without
files it uses the invented building that comes with Louver. It prints only what may be published: the price, the promise
and the flagged rooms. It keeps no budget: every run spends the price again.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np

import louver
from louver.noise import reaches
from louver.privacy import one_shot

BUILDING = Path(louver.__file__).parent / "cli" / "building"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Which rooms hold more devices than their limit?")
    parser.add_argument("presence", nargs="?", type=Path, default=BUILDING / "presence.csv")
    parser.add_argument("rooms", nargs="?", type=Path, default=BUILDING / "rooms.csv")
    parser.add_argument("--miss-rate", type=Fraction, default=Fraction(1, 20))
    parser.add_argument("--slack", type=int, default=10)
    chosen = parser.parse_args(arguments)
    try:
        test = one_shot(miss_rate=chosen.miss_rate, slack=chosen.slack)
    except louver.LouverError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    # The rooms asked about come from the public list, never from the rows.
    limits = {row["room"]: int(row["limit"]) for row in read(chosen.rooms)}
    devices = Counter(room for _, room in {(row["device"], row["room"]) for row in read(chosen.presence)})
    margins = np.array([devices[room] - limit for room, limit in limits.items()], dtype=np.int64)
    flagged = reaches(test.aligned(margins), test.epsilon, test.cut)
    print(f"price: {float(test.epsilon):.4f} epsilon for one device's presence in one room")
    print(f"promise: misses and false alarms in at most {float(chosen.miss_rate):g} of the cases, slack {chosen.slack}")
    print("flagged:", ", ".join(room for room, over in zip(limits, flagged, strict=True) if over) or "none")
    return 0


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    sys.exit(main())
