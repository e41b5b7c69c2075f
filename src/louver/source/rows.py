"""The raw-row reader: the only code that touches private rows, and it gives back one bounded count per key.

One query filters, bounds what each unit contributes, and counts. The bound comes before the sum and looks at one
unit's own rows only: they are put in an order by a keyed hash, and the first ones count. So another unit's rows never
decide which rows of this unit count, and one unit changes the counts by at most `rows_per_unit` in all.

Nothing about a single row can stop the reading, for that would tell that it is there. Every value is taken as text,
and a text that is not what a scope asks for is in no range. Lines of a CSV file are read one by one, so that a broken
one spoils no other; those that do not fit the header are left out, and so are rows without a value in a column of the
unit, because they belong to no one. Times without a zone are in UTC. The engine is held to this one file: no network,
no extensions, nothing of the rows spilled to disk.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

import duckdb
import numpy as np

from louver.errors import DataError
from louver.privacy import Among, Scope
from louver.source.reading import Counts, View
from louver.source.table import Table

LONGEST_HEADER = 1 << 20
# Only a text of digits is a whole number: the engine would round 5.7, and read 1e3 and 0x10.
_WHOLE = "CASE WHEN regexp_full_match({0}, '[+-]?[0-9]{{1,39}}') THEN TRY_CAST({0} AS HUGEINT) END"
_KINDS = {bool: ("BOOLEAN", "TRY_CAST({0} AS BOOLEAN)"), int: ("HUGEINT", _WHOLE), str: ("VARCHAR", "{0}")}
_CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "autoload_known_extensions": False,
    "autoinstall_known_extensions": False,
    "temp_directory": "",
}
# Each line of a CSV file is read by itself and as text, so that no row decides how others are read: a quote that is not
# closed ends with its line. A line that is not made of just as many values as the header is left out.
_CSV = """(SELECT {columns} FROM (
    SELECT line, CASE WHEN contains(line, '"') THEN regexp_extract_all(',' || line, ',("(?:[^"]|"")*"|[^",]*)', 1)
        ELSE string_split(line, ',') END AS fields
    FROM (SELECT rtrim(line, chr(13)) AS line FROM read_csv(?, columns = {{'line': 'VARCHAR'}}, auto_detect = false,
        header = true, delim = '\x1f', quote = '', escape = '', nullstr = '', compression = 'none',
        hive_partitioning = false, ignore_errors = true, strict_mode = false)))
    WHERE len(fields) = {count} AND array_to_string(fields, ',') = line)"""
_TIME = ("TIMESTAMPTZ", "TRY_CAST({0} AS TIMESTAMPTZ)")


def check(table: Table, counts: Counts) -> None:
    """Whether the file is there and has the columns. Looks at the header or the schema, never at rows."""
    with _engine(table) as engine:
        _columns(engine, table, counts)


def read(table: Table, counts: Counts, secret: bytes) -> View:
    """The counts of this table, in the order of the keys; the secret decides which rows of a unit count."""
    with _engine(table) as engine:
        columns = _columns(engine, table, counts)
        sql, values = _query(table, counts, columns, secret)
        found = dict(engine.execute(sql, values).fetchall())
    return View(np.array([found.get(key, 0) for key in counts.keys], dtype=np.int64))


def _query(table: Table, counts: Counts, columns: dict[str, str], secret: bytes) -> tuple[str, list[object]]:
    text = {name: f"CAST({column} AS VARCHAR)" for name, column in columns.items()}
    units = [f"unit{number}" for number in range(len(table.unit.columns))]
    chosen = [f"{text[counts.by]} AS key"]
    chosen += [f"{text[name]} AS {unit}" for name, unit in zip(table.unit.columns, units, strict=True)]
    conditions, values = _conditions(counts.within, text)
    source, file = _source(table)
    known = " AND ".join(["key IN (SELECT unnest(?::VARCHAR[]))", *(f"{unit} IS NOT NULL" for unit in units)])
    sql = (
        f"WITH chosen AS (SELECT {', '.join(chosen)} FROM {source} AS stored WHERE {conditions}), "  # noqa: S608 no value is pasted
        f"counted AS (SELECT * FROM chosen WHERE {known})"
    )
    values = [file, *values, list(counts.keys)]
    if not units:
        return f"{sql} SELECT key, count(*) FROM counted GROUP BY key", values  # noqa: S608
    # Rows of one unit and key are alike here, so that numbering them in any order gives the same counts.
    unit = ", ".join(units)
    sql += (
        f", numbered AS (SELECT *, row_number() OVER (PARTITION BY {unit}, key) AS turn FROM counted), "  # noqa: S608
        "ordered AS (SELECT key, row_number() OVER "
        f"(PARTITION BY {unit} ORDER BY sha256(concat_ws(chr(0), ?, {unit}, key, turn))) AS place FROM numbered) "
        "SELECT key, count(*) FROM ordered WHERE place <= ? GROUP BY key"
    )
    return sql, [*values, secret.hex(), counts.rows_per_unit]


def _conditions(scope: Scope, text: dict[str, str]) -> tuple[str, list[object]]:
    conditions, values = ["true"], list[object]()
    for column, kept in scope.ranges:
        if isinstance(kept, Among):
            listed = sorted(kept.values)
            kind, value = _KINDS[type(listed[0])]
            conditions.append(f"{value.format(text[column])} IN (SELECT unnest(?::VARCHAR[])::{kind})")
            values.append([str(category) for category in listed])
            continue
        for sign, edge in ((">=", kept.start), ("<", kept.end)):
            if edge is not None:
                kind, value = _TIME if isinstance(edge, datetime) else _KINDS[int]
                conditions.append(f"{value.format(text[column])} {sign} ?::{kind}")
                values.append(str(edge))
    return " AND ".join(conditions), values


def _source(table: Table) -> tuple[str, str]:
    """The table function with `?` for the file, and the file."""
    file = _file(table)
    if table.path.suffix.lower() == ".parquet":
        return "read_parquet(?, hive_partitioning = false)", file
    count = len(_header(table))
    return _CSV.format(columns=", ".join(_value(number) for number in range(count)), count=count), file


def _value(number: int) -> str:
    """One value of a line, without its quotes; an empty one is missing."""
    field = f"fields[{number + 1}]"
    bare = f"CASE WHEN starts_with({field}, '\"') THEN replace({field}[2:-2], '\"\"', '\"') ELSE {field} END"
    return f"nullif({bare}, '') AS c{number}"


def _columns(engine: duckdb.DuckDBPyConnection, table: Table, counts: Counts) -> dict[str, str]:
    """The needed columns by name, as SQL names them."""
    if table.path.suffix.lower() == ".parquet":
        described = engine.execute("DESCRIBE SELECT * FROM read_parquet(?, hive_partitioning = false)", [_file(table)])
        found = {name: 'stored."' + name.replace('"', '""') + '"' for name, *_ in described.fetchall()}
    else:
        found = {name: f"stored.c{number}" for number, name in enumerate(_header(table))}
    needed = dict.fromkeys([*counts.columns(), *table.unit.columns])
    missing = [name for name in needed if name not in found]
    if missing:
        raise DataError(f"{table.path} has no column {missing[0]!r}; check its header and the unit.")
    return {name: found[name] for name in needed}


def _header(table: Table) -> list[str]:
    with table.path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        line = file.readline(LONGEST_HEADER)
    names = next(csv.reader([line]), [])
    if not names:
        raise DataError(f"{table.path} needs a first line with the names of its columns, split by commas.")
    if len(set(names)) < len(names):
        raise DataError(f"{table.path} names a column twice in its first line; rename one.")
    return names


def _file(table: Table) -> str:
    """The file's full path, as the engine is allowed to open it."""
    path = str(table.path.resolve())
    if any(mark in path for mark in "*?["):
        raise DataError(f"The path {path} must not contain *, ? or [, which stand for several files; rename it.")
    return path


@contextmanager
def _engine(table: Table) -> Iterator[duckdb.DuckDBPyConnection]:
    """An engine in memory that can read one file. What it says when it fails may quote rows, so nobody sees it."""
    try:
        if not table.path.is_file():
            raise DataError(f"There is no file {table.path}.")
        with table.path.open("rb"):
            pass
        with duckdb.connect(":memory:", config=_CLOSED) as engine:
            for setting, value in _settings(table):
                engine.execute(f"SET {setting} = ?", [value])
            yield engine
    except OSError as fault:
        raise DataError(f"{table.path} cannot be read: {fault.strerror}.") from None
    except (duckdb.OutOfMemoryException, MemoryError):
        raise DataError(f"{table.path} needs more memory to be read than there is.") from None
    except (duckdb.Error, csv.Error):
        kind = "Parquet" if table.path.suffix.lower() == ".parquet" else "CSV"
        raise DataError(f"{table.path} cannot be read as a {kind} file.") from None


def _settings(table: Table) -> Sequence[tuple[str, object]]:
    return (
        ("TimeZone", "UTC"),
        ("enable_progress_bar", False),
        ("python_enable_replacements", False),
        ("allowed_paths", [_file(table)]),
        ("enable_external_access", False),
        ("lock_configuration", True),
    )
