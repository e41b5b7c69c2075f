"""Spark, through its DataFrame API alone, so that Spark Connect works too. Only totals per key leave the cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from secrets import token_hex
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from louver.errors import DataError, LouverError
from louver.source.columns import Column
from louver.source.dialects import DAY, REAL, SPARK, TEXT, TIME, TRUTH, WHOLE, Dialect
from louver.source.key_lists import KeyList
from louver.source.locations import Frame
from louver.source.query import LIST, NUMBER, STORED, Query

_KINDS = {
    "tinyint": WHOLE,
    "smallint": WHOLE,
    "int": WHOLE,
    "bigint": WHOLE,
    "double": REAL,
    "boolean": TRUTH,
    "date": DAY,
    "timestamp_ntz": TIME,
    "string": TEXT,
}
_TRAVELS = {TEXT: "string", WHOLE: "long", REAL: "double", TRUTH: "boolean"}


class Spark:
    """A data frame of a session."""

    dialect: Dialect = SPARK
    stored: exp.Expr | None = None

    def __init__(self, frame: Any) -> None:
        self._frame, self._session = frame, frame.sparkSession

    def columns(self) -> Mapping[str, Column]:
        found = [(name, Column(name, *_typed(name, kind), SPARK)) for name, kind in self._frame.dtypes]
        lower = [name.lower() for name, _ in found]
        if len(set(lower)) < len(lower):
            raise DataError("The Spark DataFrame names a column twice, but for upper and lower case; rename one.")
        return dict(found)

    def run(self, query: Query) -> Mapping[str, NDArray[np.int64]]:
        frames = {STORED: self._frame}
        frames |= {keys.name: self._listed(keys) for keys in query.lists if keys.is_joined}
        found = self._session.sql(_with_places(query.tree, frames), **frames).collect()
        names = [LIST, NUMBER, *(f"v{number}" for number in range(len(query.reading.measures)))]
        return {name: np.array([row[name] for row in found], dtype=np.int64) for name in names}

    def _listed(self, keys: KeyList) -> Any:
        schema = ", ".join(f"{each.name} {_TRAVELS[each.kind]}" for each in keys.columns)
        rows = list(zip(*(each.values for each in keys.columns), strict=True))
        return self._session.createDataFrame(rows, schema)


@contextmanager
def opened(location: Frame) -> Iterator[Spark]:
    """The frame. What Spark says when it fails may quote rows, so nobody sees it."""
    try:
        yield Spark(location.frame)
    except LouverError:
        raise
    except Exception:  # the library has a family of errors for each of its connections
        raise DataError(f"{location.describe()} cannot be read.") from None


def _typed(name: str, kind: str) -> tuple[str, exp.Expr]:
    raw = exp.column(name, table=STORED, quoted=True)
    if kind in _KINDS:
        return _KINDS[kind], raw
    if kind == "float" or kind.startswith("decimal"):
        return REAL, SPARK.cast(raw, REAL)
    if kind == "timestamp":
        return TIME, SPARK.utc(raw)
    if kind.startswith("string"):  # with a collation
        return TEXT, exp.Collate(this=raw, expression=exp.to_identifier("UTF8_BINARY"))
    return TEXT, SPARK.cast(raw, TEXT)


def _with_places(tree: exp.Expr, frames: Collection[str]) -> str:
    """The text of a query in which frames stand in braces, and braces of the question are doubled."""
    mark = token_hex(16)  # no text of the question has it

    def aside(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Table) or node.name not in frames:
            return node
        alias = exp.TableAlias(this=exp.to_identifier(node.name))
        return exp.Table(this=exp.to_identifier(f"{mark} {node.name}", quoted=True), alias=alias)

    sql = SPARK.sql(tree.transform(aside)).replace("{", "{{").replace("}", "}}")
    for name in frames:
        sql = sql.replace(f"`{mark} {name}`", f"{{{name}}}")
    return sql
