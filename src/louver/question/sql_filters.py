"""Conditions on single rows: WHERE, FILTER and the conditions of counted cases."""

from __future__ import annotations

from datetime import date, datetime

from sqlglot import exp

from louver.question.checks import check_filter
from louver.question.exact import row_value
from louver.question.linear import FLIPPED, Linear
from louver.question.sql_names import Names
from louver.question.sql_numbers import reckoned
from louver.question.sql_tree import only, operands, unwrapped
from louver.source.derived import DAY, SLOT, spelled
from louver.source.filters import EVERY_ROW, Both, Compare, Either, Filter, Missing, Not, OneOf, Value

SIGNS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_DAYS = {exp.DType.DATE}
_TIMES = {
    exp.DType.TIMESTAMP,
    exp.DType.TIMESTAMPTZ,
    exp.DType.TIMESTAMPLTZ,
    exp.DType.TIMESTAMPNTZ,
    exp.DType.DATETIME,
}

_CLOCKS = (exp.CurrentDate, exp.CurrentTimestamp, exp.Localtimestamp, exp.Interval)
_CLOCK_NAMES = {"now", "today", "getdate", "get_current_timestamp"}


def row_filter(names: Names, given: exp.Expr) -> Filter:
    """The filter behind a condition on rows."""
    node = unwrapped(given)
    if isinstance(node, exp.And):
        return Both(tuple(row_filter(names, part) for part in operands(node, exp.And)))
    if isinstance(node, exp.Or):
        return Either(tuple(row_filter(names, part) for part in operands(node, exp.Or)))
    if isinstance(node, exp.Not):
        return Not(row_filter(names, node.this))
    with names.text.at(node):
        leaf = _leaf(names, node)
        check_filter(leaf)
    return leaf


def _leaf(names: Names, node: exp.Expr) -> Filter:
    if type(node) in SIGNS:
        only(names.text, node, "this", "expression")
        return _compared(names, node, SIGNS[type(node)])
    if isinstance(node, exp.Between):
        only(names.text, node, "this", "low", "high")
        column = names.row_column(node.this)
        edges = (_value(names, column, node.args[edge]) for edge in ("low", "high"))
        return Both(tuple(Compare(column, sign, edge) for sign, edge in zip((">=", "<="), edges, strict=True)))
    if isinstance(node, exp.In):
        only(names.text, node, "this", "expressions")
        column = names.row_column(node.this)
        return OneOf(column, tuple(_value(names, column, each) for each in node.expressions))
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        only(names.text, node, "this", "expression", "negate")
        missing = Missing(names.row_column(node.this))
        return Not(missing) if node.args.get("negate") else missing
    if isinstance(node, exp.Boolean):
        if node.this:
            return EVERY_ROW
        raise names.text.refusal("A filter that lets no row through asks nothing.", "FALSE", node)
    if isinstance(node, exp.Column):
        return Compare(names.row_column(node), "=", True)
    raise names.text.refusal(
        "Rows are chosen by comparing columns with values: = <> < <= > >= BETWEEN, IN, IS NULL, with AND, OR and NOT.",
        node,
    )


def _compared(names: Names, node: exp.Expr, sign: str) -> Filter:
    left, right = unwrapped(node.this), unwrapped(node.args["expression"])
    if _is_value(left):
        left, right, sign = right, left, FLIPPED[sign]
    if node.find(exp.AggFunc) is not None:
        raise names.text.refusal("Aggregates are compared in HAVING; WHERE is about single rows.", node)
    if not _is_value(right):
        raise names.text.refusal(
            "A column of a row is compared with a value, not with another column or expression.", right, node
        )
    column = names.row_column(left)
    return Compare(column, sign, _value(names, column, right))


def _is_value(node: exp.Expr) -> bool:
    return node.find(exp.Column) is None


def _value(names: Names, column: str, given: exp.Expr) -> Value:
    """The value that a column is compared with, of the kind it is written as; texts become days where the column is."""
    node = unwrapped(given)
    text = _text(node)
    if text is not None:
        derived = spelled(column)
        if derived is not None and derived.part in (DAY, SLOT):
            return _time(names, node, text, is_day=derived.part == DAY)
        return row_value(column, text)
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Null):
        raise names.text.refusal("Nothing is equal to NULL; write IS NULL or IS NOT NULL.", given)
    if isinstance(node, exp.Cast | exp.TryCast) and node.to.this in _DAYS | _TIMES:
        only(names.text, node, "this", "to")
        written = _text(unwrapped(node.this))
        if written is not None:
            return _time(names, node, written, is_day=node.to.this in _DAYS)
    if isinstance(node, exp.Placeholder | exp.Parameter):
        raise names.text.refusal("Parameters are not supported; write the value itself.", "?", given)
    value = reckoned(names.text, node, lambda part: _no_number(names, part))
    return row_value(column, value.constant)


def _no_number(names: Names, node: exp.Expr) -> Linear:
    if _is_reckoned_time(node):
        raise names.text.refusal(
            "Times are written out, like DATE '2026-01-31' or TIMESTAMP '2026-01-31 09:00:00': which budget pays "
            "follows from them, so they cannot be reckoned from now or from an interval.",
            node,
        )
    raise names.text.refusal(
        "Columns of rows are compared with a text, a number, TRUE or FALSE, a DATE '2026-01-31' or a TIMESTAMP.", node
    )


def _is_reckoned_time(node: exp.Expr) -> bool:
    """Whether this is the current time, an interval, or something made of a time."""
    if isinstance(node, exp.Cast | exp.TryCast) and node.to.this in _DAYS | _TIMES:
        return True
    calls = node.find_all(exp.Anonymous)
    return node.find(*_CLOCKS) is not None or any(call.name.lower() in _CLOCK_NAMES for call in calls)


def _text(node: exp.Expr) -> str | None:
    """A text; some dialects read a doubled quote as two texts side by side."""
    if isinstance(node, exp.Literal) and node.is_string:
        return node.name
    if isinstance(node, exp.Concat) and all(
        isinstance(part, exp.Literal) and part.is_string for part in node.expressions
    ):
        return "".join(part.name for part in node.expressions)
    return None


def _time(names: Names, node: exp.Expr, written: str, *, is_day: bool) -> date | datetime:
    try:
        return date.fromisoformat(written) if is_day else datetime.fromisoformat(written)
    except ValueError:
        raise names.text.refusal(
            "A day is written DATE '2026-01-31', and a time TIMESTAMP '2026-01-31 09:00:00'.", node
        ) from None
