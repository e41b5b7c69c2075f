"""The engines that read rows, one file each. Like `louver.source.rows`, they belong to the steward alone.

An engine opens one place, says which columns it has, and runs a query. What an engine says when it fails may quote
rows, so nothing of it is ever repeated.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from louver.source.columns import Column
from louver.source.dialects import Dialect
from louver.source.locations import DuckDBTable, File, Location, PostgresTable
from louver.source.query import Query


class Engine(Protocol):
    """An opened place."""

    dialect: Dialect

    @property
    def stored(self) -> exp.Expr | None:
        """What the rows are selected from; None for a table called `stored`."""

    def columns(self) -> Mapping[str, Column]:
        """The columns by name, from the schema or the header."""

    def run(self, query: Query) -> Mapping[str, NDArray[np.int64]]:
        """What the query's tree gives, column by column."""


def opened(location: Location, wanted: Collection[str], *, rows: bool) -> AbstractContextManager[Engine]:
    """The engine for a place. Of a frame only the columns that may be wanted are looked at, and their rows if asked."""
    if isinstance(location, PostgresTable):
        from louver.source.engines.postgres import opened as postgres

        return postgres(location)
    if isinstance(location, File | DuckDBTable) or location.kind not in ("pyspark", "ibis"):
        from louver.source.engines.duckdb import opened as duckdb

        return duckdb(location, wanted, rows=rows)
    if location.kind == "pyspark":
        from louver.source.engines.spark import opened as spark

        return spark(location)
    from louver.source.engines.ibis import opened as ibis

    return ibis(location, wanted, rows=rows)
