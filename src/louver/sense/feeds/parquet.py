"""Events of a Parquet file in the order of their times, sorted by the engine and read in parts."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from louver.errors import DataError
from louver.sense.events import Event, Rejected
from louver.sense.formats.fields import Fields

PART: Final = 10_000


def rows(path: Path, fields: Fields) -> Iterator[list[Event | Rejected]]:
    """Events of the columns that `fields` names. A time without a zone is UTC; numbers are read by the clock."""
    import duckdb

    with duckdb.connect() as connection:
        try:
            described = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
        except duckdb.Error:
            raise DataError(f"{path.name} cannot be read as a Parquet file.") from None
        kinds = {row[0]: row[1] for row in described}
        for name in fields.names():
            if name not in kinds:
                raise DataError(f"{path.name} has no column {_shown(name, list(kinds))}")
        names = list(dict.fromkeys(fields.names()))
        columns = ", ".join(_column(name, kinds[name], name == fields.time) for name in names)
        sort = _sorted_by(fields.time, kinds[fields.time])
        result = connection.execute(f"SELECT {columns} FROM read_parquet(?) ORDER BY {sort}", [str(path)])  # noqa: S608
        if kinds[fields.time].startswith("TIMESTAMP"):
            fields = replace(fields, clock="us")
        while part := result.fetchmany(PART):
            yield [fields.read(dict(zip(names, row, strict=True))) for row in part]


def _column(name: str, kind: str, is_time: bool) -> str:
    column = _quoted(name)
    if is_time and kind.startswith("TIMESTAMP"):
        if kind not in ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE"):
            column = f"{column}::TIMESTAMP"  # in seconds, milliseconds or nanoseconds
        return f"epoch_us({column}) AS {_quoted(name)}"
    return f"{column}::DOUBLE AS {column}" if kind.startswith(("DECIMAL", "FLOAT")) else column


def _sorted_by(name: str, kind: str) -> str:
    return f"try_cast({_quoted(name)} AS TIMESTAMPTZ)" if kind == "VARCHAR" else _quoted(name)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _shown(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f"{name[:40]!r}; did you mean {near[0]!r}?" if near else f"{name[:40]!r}; name its columns with fields."
