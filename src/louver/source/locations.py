"""Where a table's rows are: one small class per kind of place. They name a place and read nothing.

What is handed in is told apart by its type's module, so that no library is imported to look at a frame of another.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import SplitResult, quote, unquote, urlsplit

from louver.errors import ParameterError

FORMATS = (".csv", ".parquet")
DATABASES = (".duckdb", ".ddb", ".db")
_SERVERS = ("postgresql://", "postgres://")
_FRAMES = {
    "pandas": ("pandas", "DataFrame"),
    "polars": ("Polars", "DataFrame"),
    "pyarrow": ("Arrow", "Table"),
    "ibis": ("Ibis", "Table"),
    "pyspark": ("Spark", "DataFrame"),
    "numpy": ("dict of NumPy", "arrays"),
}
_WANTED = (
    "A table is a file whose name ends in .csv or .parquet, a table plant.duckdb#presence or "
    "postgresql://user@host/database#presence, a pandas, Polars, Arrow, Ibis or Spark frame, or a dict of NumPy arrays"
)
_NAME = re.compile(r'[^."\0]+(\.[^."\0]+){0,2}')

Location: TypeAlias = "File | DuckDBTable | PostgresTable | Frame"


@dataclass(frozen=True, slots=True)
class File:
    """A CSV or Parquet file."""

    path: Path

    @property
    def is_parquet(self) -> bool:
        return self.path.suffix.lower() == ".parquet"

    @property
    def name(self) -> str:
        return self.path.stem

    def describe(self) -> str:
        return str(self.path)


@dataclass(frozen=True, slots=True)
class DuckDBTable:
    """A table or view of a DuckDB file, by its name, with its schema before a dot where it has another than `main`."""

    path: Path
    table: str

    def __init__(self, path: str | os.PathLike[str], table: str) -> None:
        object.__setattr__(self, "path", Path(path))
        object.__setattr__(self, "table", _table(table))

    @property
    def name(self) -> str:
        return self.table.rpartition(".")[2]

    def describe(self) -> str:
        return f"{self.path}#{self.table}"


@dataclass(frozen=True, slots=True)
class PostgresTable:
    """A table or view of a PostgreSQL database. Its address may hold a password, so it is never shown whole."""

    address: str = field(repr=False)
    table: str

    @property
    def name(self) -> str:
        return self.table.rpartition(".")[2]

    def describe(self) -> str:
        parts = urlsplit(self.address)
        # Only what is plainly a name: any other part may be a piece of a password that was written wrongly.
        user, host, database = (_plain(part) for part in (parts.username, parts.hostname, parts.path[1:]))
        at = f"{user}@{host}" if user else host
        at += _port(parts)
        return f"postgresql://{at}/{database}#{self.table}"


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A data frame in memory or in a cluster; `kind` is the library it is from."""

    frame: Any = field(repr=False)
    kind: str

    @property
    def name(self) -> None:
        return None

    def describe(self) -> str:
        library, noun = _FRAMES[self.kind]
        return f"The {library} {noun}"


def locate(given: object) -> Location:
    """The place behind what a table was made with."""
    if isinstance(given, File | DuckDBTable | PostgresTable | Frame):
        return given
    kind = _frame_kind(given)
    if kind is not None:
        return Frame(given, kind)
    if not isinstance(given, str | os.PathLike):
        raise ParameterError(f"{_WANTED}, not a {type(given).__name__}.")
    if isinstance(given, str) and given.startswith(_SERVERS):
        address, _, table = given.partition("#")
        if not table:
            raise ParameterError("A table in PostgreSQL is named after a #: postgresql://user@host/database#presence.")
        return PostgresTable(address, _table(unquote(table)))
    try:
        path = Path(given)
    except TypeError:
        raise ParameterError(f"{_WANTED}; its path must be text, not bytes.") from None
    file, mark, table = str(path).rpartition("#")
    if mark and Path(file).suffix.lower() in DATABASES:
        return DuckDBTable(file, table)
    if path.suffix.lower() in DATABASES:
        raise ParameterError(f"A table of a DuckDB file is named after a #: {path.name}#presence.")
    if path.suffix.lower() not in FORMATS or "\0" in str(path):
        raise ParameterError(f"{_WANTED}.")
    return File(path)


def _frame_kind(given: object) -> str | None:
    if isinstance(given, dict):
        is_array = [type(each).__module__ == "numpy" and type(each).__name__ == "ndarray" for each in given.values()]
        return "numpy" if given and all(is_array) else None
    for made in type(given).__mro__:
        library = made.__module__.partition(".")[0]
        if library in _FRAMES and made.__name__ in ("DataFrame", "LazyFrame", "Table"):
            return library
    return None


def _table(name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or not name.isprintable():
        raise ParameterError("A table of a database is named by its name, with its schema before a dot if need be.")
    return name


def _port(parts: SplitResult) -> str:
    try:
        return "" if parts.port is None else f":{parts.port}"
    except ValueError:  # not a number, so perhaps a piece of a password
        return ":..."


def _plain(part: str | None) -> str:
    text = unquote(part or "")
    return quote(text) if re.fullmatch(r"[\w.-]{0,64}", text) else "..."
