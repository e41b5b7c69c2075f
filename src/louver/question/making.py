"""Questions made of Python expressions: which keys, which values, which classes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from louver.errors import ParameterError
from louver.question.expressions import AggregateExpression, KeyCondition, linear_of
from louver.question.linear import threshold
from louver.question.nodes import Aggregate, Classes, Flag, Values
from louver.question.normal import aggregates, normal, union_of_keys


def question(
    condition: KeyCondition,
    *,
    keys: Iterable[str] | None = None,
    table: str | None = None,
    domain: str | None = None,
) -> Flag:
    """Which keys meet the condition; unless given, keys are those of its aggregates, in order of first appearance."""
    if not isinstance(condition, KeyCondition):
        raise ParameterError("A question needs a condition on keys, such as count().by('room') > 100.")
    asked = Flag(condition.node, (), table, domain)
    return cast(Flag, normal(replace(asked, keys=_keys(keys, list(aggregates(asked))))))


def values(
    *given: AggregateExpression,
    keys: Iterable[str] | None = None,
    table: str | None = None,
    domain: str | None = None,
    names: Iterable[str | None] = (),
) -> Values:
    """The aggregates of each key themselves; `names` are what the answer calls them."""
    listed = tuple(_aggregate(each) for each in given)
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ParameterError("The names of values are given as a list.")
    return cast(Values, normal(Values(listed, _keys(keys, list(listed)), table, domain, tuple(names))))


def classes(
    aggregate: AggregateExpression,
    cuts: Iterable[object],
    names: Iterable[str],
    *,
    keys: Iterable[str] | None = None,
    table: str | None = None,
    domain: str | None = None,
    name: str | None = None,
) -> Classes:
    """Which class each key is in: the first up to and with the first cut, the second above it, and so on.

    `name` is what the answer calls the column of classes.
    """
    node = _aggregate(aggregate)
    for what, given in (("cuts", cuts), ("names", names)):
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise ParameterError(f"The {what} of classes are given as a list.")
    limits = tuple(threshold(linear_of(cut)) for cut in cuts)
    return cast(Classes, normal(Classes(node, limits, tuple(names), _keys(keys, [node]), table, domain, name)))


def _keys(given: Iterable[str] | None, listed: list[Aggregate]) -> tuple[str, ...]:
    if given is None:
        return union_of_keys(listed)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ParameterError("The keys of a question are given as a list of column names.")
    return tuple(given)


def _aggregate(given: object) -> Aggregate:
    if not isinstance(given, AggregateExpression):
        raise ParameterError(
            f"This needs an aggregate by itself, such as count().by('room'), not a {type(given).__name__}."
        )
    return given.node
