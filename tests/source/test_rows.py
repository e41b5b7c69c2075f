"""The raw-row reader: what it counts, how it bounds, and what it never says."""

from __future__ import annotations

import csv
import errno
import random
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from louver.errors import DataError
from louver.privacy import Between, Scope, Unit
from louver.source import Counts, Table, rows

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


def counted(path: Path, counts: Counts, unit: Unit | None = None, secret: bytes = SECRET) -> list[int]:
    return [int(count) for count in rows.read(table(path, unit), counts, secret).counts]


@pytest.fixture(params=[".csv", ".parquet"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"rows{request.param}"


def test_rows_are_counted_by_key_in_the_order_of_the_keys(path: Path) -> None:
    written(path, "device,room", [("a", "hall"), ("b", "lab"), ("c", "hall"), ("d", "elsewhere"), ("e", "")])
    assert counted(path, Counts("room", ["lab", "attic", "hall"])) == [1, 0, 2]


def test_texts_are_compared_character_by_character(path: Path) -> None:
    written(path, "room", [("hall",), ("Hall",), ("hall ",), ("h\u00e4ll",), ("ha\u0308ll",), ('it\'s "x"',)])
    keys = ["hall", "Hall", "hall ", "h\u00e4ll", "ha\u0308ll", 'it\'s "x"', "'; DROP TABLE t; --"]
    assert counted(path, Counts("room", keys)) == [1, 1, 1, 1, 1, 1, 0]


@pytest.mark.parametrize(
    ("within", "expected"),
    [
        ({"n": Between(0, None)}, 2),
        ({"n": Between(None, 0)}, 1),
        ({"n": Between(-3, 6)}, 2),
        ({"n": {5, 7, 16, 1000}}, 2),
        ({"n": {"5.7"}}, 1),
        ({"at": Between(datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, 10, tzinfo=UTC))}, 1),
        ({"at": Between(datetime(2024, 1, 1, 10, tzinfo=UTC), None)}, 2),
        ({"at": Between(None, datetime(2024, 1, 2, tzinfo=UTC))}, 3),
        ({"guest": True}, 1),
        ({"guest": False}, 1),
        ({"guest": "yes?"}, 1),
        ({"n": Between(0, None), "guest": True}, 1),
    ],
)
def test_a_scope_keeps_the_rows_whose_values_are_in_it(path: Path, within: dict[str, object], expected: int) -> None:
    listed = [
        ("hall", "5", "2024-01-01", "true"),
        ("hall", "5.7", "2024-01-01 10:00", "yes?"),
        ("hall", "-3", "2024-01-02T01:00:00+02:00", "false"),
        ("hall", "7", "never", ""),
        ("hall", "1e3", "", ""),
        ("hall", "0x10", "", ""),
        ("hall", "", "", ""),
        ("hall", "9" * 60, "", ""),
    ]
    written(path, "room,n,at,guest", listed)
    assert counted(path, Counts("room", ["hall"], Scope(within))) == [expected]  # type: ignore[arg-type]


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
        within = Scope({"key": "k"}) if name != "key" else Scope({"unit0": "u"})
        assert counted(path, Counts(name, [value, "other"], within), Unit("unit0", 'x"y')) == [1, 0]


def many_rows(dice: random.Random, size: int) -> list[Row]:
    people, rooms = ["ann", "bob", "cid", ""], ["hall", "lab", "den", ""]
    return [(dice.choice(people), dice.choice("12"), dice.choice(rooms)) for _ in range(size)]


@pytest.mark.parametrize("bound", [1, 2, 5])
@pytest.mark.parametrize("unit", [Unit("person"), Unit("person", "day"), Unit("person", "room")])
def test_what_a_unit_contributes_depends_on_its_own_rows_only(tmp_path: Path, unit: Unit, bound: int) -> None:
    """The counts of all rows are the sums of the counts of each unit alone, and each unit counts at most its bound."""
    dice = random.Random(bound)
    header, asked = "person,day,room", Counts("room", ["hall", "lab", "den"], rows_per_unit=bound)
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
    asked, seen = Counts("room", ["hall", "lab", "den"], rows_per_unit=2), set()
    for _ in range(4):
        dice.shuffle(listed)
        path.unlink(missing_ok=True)
        seen.add(tuple(counted(written(path, "person,day,room", listed), asked, Unit("person"))))
    assert len(seen) == 1


def test_the_secret_decides_which_rows_count(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.csv", "person,room", [("ann", "hall"), ("ann", "lab")])
    asked = Counts("room", ["hall", "lab"])
    # All alike by chance: 2 of 2^32.
    found = Counter(tuple(counted(path, asked, Unit("person"), bytes([number]) * 32)) for number in range(32))
    assert set(found) == {(1, 0), (0, 1)}


def test_only_rows_that_are_asked_about_use_up_the_bound(path: Path) -> None:
    written(path, "person,room", [("ann", "street")] * 50 + [("ann", "hall")])
    assert counted(path, Counts("room", ["hall"]), Unit("person")) == [1]


def test_rows_that_belong_to_no_one_are_left_out(path: Path) -> None:
    written(path, "person,room", [("", "hall"), ("ann", "hall"), ("", "hall")])
    assert counted(path, Counts("room", ["hall"], rows_per_unit=9), Unit("person")) == [1]


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
    assert counted(path, Counts("room", ["hall"])) == [2]


def test_a_file_may_begin_with_a_mark_and_end_its_lines_either_way(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("\ufeffroom,device\r\nhall,a\r\nhall,b".encode())
    assert counted(path, Counts("room", ["hall"]), Unit("device", "room")) == [2]


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
        lambda: rows.check(table(path), Counts("room", ["a"])),
        lambda: counted(path, Counts("room", ["a"])),
    ):
        with pytest.raises(DataError, match=said) as caught:
            attempt()
        assert "secret" not in str(caught.value).replace(str(path), "")
        assert str(caught.value).endswith(".")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match="There is no file"):
        rows.check(table(tmp_path / "folder.csv"), Counts("room", ["a"]))


def test_a_file_that_may_not_be_read_gets_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    path = written(tmp_path / "rows.csv", "room", [("hall",)])
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError, match="cannot be read: Permission denied"):
        rows.check(table(path), Counts("room", ["hall"]))


def test_rows_that_do_not_fit_in_memory_get_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise duckdb.OutOfMemoryException("could not allocate block for 'secret'")

    path = written(tmp_path / "rows.csv", "room", [("hall",)])
    monkeypatch.setattr(rows, "_query", refuse)
    with pytest.raises(DataError, match="more memory to be read than there is") as caught:
        counted(path, Counts("room", ["hall"]))
    assert "secret" not in str(caught.value)


def test_the_columns_of_unit_and_scope_must_be_there(path: Path) -> None:
    written(path, "room", [("hall",)])
    with pytest.raises(DataError, match="no column 'person'"):
        rows.check(table(path, Unit("person")), Counts("room", ["hall"]))
    with pytest.raises(DataError, match="no column 'hour'"):
        rows.check(table(path), Counts("room", ["hall"], Scope({"hour": 9})))


def test_a_folder_named_like_a_value_adds_no_column(path: Path) -> None:
    folder = path.parent / "day=1"
    folder.mkdir()
    with pytest.raises(DataError, match="no column 'day'"):
        rows.check(table(written(folder / path.name, "room", [("a",)])), Counts("day", ["1"]))


def test_a_damaged_parquet_file_shows_none_of_its_values(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.parquet", "room", [(f"secret {number}",) for number in range(1000)])
    content = bytearray(path.read_bytes())
    for place in range(40, len(content) // 2):
        content[place] ^= 0x5A
    path.write_bytes(content)
    rows.check(table(path), Counts("room", ["secret 1"]))
    with pytest.raises(DataError) as caught:
        counted(path, Counts("room", ["secret 1"]))
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
    with pytest.raises(DataError, match="cannot be read as a CSV"), rows._engine(table(path)) as engine:
        engine.execute(attempt.format(other=other)).fetchall()
    assert pandas_like == [1]


def test_nothing_is_left_beside_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    written(path, "person,room", [(str(number), "hall") for number in range(5000)])
    counted(path, Counts("room", ["hall"], rows_per_unit=2), Unit("person"))
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
        assert counted(path, Counts("room", ["hall", "lab", 'a "b", c'])) == [50, 1, 1]
