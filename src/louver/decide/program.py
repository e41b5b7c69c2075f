"""From a question to what is read and decided: leaves with whole-number margins, joined in a tree.

Everything here is public and exact. A program knows which measures to read, how they make each leaf's margins, by how
much one unit moves them, and which leaves can share one look: leaves on the same measures differ by a public number, so
that one noisy value decides them all, and is paid once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from louver.decide import tree
from louver.decide.margins import OPPOSITE, Margin, margin
from louver.decide.met import asked_about
from louver.decide.touch import Touch, no_bound_needed, touch
from louver.decide.tree import Tree
from louver.decide.values import ValueBounds
from louver.errors import ParameterError
from louver.privacy import Scope, Unit
from louver.question import nodes
from louver.question.nodes import Aggregate, Comparison, Condition, Flag, Threshold
from louver.source import filters
from louver.source.domain import Domain
from louver.source.filters import Filter
from louver.source.measures import Bound, Keys, Reading

MOST_LEAVES = 64


@dataclass(frozen=True, slots=True)
class Leaf:
    """One comparison: true for a key iff its margin is above 0; false alarms are bounded at or below -slack."""

    comparison: Comparison
    margin: Margin
    keys: int
    slack: int
    look: int
    sense: int


@dataclass(frozen=True, slots=True)
class Look:
    """What is looked at with one noise per key: the leaves on it, the box of its rows, and what one unit moves."""

    keys: int
    leaves: tuple[int, ...]
    box: Scope
    touch: Touch
    slack: int

    @property
    def steps(self) -> int:
        """How far the aligned margins at which misses count are from those where false alarms count."""
        return -(-(self.slack + 1) // self.touch.step)


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """The compiled question. `positions[i]` says for each key of the question where it is in the reading's list i."""

    reading: Reading
    leaves: tuple[Leaf, ...]
    looks: tuple[Look, ...]
    tree: Tree
    positions: tuple[NDArray[np.int64], ...]

    @property
    def keys(self) -> Keys:
        return self.reading.keys[0]


class KeyLists:
    """The reading's lists of keys: the question's own first, and coarser ones that aggregates are grouped by.

    Keys whose rows the question's WHERE leaves out are not asked about.
    """

    def __init__(self, domain: Domain, columns: tuple[str, ...], where: Sequence[Filter]) -> None:
        self._domain = asked_about(domain, columns, filters.both(where)) if where else domain
        self._rows: list[NDArray[np.int64]] = []
        self.lists: list[Keys] = []
        self.number(columns)

    def number(self, columns: tuple[str, ...]) -> int:
        for at, listed in enumerate(self.lists):
            if listed.columns == columns:
                return at
        if unknown := [name for name in columns if self.lists and name not in self.lists[0].columns]:
            raise ParameterError(f"An aggregate is grouped by {unknown[0]!r}, which is not among the question's keys.")
        listed, rows = self._domain.listed(columns)
        self.lists.append(listed)
        self._rows.append(rows)
        return len(self.lists) - 1

    def positions(self) -> tuple[NDArray[np.int64], ...]:
        first = self._first_rows(0)
        return tuple(rows[first] for rows in self._rows)

    def numbers(self, at: int, threshold: Threshold) -> Sequence[Fraction]:
        """The threshold for each key of a list; rows of the domain that share a key must agree on it."""
        if threshold.column is None:
            return [threshold.constant] * len(self.lists[at])
        numbers = self._domain.numbers(threshold.column)
        first = self._first_rows(at)
        if len(first) < len(numbers):
            for row, position in enumerate(self._rows[at]):
                if numbers[row] != numbers[first[position]]:
                    raise ParameterError(
                        f"Column {threshold.column!r} of the domain has several numbers for one "
                        f"{' and '.join(self.lists[at].columns) or 'total'}; each key needs one threshold."
                    )
        return [threshold.factor * numbers[row] + threshold.constant for row in first]

    def _first_rows(self, at: int) -> NDArray[np.int64]:
        return np.unique(self._rows[at], return_index=True)[1].astype(np.int64)


def compiled(
    question: Flag, domain: Domain, unit: Unit, bound: Bound | None, values: ValueBounds, slacks: Sequence[Fraction]
) -> Program:
    """The program of a question that asks which keys meet a condition."""
    asked = list(comparisons(question.condition))
    if len(slacks) not in (1, len(asked)):
        several = f"Give one slack for all, or one for each of the {len(asked)} comparisons."
        raise ParameterError(several if len(asked) > 1 else "Give one slack, for there is one comparison.")
    own = [slacks[0] if len(slacks) == 1 else each for each in slacks] * (1 if len(slacks) > 1 else len(asked))
    pairs = [(each, own[at] if each.slack is None else each.slack) for at, each in enumerate(asked)]
    simple = iter(pairs)
    condition = _expanded(question.condition, simple, negated=False)
    common = shared_filter([aggregate for each in asked for aggregate in aggregates(each)])
    return _Builder(domain, question.keys, unit, bound, values, common).program(condition)


def comparisons(condition: Condition) -> Iterator[Comparison]:
    """From left to right."""
    if isinstance(condition, Comparison):
        yield condition
    elif isinstance(condition, nodes.Not):
        yield from comparisons(condition.part)
    else:
        for part in condition.parts:
            yield from comparisons(part)


def aggregates(comparison: Comparison) -> Iterator[Aggregate]:
    yield comparison.left
    if isinstance(comparison.right, nodes.Against):
        yield comparison.right.aggregate


def shared_filter(asked: Sequence[Aggregate]) -> tuple[Filter, ...]:
    """The conditions on rows that all aggregates share: they come before the bound on contributions."""
    parts = [dict.fromkeys(filters.conjuncts(each.where)) for each in asked]
    return tuple(part for part in parts[0] if all(part in others for others in parts[1:]))


def without(where: Filter, common: Sequence[Filter]) -> Filter:
    return filters.both(part for part in filters.conjuncts(where) if part not in common)


_Slacked = tuple[Comparison, Fraction]


def _expanded(condition: Condition, asked: Iterator[_Slacked], negated: bool) -> _Slacked | tree.All | tree.Any:
    """The condition without negation, and with the signs <, <=, >, >= only. Leaves are pairs with their slack."""
    if isinstance(condition, nodes.Not):
        return _expanded(condition.part, asked, not negated)
    if isinstance(condition, Comparison):
        comparison, slack = next(asked)
        sign = OPPOSITE[comparison.sign] if negated else comparison.sign
        parts = {"=": (">=", "<="), "<>": (">", "<")}.get(sign, (sign,))
        made = [_with_rows(replace(comparison, sign=each), slack) for each in parts]
        if len(made) == 1:
            return made[0]
        return (tree.All if sign == "=" else tree.Any)(tuple(made))  # type: ignore[arg-type]
    every = isinstance(condition, nodes.All) != negated
    parts_made = tuple(_expanded(part, asked, negated) for part in condition.parts)
    return (tree.All if every else tree.Any)(parts_made)  # type: ignore[arg-type]


def _with_rows(comparison: Comparison, slack: Fraction) -> _Slacked | tree.All:
    """Where a key without rows would meet the comparison: without slack, ask also whether there are rows."""
    left, sign = comparison.left, comparison.sign
    up = sign in (">", ">=")
    met_when_empty = {
        nodes.AVG: sign in (">=", "<="),
        nodes.MAX: not up,
        nodes.MIN: up,
        nodes.MEDIAN: not up,
    }.get(left.kind, False)
    if not met_when_empty or slack >= 1:
        return comparison, slack
    rows = Comparison(replace(left, kind=nodes.COUNT, low=None, high=None), ">", Threshold())
    return tree.All(((comparison, slack), (rows, Fraction(0))))  # type: ignore[arg-type]


class _Builder:
    def __init__(
        self,
        domain: Domain,
        columns: tuple[str, ...],
        unit: Unit,
        bound: Bound | None,
        values: ValueBounds,
        common: tuple[Filter, ...],
    ) -> None:
        self._keys = KeyLists(domain, columns, common)
        self._unit, self._bound, self._values, self._common = unit, bound, values, common
        self._leaves: list[Leaf] = []
        self._looks: list[Look] = []

    def program(self, condition: _Slacked | tree.All | tree.Any) -> Program:
        grown = tree.flattened(self._grown(condition))
        measures = dict.fromkeys(measure for leaf in self._leaves for measure in leaf.margin.measures)
        margins = [(leaf.margin, self._keys.lists[leaf.keys].columns) for leaf in self._leaves]
        bound = None if all(no_bound_needed(self._unit, *each) for each in margins) else self._bound
        reading = Reading(tuple(self._keys.lists), tuple(measures), filters.both(self._common), bound)
        return Program(reading, tuple(self._leaves), tuple(self._looks), grown, self._keys.positions())

    def _grown(self, condition: _Slacked | tree.All | tree.Any) -> Tree:
        if isinstance(condition, tree.All | tree.Any):
            return type(condition)(tuple(self._grown(part) for part in condition.parts))  # type: ignore[arg-type]
        return self._leaf(*condition)

    def _leaf(self, comparison: Comparison, slack: Fraction) -> int:
        left = comparison.left
        columns = left.keys
        if any(each.keys != columns for each in aggregates(comparison)):
            raise ParameterError(
                "Two aggregates that are compared must be grouped by the same keys: one row would move the total that "
                "all keys are compared with, and so all of them; compare each with a number or a column of the domain."
            )
        at = self._keys.number(columns)
        made = margin(
            _stripped(comparison, self._common),
            at,
            lambda threshold: self._keys.numbers(at, threshold),
            self._values.grid,
        )
        allowed = int(slack / made.step)
        for number, known in enumerate(self._leaves):
            if (known.margin, known.keys, known.slack) == (made, at, allowed):
                return number
        if len(self._leaves) == MOST_LEAVES:
            raise ParameterError(f"A question has at most {MOST_LEAVES} comparisons; ask in parts.")
        look, sense = self._look(comparison, made, at, allowed)
        self._leaves.append(Leaf(comparison, made, at, allowed, look, sense))
        return len(self._leaves) - 1

    def _look(self, comparison: Comparison, made: Margin, at: int, slack: int) -> tuple[int, int]:
        """A look that this leaf can share, or a new one. The sense is -1 where its margin runs against the look's."""
        lists = self._keys.lists
        moved = touch(self._unit, self._bound, lists[at].columns, lists[0].columns, made)
        number = len(self._leaves)
        box = _box(comparison)
        for which, look in enumerate(self._looks):
            first = self._leaves[look.leaves[0]]
            sense = _sense(first.margin, made)
            if look.keys == at and moved.step == look.touch.step == 1 and sense:
                self._looks[which] = replace(look, leaves=(*look.leaves, number), slack=min(look.slack, slack))
                return which, sense
        self._looks.append(Look(at, (number,), box, moved, slack))
        return len(self._looks) - 1, 1


def _sense(first: Margin, second: Margin) -> int:
    """1 or -1 where the terms are the same or each the negative of the other's, else 0."""
    if first.measures != second.measures:
        return 0
    pairs = [(one.coefficients, two.coefficients) for one, two in zip(first.terms, second.terms, strict=True)]
    if all(one == two for one, two in pairs):
        return 1
    return -1 if all(one == tuple(-each for each in two) for one, two in pairs) else 0


def _stripped(comparison: Comparison, common: Sequence[Filter]) -> Comparison:
    """The comparison with only its own conditions on rows."""
    left = replace(comparison.left, where=without(comparison.left.where, common))
    right = comparison.right
    if isinstance(right, nodes.Against):
        right = replace(right, aggregate=replace(right.aggregate, where=without(right.aggregate.where, common)))
    return replace(comparison, left=left, right=right)


def _box(comparison: Comparison) -> Scope:
    """A box that holds all rows that the comparison looks at."""
    boxes = [box for each in aggregates(comparison) if (box := filters.scope(each.where)) is not None]
    return reduce(Scope.hull, boxes) if boxes else Scope.everything()
