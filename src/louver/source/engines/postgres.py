"""PostgreSQL, through ADBC: one statement in a transaction that can only read, so that everything is of one moment.

Keys travel as arrays in the statement, so that nothing has to be created in the database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from louver.errors import DataError
from louver.source.columns import Column
from louver.source.dialects import DAY, POSTGRES, REAL, TEXT, TIME, TRUTH, WHOLE, Dialect
from louver.source.engines.needed import needed
from louver.source.key_lists import KeyList
from louver.source.locations import PostgresTable
from louver.source.query import STORED, Query

_SETTINGS = (
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "SET LOCAL standard_conforming_strings = on",
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL DateStyle = 'ISO'",
)
# A type may be a domain over another one, and that over another.
_COLUMNS = """WITH RECURSIVE own AS (
    SELECT attname, attnum, atttypid AS kind FROM pg_catalog.pg_attribute
    WHERE attrelid = to_regclass({table}) AND attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT attname, attnum, typbasetype FROM own JOIN pg_catalog.pg_type ON oid = kind WHERE typtype = 'd'
)
SELECT attname, kind::regtype::text FROM own JOIN pg_catalog.pg_type ON oid = kind WHERE typtype <> 'd'
ORDER BY attnum"""
_KINDS = {
    "smallint": WHOLE,
    "integer": WHOLE,
    "bigint": WHOLE,
    "double precision": REAL,
    "boolean": TRUTH,
    "date": DAY,
    "timestamp without time zone": TIME,
    "text": TEXT,
}
_NETWORK = {"connect_timeout": "10", "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3"}


class Postgres:
    """A connection within a transaction."""

    dialect: Dialect = POSTGRES

    def __init__(self, cursor: Any, location: PostgresTable) -> None:
        self._cursor, self._location = cursor, location

    @property
    def stored(self) -> exp.Expr:
        parts = [exp.to_identifier(part, quoted=True) for part in self._location.table.split(".")]
        named = dict(zip(("this", "db", "catalog"), reversed(parts), strict=False))
        return exp.Table(**named, alias=exp.TableAlias(this=exp.to_identifier(STORED)))

    def columns(self) -> Mapping[str, Column]:
        self._cursor.execute("SELECT pg_catalog.current_setting('server_encoding')")
        if self._cursor.fetchall() == [("SQL_ASCII",)]:
            raise DataError(
                f"{self._location.describe()} is in a database whose encoding is SQL_ASCII, where a text may be no "
                "text and would stop the reading; take one in UTF8."
            )
        table = POSTGRES.sql(exp.convert(".".join(_quoted(part) for part in self._location.table.split("."))))
        self._cursor.execute(_COLUMNS.format(table=table))
        found = self._cursor.fetchall()
        if not found:
            raise DataError(f"There is no table {self._location.describe()}, or it may not be read.")
        return {name: Column(name, *_typed(name, kind), POSTGRES) for name, kind in found}

    def run(self, query: Query) -> Mapping[str, NDArray[np.int64]]:
        lists = {keys.name: keys for keys in query.lists if keys.is_joined}

        def in_place(node: exp.Expr) -> exp.Expr:
            return _listed(lists[node.name]) if isinstance(node, exp.Table) and node.name in lists else node

        tree = query.tree.transform(in_place)
        self._cursor.execute(POSTGRES.sql(tree))
        found = self._cursor.fetch_arrow_table()
        return {name: found.column(name).to_numpy().astype(np.int64) for name in found.column_names}


@contextmanager
def opened(location: PostgresTable) -> Iterator[Postgres]:
    """A transaction that reads. What the server says when it fails may quote rows or a password, so nobody sees it."""
    driver = needed("adbc_driver_postgresql.dbapi", "A table in PostgreSQL", "louver[postgres]")
    said = location.describe()
    try:
        connection = driver.connect(_address(location.address))
    except driver.Error:
        raise DataError(f"The server of {said} cannot be reached, or does not let this user in.") from None
    try:
        with connection.cursor() as cursor:
            for setting in _SETTINGS:
                cursor.execute(setting)
            yield Postgres(cursor, location)
    except driver.Error:
        raise DataError(f"{said} cannot be read.") from None
    finally:
        connection.close()


def _address(address: str) -> str:
    """With limits on waiting where the address sets none: a server that went away is noticed within a minute."""
    parts = urlsplit(address)
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    return urlunsplit(parts._replace(query=urlencode({**_NETWORK, **given})))


def _typed(name: str, kind: str) -> tuple[str, exp.Expr]:
    raw = exp.column(name, table=STORED, quoted=True)
    if kind in _KINDS:
        return _KINDS[kind], raw
    if kind == "real":
        return REAL, POSTGRES.cast(raw, REAL)
    if kind == "numeric":
        return REAL, POSTGRES.real_of_numeric(raw)
    if kind == "timestamp with time zone":
        return TIME, POSTGRES.utc(raw)
    return TEXT, POSTGRES.cast(raw, TEXT)


def _listed(keys: KeyList) -> exp.Expr:
    """The keys as rows of arrays, each written as one literal."""
    arrays = [
        exp.Cast(
            this=exp.convert(_array(each.kind, each.values)),
            to=exp.DataType.build(f"{POSTGRES.types[each.kind]}[]", dialect="postgres"),
        )
        for each in keys.columns
    ]
    columns = [exp.to_identifier(each.name, quoted=True) for each in keys.columns]
    return exp.Unnest(expressions=arrays, alias=exp.TableAlias(this=exp.to_identifier(keys.name), columns=columns))


def _array(kind: str, values: list[Any]) -> str:
    if kind == TEXT:
        escaped = (value.replace("\\", "\\\\").replace('"', '\\"') for value in values)
        return "{" + ",".join(f'"{value}"' for value in escaped) + "}"
    return (
        "{"
        + ",".join("true" if value is True else "false" if value is False else repr(value) for value in values)
        + "}"
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
