from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import psycopg
import pyarrow
import pytest

from louver.errors import DataError, LouverError, ParameterError
from louver.source.domain import Domain
from louver.source.domain_reading import columns_of
from louver.source.measures import MOST_KEYS
from tests.ledger.server import Server

ROOMS = Domain({"room": ["hall", "lab"], "capacity": [180, 24], "share": [Fraction(4, 5), None]}, keys=["room"])
ROWS = [{"room": "hall", "capacity": 180, "share": 0.8}, {"room": "lab", "capacity": 24, "share": None}]
FRAMES: dict[str, Callable[[], object]] = {
    "rows": lambda: ROWS,
    "columns": lambda: {name: [row[name] for row in ROWS] for name in ROWS[0]},
    "pandas": lambda: pandas.DataFrame(ROWS),
    "polars": lambda: polars.DataFrame(ROWS),
    "lazy polars": lambda: polars.DataFrame(ROWS).lazy(),
    "arrow": lambda: pyarrow.Table.from_pylist(ROWS),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_and_rows_make_the_same_domain(kind: str) -> None:
    assert Domain.of(FRAMES[kind]()) == ROOMS
    assert Domain.of(FRAMES[kind](), keys=["capacity", "room"]).key(0) == (180, "hall")


def test_a_table_of_another_library_is_read_through_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    class Expression:
        def to_pyarrow(self) -> pyarrow.Table:
            return pyarrow.Table.from_pylist(ROWS)

    monkeypatch.setattr(Expression, "__module__", "ibis.expr.types")
    assert Domain.of(Expression()) == ROOMS


def test_a_spark_frame_is_collected_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    class Frame:
        columns = ("room", "capacity", "share")

        def limit(self, most: int) -> Frame:
            assert most == MOST_KEYS + 1
            return self

        def collect(self) -> list[tuple[object, ...]]:
            return [tuple(row.values()) for row in ROWS]

    monkeypatch.setattr(Frame, "__module__", "pyspark.sql.classic.dataframe")
    assert Domain.of(Frame()) == ROOMS


def test_missing_values_of_a_frame_are_missing() -> None:
    times = pandas.to_datetime(["2014-01-01", None])
    frame = pandas.DataFrame({"k": ["a", "b"], "n": pandas.array([1, None], "Int64"), "at": times, "t": ["x", None]})
    domain = Domain.of(frame)
    assert [domain.column(name) for name in ("n", "at", "t")] == [
        (1, None),
        (datetime(2014, 1, 1, tzinfo=UTC), None),
        ("x", None),
    ]


@pytest.mark.parametrize(
    ("keys", "said"),
    [([1.0, 2.0], "must be whole"), ([1.0, None], "Every key needs a value"), (["a", None], "Every key needs a value")],
)
def test_keys_of_a_frame_that_cannot_be_used_are_refused(keys: list[object], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Domain.of(pandas.DataFrame({"k": keys}))


def test_a_frame_with_a_column_named_twice_is_refused() -> None:
    with pytest.raises(ParameterError, match="Two columns are called 'a'"):
        Domain.of(pandas.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(ParameterError, match="Two columns are called 'a'"):
        Domain.of(pyarrow.Table.from_arrays([pyarrow.array([1]), pyarrow.array([2])], names=["a", "a"]))


def test_times_finer_than_a_microsecond_are_refused() -> None:
    with pytest.raises(ParameterError, match="a time to the microsecond for each key, unlike for key number 1"):
        Domain.of(pandas.DataFrame({"at": [pandas.Timestamp("2014-01-01T00:00:00.000000001")]}))


@pytest.mark.parametrize("given", [None, 3, "rooms", ["a"], [["a"]], [], {}, pandas.Series([1]), object()])
def test_what_is_no_table_is_refused(given: object) -> None:
    with pytest.raises(LouverError):
        Domain.of(given)


def test_no_library_is_needed_for_plain_rows() -> None:
    assert columns_of([{"a": 1}, {"b": 2}]) == {"a": [1, None], "b": [None, 2]}


def csv_file(folder: Path, text: str) -> Path:
    path = folder / "rooms.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_csv_column_is_what_all_its_values_are(tmp_path: Path) -> None:
    text = "room,floor,area,opened,label,code\n1.02,3,10.5,2014-01-31,x,007\n1.03,-4,7,2015-02-28,,12\n"
    domain = Domain.read(csv_file(tmp_path, text))
    assert domain.key(0) == ("1.02",)
    assert domain.column("floor") == (3, -4)
    assert domain.column("area") == (Fraction(21, 2), 7)
    assert domain.column("opened") == (date(2014, 1, 31), date(2015, 2, 28))
    assert domain.column("label") == ("x", None)
    assert domain.column("code") == (7, 12)


@pytest.mark.parametrize(
    ("written", "keys"),
    [
        (["7", "12"], (7, 12)),
        (["007", "12"], ("007", "12")),
        (["1.5", "2"], ("1.5", "2")),
        (["7", "x"], ("7", "x")),
        (["2014-01-31", "2014-02-01"], (date(2014, 1, 31), date(2014, 2, 1))),
        (["2014-01-31", "2014-02-30"], ("2014-01-31", "2014-02-30")),
        (["9" * 19, "1"], ("9" * 19, "1")),
        (["+7", "8"], ("+7", "8")),
    ],
)
def test_keys_of_a_csv_file_are_names_unless_all_are_whole_numbers_or_days(
    tmp_path: Path, written: list[str], keys: tuple[object, ...]
) -> None:
    assert Domain.read(csv_file(tmp_path, "\n".join(["k", *written]))).column("k") == keys


def test_a_csv_file_may_quote_and_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    domain = Domain.read(csv_file(tmp_path, '\ufeffroom,limit\r\n"Lab, east",5\r\n\r\n"a ""b""",6\r\n'))
    assert domain == Domain({"room": ["Lab, east", 'a "b"'], "limit": [5, 6]}, keys=["room"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names of its columns"),
        ("room,limit\n", "The domain is empty"),
        ("room,limit\na,1\na,2\n", "room = a comes twice"),
        ("room,limit\n,1\n", "Every key needs a value"),
        ("room,limit\n1,1\n,2\n", "Every key needs a value"),
        ("room,limit\na,1\nb\n", "line 3 has 1 values and the first line names 2 columns"),
        ("room,room\na,1\n", "Two columns are called 'room'"),
        ('room,limit\n"a,1\n', "cannot be read as a CSV file near line 2"),
        ("room\n" + "x" * 1025, "at most 1024 characters"),
        ("room\n" + "x" * 200_000, "cannot be read as a CSV file near line 2"),
    ],
)
def test_a_csv_file_that_is_no_domain_is_refused_with_its_name(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DataError, match=said) as refusal:
        Domain.read(csv_file(tmp_path, text))
    assert "rooms.csv" in str(refusal.value)
    assert str(refusal.value).endswith(".")


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rooms.csv").write_bytes("room\nCafé\n".encode("latin-1"))
    with pytest.raises(DataError, match="not written in UTF-8"):
        Domain.read(tmp_path / "rooms.csv")


def test_json_holds_a_list_of_objects_and_exact_numbers(tmp_path: Path) -> None:
    path = tmp_path / "rooms.json"
    path.write_text('[{"room": "hall", "capacity": 180, "share": 0.8}, {"room": "lab", "capacity": 24, "share": null}]')
    assert Domain.read(path) == ROOMS


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "3", '["a"]', "[" * 100_000, '{"room": "ab"}', '[{"room": {}}]', '[{"n": 1e999999999}]']
)
def test_json_that_is_no_domain_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "rooms.json").write_text(text)
    with pytest.raises(DataError, match=r"rooms\.json.*\.$"):
        Domain.read(tmp_path / "rooms.json")


SELECTED = "SELECT * FROM (VALUES ('hall', 180, 0.8), ('lab', 24, NULL)) AS rooms(room, capacity, share)"


def test_parquet_files_and_duckdb_tables_are_read(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "plant.duckdb")) as engine:
        engine.execute(f"COPY ({SELECTED}) TO '{tmp_path}/rooms.parquet' (FORMAT parquet)")
        engine.execute(f"CREATE TABLE rooms AS {SELECTED}")
        engine.execute("CREATE SCHEMA public_lists")
        engine.execute(f'CREATE TABLE public_lists."all rooms" AS {SELECTED}')
    assert Domain.read(tmp_path / "rooms.parquet") == ROOMS
    assert Domain.read(f"{tmp_path}/plant.duckdb#rooms") == ROOMS
    assert Domain.read(f"{tmp_path}/plant.duckdb#public_lists.all rooms", keys=["room"]) == ROOMS


def test_types_of_a_database_become_plain_values(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "plant.duckdb")) as engine:
        engine.execute(
            "CREATE TABLE t AS SELECT 1::HUGEINT AS k, DATE '2014-01-31' AS d, TIMESTAMP '2014-01-31 09:00' AS t, "
            "TIMESTAMPTZ '2014-01-31 09:00+01' AS z, 1.25::DECIMAL(9, 2) AS n, 0.5::DOUBLE AS f, true AS b"
        )
    domain = Domain.read(f"{tmp_path}/plant.duckdb#t")
    assert [domain.column(name)[0] for name in domain.columns] == [
        1,
        date(2014, 1, 31),
        datetime(2014, 1, 31, 9, tzinfo=UTC),
        datetime(2014, 1, 31, 8, tzinfo=UTC),
        Fraction(5, 4),
        Fraction(1, 2),
        True,
    ]


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("rooms.csv", "There is no file"),
        ("plant.duckdb#rooms", "There is no file"),
        ("broken.duckdb#rooms", "cannot be read"),
        ("broken.parquet", "cannot be read"),
        ("empty.duckdb#rooms", "There is no table"),
        ('empty.duckdb#rooms"; DROP TABLE x; --', "There is no table"),
    ],
)
def test_a_place_that_holds_nothing_is_refused(tmp_path: Path, place: str, said: str) -> None:
    for broken in ("broken.duckdb", "broken.parquet"):
        (tmp_path / broken).write_text("nothing")
    duckdb.connect(str(tmp_path / "empty.duckdb")).close()
    with pytest.raises(DataError, match=said) as refusal:
        Domain.read(f"{tmp_path}/{place}")
    assert str(refusal.value).endswith(".")


@pytest.mark.parametrize("place", ["", "rooms", "rooms.xlsx", 3, None, b"rooms.csv", "a\0.csv", "plant.duckdb", "#x"])
def test_a_domain_is_read_from_known_places_only(place: Any) -> None:
    with pytest.raises(ParameterError, match="A domain is read from"):
        Domain.read(place)


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    server = Server()
    try:
        yield server.new_database()
    finally:
        server.remove()


def test_a_table_of_postgresql_is_read_in_a_steady_order(database: str) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("CREATE TABLE rooms (room text, capacity int, share numeric)")
        connection.execute("INSERT INTO rooms VALUES ('lab', 24, NULL), ('hall', 180, 0.8)")
    assert Domain.read(f"{database}#rooms") == ROOMS


def test_a_server_that_does_not_have_the_table_is_named_without_its_address(database: str) -> None:
    with pytest.raises(DataError, match="has no table 'nothing'") as refusal:
        Domain.read(f"{database}#nothing")
    assert "://" not in str(refusal.value)
    with pytest.raises(DataError, match="cannot be read from its database") as refusal:
        Domain.read("postgresql://ada:secret@localhost:1/none#rooms")
    assert "secret" not in str(refusal.value)
    with pytest.raises(ParameterError, match="named by its table"):
        Domain.read("postgresql://ada:secret@localhost:1/none")


def test_decimals_of_rows_are_exact() -> None:
    assert Domain.of([{"k": "a", "limit": Decimal("0.3")}]).numbers("limit") == (Fraction(3, 10),)
