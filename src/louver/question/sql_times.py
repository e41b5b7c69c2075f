"""Parts of a time in SQL, as the derived columns that Louver has for them.

`day(time)` and `weekday(time)` are Louver's own functions: a calendar day, and 1 for Monday to 7 for Sunday. Spark's
own `weekday` counts Monday as 0, so in that dialect it is refused.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sqlglot import exp

from louver.question.sql_text import Text
from louver.question.sql_tree import is_called, only, unwrapped
from louver.source.derived import DAY, HOUR, MONTH, SLOT, WEEKDAY, check_slot

_MINUTES = {"minute": 1, "min": 1, "hour": 60, "day": 24 * 60}
_INTERVAL = re.compile(r"(\d{1,4}) ?([a-z]+?)s?")
_TRUNCATED = {"day": (DAY, None), "dd": (DAY, None), "hour": (SLOT, 60), "minute": (SLOT, 1)}
_EXTRACTED = {"hour": HOUR, "month": MONTH, "isodow": WEEKDAY, "dayofweek_iso": WEEKDAY, "dow_iso": WEEKDAY}
_FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.Date: DAY,
    exp.Day: DAY,
    exp.TsOrDsToDate: DAY,
    exp.Hour: HOUR,
    exp.Month: MONTH,
    exp.DayOfWeekIso: WEEKDAY,
}
_SUPPORTED = (
    "Of a time there is its day, CAST(time AS DATE); hour, EXTRACT(HOUR FROM time); month; weekday, "
    "EXTRACT(ISODOW FROM time); and slot(time, 15), the quarter of an hour it is in."
)


class Part(NamedTuple):
    part: str
    column: exp.Column
    minutes: int | None = None


def derived_time(text: Text, node: exp.Expr) -> Part | None:
    """Which part of which column; None where this is no part of a time."""
    if type(node) in _FUNCTIONS:
        only(text, node, "this")
        return Part(_FUNCTIONS[type(node)], _column(text, node.this))
    if isinstance(node, exp.Cast | exp.TryCast) and node.to.this == exp.DType.DATE:
        only(text, node, "this", "to")
        return Part(DAY, _column(text, node.this))
    if isinstance(node, exp.TimestampTrunc | exp.DateTrunc):
        only(text, node, "this", "unit")
        found = _TRUNCATED.get(node.text("unit").lower())
        if found is None:
            raise text.refusal(_SUPPORTED, node)
        return Part(found[0], _column(text, node.this), found[1])
    if isinstance(node, exp.Extract):
        only(text, node, "this", "expression")
        return _extracted(text, node, node.name, node.expression)
    if isinstance(node, exp.DateBin):
        only(text, node, "this", "expression")
        return _slot(text, node, _interval(text, node.this), node.expression)
    return _called(text, node)


def _called(text: Text, node: exp.Expr) -> Part | None:
    """Functions that the parser does not know."""
    if isinstance(node, exp.DayOfWeek):
        raise text.refusal(
            "Days of the week count from 1 for Monday to 7 for Sunday; write EXTRACT(ISODOW FROM time).", node
        )
    if not isinstance(node, exp.Anonymous):
        return None
    given = node.expressions
    if is_called(node, "weekday") and len(given) == 1:
        if text.dialect == "spark":
            raise text.refusal(
                "In Spark weekday(time) is 0 for Monday, and in Louver 1; write EXTRACT(DAYOFWEEK_ISO FROM time), from "
                "1 for Monday to 7 for Sunday.",
                node,
            )
        return Part(WEEKDAY, _column(text, given[0]))
    if is_called(node, "date_part") and len(given) == 2:
        return _extracted(text, node, given[0].name, given[1])
    if is_called(node, "time_bucket") and len(given) == 2:
        return _slot(text, node, _interval(text, given[0]), given[1])
    if is_called(node, "slot") and len(given) == 2 and isinstance(given[1], exp.Literal) and not given[1].is_string:
        return _slot(
            text, node, int(given[1].name) if given[1].name.isdecimal() and len(given[1].name) < 5 else 0, given[0]
        )
    return None


def _extracted(text: Text, node: exp.Expr, what: str, column: exp.Expr) -> Part:
    part = _EXTRACTED.get(what.lower())
    if part is None:
        raise text.refusal(_SUPPORTED, node)
    return Part(part, _column(text, column))


def _slot(text: Text, node: exp.Expr, minutes: int, column: exp.Expr) -> Part:
    with text.at(node):
        check_slot(minutes)
    return Part(SLOT, _column(text, column), minutes)


def _interval(text: Text, node: exp.Expr) -> int:
    """The minutes of an interval such as INTERVAL '15 minutes'."""
    written = node.name
    if isinstance(node, exp.Interval):
        written = f"{node.name} {node.text('unit')}"
    elif isinstance(node, exp.Cast | exp.TryCast) and node.to.this == exp.DType.INTERVAL:
        written = node.this.name
    found = _INTERVAL.fullmatch(written.strip().lower())
    if found is None or found[2] not in _MINUTES:
        raise text.refusal("A slot is given in minutes or hours, like INTERVAL '15 minutes'.", node)
    return int(found[1]) * _MINUTES[found[2]]


def _column(text: Text, node: exp.Expr) -> exp.Column:
    node = unwrapped(node)
    if isinstance(node, exp.TsOrDsToDate):
        node = unwrapped(node.this)
    if not isinstance(node, exp.Column):
        raise text.refusal("Parts of a time are taken of a column.", node)
    return node
