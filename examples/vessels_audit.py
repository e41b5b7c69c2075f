"""What would somebody learn about ships in a harbour from published counts? The audit of buildings, on other presences.

The file is Parquet or CSV with the columns vessel_id (or person), time (UTC), and lat and lon, or region; of a column
area, ny_harbor is read. See vessels.py for where such a file comes from. Without a file, invented days are used.

Ships are counted every ten minutes in cells of a grid. An outsider, who knows where ships are at that time of day on
other days, guesses where each one is on the last day: from true counts, and from releases that are equally useful.

Found in the seven days from 2020-12-01, 85 cells with a ship: whoever knows where 90% of the others are thinks the
right cell likelier than not for 8.7% of the ships by day and 16.1% at night from true counts; 2.4 and 7.4% where
pseudonyms change every second; and 0 and 0.3% under Laplace noise at 90% of heat-steps. Most cells are empty most of
the time: nothing but zeros has 94% there, so that this target asks for little, and what is compared is not the use.
Another run differs a little for Laplace, because that is the noise.
"""

from __future__ import annotations

import argparse
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

import louver
from louver.attack.report import save
from louver.attack.study import study
from louver.attack.study_report import likelier_rows, report_of
from louver.attack.truth import Truth

WEST, SOUTH, CELL, COLUMNS, ROWS = -74.35, 40.35, 0.05, 15, 11  # the harbour of New York, in degrees
CELLED = f"""
CASE WHEN lon >= {WEST} AND lat >= {SOUTH} AND lon < {WEST + CELL * COLUMNS} AND lat < {SOUTH + CELL * ROWS}
THEN format('r{{}}c{{}}', CAST(floor((lat - {SOUTH}) / {CELL}) AS INTEGER),
    CAST(floor((lon - {WEST}) / {CELL}) AS INTEGER)) END
"""


def main(arguments: list[str] | None = None) -> int:
    chosen = parse(arguments)
    try:
        truth = invented() if chosen.file is None else read(chosen.file, chosen.days)
        made = study(truth, mechanisms=["laplace", "ttl-device"], runs=chosen.runs, known=[0, 0.9])
    except louver.LouverError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    report = report_of(made, "ships in cells of a harbour")
    heads, rows = likelier_rows(made)
    print(f"{report.verdict}\n")
    print("Of 100 ships, the right cell of so many is thought likelier than not, on average (in the worst run),")
    print("by somebody who knows where 90% of the others are:")
    for row in (heads, *rows):
        print("".join(f"{cell:<14}" for cell in row).rstrip())
    if chosen.out is not None:
        save(chosen.out, report.html())
    return 0


def read(file: Path, days: int) -> Truth:
    """Positions, or regions, as events; the first days of them."""
    try:
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            given = connection.read_csv(str(file)) if file.suffix == ".csv" else connection.read_parquet(str(file))
            who = "vessel_id" if "vessel_id" in given.columns else "person"
            where = "CAST(region AS VARCHAR)" if "region" in given.columns else CELLED
            given = given.filter("area = 'ny_harbor'") if "area" in given.columns else given
            rows = given.project(f"{who} AS who, {where} AS place, epoch_us(time) AS time").fetchnumpy()
    except (duckdb.Error, OSError):
        raise louver.DataError(
            f"{file} cannot be read; it needs the columns vessel_id or person, time, and region or lat and lon."
        ) from None
    places = np.ma.getdata(rows["place"]).astype(str)
    known = ~np.ma.getmaskarray(rows["place"]) & (places != "None")
    return events(np.asarray(rows["who"])[known].astype(str), places[known], np.asarray(rows["time"])[known], days)


def events(who: NDArray[Any], places: NDArray[Any], time: NDArray[Any], days: int) -> Truth:
    """Ships and regions as numbers, from the first day with an event on."""
    if not len(time):
        raise louver.DataError("There is no event in the file.")
    names, region = np.unique(places, return_inverse=True)
    first = date(1970, 1, 1) + timedelta(microseconds=int(time.min()))
    ship = np.unique(who, return_inverse=True)[1]
    return Truth.of_events(ship, region, time.astype(np.int64), regions=names.tolist(), first=first, days=days)


def invented() -> Truth:
    """Five days of thirty ships, each of which likes two of twelve cells."""
    dice = np.random.default_rng(7)
    ships, days, steps = 30, 5, 24 * 12
    liked = dice.integers(0, 12, (ships, 2))
    second = (dice.random((days, ships, steps)) < 0.01).cumsum(axis=2) % 2
    there = dice.random((days, ships, 1)) < 0.7
    day, ship, step = np.nonzero(np.broadcast_to(there, second.shape))
    region = liked[ship, second[day, ship, step]]
    time = ((day * 24 * 60 + step * 5) * 60 + dice.integers(0, 200, len(day))) * 1_000_000
    return events(ship.astype(str), np.char.add("cell ", region.astype(str)), time, days)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="positions; invented days unless given")
    parser.add_argument("--days", type=int, default=7, help="how many days from the first on; 7 by default")
    parser.add_argument("--runs", type=int, default=10, help="releases of each mechanism; 10 by default")
    parser.add_argument("--out", type=Path, metavar="FILE.html", help="the whole report as a page")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
