"""Ibis tables. On DuckDB their SQL runs where the table is, over a connection of its own to the same database.

Tables of other backends, and those that only the owner's connection sees, come over as Arrow, the wanted columns only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import duckdb

from louver.errors import DataError, LouverError
from louver.source.engines import duckdb as embedded
from louver.source.engines.duckdb import DuckDB
from louver.source.engines.needed import needed
from louver.source.locations import Frame
from louver.source.query import STORED


@contextmanager
def opened(location: Frame, wanted: Collection[str], *, rows: bool) -> Iterator[DuckDB]:
    ibis = needed("ibis", "An Ibis table", "ibis-framework")
    table = location.frame
    names = [name for name in table.columns if name in wanted] or list(table.columns[:1])
    own = {name: f"c{place}" for place, name in enumerate(names)}
    try:
        with ExitStack() as stack:
            chosen = table.select(names).rename({new: name for name, new in own.items()})
            connection = _connection(ibis, chosen)
            if connection is not None:
                yield DuckDB(stack.enter_context(connection), own, collated=True)
                return
            arrow = (chosen if rows else chosen.limit(0)).to_pyarrow()
            engine = stack.enter_context(embedded.opened(Frame(arrow, "pyarrow"), own.values(), rows=rows))
            yield DuckDB(engine.connection, own)
    except LouverError:
        raise
    except Exception:  # every backend has errors of its own, which may quote rows
        raise DataError(f"{location.describe()} cannot be read.") from None


def _connection(ibis: Any, chosen: Any) -> duckdb.DuckDBPyConnection | None:
    """A connection with the rows as a view, where the table is in a DuckDB database; else None."""
    backend = ibis.get_backend(chosen)
    if backend.name != "duckdb":
        return None
    connection: duckdb.DuckDBPyConnection = backend.con.cursor()
    try:
        connection.execute("SET SESSION TimeZone = 'UTC'")
        connection.execute(f"CREATE TEMP VIEW {STORED} AS {ibis.to_sql(chosen, dialect='duckdb')}")
    except duckdb.CatalogException:
        connection.close()
        return None
    except duckdb.Error:
        connection.close()
        raise
    return connection
