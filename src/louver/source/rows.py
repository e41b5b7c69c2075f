"""The raw-row reader: with the engines, the only code that touches private rows; it gives back bounded aggregates.

One query filters, bounds what each unit contributes, and adds up. The bound comes before the sum and looks at one
unit's own rows only. So another unit's rows never decide which rows of this unit count, and one unit changes what is
read by no more than its bound.

Nothing about a single row can stop the reading, for that would tell that it is there. A value that is not what a
condition asks for meets no condition. Lines of a CSV file are read one by one, so that a broken one spoils no other;
those that do not fit the header are left out, and so are rows without a value in a column of the unit, because they
belong to no one. Times without a zone are in UTC. DuckDB is held to the place that it reads: no network, no extensions,
nothing of the rows spilled to disk. What an engine says when it fails may quote rows, and is never repeated.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np

from louver.source import bands, derived
from louver.source.columns import Columns
from louver.source.engines import Engine, opened
from louver.source.locations import DuckDBTable, File
from louver.source.measures import Reading, View
from louver.source.query import LIST, NUMBER, Query
from louver.source.table import Table


def check(table: Table, reading: Reading) -> None:
    """Whether the rows are there and have the columns. Looks at the header or the schema, never at rows."""
    with checked(table, reading):
        pass


def holds_texts(table: Table, column: str) -> bool:
    """Whether a column holds texts, by the header or the schema. Looks at no row."""
    with opened(table.location, {column}, rows=False) as engine:
        return Columns(engine.columns(), {column}, table.describe).find(column).is_text


@contextmanager
def checked(table: Table, reading: Reading) -> Iterator[Held]:
    """The same, with the place held open for reading it, where opening it once more would take time."""
    with ExitStack() as stack:
        engine = stack.enter_context(opened(table.location, _wanted(table, reading), rows=False))
        query = _query(engine, table, reading, b"")
        held = Held(engine, query, stack.pop_all()) if isinstance(table.location, File | DuckDBTable) else Held()
    try:
        yield held
    finally:
        held.close()


class Held:
    """A place that is open and the query that was checked there, or nothing. What fails while it is held is no fault
    of the place."""

    def __init__(
        self, engine: Engine | None = None, query: Query | None = None, stack: ExitStack | None = None
    ) -> None:
        self._engine, self._query, self._stack = engine, query, stack or ExitStack()

    @contextmanager
    def opened(self, table: Table, reading: Reading, secret: bytes) -> Iterator[tuple[Engine, Query]]:
        """The engine and the query, for one reading; what fails now is the place's fault, and said as it says it."""
        with self._stack.pop_all() as stack:
            engine, self._engine = self._engine, None
            if engine is None:
                engine = stack.enter_context(opened(table.location, _wanted(table, reading), rows=True))
            if self._query is not None and self._query.reading == reading:
                yield engine, self._query.with_secret(secret)
            else:
                yield engine, _query(engine, table, reading, secret)

    def close(self) -> None:
        self._stack.close()


def read(table: Table, reading: Reading, secret: bytes, held: Held | None = None) -> View:
    """What is read of this table; the secret decides which rows of a unit count."""
    with (held or Held()).opened(table, reading, secret) as (engine, query):
        found = engine.run(query)
    values = []
    for number, measure in enumerate(reading.measures):
        own = found[LIST] == measure.keys
        each = np.zeros(len(reading.keys[measure.keys]), dtype=np.int64)
        each[found[NUMBER][own]] = found[f"v{number}"][own]
        values.append(each)
    return View(tuple(values))


def _query(engine: Engine, table: Table, reading: Reading, secret: bytes) -> Query:
    columns = Columns(engine.columns(), _wanted(table, reading), table.describe)
    return Query(reading, table.unit.columns, columns, engine.dialect, secret, engine.stored)


def _wanted(table: Table, reading: Reading) -> set[str]:
    """Every column that may be needed: as it is named, and what it may be made of."""
    named = [*reading.columns(), *table.unit.columns]
    parts = [part.column for name in named if (part := derived.parse(name) or bands.parse(name)) is not None]
    return {*named, *parts}
