"""The raw-row reader: what it counts, how it bounds, and what it never says."""

from __future__ import annotations

import csv
import errno
import random
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne
from pathlib import Path

import duckdb
import pytest

from louver.errors import DataError, ParameterError
from louver.noise.grid import Grid
from louver.privacy import Unit
from louver.source import Bound, Keys, Measure, Reading, Table, rows
from louver.source.engines import duckdb as engine_of_files
from louver.source.filters import EVERY_ROW, SIGNS, Both, Compare, Filter, Not, OneOf, scope
from louver.source.locations import File

SECRET = bytes(range(32))
Row = tuple[str, ...]


def table(path: Path, unit: Unit | None = None) -> Table:
    return Table(path, dataset="test", unit=unit or Unit.row())


def written(path: Path, header: str, listed: Sequence[Row]) -> Path:
    """The rows in a CSV file, or in a Parquet file of texts."""
    names = header.split(",")
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([names, *listed])
        return path
    texts = ", ".join(f'CAST(? AS VARCHAR) AS "{name}"' for name in names)
    with duckdb.connect() as engine:
        engine.execute(f"CREATE TABLE t AS SELECT {texts} LIMIT 0", [""] * len(names))
        values = ", ".join("?" * len(names))
        engine.executemany(f"INSERT INTO t VALUES ({values})", [[value or None for value in row] for row in listed])
        engine.execute(f"COPY t TO '{path}' (FORMAT parquet)")
    return path


def counts(by: str, keys: Sequence[str], where: Filter = EVERY_ROW, bound: Bound | None = None) -> Reading:
    """Rows counted by the keys of one column."""
    return Reading((Keys((by,), tuple((key,) for key in keys)),), (Measure("count"),), where, bound)


def counted(path: Path, reading: Reading, unit: Unit | None = None, secret: bytes = SECRET) -> list[int]:
    return [int(count) for count in rows.read(table(path, unit), reading, secret).values[0]]


@pytest.fixture(params=[".csv", ".parquet"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"rows{request.param}"


def test_rows_are_counted_by_key_in_the_order_of_the_keys(path: Path) -> None:
    written(path, "device,room", [("a", "hall"), ("b", "lab"), ("c", "hall"), ("d", "elsewhere"), ("e", "")])
    assert counted(path, counts("room", ["lab", "attic", "hall"])) == [1, 0, 2]


def test_texts_are_compared_character_by_character(path: Path) -> None:
    written(path, "room", [("hall",), ("Hall",), ("hall ",), ("h\u00e4ll",), ("ha\u0308ll",), ('it\'s "x"',)])
    keys = ["hall", "Hall", "hall ", "h\u00e4ll", "ha\u0308ll", 'it\'s "x"', "'; DROP TABLE t; --"]
    assert counted(path, counts("room", keys)) == [1, 1, 1, 1, 1, 1, 0]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Compare("n", ">=", 0), 3),
        (Compare("n", "<", 0), 1),
        (Both((Compare("n", ">=", -3), Compare("n", "<", 6))), 3),
        (OneOf("n", (5, 7, 16, 1000)), 2),
        (OneOf("n", (Fraction(57, 10),)), 1),
        (OneOf("n", ("5.7",)), 1),
        (Compare("at", "<", datetime(2024, 1, 1, 10, tzinfo=UTC)), 1),
        (Compare("at", ">=", datetime(2024, 1, 1, 10, tzinfo=UTC)), 2),
        (Compare("at", "=", date(2024, 1, 1)), 1),
        (Compare("at", ">", date(2024, 1, 1)), 2),
        (Compare("day(at)", "=", date(2024, 1, 1)), 3),
        (Compare("hour(at)", "=", 23), 1),
        (Compare("guest", "=", True), 1),
        (Compare("guest", "=", False), 1),
        (Compare("guest", "<>", True), 1),
        (Compare("guest", "=", "yes?"), 1),
        (Both((Compare("n", ">=", 0), Compare("guest", "=", True))), 1),
    ],
)
def test_a_filter_keeps_the_rows_whose_texts_are_what_it_asks_for(path: Path, where: Filter, expected: int) -> None:
    listed = [
        ("hall", "5", "2024-01-01", "true"),
        ("hall", "5.7", "2024-01-01 10:00", "yes?"),
        ("hall", "-3", "2024-01-02T01:00:00+02:00", "false"),
        ("hall", "7", "never", ""),
        ("hall", "1e3", "", ""),
        ("hall", "0x10", "", ""),
        ("hall", "", "", ""),
        ("hall", "9" * 65, "", ""),
        ("hall", " 5", "", ""),
    ]
    written(path, "room,n,at,guest", listed)
    assert counted(path, counts("room", ["hall"], where)) == [expected]


MIDNIGHT = date(2024, 1, 2)
AROUND_MIDNIGHT = [
    "2024-01-01 09:00:00",
    "2024-01-01 23:59:59.999999",
    "2024-01-02 00:00:00",
    "2024-01-02 00:00:00.000001",
    "2024-01-02 09:00:00",
    "2024-01-03 00:00:00",
]


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMPTZ", "VARCHAR", "DATE"])
def test_a_day_is_compared_with_a_time_as_its_midnight_as_in_sql(kind: str, sign: str, tmp_path: Path) -> None:
    """DuckDB's own answer; texts that are times are compared as times."""
    path, typed = tmp_path / "rows.parquet", "TIMESTAMP" if kind == "VARCHAR" else kind
    listed = ", ".join(f"('{at}'::{kind})" for at in AROUND_MIDNIGHT)
    with duckdb.connect() as engine:
        engine.execute(
            f"SET TimeZone = 'UTC'; CREATE TABLE t AS SELECT 'hall' AS room, seen FROM (VALUES {listed}) v(seen)"
        )
        engine.execute(f"COPY t TO '{path}' (FORMAT parquet)")
        found = engine.execute(f"SELECT count(*) FROM t WHERE seen::{typed} {sign} DATE '{MIDNIGHT}'").fetchall()
    where = Compare("seen", sign, MIDNIGHT)
    assert counted(path, counts("room", ["hall"], where)) == [found[0][0]]
    assert counted(path, counts("room", ["hall"], Not(where))) == [len(AROUND_MIDNIGHT) - found[0][0]]


@pytest.mark.parametrize("sign", SIGNS)
def test_the_scope_of_a_day_holds_every_time_that_passes(sign: str) -> None:
    box = scope(Compare("at", sign, MIDNIGHT))
    midnight = datetime(2024, 1, 2)  # noqa: DTZ001
    passes = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}[sign]
    for text in AROUND_MIDNIGHT:
        at = datetime.fromisoformat(text)
        point = scope(Compare("at", "=", at))
        assert box is not None
        assert point is not None
        if passes(at, midnight):
            assert box.intersection(point) == point


def test_columns_may_have_any_name(path: Path) -> None:
    names = 'key,unit0,a b,x"y,{0},c0,stored'
    listed = [("k", "u", "1", "2", "3", "4", "5")]
    if path.suffix == ".csv":
        written(path, names, listed)
    else:
        with duckdb.connect() as engine:
            pairs = zip(names.split(","), listed[0], strict=True)
            quoted = ["'{}' AS \"{}\"".format(value, name.replace('"', '""')) for name, value in pairs]
            engine.execute(f"COPY (SELECT {', '.join(quoted)}) TO '{path}' (FORMAT parquet)")
    for name, value in zip(names.split(","), listed[0], strict=True):
        where = Compare("key", "=", "k") if name != "key" else Compare("unit0", "=", "u")
        asked = counts(name, [value, "other"], where, Bound(1))
        assert counted(path, asked, Unit("unit0", 'x"y')) == [1, 0]


def many_rows(dice: random.Random, size: int) -> list[Row]:
    people, rooms = ["ann", "bob", "cid", ""], ["hall", "lab", "den", ""]
    return [(dice.choice(people), dice.choice("12"), dice.choice(rooms)) for _ in range(size)]


@pytest.mark.parametrize("bound", [1, 2, 5])
@pytest.mark.parametrize("unit", [Unit("person"), Unit("person", "day"), Unit("person", "room")])
def test_what_a_unit_contributes_depends_on_its_own_rows_only(tmp_path: Path, unit: Unit, bound: int) -> None:
    """The counts of all rows are the sums of the counts of each unit alone, and each unit counts at most its bound."""
    dice = random.Random(bound)
    header, asked = "person,day,room", counts("room", ["hall", "lab", "den"], bound=Bound(bound))
    places = [header.split(",").index(column) for column in unit.columns]
    for size in (0, 1, 7, 40):
        listed = many_rows(dice, size)
        by_unit: dict[Row, list[Row]] = {}
        for row in listed:
            by_unit.setdefault(tuple(row[place] for place in places), []).append(row)
        total = [0, 0, 0]
        for values, own in by_unit.items():
            alone = counted(written(tmp_path / "one.csv", header, own), asked, unit)
            seen = sum(row[2] != "" for row in own) if all(values) else 0
            assert sum(alone) == min(bound, seen)
            total = [ours + theirs for ours, theirs in zip(total, alone, strict=True)]
        assert counted(written(tmp_path / "all.csv", header, listed), asked, unit) == total


def test_the_order_of_the_rows_does_not_matter(path: Path) -> None:
    dice = random.Random(4)
    listed = many_rows(dice, 60)
    asked, seen = counts("room", ["hall", "lab", "den"], bound=Bound(2)), set()
    for _ in range(4):
        dice.shuffle(listed)
        path.unlink(missing_ok=True)
        seen.add(tuple(counted(written(path, "person,day,room", listed), asked, Unit("person"))))
    assert len(seen) == 1


def test_the_secret_decides_which_rows_count(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.csv", "person,room", [("ann", "hall"), ("ann", "lab")])
    asked = counts("room", ["hall", "lab"], bound=Bound(1))
    # All alike by chance: 2 of 2^32.
    found = Counter(tuple(counted(path, asked, Unit("person"), bytes([number]) * 32)) for number in range(32))
    assert set(found) == {(1, 0), (0, 1)}


def test_only_rows_that_are_asked_about_use_up_the_bound(path: Path) -> None:
    written(path, "person,room", [("ann", "street")] * 50 + [("ann", "hall")])
    assert counted(path, counts("room", ["hall"], bound=Bound(1)), Unit("person")) == [1]


def test_rows_that_belong_to_no_one_are_left_out(path: Path) -> None:
    written(path, "person,room", [("", "hall"), ("ann", "hall"), ("", "hall")])
    assert counted(path, counts("room", ["hall"], bound=Bound(9)), Unit("person")) == [1]


@pytest.mark.parametrize(
    "odd",
    [
        b"x\n",
        b"y,hall,z\n",
        b"\xe9,\xe9\n",
        b'a"b"c,hall"\n',
        b"\n\n",
        b"\0,hall\0\n",
        b"long," + b"z" * 3_000_000 + b"\n",
        b",,,,,,,\r\n",
        b'"never closed,hall\n',
    ],
)
def test_odd_rows_are_left_out_in_silence(tmp_path: Path, odd: bytes) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"device,room\na,hall\nb,hall\n" + odd)
    assert counted(path, counts("room", ["hall"])) == [2]


def test_a_file_may_begin_with_a_mark_and_end_its_lines_either_way(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("\ufeffroom,device\r\nhall,a\r\nhall,b".encode())
    assert counted(path, counts("room", ["hall"], bound=Bound(1)), Unit("device", "room")) == [2]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("rows.csv", None, "There is no file"),
        ("rows.csv", b"", "needs a first line"),
        ("rows.csv", b"\nroom\n", "needs a first line"),
        ("rows.csv", b"room;secret\n", "has no column 'room'"),
        ("rows.csv", b"room,room\n", "twice"),
        ("rows.csv", b'"room\nsecret\n', "has no column"),
        ("rows.csv", b"a" * 200_000, "cannot be read as a CSV file"),
        ("rows.parquet", b"", "cannot be read as a Parquet file"),
        ("rows.parquet", b"PAR1 secret PAR1", "cannot be read as a Parquet file"),
        ("ro[w]s.csv", b"room\n", "must not contain"),
    ],
)
def test_a_file_that_cannot_be_used_gets_one_sentence(
    tmp_path: Path, name: str, content: bytes | None, said: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    for attempt in (
        lambda: rows.check(table(path), counts("room", ["a"])),
        lambda: counted(path, counts("room", ["a"])),
    ):
        with pytest.raises(DataError, match=said) as caught:
            attempt()
        assert "secret" not in str(caught.value).replace(str(path), "")
        assert str(caught.value).endswith(".")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match="There is no file"):
        rows.check(table(tmp_path / "folder.csv"), counts("room", ["a"]))


def test_a_file_that_may_not_be_read_gets_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    path = written(tmp_path / "rows.csv", "room", [("hall",)])
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError, match="cannot be read: Permission denied"):
        rows.check(table(path), counts("room", ["hall"]))


def test_rows_that_do_not_fit_in_memory_get_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise duckdb.OutOfMemoryException("could not allocate block for 'secret'")

    path = written(tmp_path / "rows.csv", "room", [("hall",)])
    monkeypatch.setattr(engine_of_files.DuckDB, "run", refuse)
    with pytest.raises(DataError, match="more memory to be read than there is") as caught:
        counted(path, counts("room", ["hall"]))
    assert "secret" not in str(caught.value)


def test_the_columns_of_unit_and_scope_must_be_there(path: Path) -> None:
    written(path, "room", [("hall",)])
    with pytest.raises(DataError, match="no column 'person'"):
        rows.check(table(path, Unit("person")), counts("room", ["hall"]))
    with pytest.raises(DataError, match="no column 'hour'"):
        rows.check(table(path), counts("room", ["hall"], Compare("hour", "=", 9)))


def test_a_folder_named_like_a_value_adds_no_column(path: Path) -> None:
    folder = path.parent / "day=1"
    folder.mkdir()
    with pytest.raises(DataError, match="no column 'day'"):
        rows.check(table(written(folder / path.name, "room", [("a",)])), counts("day", ["1"]))


def test_a_damaged_parquet_file_shows_none_of_its_values(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.parquet", "room", [(f"secret {number}",) for number in range(1000)])
    content = bytearray(path.read_bytes())
    for place in range(40, len(content) // 2):
        content[place] ^= 0x5A
    path.write_bytes(content)
    rows.check(table(path), counts("room", ["secret 1"]))
    with pytest.raises(DataError) as caught:
        counted(path, counts("room", ["secret 1"]))
    assert str(caught.value) == f"{path} cannot be read as a Parquet file."


@pytest.mark.parametrize(
    "attempt",
    [
        "SELECT * FROM read_csv('{other}')",
        "COPY (SELECT 1) TO '{other}'",
        "ATTACH '{other}'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET allowed_paths = ['{other}']",
        "SET temp_directory = '{other}'",
        "SELECT * FROM pandas_like",
    ],
)
def test_the_engine_reads_one_file_and_nothing_else(tmp_path: Path, attempt: str) -> None:
    pandas_like = [1]
    other = tmp_path / "other.csv"
    other.write_text("room\nsecret\n")
    path = written(tmp_path / "rows.csv", "room", [("hall",)])
    location = table(path).location
    assert isinstance(location, File)
    with (
        pytest.raises(DataError, match=r"cannot be read as a CSV|no table"),
        engine_of_files.opened(location, [], rows=True) as engine,
    ):
        engine.connection.execute(attempt.format(other=other)).fetchall()
    assert pandas_like == [1]


def test_nothing_is_left_beside_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    written(path, "person,room", [(str(number), "hall") for number in range(5000)])
    counted(path, counts("room", ["hall"], bound=Bound(2)), Unit("person"))
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    "broken", ['1,"hall', '1,hall"', '"1,hall', '"', '1,"ha"ll', "1,ha\x1fll", "1,hall,2", "1", "\x00", "1,'hall"]
)
def test_a_broken_line_of_a_csv_file_spoils_no_other(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "rows.csv"
    others = [f"{number},hall" for number in range(50)]
    for place in (0, 25, 50):
        path.write_text(
            "\n".join(["device,room", *others[:place], broken, *others[place:], '7,"lab"', '8,"a ""b"", c"'])
        )
        assert counted(path, counts("room", ["hall", "lab", 'a "b", c'])) == [50, 1, 1]


def test_a_mistyped_column_is_named_with_the_one_that_was_meant(path: Path) -> None:
    written(path, "room,person", [("hall", "ann")])
    with pytest.raises(DataError, match=r"has no column 'rom' \(did you mean 'room'\?\)\.$"):
        rows.check(table(path, Unit("person")), counts("rom", ["hall"]))


def test_the_first_line_of_a_file_without_a_header_is_not_guessed_at(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("hall,annabel\nlab,bob\n")
    with pytest.raises(DataError) as refused:
        rows.check(table(path, Unit("anabel")), counts("room", ["hall"]))
    assert "annabel" not in str(refused.value)


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        (Measure("sum", column="room", grid=Grid(0, 1, 1)), "holds texts, so it has no values"),
        (Measure("beyond", column="day", sign=">", limits=(Fraction(1),)), "holds days, so it has no values"),
        (Measure("count", column="at"), "holds times, so it has no values"),
        (Measure("count", where=Compare("day", ">", 5)), "holds days, so it cannot be compared with a number"),
        (Measure("count", where=Compare("n", "=", True)), "holds whole numbers, so it cannot be compared with true"),
        (
            Measure("count", where=Compare("n", ">", "5")),
            "cannot be compared with a text by its order; write 5, without quotes",
        ),
        (
            Measure("count", where=Compare("x", "=", "5")),
            "numbers with fractions, so it cannot be compared with a text; write 5, without quotes",
        ),
        (Measure("count", where=Compare("n", "=", "5")), "whole numbers, so it cannot be compared with a text"),
        (Measure("count", where=Compare("day", "=", "2024-01-01")), "with a text; write DATE '2024-01-01'"),
        (Measure("count", where=OneOf("day", ("2024-01-01", "2024-01-02"))), "write DATE '2024-01-01'"),
        (Measure("count", where=Compare("at", ">=", "2024-01-01")), "order; write DATE '2024-01-01' for its first"),
        (Measure("count", where=Compare("n", "=", date(2024, 1, 1))), "cannot be compared with a day"),
        (Measure("count", where=Compare("hour(day)", "=", 5)), "holds days, which have no hours"),
        (Measure("count", where=Compare("day(n)", "=", date(2024, 1, 1))), "cannot be compared with a time, as day"),
        (Measure("count", where=Compare("x", "=", 2**53 + 1)), "beyond 2\\*\\*53 are not exact"),
        (Measure("count", where=Compare("room", "=", "a\0b")), "must not hold the character NUL"),
    ],
)
def test_a_column_of_another_type_is_refused_before_a_row_is_read(tmp_path: Path, measure: Measure, said: str) -> None:
    path = tmp_path / "rows.parquet"
    with duckdb.connect() as engine:
        columns = "'hall' AS room, 5 AS n, 1.5::DOUBLE AS x, DATE '2024-01-01' AS day, TIMESTAMP '2024-01-01' AS at"
        engine.execute(f"COPY (SELECT {columns}) TO '{path}' (FORMAT parquet)")
    with pytest.raises(ParameterError, match=said) as caught:
        rows.check(table(path), Reading((Keys((), ((),)),), (measure,)))
    assert str(caught.value).endswith(".")


def test_a_key_that_comes_twice_is_refused(path: Path) -> None:
    written(path, "room", [("hall",)])
    with pytest.raises(ParameterError, match="one comes twice"):
        rows.check(table(path), counts("room", ["hall", "hall"]))


def test_a_declared_column_is_made_of_a_time(path: Path) -> None:
    written(path, "room,time", [("hall", "2024-01-01 10:20"), ("hall", "2024-01-02 10:40"), ("hall", "never")])
    declared = Table(path, dataset="test", unit=Unit("day"), columns={"day": "day(time)"})
    asked = Reading(
        (
            Keys(
                ("slot(time, 30)",),
                ((datetime(2024, 1, 1, 10, tzinfo=UTC),), (datetime(2024, 1, 2, 10, 30, tzinfo=UTC),)),
            ),
        ),
        (Measure("count"),),
    )
    assert list(rows.read(declared, asked, SECRET).values[0]) == [1, 1]


def test_values_that_are_no_numbers_add_nothing(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    written(path, "watts", [(text,) for text in ("1.5", "2.5", "", "nan", "inf", "x", "1e2", "-3", "1000")])
    grid = Grid(-1, 100, Fraction(1, 2))
    asked = Reading((Keys((), ((),)),), (Measure("sum", column="watts", grid=grid), Measure("count", column="watts")))
    assert [int(each[0]) for each in rows.read(table(path), asked, SECRET).values] == [3 + 5 - 2 + 200, 4]
