"""DuckDB, in memory: files, tables of a DuckDB file, and frames.

The engine is held to the one file that it reads: no network, no extensions, nothing of the rows spilled to disk.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from louver.errors import DataError
from louver.source.columns import LOOSE, Column
from louver.source.dialects import DAY, DUCKDB, REAL, TEXT, TIME, TRUTH, WHOLE, Dialect
from louver.source.engines.csv_lines import csv_view, header
from louver.source.key_lists import KeyList
from louver.source.locations import DuckDBTable, File, Frame
from louver.source.query import STORED, Query

_CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "autoload_known_extensions": False,
    "autoinstall_known_extensions": False,
    "temp_directory": "",
}
_SETTINGS: dict[str, object] = {
    "TimeZone": "UTC",
    "python_enable_replacements": False,
    # Every join here has its small side on the right; guesses from the rows would sometimes turn it round.
    "disabled_optimizers": "join_order,build_side_probe_side",
}
_TAKEN = ("memory", "system", "temp")
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_REAL = ("FLOAT", "DOUBLE", "HUGEINT", "UHUGEINT")
_TIMES = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
_ARRAYS: dict[str, Any] = {TEXT: object, WHOLE: np.int64, REAL: np.float64, TRUTH: np.bool_}


class DuckDB:
    """A connection on which the rows are a view called `stored`. Columns in `loose` have texts that may be anything.

    Texts of a database file may be `collated`: unless told otherwise, DuckDB would take texts that differ for one, and
    a row would belong to several keys and pay for one.
    """

    dialect: Dialect = DUCKDB
    stored: exp.Expr | None = None

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        names: Mapping[str, str] | None = None,
        loose: bool | set[str] = False,
        collated: bool = False,
    ) -> None:
        self.connection = connection
        self._names, self._loose, self._collated = names, loose, collated

    def columns(self) -> Mapping[str, Column]:
        described = self.connection.execute(f"DESCRIBE {STORED}").fetchall()
        named = self._names or {name: name for name, *_ in described}
        kinds = {name: kind for name, kind, *_ in described}
        return {name: self._column(name, own, kinds[own]) for name, own in named.items()}

    def _column(self, name: str, own: str, kind: str) -> Column:
        raw: exp.Expr = exp.column(own, table=STORED, quoted=True)
        if self._collated and kind == "VARCHAR":
            raw = exp.Collate(this=raw, expression=exp.to_identifier("binary", quoted=True))
        is_loose = self._loose if isinstance(self._loose, bool) else own in self._loose
        return Column(name, *((LOOSE, raw) if is_loose else _typed(raw, kind)), DUCKDB)

    def run(self, query: Query) -> Mapping[str, NDArray[np.int64]]:
        for each in query.lists:
            if each.is_joined:
                self.connection.register(each.name, _arrays(each))
        if query.bound is not None:
            from louver.source.engines.sampled import sampled

            bounded = sampled(query, self.connection)
            if bounded is not None:
                return bounded
        found = self.connection.execute(DUCKDB.sql(query.tree)).fetchnumpy()
        return {name: np.asarray(values, dtype=np.int64) for name, values in found.items()}


@contextmanager
def opened(location: File | DuckDBTable | Frame, wanted: Collection[str], *, rows: bool) -> Iterator[DuckDB]:
    """An engine that can read one place. What it says when it fails may quote rows, so nobody sees it."""
    said = location.describe()
    try:
        if isinstance(location, Frame):
            from louver.source.engines.frames import prepared

            with _for_frames(os.getpid()).cursor() as connection:
                connection.execute("SET enable_progress_bar = false")
                frame = prepared(location, wanted, rows=rows)
                connection.register(STORED, frame.columns)
                yield DuckDB(connection, frame.names, frame.loose)
            return
        if not location.path.is_file():
            raise DataError(f"There is no file {location.path}.")
        with location.path.open("rb"):
            pass
        if isinstance(location, DuckDBTable):
            with _connected([], location.path) as connection:
                connection.execute(f"CREATE TEMP VIEW {STORED} AS FROM {_table(location)}")
                yield DuckDB(connection, collated=True)
            return
        path = _path(location)
        with _connected([path]) as connection:
            if location.is_parquet:
                source = f"read_parquet({_quoted(path)}, hive_partitioning = false)"
                connection.execute(f"CREATE TEMP VIEW {STORED} AS FROM {source}")
                yield DuckDB(connection)
                return
            names = header(location.path)
            connection.execute(f"CREATE TEMP VIEW {STORED} AS {csv_view(_quoted(path), len(names))}")
            yield DuckDB(connection, {name: f"c{place}" for place, name in enumerate(names)}, loose=True)
    except OSError as fault:
        raise DataError(f"{said} cannot be read: {fault.strerror}.") from None
    except (duckdb.OutOfMemoryException, MemoryError):
        raise DataError(f"{said} needs more memory to be read than there is.") from None
    except duckdb.CatalogException:
        raise DataError(f"There is no table {said}.") from None
    except (duckdb.Error, csv.Error):
        raise DataError(f"{said} cannot be read{_as(location)}.") from None


@contextmanager
def _connected(paths: list[str], database: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """An engine of its own in memory, which sees one database file if given, and then closes itself off."""
    with duckdb.connect(":memory:", config=_CLOSED) as connection:
        if database is not None:
            # Under its own name, because its views may use that.
            own = _identifier(database.stem if database.stem not in _TAKEN else f"{database.stem}_file")
            connection.execute(f"ATTACH {_quoted(str(database.resolve()))} AS {own} (TYPE duckdb, READ_ONLY)")
            connection.execute(f"USE {own}")
        for setting, value in _SETTINGS.items():
            connection.execute(f"SET {setting} = ?", [value])
        connection.execute("SET enable_progress_bar = false")
        connection.execute("SET allowed_paths = ?", [paths])
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        yield connection


@lru_cache(maxsize=1)
def _for_frames(process: int) -> duckdb.DuckDBPyConnection:
    """One engine for all frames of a process, for making one takes longer than most readings; it opens no file.

    What a reading makes there is seen by its own cursor only, and gone with it.
    """
    del process
    connection = duckdb.connect(":memory:", config=_CLOSED)
    for setting, value in _SETTINGS.items():
        connection.execute(f"SET GLOBAL {setting} = ?", [value])
    connection.execute("SET GLOBAL enable_external_access = false")
    return connection


def _typed(raw: exp.Expr, kind: str) -> tuple[str, exp.Expr]:
    """The kind of a column of this type, and its value as one of the types that are read."""
    if kind == "VARCHAR":
        return TEXT, raw
    if kind in _WHOLE:
        return WHOLE, raw
    if kind == "DOUBLE":
        return REAL, raw
    if kind in _REAL or kind.startswith("DECIMAL"):
        return REAL, DUCKDB.cast(raw, REAL)
    if kind == "BOOLEAN":
        return TRUTH, raw
    if kind == "DATE":
        return DAY, raw
    if kind in _TIMES:
        return TIME, raw if kind == "TIMESTAMP" else DUCKDB.attempted(raw, TIME)
    if kind == "TIMESTAMP WITH TIME ZONE":
        return TIME, DUCKDB.utc(raw)
    return TEXT, DUCKDB.attempted(raw, TEXT)


def _arrays(keys: KeyList) -> dict[str, NDArray[Any]]:
    return {each.name: np.array(each.different, dtype=_ARRAYS[each.kind])[each.which] for each in keys.columns}


def _quoted(text: str) -> str:
    return DUCKDB.sql(exp.convert(text))


def _table(location: DuckDBTable) -> str:
    return ".".join(_identifier(part) for part in location.table.split("."))


def _identifier(name: str) -> str:
    return DUCKDB.sql(exp.to_identifier(name, quoted=True))


def _path(location: File) -> str:
    """The file's full path, as the engine is allowed to open it."""
    path = str(location.path.resolve())
    if any(mark in path for mark in "*?["):
        raise DataError(f"The path {path} must not contain *, ? or [, which stand for several files; rename it.")
    return path


def _as(location: File | DuckDBTable | Frame) -> str:
    if isinstance(location, File):
        return f" as a {'Parquet' if location.is_parquet else 'CSV'} file"
    written = " as a DuckDB file; if it is open elsewhere to be written, close it there"
    return written if isinstance(location, DuckDBTable) else ""
