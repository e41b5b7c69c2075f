"""Small parts of trees."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp


def name(given: str) -> exp.Column:
    return exp.column(given, quoted=True)


def named(value: exp.Expr, given: str) -> exp.Expr:
    return exp.alias_(value, given, quoted=True)


def is_known(value: exp.Expr) -> exp.Expr:
    return exp.not_(exp.Is(this=value, expression=exp.null()))


def over(total: exp.Expr, within: Sequence[str], order: Sequence[str] = ()) -> exp.Expr:
    """A window: of all rows that agree in some columns, or of those up to this one in an order."""
    groups = [name(each) for each in within]
    if not order:
        return exp.Window(this=total, partition_by=groups)
    ordered = exp.Order(expressions=[ascending(each) for each in order])
    frame = exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW")
    spec = frame if isinstance(total, exp.Sum) else None
    return exp.Window(this=total, partition_by=groups, order=ordered, spec=spec)


def ascending(column: str) -> exp.Expr:
    """In order, what is missing first: engines differ unless told."""
    return exp.Ordered(this=name(column), desc=False, nulls_first=True)
