"""Streams from rows to a release: a month of 64 regions in ticks of five minutes, as a whole and tick by tick.

The floor of the whole is plain DuckDB that groups the same rows by region and tick, and pays, bounds and keeps nothing.
A tick of a live stream is reserved, read, released, saved and settled, each on disk before the next; its floor is two
files that are written and forced to disk.

Run: script/bench stream_publish
"""

from __future__ import annotations

import os
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from bench.clock import seconds
from louver.ledger import Cap, Ledger
from louver.privacy import Unit
from louver.source import Domain, Source, Table
from louver.stream.planning import stream
from louver.stream.publishing import publish
from louver.stream.session import Session

REGIONS, ROWS, LIVE_ROWS, LIVE_TICKS = 64, 3_000_000, 2_000, 25
BEGIN = datetime(2018, 1, 1)  # noqa: DTZ001
ROOMS = Domain({"room": [f"room {number}" for number in range(REGIONS)]}, keys=["room"])
SLOTTED = Unit("person", "slot(time, 5)", "room")
ASKED: dict[str, Any] = {
    "by": "room",
    "every": "5m",
    "begin": "2018-01-01",
    "end": "2018-01-31",
    "time": "time",
    "epsilon": 1,
}


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        print_whole(folder)
        print_live(folder)


def print_whole(folder: Path) -> None:
    path = folder / "presence.parquet"
    with duckdb.connect() as engine:
        engine.execute(
            f"COPY (SELECT (random() * 5000)::INT AS person, 'room ' || (random() * {REGIONS - 1})::INT AS room, "  # noqa: S608
            f"TIMESTAMP '2018-01-01' + to_seconds((random() * 30 * 86400)::INT) AS time FROM range({ROWS})) "
            f"TO '{path}' (FORMAT parquet)"
        )

    def grouped() -> object:
        with duckdb.connect() as engine:
            return engine.execute(
                f"SELECT room, time_bucket(INTERVAL 5 MINUTE, time) AS tick, count(*) FROM '{path}' GROUP BY ALL"  # noqa: S608
            ).fetchnumpy()

    floor = seconds(grouped, repeats=3)
    print(f"{f'{ROWS:,} rows, {REGIONS} regions, 8,640 ticks':48} {'seconds':>8} {'of DuckDB':>10}")
    print(f"{'plain DuckDB, GROUP BY':48} {floor:8.2f} {1:10.2f}")
    for mechanism, unit in (("laplace", Unit.row()), ("segment", Unit.row()), ("laplace", SLOTTED)):
        source = Source(Table(path, dataset="house", unit=unit), domains=ROOMS)
        plan = stream(source, mechanism=mechanism, **ASKED)
        number = iter(range(100))

        def published(source: Source = source, plan: Any = plan, unit: Unit = unit, number: Any = number) -> object:
            where = folder / f"{plan.kernel}-{'row' if unit.is_row else 'unit'}-{next(number)}"
            ledger, _ = Ledger.create(where, dataset="house", unit=unit, caps=[Cap(epsilon=100)])
            with ledger:
                return publish(source, plan, ledger=ledger)

        took = seconds(published, repeats=2)
        said = f"{mechanism}, unit: {'a row' if unit.is_row else 'a person in a slot and room'}"
        print(f"{said:48} {took:8.2f} {took / floor:10.2f}")


def print_live(folder: Path) -> None:
    draw = np.random.default_rng(6)

    def table(number: int) -> Table:
        rows = {
            "person": draw.integers(0, 5000, LIVE_ROWS),
            "room": np.array([f"room {room}" for room in draw.integers(0, REGIONS, LIVE_ROWS)], dtype=object),
            "time": np.full(LIVE_ROWS, np.datetime64(BEGIN + number * timedelta(minutes=5))),
        }
        return Table(rows, dataset="house", unit=SLOTTED)

    def forced() -> None:
        for name in ("one", "other"):
            with (folder / name).open("w") as file:
                file.write("x" * 50_000)
                file.flush()
                os.fsync(file.fileno())

    floor = seconds(forced)
    print(f"\n{f'one tick of {REGIONS} regions, {LIVE_ROWS:,} rows':48} {'ms':>8} {'of 2 files':>10}")
    print(f"{'two files forced to disk':48} {floor * 1e3:8.1f} {1:10.1f}")
    for mechanism in ("laplace", "segment", "pegasus", "tree"):
        where = folder / f"live-{mechanism}"
        ledger, _ = Ledger.create(where, dataset="house", unit=SLOTTED, caps=[Cap(epsilon=100)])
        plan = stream(Source(table(0), domains=ROOMS), mechanism=mechanism, **ASKED)
        tables = iter([table(number) for number in range(LIVE_TICKS + 1)])
        with ledger, Session.open(plan, ledger, folder / f"state-{mechanism}", lambda _: None, key="bench") as session:
            took = seconds(lambda session=session, tables=tables: session.advance(next(tables)), repeats=LIVE_TICKS)  # type: ignore[misc]
        print(f"{mechanism:48} {took * 1e3:8.1f} {took / floor:10.1f}")


if __name__ == "__main__":
    main()
