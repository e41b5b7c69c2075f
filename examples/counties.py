"""Births by county, while those of each state are known: state totals exact, counties private and right on average.

The file is Parquet or CSV with the columns state, county and a column of counts (--of, births_2019 by default): one row
for each county, those with 0 too, so that the file itself is the public list of counties. Without a file, invented
counties are used. Protected is in which county of its state one birth is counted; how many a state has is published.

The ledger is thrown away at the end: this shows what a release looks like. To publish one, use louver publish table.
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
from louver.table import PublishedTable, publish_table, table

SHOWN = 8


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="counties; invented ones unless given")
    parser.add_argument("--of", default="births_2019", help="the column of counts")
    parser.add_argument("--epsilon", type=Fraction, default=Fraction(1, 2), help="the price, 0.5 by default")
    chosen = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory() as folder:
            show(published(Path(folder), chosen.file or invented(Path(folder)), chosen.of, chosen.epsilon))
    except louver.LouverError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def published(folder: Path, file: Path, counted: str, epsilon: Fraction) -> PublishedTable:
    try:
        listed = Domain.read(file, ["state", "county"])
    except louver.LouverError:
        raise louver.DataError(f"{file} cannot be read; it needs the columns state, county, {counted}.") from None
    source = Source(Table(file, dataset="counties", unit=Unit.one_of(counted)), domains=listed)
    plan = table(source, of=counted, exact="state", epsilon=epsilon)
    caps = [Cap(epsilon=epsilon, exact=[plan.invariants])]
    with Ledger.create(folder / "ledger", dataset="counties", unit=source.table.unit, caps=caps)[0] as ledger:
        return publish_table(source, plan, ledger=ledger)


def show(made: PublishedTable) -> None:
    print(made.protected)
    print(made.promise)
    for warning in made.warnings:
        print(warning)
    columns = made.columns
    for state, county, count in list(zip(columns["state"], columns["county"], columns["count"], strict=True))[:SHOWN]:
        print(f"{state:24} {county:28} {count:7,}")
    totals = made.totals("state")
    (state,), total = next(iter(totals.items()))
    print(f"{state:24} {'together, exactly':28} {total:7,}")
    print(f"{len(columns['county']):,} counties of {len(totals)} states.")


def invented(folder: Path) -> Path:
    dice = random.Random(1)  # noqa: S311 nothing here is secret
    rows = [
        f"State {state},County {number},{int(dice.lognormvariate(5.7, 1.5))}"
        for state in range(1, 52)
        for number in range(1, dice.randrange(2, 121))
    ]
    file = folder / "counties.csv"
    file.write_text("\n".join(["state,county,births_2019", *rows]) + "\n", encoding="utf-8")
    return file


if __name__ == "__main__":
    sys.exit(main())
