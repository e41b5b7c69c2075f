"""One form for questions that mean the same by their shape.

- Nested AND, nested OR and double NOT are flat; parts keep their order.
- Filters likewise, without repeats; one of one value is equal to it; times are in UTC; whole numbers are integers.
- Parts that all filters share come first in each, in the order of the first one.
- Keys of an aggregate come in the order of the question's.
- A threshold without a column has the factor 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from louver.errors import ParameterError
from louver.question import nodes
from louver.question.checks import check
from louver.question.exact import row_value
from louver.question.nodes import (
    Against,
    Aggregate,
    All,
    Any,
    Comparison,
    Condition,
    Flag,
    Question,
    Threshold,
    Values,
)
from louver.source import filters
from louver.source.filters import EVERY_ROW, Both, Compare, Either, Filter, Missing, OneOf, conjuncts


def normal(question: Question) -> Question:
    """The question in its normal form; refused in one sentence where it makes no sense."""
    check(question)
    flat = rebuilt(question, lambda given: replace(given, where=normal_filter(given.where)))
    shared = shared_parts(flat)

    def ordered(given: Aggregate) -> Aggregate:
        own = [part for part in conjuncts(given.where) if part not in shared]
        keys = tuple(key for key in question.keys if key in given.keys)
        return replace(given, where=filters.both([*shared, *own]), keys=keys)

    return rebuilt(flat, ordered)


def shared_parts(question: Question) -> tuple[Filter, ...]:
    """What all aggregates ask of a row, in the order of the first one."""
    first, *others = [conjuncts(given.where) for given in aggregates(question)]
    return tuple(part for part in first if all(part in other for other in others))


def aggregates(question: Question) -> Iterator[Aggregate]:
    """Every aggregate, from left to right."""
    if isinstance(question, Flag):
        for leaf in comparisons(question.condition):
            yield leaf.left
            if isinstance(leaf.right, Against):
                yield leaf.right.aggregate
    elif isinstance(question, Values):
        yield from question.aggregates
    else:
        yield question.aggregate


def comparisons(condition: Condition) -> Iterator[Comparison]:
    if isinstance(condition, Comparison):
        yield condition
    elif isinstance(condition, nodes.Not):
        yield from comparisons(condition.part)
    else:
        for part in condition.parts:
            yield from comparisons(part)


def rebuilt(question: Question, change: Callable[[Aggregate], Aggregate]) -> Question:
    """The question with each aggregate changed, and its conditions flat."""
    if isinstance(question, Flag):
        return replace(question, condition=rebuilt_condition(question.condition, change))
    if isinstance(question, Values):
        return replace(question, aggregates=tuple(map(change, question.aggregates)))
    cuts = tuple(map(_threshold, question.cuts))
    return replace(question, aggregate=change(question.aggregate), cuts=cuts)


def rebuilt_condition(given: Condition, change: Callable[[Aggregate], Aggregate]) -> Condition:
    if isinstance(given, Comparison):
        right: Threshold | Against = (
            _threshold(given.right)
            if isinstance(given.right, Threshold)
            else replace(given.right, aggregate=change(given.right.aggregate))
        )
        return replace(given, left=change(given.left), right=right)
    if isinstance(given, nodes.Not):
        return negated(rebuilt_condition(given.part, change))
    return joined(type(given), [rebuilt_condition(part, change) for part in given.parts])


def negated(given: Condition) -> Condition:
    return given.part if isinstance(given, nodes.Not) else nodes.Not(given)


def joined(kind: type[All] | type[Any], given: list[Condition]) -> Condition:
    parts: list[Condition] = []
    for part in given:
        parts += part.parts if isinstance(part, All | Any) and type(part) is kind else [part]
    return parts[0] if len(parts) == 1 else kind(tuple(parts))


def _threshold(given: Threshold) -> Threshold:
    if given.column is None or not given.factor:
        return Threshold(given.constant)
    return given


def normal_filter(given: Filter) -> Filter:
    if isinstance(given, Compare):
        return replace(given, value=row_value(given.column, given.value))
    if isinstance(given, OneOf):
        values = tuple(dict.fromkeys(row_value(given.column, value) for value in given.values))
        return OneOf(given.column, values) if len(values) > 1 else Compare(given.column, "=", values[0])
    if isinstance(given, Missing):
        return given
    if isinstance(given, filters.Not):
        part = normal_filter(given.part)
        if part == EVERY_ROW:
            raise ParameterError("A filter that lets no row through asks nothing.")
        return part.part if isinstance(part, filters.Not) else filters.Not(part)
    if isinstance(given, Both):
        return filters.both(normal_filter(part) for part in given.parts)
    parts: dict[Filter, None] = {}
    for each in map(normal_filter, given.parts):
        parts.update(dict.fromkeys(each.parts if isinstance(each, Either) else [each]))
    if EVERY_ROW in parts:
        return EVERY_ROW
    return Either(tuple(parts)) if len(parts) > 1 else next(iter(parts))


def union_of_keys(given: Iterator[Aggregate] | list[Aggregate]) -> tuple[str, ...]:
    """The keys of several aggregates, in order of first appearance."""
    return tuple(dict.fromkeys(key for each in given for key in each.keys))
