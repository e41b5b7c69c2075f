"""Events at a place as a DuckDB view with columns device, place and time, whatever they are called and made of.

Where values are wanted there is a column `value`, nothing where it is no number; `nth` then says in which order rows
stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import duckdb

from louver.errors import DataError, ParameterError
from louver.sense.admitted import Admitted
from louver.sense.batch_lines import lines
from louver.source.locations import DuckDBTable, File, Frame, Location, PostgresTable, locate
from louver.source.names import instead_of

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoload_known_extensions": False,
    "autoinstall_known_extensions": False,
    "temp_directory": "",
    "python_enable_replacements": False,
}
_FRAMES = ("pyarrow", "pandas", "polars")
NAMES = ("device", "place", "time")
VALUE, NUMBER = "value", "number"
_LARGEST = 2**53


@contextmanager
def opened(
    events: object,
    columns: Mapping[str, str],
    *,
    has_door: bool,
    value: str | Mapping[str, float] | None = None,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection of its own in memory, on which the events are a view. Nothing is spilled to disk.

    A `value` is a number, or one of some words with the numbers that they stand for.
    """
    names = NAMES if value is None else (*NAMES, VALUE)
    unknown = next((name for name in columns if name not in names), None)
    if unknown is not None:
        raise ParameterError(f"Events have no column {unknown!r}{instead_of(unknown, names)}.")
    with duckdb.connect(":memory:", config=_SETTINGS) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("SET enable_progress_bar = false")
        if isinstance(events, Admitted):
            own = {"device": events.person, "place": events.place, "time": events.time, VALUE: events.value}
            connection.register("given", own)
            columns = {}
        else:
            if not has_door:
                raise ParameterError("Events with device ids need a door; only admitted events do without.")
            _attach(connection, locate(events))
        described = connection.execute("DESCRIBE given").fetchall()
        kinds = {name: kind for name, kind, *_ in described}
        device, place, time = (_named(kinds, name, columns.get(name, name)) for name in NAMES)
        more = ""
        if value is not None:
            column = columns.get(VALUE, VALUE)
            read = _value(_named(kinds, VALUE, column), kinds[column], value)
            more = f", {read} AS value, row_number() OVER () AS nth"
        connection.execute(
            f"CREATE TEMP VIEW events AS SELECT CAST({device} AS VARCHAR) AS device, "  # noqa: S608 quoted names
            f"CAST({place} AS VARCHAR) AS place, {_microseconds(time, kinds[columns.get('time', 'time')])} AS time"
            f"{more} FROM given"
        )
        yield connection


def _attach(connection: duckdb.DuckDBPyConnection, location: Location) -> None:
    if isinstance(location, PostgresTable) or (isinstance(location, Frame) and location.kind not in _FRAMES):
        raise ParameterError(
            "A batch of events is a file, a table of a DuckDB file, or an Arrow, pandas or Polars table."
        )
    if isinstance(location, Frame):
        frame: Any = location.frame
        connection.register("given", frame.collect() if hasattr(frame, "collect") else frame)
        return
    if not location.path.is_file():
        raise DataError(f"There is no file {location.path}.")
    path = _text(str(location.path.resolve()))
    if isinstance(location, File):
        source = f"read_parquet({path})" if location.is_parquet else f"({lines(location.path, path)})"
    elif isinstance(location, DuckDBTable):
        connection.execute(f"ATTACH {path} AS recorded (TYPE duckdb, READ_ONLY)")
        source = ".".join(map(_quoted, ["recorded", *location.table.split(".")]))
    connection.execute(f"CREATE TEMP VIEW given AS FROM {source}")


def _named(kinds: Mapping[str, str], name: str, column: str) -> str:
    if column not in kinds:
        raise DataError(f"The events have no column {column!r} for the {name}{instead_of(column, kinds)}.")
    return _quoted(column)


def _microseconds(time: str, kind: str) -> str:
    """A column of times as whole microseconds; nothing where a value is none."""
    if kind.endswith("INT") or kind in ("BIGINT", "INTEGER"):
        return f"TRY_CAST({time} AS BIGINT)"
    if kind == "VARCHAR":
        return f"epoch_us(TRY_CAST({time} AS TIMESTAMPTZ))"
    if kind.startswith("TIMESTAMP") or kind == "DATE":
        return (
            f"epoch_us(TRY_CAST({time} AS TIMESTAMPTZ))"
            if "ZONE" in kind
            else f"epoch_us(TRY_CAST({time} AS TIMESTAMP))"
        )
    raise DataError("The time of an event is a time, a text that is one, or whole microseconds UTC since 1970.")


def _value(column: str, kind: str, value: str | Mapping[str, float]) -> str:
    """A column of values as numbers that a float can tell apart; nothing where a value is none."""
    if not isinstance(value, str) and kind == "VARCHAR":
        words = " ".join(f"WHEN {_text(word)} THEN {float(number)!r}" for word, number in value.items())
        return f"CASE lower(trim({column})) {words} END"
    if kind in ("BOOLEAN", "DATE") or kind.startswith(("TIME", "STRUCT", "MAP", "BLOB")) or kind.endswith("]"):
        raise DataError("The value of an event is a number, or a text that is one.")
    number = f"TRY_CAST({column} AS DOUBLE)"
    if not isinstance(value, str):
        return f"CASE WHEN {number} IN ({', '.join(repr(float(each)) for each in value.values())}) THEN {number} END"
    return f"CASE WHEN abs({number}) <= {_LARGEST} THEN {number} END"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
