"""What cannot be read gets one sentence, which quotes no row and no password."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pytest

from louver.errors import DataError, LouverError
from louver.privacy import Unit
from louver.source import Bound, Keys, Measure, Reading, Table, rows
from louver.source.engines import duckdb as engine
from louver.source.filters import Compare, Filter
from tests.ledger.server import Server

SECRET = bytes(32)
HALL = Keys(("room",), (("hall",),))
COUNT = Reading((HALL,), (Measure("count"),))


def table(location: object, unit: Unit | None = None) -> Table:
    return Table(location, dataset="test", unit=unit or Unit.row())


def said(work: Callable[[], object]) -> str:
    with pytest.raises(LouverError) as caught:
        work()
    assert caught.value.__cause__ is None
    assert "secret" not in str(caught.value)
    return str(caught.value)


def attempts(location: object, reading: Reading = COUNT) -> list[str]:
    made = table(location)
    return [said(lambda: rows.check(made, reading)), said(lambda: rows.read(made, reading, SECRET))]


def test_a_database_file_that_is_not_there_or_is_none(tmp_path: Path) -> None:
    path = tmp_path / "plant.duckdb"
    assert attempts(f"{path}#presence") == [f"There is no file {path}."] * 2
    path.write_bytes(b"secret" * 1000)
    for sentence in attempts(f"{path}#presence"):
        assert sentence.startswith(f"{path}#presence cannot be read as a DuckDB file; if it is open elsewhere")


def test_a_table_that_a_database_file_does_not_have(tmp_path: Path) -> None:
    path = tmp_path / "plant.duckdb"
    with duckdb.connect(path) as made:
        made.execute("CREATE TABLE presence (room VARCHAR)")
    assert attempts(f"{path}#absence") == [f"There is no table {path}#absence."] * 2


def test_a_view_of_a_database_file_cannot_reach_other_files(tmp_path: Path) -> None:
    path, other = tmp_path / "plant.duckdb", tmp_path / "secret.csv"
    other.write_text("room\nhall\n")
    with duckdb.connect(path) as made:
        made.execute(f"CREATE VIEW presence AS FROM read_csv('{other}')")
    for sentence in attempts(f"{path}#presence"):
        assert sentence.startswith(f"{path}#presence cannot be read as a DuckDB file")


def test_a_database_file_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "plant.duckdb"
    with duckdb.connect(path) as made:
        made.execute("CREATE TABLE presence AS SELECT 'hall' AS room, 'ann' AS person")
    before = path.read_bytes()
    bounded = Reading((HALL,), (Measure("count"),), bound=Bound(1))
    rows.read(table(f"{path}#presence", Unit("person")), bounded, SECRET)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_frame_that_names_a_column_twice() -> None:
    import pandas as pd

    arrow = pa.table([["hall"], ["secret"]], names=["room", "room"])
    assert attempts(arrow) == ["The Arrow Table names a column twice; rename one."] * 2
    frame = pd.DataFrame([["hall", "secret"]], columns=["room", "room"])
    assert attempts(frame) == ["The pandas DataFrame names a column twice; rename one."] * 2


def test_a_frames_columns_may_differ_in_case_only() -> None:
    arrow = pa.table({"room": ["hall", "hall"], "Room": ["lab", "hall"]})
    upper = Reading((Keys(("Room",), (("hall",),)),), (Measure("count"),))
    assert [int(rows.read(table(arrow), each, SECRET).values[0][0]) for each in (COUNT, upper)] == [2, 1]


class Odd:
    """An object whose text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("secret")


def test_odd_objects_in_a_frame_are_left_out_in_silence() -> None:
    import pandas as pd

    values = ["hall", 3, None, float("nan"), pd.NaT, Odd(), "hall", "\ud800", b"hall", ["hall"]]
    frame = pd.DataFrame({"room": pd.Series(values, dtype=object)})
    three = Reading((Keys(("room",), (("hall",), ("3",))),), (Measure("count"),))
    assert list(rows.read(table(frame), three, SECRET).values[0]) == [2, 1]


def test_a_question_without_columns_counts_the_rows_of_a_frame() -> None:
    import pandas as pd
    import polars as pl

    everything = Reading((Keys((), ((),)),), (Measure("count"),))
    for frame in (
        pd.DataFrame({"a": [1, 2]}),
        pl.DataFrame({"a": [1, 2]}),
        pl.LazyFrame({"a": [1, 2]}),
        pa.table({"a": [1, 2]}),
    ):
        assert list(rows.read(table(frame), everything, SECRET).values[0]) == [2]


def test_a_polars_frame_without_pyarrow_names_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    import polars as pl

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"^A Polars frame needs pyarrow; install it with: pip install 'pyarrow'\.$"):
        rows.check(table(pl.DataFrame({"room": ["hall"]})), COUNT)


def test_a_lazy_frame_is_not_read_to_be_checked() -> None:
    import polars as pl

    seen: list[int] = []

    def watched(frame: pl.DataFrame) -> pl.DataFrame:
        seen.append(len(frame))
        return frame

    lazy = pl.LazyFrame({"room": ["hall"]}).map_batches(watched, schema={"room": pl.String})
    rows.check(table(lazy), COUNT)
    assert sum(seen) == 0
    rows.read(table(lazy), COUNT, SECRET)
    assert sum(seen) == 1


def test_a_server_that_cannot_be_reached() -> None:
    address = "postgresql://ann:secret@127.0.0.1:1/plant#presence"
    expected = (
        "The server of postgresql://ann@127.0.0.1:1/plant#presence cannot be reached, or does not let this user in."
    )
    assert attempts(address) == [expected] * 2


def test_a_table_that_a_server_does_not_have(database: str) -> None:
    for sentence in attempts(f"{database}#absence"):
        assert sentence.startswith("There is no table postgresql://")


def test_a_table_that_may_not_be_read(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as server:
        server.execute("DROP TABLE IF EXISTS hidden; CREATE TABLE hidden AS SELECT 'hall'::text AS room")
        server.execute("DO $$ BEGIN CREATE ROLE outsider LOGIN; EXCEPTION WHEN duplicate_object THEN END $$")
    address = database.replace("postgresql://louver@", "postgresql://outsider@")
    sentence = said(lambda: rows.read(table(f"{address}#hidden"), COUNT, SECRET))
    assert sentence.endswith("#hidden cannot be read.")


def test_a_row_that_stops_the_server_is_not_quoted(database: str) -> None:
    failing = "SELECT ('secret'::text || room)::int AS room FROM (VALUES ('x')) AS given (room)"
    with psycopg.connect(database, autocommit=True) as server:
        server.execute(f"DROP VIEW IF EXISTS broken; CREATE VIEW broken AS {failing}".encode())
    sentence = said(lambda: rows.read(table(f"{database}#broken"), COUNT, SECRET))
    assert sentence.endswith("#broken cannot be read.")


def test_nothing_can_be_written_through_a_reading(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as server:
        server.execute("DROP TABLE IF EXISTS seen CASCADE; CREATE TABLE seen (room text)")
        server.execute(
            "CREATE OR REPLACE FUNCTION peek(text) RETURNS text LANGUAGE plpgsql AS "
            "$$ BEGIN INSERT INTO seen VALUES ($1); RETURN $1; END $$"
        )
        server.execute("CREATE OR REPLACE VIEW spying AS SELECT peek('hall') AS room")
    sentence = said(lambda: rows.read(table(f"{database}#spying"), COUNT, SECRET))
    assert sentence.endswith("#spying cannot be read.")


@pytest.mark.parametrize(
    ("column", "values", "where", "expected"),
    [
        ("numeric", ["1e400", "-1e400", "1e-400", "NaN", "Infinity", "2"], Compare("x", ">", 1), 3),
        ("numeric", ["1e400", "-1e400", "1e-400", "NaN", "Infinity", "2"], Compare("x", "=", 0), 1),
        ("text", ["9" * 400, "0." + "0" * 400 + "1", "5", "5\n", " 5", "x"], Compare("x", "=", 5), 1),
        ("timestamp", ["infinity", "-infinity", "294276-12-31", "4713-01-01 BC"], Compare("hour(x)", "=", 0), 2),
        (
            "timestamptz",
            ["infinity", "-infinity", "294276-12-31", "4713-01-01 BC"],
            Compare("slot(x, 15)", ">", "a"),
            None,
        ),
        ("date", ["infinity", "-infinity", "5874897-12-31"], Compare("x", ">", "a"), None),
        ("char(8)", ["hall", "hall  "], Compare("x", "=", "hall"), 2),
        (
            "uuid",
            ["00000000-0000-0000-0000-00000000000A"],
            Compare("x", "=", "00000000-0000-0000-0000-00000000000a"),
            1,
        ),
    ],
)
def test_no_value_stops_the_server(
    database: str, column: str, values: list[str], where: Filter, expected: int | None
) -> None:
    with psycopg.connect(database, autocommit=True) as server:
        server.execute(f"DROP TABLE IF EXISTS odd; CREATE TABLE odd (x {column})".encode())
        server.cursor().executemany(f"INSERT INTO odd VALUES (%s::{column})".encode(), [(value,) for value in values])
    everything = Reading((Keys((), ((),)),), (Measure("count", where=where),))
    if expected is None:
        assert "cannot be compared with a text by its order" in said(
            lambda: rows.check(table(f"{database}#odd"), everything)
        )
        return
    assert list(rows.read(table(f"{database}#odd"), everything, SECRET).values[0]) == [expected]


def test_times_in_texts_are_refused_where_a_row_would_stop_the_reading(database: str, spark: Any) -> None:
    with psycopg.connect(database, autocommit=True) as server:
        server.execute(
            "DROP TABLE IF EXISTS texts; CREATE TABLE texts AS SELECT 'hall'::text AS room, 'never'::text AS at"
        )
    reading = Reading((HALL,), (Measure("count", where=Compare("day(at)", "=", "2024-01-01")),))
    frame = spark.createDataFrame([("hall", "never")], "room string, at string")
    for made in (table(f"{database}#texts"), table(frame)):
        sentence = said(partial(rows.check, made, reading))
        assert "holds texts, so it cannot be compared with a time" in sentence


def test_a_frame_that_fails_in_spark_is_not_quoted(spark: Any) -> None:
    failing = spark.sql("SELECT raise_error('secret') AS room")
    assert said(lambda: rows.read(table(failing), COUNT, SECRET)) == "The Spark DataFrame cannot be read."


def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql.dbapi", None)
    for sentence in attempts("postgresql://ann:secret@h/plant#presence"):
        assert "pip install 'louver[postgres]'" in sentence


def test_an_ibis_table_of_another_connection_comes_over_as_arrow(
    ibis_backend: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A temporary table is seen by its own connection only."""
    ibis_backend.con.execute("CREATE TEMP TABLE presence AS SELECT 'hall' AS room")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        presence = ibis_backend.table("presence")
    monkeypatch.setattr(type(presence), "to_pyarrow", lambda self: pa.table({self.columns[0]: ["hall", "hall"]}))
    assert list(rows.read(table(presence), COUNT, SECRET).values[0]) == [2]


def test_engines_are_used_from_several_threads_at_once(tmp_path: Path) -> None:
    path = tmp_path / "plant.duckdb"
    with duckdb.connect(path) as made:
        made.execute("CREATE TABLE presence AS SELECT 'hall' AS room FROM range(1000)")
    found: list[int] = []

    def work() -> None:
        found.append(int(rows.read(table(f"{path}#presence"), COUNT, SECRET).values[0][0]))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1000] * 6


def test_the_engine_of_frames_reads_nothing_else(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("room\nsecret\n")
    location = table(pa.table({"room": ["hall"]})).location
    with pytest.raises(DataError), engine.opened(location, ["room"], rows=True) as opened:  # type: ignore[arg-type]
        opened.connection.execute(f"FROM read_csv('{other}')").fetchall()


def test_a_database_where_texts_may_be_no_texts_is_refused(server: Server) -> None:
    server.run("CREATE DATABASE ascii_only ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
    server.run("CREATE TABLE presence (room text)", "ascii_only")
    other = server.dsn("ascii_only")
    for sentence in attempts(f"{other}#presence"):
        assert "SQL_ASCII" in sentence
        assert "UTF8" in sentence
