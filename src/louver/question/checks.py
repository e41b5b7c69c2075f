"""Whether a question makes sense by itself, without data: one sentence where it does not."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from louver import parameters
from louver.errors import ParameterError
from louver.privacy.unit import column_name
from louver.question import nodes
from louver.question.exact import row_value
from louver.question.nodes import (
    Against,
    Aggregate,
    All,
    Any,
    Classes,
    Comparison,
    Condition,
    Flag,
    Question,
    Threshold,
    Values,
)
from louver.source import filters
from louver.source.derived import check_values
from louver.source.filters import EVERY_ROW, Both, Compare, Either, Filter, Missing, OneOf

DEEPEST = 16
MOST_KEYS = 64
LONGEST_TEXT = 1024
_TOO_DEEP = f"A question can be nested {DEEPEST} levels deep, filters included; write it flatter."


def check(question: object) -> None:
    """Refuses a question that is put together wrongly."""
    if not isinstance(question, Flag | Values | Classes):
        raise ParameterError(
            f"A question is made by question(), values(), classes() or from SQL; a {type(question).__name__} is none."
        )
    check_keys(question.keys)
    for kind, name in (("table", question.table), ("domain", question.domain)):
        if name is not None:
            check_text(f"The name of a {kind}", name)
    if isinstance(question, Flag):
        _condition(question.condition, question, DEEPEST)
    elif isinstance(question, Values):
        if not question.aggregates:
            raise ParameterError("A question for values needs at least one aggregate.")
        for aggregate in question.aggregates:
            _aggregate(aggregate, question, DEEPEST)
        if question.names and len(question.names) != len(question.aggregates):
            raise ParameterError("Give each of the values a name or None, or give no names.")
        for called in question.names:
            if called is not None:
                column_name(called)
    else:
        _classes(question)


def check_keys(keys: object) -> None:
    if not isinstance(keys, tuple) or len(keys) > MOST_KEYS:
        raise ParameterError(f"The keys are given by a tuple of at most {MOST_KEYS} column names.")
    for position, key in enumerate(keys):
        if column_name(key) in keys[:position]:
            raise ParameterError(f"Each key column is named once, but {key!r} comes twice.")


def check_text(what: str, text: object) -> None:
    if not isinstance(text, str) or not 1 <= len(text) <= LONGEST_TEXT or not text.isprintable():
        raise ParameterError(f"{what} must be a text of 1 to {LONGEST_TEXT} printable characters.")


def check_bounds(kind: str, low: Fraction | None, high: Fraction | None) -> None:
    if low is None and high is None:
        return
    if kind in (nodes.COUNT, nodes.COUNT_DISTINCT):
        raise ParameterError("Only values are clamped; a count has no bounds.")
    if kind not in (nodes.SUM, nodes.AVG):
        raise ParameterError("Bounds are for sum and avg; max, min and median are of the values as they are.")
    if low is not None and high is not None and low >= high:
        shown = parameters.short(low), parameters.short(high)
        raise ParameterError(f"Values are clamped from a lower to a higher number, not from {shown[0]} to {shown[1]}.")


def _classes(question: Classes) -> None:
    _aggregate(question.aggregate, question, DEEPEST)
    cuts, names = question.cuts, question.names
    if not cuts or len(names) != len(cuts) + 1:
        raise ParameterError("Classes need at least one cut, and one name more than there are cuts.")
    for name in names:
        check_text("The name of a class", name)
    if question.name is not None:
        column_name(question.name)
    if len(set(names)) < len(names):
        raise ParameterError("Each class needs a name of its own.")
    for cut in cuts:
        _threshold(cut)
    for low, high in pairwise(cuts):
        if (low.column, low.factor) == (high.column, high.factor) and low.constant >= high.constant:
            raise ParameterError("The cuts between classes must rise from one to the next.")


def check_depth(given: Condition, depth: int = DEEPEST) -> None:
    """Refuses a condition that is nested too deeply, before anything else walks through it."""
    if not depth:
        raise ParameterError(_TOO_DEEP)
    if isinstance(given, nodes.Not):
        check_depth(given.part, depth - 1)
    elif isinstance(given, All | Any):
        for part in given.parts:
            check_depth(part, depth - 1)


def _condition(given: Condition, question: Flag, depth: int) -> None:
    if not depth:
        raise ParameterError(_TOO_DEEP)
    if isinstance(given, Comparison):
        _comparison(given, question, depth)
    elif isinstance(given, nodes.Not):
        _condition(given.part, question, depth - 1)
    elif isinstance(given, All | Any):
        if not given.parts:
            raise ParameterError("A condition made of parts needs at least one.")
        for part in given.parts:
            _condition(part, question, depth - 1)
    else:
        raise ParameterError(f"A condition compares aggregates; a {type(given).__name__} does not.")


def _comparison(given: Comparison, question: Flag, depth: int) -> None:
    _aggregate(given.left, question, depth)
    if given.sign not in nodes.SIGNS:
        raise ParameterError(f"Aggregates are compared with one of {', '.join(nodes.SIGNS)}.")
    if given.slack is not None and _number("The slack of a comparison", given.slack) < 0:
        raise ParameterError("The slack of a comparison must be at least 0.")
    if isinstance(given.right, Against):
        _aggregate(given.right.aggregate, question, depth)
        _number("The constant of a comparison", given.right.constant)
        if not _number("The factor of an aggregate", given.right.factor):
            raise ParameterError("The factor of an aggregate must not be 0.")
        if given.right.aggregate == given.left:
            raise ParameterError("An aggregate is compared with another one, not with itself.")
    else:
        _threshold(given.right)


def _threshold(given: object) -> None:
    if not isinstance(given, Threshold):
        raise ParameterError(
            f"An aggregate is compared with a threshold or an aggregate, not a {type(given).__name__}."
        )
    _number("A threshold", given.constant)
    _number("The factor of a threshold", given.factor)
    if given.column is not None:
        column_name(given.column)


def _aggregate(given: object, question: Question, depth: int) -> None:
    if not isinstance(given, Aggregate) or given.kind not in nodes.KINDS:
        raise ParameterError(f"An aggregate is one of {', '.join(nodes.KINDS)}.")
    if (given.kind == nodes.COUNT) != (given.column is None):
        raise ParameterError("A count counts rows and has no column; every other aggregate has one.")
    if given.column is not None:
        column_name(given.column)
    for bound in (given.low, given.high):
        if bound is not None:
            _number("A bound", bound)
    check_bounds(given.kind, given.low, given.high)
    check_keys(given.keys)
    beside = next((key for key in given.keys if key not in question.keys), None)
    if beside is not None:
        raise ParameterError(f"An aggregate is grouped by {beside!r}, which is not among the question's keys.")
    if given.where != EVERY_ROW:
        check_filter(given.where, depth)


def check_filter(given: Filter, depth: int = DEEPEST) -> None:
    if not depth:
        raise ParameterError(_TOO_DEEP)
    if isinstance(given, Compare):
        check_values(given.column, [row_value(given.column, given.value)])
    elif isinstance(given, OneOf):
        check_values(given.column, [row_value(given.column, value) for value in given.values])
    elif isinstance(given, filters.Not):
        check_filter(given.part, depth - 1)
    elif isinstance(given, Both | Either):
        for part in given.parts:
            check_filter(part, depth - 1)
    elif not isinstance(given, Missing):
        raise ParameterError(f"A filter compares columns of a row; a {type(given).__name__} does not.")


def _number(name: str, given: object) -> Fraction:
    if not isinstance(given, Fraction | int) or isinstance(given, bool):
        raise ParameterError(f"{name} must be an exact number, not a {type(given).__name__}.")
    return parameters.fraction(name, given)
