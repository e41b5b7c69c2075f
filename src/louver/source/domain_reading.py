"""Domains from elsewhere: frames and rows in memory, public files, tables of a database.

In a CSV file every value is a text. A column of whole numbers becomes numbers, one of days like 2014-01-31 becomes
days, and one of decimal numbers becomes numbers unless it has keys; any other column stays text. So do whole numbers
with leading zeros in a key column: they are names.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from louver.errors import DataError, ParameterError
from louver.source.domain import Domain
from louver.source.domain_columns import Public, shown
from louver.source.locations import DATABASES
from louver.source.measures import MOST_KEYS

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
_DECIMAL = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?")
_SERVERS = ("postgresql://", "postgres://")
_PLAIN = {"TIMESTAMP WITH TIME ZONE": "::TIMESTAMP"}


def read(place: object, keys: Sequence[str] | None, *, without: str | None = None) -> Domain:
    """The domain of a file or table, but for the column `without`."""
    if isinstance(place, str) and place.startswith(_SERVERS):
        return _from_postgres(place, keys, without)
    if not isinstance(place, str | Path) or not str(place) or "\0" in str(place):
        raise ParameterError("A domain is read from a file, named by its path, or from a table of a database.")
    text, _, table = str(place).partition("#")
    if table and Path(text).suffix.lower() in DATABASES:
        with _said(text):
            return _domain(_from_duckdb(Path(text), table), keys, table.rpartition(".")[2], without)
    path = Path(place)
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise ParameterError(
            "A domain is read from a file whose name ends in .csv, .parquet or .json, or from a table like "
            "plant.duckdb#rooms or postgresql://user@host/database#rooms."
        )
    with _said(str(path)):
        if not path.is_file():
            raise DataError(f"There is no file {path}.")
        return _domain(reader(path, keys), keys, path.stem, without)


def columns_of(given: Any) -> dict[str, Sequence[object]]:
    """The columns of a frame or of rows. Libraries are told apart by name, so that none has to be there."""
    library = type(given).__module__.partition(".")[0]
    if library == "pandas" and hasattr(given, "columns"):
        return _from_pandas(given)
    if library == "polars" and type(given).__name__ in ("DataFrame", "LazyFrame"):
        return dict(given.lazy().collect().to_dict(as_series=False))
    if library == "pyarrow" and hasattr(given, "to_pydict"):
        return _once(given.schema.names, given.to_pydict())
    if library == "ibis" and hasattr(given, "to_pyarrow"):
        return dict(given.to_pyarrow().to_pydict())
    if library == "pyspark" and hasattr(given, "collect"):
        rows = [tuple(row) for row in given.limit(MOST_KEYS + 1).collect()]
        return _transposed(_distinct(given.columns), rows)
    if isinstance(given, Mapping):
        return dict(given)
    if isinstance(given, list | tuple) and all(isinstance(row, Mapping) for row in given):
        names = dict.fromkeys(name for row in given for name in row)
        return {name: [row.get(name) for row in given] for name in names}
    raise ParameterError(
        "A domain is made from a list of dictionaries, or from a pandas, Polars, Arrow, Ibis or Spark table, "
        f"not from a {type(given).__name__}."
    )


def _domain(
    columns: Mapping[str, Sequence[object]], keys: Sequence[str] | None, name: str, without: str | None
) -> Domain:
    """The domain of a file or table, by whose name a question may call it."""
    kept = {each: values for each, values in columns.items() if each != without}
    return Domain(kept, list(kept)[:1] if keys is None else keys, name=name)


@contextmanager
def _said(place: str) -> Iterator[None]:
    """What is wrong with public data is the data's fault, and says in which file it is."""
    try:
        yield
    except ParameterError as fault:
        raise DataError(f"{place}: {fault}") from None
    except UnicodeDecodeError:
        raise DataError(f"{place} is not written in UTF-8.") from None
    except OSError as fault:
        raise DataError(f"{place} cannot be read: {fault.strerror or 'the system gave no reason'}.") from None


def _from_csv(path: Path, keys: Sequence[str] | None) -> dict[str, Sequence[object]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file, strict=True)
        try:
            names = _distinct(next(lines, []))
            rows: list[tuple[object, ...]] = []
            for line in lines:
                if not line:
                    continue
                if len(line) != len(names):
                    said = f"line {lines.line_num} has {len(line)} values and the first line names {len(names)} columns"
                    raise DataError(f"{path}: {said}.")
                rows.append(tuple(line))
                if len(rows) > MOST_KEYS:
                    break
        except csv.Error:
            raise DataError(f"{path} cannot be read as a CSV file near line {lines.line_num}.") from None
    chosen = names[:1] if keys is None else keys
    return {name: _typed(values, name in chosen) for name, values in _transposed(names, rows).items()}


def _typed(values: Sequence[Any], is_key: bool) -> Sequence[Public]:
    """The texts of a CSV column as what all of them are; an empty one is missing."""
    given = [value for value in values if value]
    if not given or (is_key and len(given) < len(values)):
        return [value or None for value in values]
    made: Callable[[str], Public] = str
    if all(map(_WHOLE.fullmatch, given)):
        made = int
    elif not is_key and all(map(_DECIMAL.fullmatch, given)):
        made = Fraction
    elif all(map(_is_day, given)):
        made = date.fromisoformat
    return [made(value) if value else None for value in values]


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _from_json(path: Path, keys: Sequence[str] | None) -> dict[str, Sequence[object]]:  # noqa: ARG001
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"), parse_float=Decimal)
    except (json.JSONDecodeError, RecursionError, ValueError):
        raise DataError(f"{path} cannot be read as JSON.") from None
    if not isinstance(found, list | dict) or not found:
        raise DataError(f"{path} must hold a list of objects, one for each key.")
    return columns_of(found)


def _from_parquet(path: Path, keys: Sequence[str] | None) -> dict[str, Sequence[object]]:  # noqa: ARG001
    if any(mark in str(path) for mark in "*?["):
        raise DataError(f"The path {path} must not contain *, ? or [, which stand for several files; rename it.")
    return _queried(":memory:", "read_parquet(?, hive_partitioning = false)", [str(path.resolve())], str(path))


def _from_duckdb(path: Path, table: str) -> dict[str, Sequence[object]]:
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
    return _queried(str(path), _quoted(table), [], f"{path}#{shown(table)}")


def _queried(database: str, relation: str, values: list[object], said: str) -> dict[str, Sequence[object]]:
    import duckdb

    config: dict[str, Any] = {"autoload_known_extensions": False, "autoinstall_known_extensions": False}
    try:
        with duckdb.connect(database, read_only=database != ":memory:", config=config) as engine:
            engine.execute("SET TimeZone = 'UTC'")
            described = engine.execute(f"DESCRIBE SELECT * FROM {relation}", values).fetchall()  # noqa: S608
            # Times with a zone would need one more library to come out; without it they are the same times in UTC.
            chosen = [f"{_quoted_name(name)}{_PLAIN.get(kind, '')}" for name, kind, *_ in described]
            sql = f"SELECT {', '.join(chosen)} FROM {relation} LIMIT {MOST_KEYS + 1}"  # noqa: S608 all names are quoted
            return _transposed([name for name, *_ in described], engine.execute(sql, values).fetchall())
    except duckdb.CatalogException:
        raise DataError(f"There is no table {said}.") from None
    except duckdb.Error:
        raise DataError(f"{said} cannot be read.") from None


def _from_postgres(address: str, keys: Sequence[str] | None, without: str | None) -> Domain:
    """A table of a server. No error repeats the address, which may hold a password."""
    url, _, table = address.partition("#")
    if not table:
        raise ParameterError(
            "A domain in PostgreSQL is named by its table, like postgresql://user@host/database#rooms."
        )
    try:
        import psycopg
    except ImportError:
        raise DataError(
            "A domain in PostgreSQL needs psycopg; install it with: pip install 'psycopg[binary]'."
        ) from None
    try:
        with psycopg.connect(url, connect_timeout=10, options="-c timezone=UTC") as server:
            found = server.execute(f"SELECT * FROM {_quoted(table)} LIMIT {MOST_KEYS + 1}".encode())  # noqa: S608 quoted
            columns = _transposed(
                [column.name for column in found.description or []], sorted(found.fetchall(), key=str)
            )
    except psycopg.errors.UndefinedTable:
        raise DataError(f"The database has no table {shown(table)!r} for the domain.") from None
    except psycopg.Error:
        raise DataError(f"The table {shown(table)!r} of the domain cannot be read from its database.") from None
    with _said(f"The table {shown(table)}"):
        return _domain(columns, keys, table.rpartition(".")[2], without)


def _from_pandas(frame: Any) -> dict[str, Sequence[object]]:
    _distinct([str(name) for name in frame.columns])
    columns: dict[str, Sequence[object]] = {}
    for name in frame.columns:
        known = frame[name].notna().tolist()
        values = frame[name].tolist()
        columns[name] = [value if is_known else None for value, is_known in zip(values, known, strict=True)]
    return columns


def _transposed(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, Sequence[object]]:
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return dict(zip(_distinct(names), columns, strict=True))


def _once(names: Sequence[str], columns: Mapping[str, Sequence[object]]) -> dict[str, Sequence[object]]:
    _distinct(names)
    return dict(columns)


def _distinct(names: Sequence[str]) -> list[str]:
    if not names:
        raise ParameterError("A domain needs a first line or a schema with the names of its columns.")
    repeated = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if repeated is not None:
        raise ParameterError(f"Two columns are called {shown(repeated)!r}; rename one.")
    return list(names)


def _quoted(table: str) -> str:
    return ".".join(map(_quoted_name, table.split(".")))


def _quoted_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


_READERS: dict[str, Callable[[Path, Sequence[str] | None], dict[str, Sequence[object]]]] = {
    ".csv": _from_csv,
    ".json": _from_json,
    ".parquet": _from_parquet,
}
