"""Every kind of place gives the numbers that plain Python finds row by row."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from louver.errors import ParameterError
from louver.noise import Grid
from louver.privacy import Unit
from louver.source import Table, key_lists, rows
from louver.source.filters import Compare
from louver.source.measures import Bound, Keys, Measure, Reading
from louver.source.query import Query
from tests.engines import places
from tests.engines.cases import asked
from tests.engines.places import Place
from tests.engines.reference import Data, expected
from tests.often import often

SECRET = bytes(range(32))
# Cases are small as they come; making a failing one smaller would take minutes on a server.
SETTINGS = settings(
    phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], deadline=None
)
PLACES = ["parquet", "csv", "arrow", "pandas", "polars", "lazy polars", "duckdb", "ibis", "postgres", "zoned postgres"]


def place(name: str, request: pytest.FixtureRequest, folder: Path) -> Place:
    made: dict[str, Any] = {
        "parquet": lambda: places.in_parquet(folder),
        "csv": lambda: places.in_csv(folder),
        "arrow": lambda: places.in_arrow,
        "pandas": lambda: places.in_pandas,
        "polars": lambda: places.in_polars,
        "lazy polars": lambda: places.in_lazy_polars,
        "duckdb": lambda: places.in_duckdb(folder),
        "ibis": lambda: places.in_ibis(request.getfixturevalue("ibis_backend")),
        "postgres": lambda: places.in_postgres(request.getfixturevalue("database")),
        "zoned postgres": lambda: places.in_postgres(request.getfixturevalue("database"), places.ZONED),
        "spark": lambda: places.in_spark(request.getfixturevalue("spark")),
    }
    return made[name]()  # type: ignore[no-any-return]


def check(put: Place, data: Data, reading: Reading) -> None:
    location, stored = put(data)
    unit = Unit(*data.unit) if data.unit else Unit.row()
    table = Table(location, dataset="test", unit=unit)
    try:
        rows.check(table, reading)
    except ParameterError:  # a place without types refuses whole numbers that texts cannot be compared with exactly
        assume(False)
    view = rows.read(table, reading, SECRET)
    found = [[int(value) for value in each] for each in view.values]
    assert found == expected(stored, reading, SECRET)


@pytest.mark.parametrize("name", PLACES)
def test_a_place_gives_what_plain_python_gives(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    put = place(name, request, tmp_path)

    @settings(SETTINGS, max_examples=often(15, 50))
    @given(asked())
    def same(case: tuple[Data, Reading]) -> None:
        check(put, *case)

    same()


@pytest.mark.parametrize("name", ["parquet", "csv", "pandas", "duckdb"])
def test_rows_grouped_before_their_keys_are_looked_up_give_the_same(
    name: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, used = place(name, request, tmp_path), list[int]()
    original = Query._grouped_first

    def seen(*given: Any) -> Any:
        used.append(1)
        return original(*given)

    monkeypatch.setattr(key_lists, "MANY_KEYS", 1)
    monkeypatch.setattr(Query, "_grouped_first", seen)

    @settings(SETTINGS, max_examples=often(25, 100))
    @given(asked(bounds=st.none()))
    def same(case: tuple[Data, Reading]) -> None:
        check(put, *case)

    same()
    assert len(used) >= 20


def test_spark_gives_what_plain_python_gives(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    put = place("spark", request, tmp_path)

    @settings(SETTINGS, max_examples=often(5, 12))
    @given(st.data())
    def same(data: st.DataObject) -> None:
        check(put, *data.draw(asked(rows=40)))

    same()


def test_values_that_are_no_numbers_are_missing_also_where_a_files_largest_value_hides_them(tmp_path: Path) -> None:
    found = [(1.0, "a"), (math.nan, "a"), (2.0, "a"), (None, "a"), (math.nan, "b")]
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"watts": [each[0] for each in found], "room": [each[1] for each in found]}), path)

    def counts(path: Path, unit: Unit, reading: Reading) -> list[int]:
        view = rows.read(Table(path, dataset="test", unit=unit), reading, SECRET)
        return [int(value) for value in view.values[0]]

    keys = Keys(("room",), (("a",), ("b",)))
    numbers = Reading((keys,), (Measure("count", 0, column="watts"),))
    assert counts(path, Unit.row(), numbers) == [2, 0]
    owned = Reading((keys,), (Measure("count", 0),))
    assert counts(path, Unit("watts"), owned) == [2, 0]


SPELLINGS = Keys(("room",), (("lab",), ("Lab",), ("LAB",)))
ONE_EACH = Reading((SPELLINGS,), (Measure("count"), Measure("distinct", 0, column="person")))
ANYWHERE = Reading((Keys((), ((),)),), (Measure("count"),), bound=Bound(1))
IN_LAB = Reading((Keys((), ((),)),), (Measure("count", 0, Compare("room", "=", "lab")),))


def in_collated_duckdb(folder: Path) -> list[str]:
    path = folder / "collated.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (room VARCHAR COLLATE NOCASE, person VARCHAR COLLATE NOACCENT.NOCASE)")
        connection.execute("INSERT INTO t VALUES ('lab', 'ann'), ('Lab', 'Ann'), ('LAB', '\u00c4nn')")
        connection.execute("CREATE VIEW v AS SELECT * FROM t")
    return [f"{path}#t", f"{path}#v"]


def in_collated_ibis(backend: Any) -> list[Any]:
    backend.con.execute("CREATE TABLE t (room VARCHAR COLLATE NOCASE, person VARCHAR COLLATE NOCASE)")
    backend.con.execute("INSERT INTO t VALUES ('lab', 'ann'), ('Lab', 'Ann'), ('LAB', '\u00c4nn')")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it calls what DuckDB has renamed
        return [backend.table("t")]


def in_collated_postgres(url: str) -> list[str]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE COLLATION alike (provider = icu, locale = 'und-u-ks-level1', deterministic = false)")
        connection.execute("CREATE TABLE alike (room text COLLATE alike, person text COLLATE alike)")
        connection.execute("INSERT INTO alike VALUES ('lab', 'ann'), ('Lab', 'Ann'), ('LAB', '\u00c4nn')")
    return [f"{url}#alike"]


@pytest.mark.parametrize("name", ["duckdb", "ibis", "postgres"])
def test_texts_are_compared_byte_by_byte_whatever_the_collation_of_their_column(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    made: dict[str, Any] = {
        "duckdb": lambda: in_collated_duckdb(tmp_path),
        "ibis": lambda: in_collated_ibis(request.getfixturevalue("ibis_backend")),
        "postgres": lambda: in_collated_postgres(request.getfixturevalue("server").new_database()),
    }
    for location in made[name]():

        def counts(unit: Unit, reading: Reading, location: Any = location) -> list[list[int]]:
            view = rows.read(Table(location, dataset="test", unit=unit), reading, SECRET)
            return [[int(value) for value in each] for each in view.values]

        assert counts(Unit.row(), ONE_EACH) == [[1, 1, 1], [1, 1, 1]]
        assert counts(Unit.row(), IN_LAB) == [[1]]
        assert counts(Unit("person"), ANYWHERE) == [[3]]
        numbered = Reading((Keys(("room",), ((5,),)),), (Measure("count"),))
        assert counts(Unit.row(), numbered) == [[0]]


def test_a_domain_over_a_domain_over_a_number_is_a_number(server: Any) -> None:
    url = server.new_database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE DOMAIN small AS integer")
        connection.execute("CREATE DOMAIN smaller AS small CHECK (value < 9)")
        connection.execute("CREATE TABLE t (floor smaller)")
        connection.execute("INSERT INTO t VALUES (2), (3)")
    total = Reading((Keys((), ((),)),), (Measure("sum", 0, column="floor", grid=Grid(0, 8, 1)),))
    view = rows.read(Table(f"{url}#t", dataset="test", unit=Unit.row()), total, SECRET)
    assert [int(value) for value in view.values[0]] == [5]
