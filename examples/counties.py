"""Births by county, while those of each state are known: state totals exact, counties private and right on average.

The file is Parquet or CSV with the columns state, county and a column of counts (--of, births_2019 by default): one row
for each county, those with 0 too, so that the file itself is the public list of counties. Without a file, invented
counties are used. Protected is in which county of its state one birth is counted; how many a state has is published.

The ledger is thrown away at the end: this shows what a release looks like. To publish one, use louver publish table;
--files FOLDER writes the invented counties there, as Parquet with the columns state, county, births_2019 and
residual_2019, which holds no counts, and louver.toml, which says all of it once. One state has a single county.
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
ALONE = 9  # a state with a single county, as the District of Columbia is
DESCRIBED = """\
[source.counties]
table = "counties.parquet"
dataset = "counties"
unit = "one of births_2019"
ledger = "counties.parquet.ledger"
domain = "counties"

[domain.counties]
file = "counties.parquet"
keys = ["state", "county"]

[ask]
budget = 2
"""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="counties; invented ones unless given")
    parser.add_argument("--of", default="births_2019", help="the column of counts")
    parser.add_argument("--epsilon", type=Fraction, default=Fraction(1, 2), help="the price, 0.5 by default")
    parser.add_argument("--files", type=Path, metavar="FOLDER", help="writes the invented counties there instead")
    chosen = parser.parse_args(arguments)
    if chosen.files is not None and chosen.file is not None:
        parser.error("--files writes invented counties; give a file or a folder for them, not both")
    try:
        if chosen.files is not None:
            write(chosen.files)
            return 0
        with tempfile.TemporaryDirectory() as folder:
            show(published(Path(folder), chosen.file or invented(Path(folder)), chosen.of, chosen.epsilon))
    except louver.LouverError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def published(folder: Path, file: Path, counted: str, epsilon: Fraction) -> PublishedTable:
    if not file.is_file():
        raise louver.DataError(f"There is no file {file}.")
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


def write(folder: Path) -> None:
    """The invented counties and their description, as files to publish from; nothing that is there is written over."""
    import duckdb

    folder.mkdir(parents=True, exist_ok=True)
    file, described = folder / "counties.parquet", folder / "louver.toml"
    for path in (file, described):
        if path.exists():
            raise louver.DataError(f"{path} is there already; name another folder.")
    with tempfile.TemporaryDirectory() as aside, duckdb.connect() as connection:
        connection.read_csv(str(invented(Path(aside)))).write_parquet(str(file))
    described.write_text(DESCRIBED, encoding="utf-8")
    print(f"Wrote {file} and {described}.")


def invented(folder: Path) -> Path:
    dice = random.Random(1)  # noqa: S311 nothing here is secret
    rows = [
        f"State {state},County {number},{int(dice.lognormvariate(5.7, 1.5))},{dice.randrange(-9, 10)}"
        for state in range(1, 52)
        for number in range(1, 2 if state == ALONE else dice.randrange(3, 121))
    ]
    file = folder / "counties.csv"
    file.write_text("\n".join(["state,county,births_2019,residual_2019", *rows]) + "\n", encoding="utf-8")
    return file


if __name__ == "__main__":
    sys.exit(main())
