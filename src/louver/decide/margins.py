"""From comparisons to whole-number margins: a leaf holds for a key iff its margin there is greater than 0.

Every margin is a sum of measures with whole coefficients, plus a public offset per key. Rounding is towards flagging: a
threshold that is not on the grid of its aggregate is moved so that the leaf holds for no fewer aggregates.

- count, count distinct, sum: the aggregate less the threshold, in rows or in steps of the value's grid.
- avg against t: the sum of (value - t) over the key's rows, times the denominator of t. One noisy number and no
  division; a key without rows has margin 0, and so is never above or below. `>=` adds 1, and so holds without rows.
- max > t: rows above t, against 0; min < t likewise. max < t: no row at or above t, which also holds without rows.
- median > t, the lower median: rows above t less rows at or below it. median <= t holds also without rows.
- one aggregate against another: their difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver.decide.values import MOST_STEPS
from louver.errors import ParameterError
from louver.noise.grid import Grid
from louver.question import nodes
from louver.question.nodes import Against, Aggregate, Comparison, Threshold
from louver.source import filters, measures
from louver.source.measures import Measure, Reading, View

LARGEST_OFFSET = 2**60
LARGEST_FACTOR = 2**20
PLAIN = (nodes.COUNT, nodes.COUNT_DISTINCT, nodes.SUM)
OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">", "=": "<>", "<>": "="}

Thresholds: TypeAlias = "Callable[[Threshold], Sequence[Fraction]]"
Grids: TypeAlias = "Callable[[Aggregate], Grid]"


@dataclass(frozen=True, slots=True)
class Term:
    """A measure times a whole number: one for all keys, or one for each."""

    measure: Measure
    coefficients: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Margin:
    """The sum of the terms plus the offset of each key (one for all, or one each).

    One row moves the margin of its key by at most `row_weight`. `step` is what one of the margin is worth to the
    reader. `holds_when_empty` says that a key without rows meets the leaf although SQL would leave it out.
    """

    terms: tuple[Term, ...]
    offsets: tuple[int, ...]
    row_weight: int
    step: Fraction = Fraction(1)
    holds_when_empty: bool = False

    @property
    def measures(self) -> tuple[Measure, ...]:
        return tuple(term.measure for term in self.terms)

    def of(self, reading: Reading, view: View) -> NDArray[np.int64]:
        """The margins, in the order of the keys. Private. Far beyond what noise reaches they are cut off.

        Only the whole sum is cut: cutting one term and not another would let a single row move the margin by more
        than its weight. Whole numbers of any length keep products exact.
        """
        short = all(abs(factor) == 1 for term in self.terms for factor in term.coefficients)
        kind = np.int64 if short else object
        total = np.array(self.offsets, dtype=kind)
        for term in self.terms:
            values = view.values[reading.measures.index(term.measure)]
            near = np.clip(values, -LARGEST_OFFSET, LARGEST_OFFSET) if short else values.astype(kind)
            total = total + np.array(term.coefficients, dtype=kind) * near
        return np.asarray(np.clip(total, -LARGEST_OFFSET, LARGEST_OFFSET), dtype=np.int64)


def margin(comparison: Comparison, keys: int, thresholds: Thresholds, grids: Grids) -> Margin:
    """The margin of a comparison with one of the signs <, <=, >, >=, over the reading's list number `keys`."""
    left, sign, right = comparison.left, comparison.sign, comparison.right
    if isinstance(right, Against):
        return _difference(left, sign, right, keys, grids)
    limits = thresholds(right)
    if left.kind in PLAIN:
        measure, weight, step = plain(left, keys, grids)
        offsets = tuple(_offset(limit / step, sign) for limit in limits)
        return Margin((Term(measure, (_sense(sign),)),), offsets, weight, step)
    if left.kind == nodes.AVG:
        return _average(left, sign, keys, limits, grids(left))
    if left.kind == nodes.MEDIAN:
        return _median(left, sign, keys, limits)
    return _extreme(left, sign, keys, limits)


def plain(aggregate: Aggregate, keys: int, grids: Grids) -> tuple[Measure, int, Fraction]:
    """The measure of a count or a sum, the most that one row adds to it, and what one of its steps is worth."""
    if aggregate.kind not in PLAIN:
        raise ParameterError(
            f"{aggregate.kind} has no price of its own; compare it with a threshold, or ask for counts and sums."
        )
    if aggregate.kind == nodes.SUM:
        grid = grids(aggregate)
        measure = Measure(measures.SUM, keys, aggregate.where, aggregate.column, grid=grid)
        return measure, max(1, grid.sensitivity), grid.step
    kind = measures.COUNT if aggregate.kind == nodes.COUNT else measures.DISTINCT
    return Measure(kind, keys, aggregate.where, aggregate.column), 1, Fraction(1)


def _sense(sign: str) -> int:
    return 1 if sign in (">", ">=") else -1


def _offset(limit: Fraction, sign: str) -> int:
    """What to add to the aggregate (`>`) or to its negative (`<`), so that the leaf holds iff the sum is at least 1."""
    below, above = limit.__floor__(), -((-limit).__floor__())
    return _moderate({">": -below, ">=": 1 - above, "<": above, "<=": below + 1}[sign])


def _average(left: Aggregate, sign: str, keys: int, limits: Sequence[Fraction], grid: Grid) -> Margin:
    """The sum of value - t, or its negative, times the denominator of t in steps of the grid.

    Moving t to the grid instead would move the sum by so much for each row, and a key of many rows past any slack.
    """
    _check_reach(grid)
    sense, exact = _sense(sign), [limit / grid.step for limit in limits]
    size = math.lcm(*(each.denominator for each in exact))
    if size > LARGEST_FACTOR:  # t itself moves a little, towards flagging
        size = LARGEST_FACTOR
        exact = [Fraction(sense * (sense * each * size).__floor__(), size) for each in exact]
    cuts = [_moderate(int(each * size)) for each in exact]
    weight = max(1, *(max(size * grid.highest - cut, cut - size * grid.lowest) for cut in cuts))
    total = Measure(measures.SUM, keys, left.where, left.column, grid=grid)
    count = Measure(measures.COUNT, keys, left.where, left.column)
    terms = Term(total, (sense * size,)), Term(count, tuple(-sense * cut for cut in cuts))
    at_least = sign in (">=", "<=")
    return Margin(terms, (int(at_least),), _moderate(weight), grid.step / size, holds_when_empty=at_least)


def _extreme(left: Aggregate, sign: str, keys: int, limits: Sequence[Fraction]) -> Margin:
    """Rows on the sign's side of t: at least one where the extreme is on that side too, else none on the other side."""
    here = (_sense(sign) > 0) == (left.kind == nodes.MAX)
    beyond = Measure(
        measures.BEYOND,
        keys,
        left.where,
        left.column,
        sign=sign if here else OPPOSITE[sign],
        limits=tuple(limits),
    )
    return Margin((Term(beyond, (1 if here else -1,)),), (0 if here else 1,), 1, holds_when_empty=not here)


def _median(left: Aggregate, sign: str, keys: int, limits: Sequence[Fraction]) -> Margin:
    """The lower median is above t iff more rows are above than not; it is not iff no more are. One row is in one."""
    sense = _sense(sign)
    above = sign if sense > 0 else OPPOSITE[sign]
    high = Measure(measures.BEYOND, keys, left.where, left.column, sign=above, limits=tuple(limits))
    low = replace(high, sign=OPPOSITE[above])
    terms = Term(high, (sense,)), Term(low, (-sense,))
    return Margin(terms, (0 if sense > 0 else 1,), 1, holds_when_empty=sense < 0)


def _difference(left: Aggregate, sign: str, right: Against, keys: int, grids: Grids) -> Margin:
    """left - factor * right - constant, times the factor's denominator, so that it is whole."""
    measure, weight, step = plain(left, keys, grids)
    other, other_weight, other_step = plain(right.aggregate, keys, grids)
    for grid in (measure.grid, other.grid):
        _check_reach(grid)
    ratio = right.factor * other_step / step
    size = ratio.denominator
    if not ratio or max(abs(ratio.numerator), size) > LARGEST_FACTOR:
        raise ParameterError("The factor between two aggregates must be a fraction of small whole numbers, and not 0.")
    moved = size * weight, abs(ratio.numerator) * other_weight
    heaviest = max(moved) if _apart(left, right.aggregate) else sum(moved)
    sense = _sense(sign)
    terms = Term(measure, (sense * size,)), Term(other, (-sense * ratio.numerator,))
    return Margin(terms, (_offset(right.constant / step * size, sign),), _moderate(heaviest), step / size)


def _apart(left: Aggregate, right: Aggregate) -> bool:
    """Whether the filters show that no row is in both."""
    mine, theirs = filters.scope(left.where), filters.scope(right.where)
    return mine is None or theirs is None or mine.disjoint(theirs)


def _check_reach(grid: Grid | None) -> None:
    """Where a sum is one of several terms, it must not be cut: another term that is not would then move the margin.

    A sum is cut at 2**62 steps. With values of at most 2**21 steps that takes more than 2**41 rows of one key, which no
    table has.
    """
    if grid is not None and grid.sensitivity > MOST_STEPS:
        raise ParameterError(f"Values must lie within {MOST_STEPS:,} steps of 0 here; take a larger step for them.")


def _moderate(number: int) -> int:
    if abs(number) > LARGEST_OFFSET:
        raise ParameterError("A threshold is too many steps of its aggregate's grid away from 0; take a larger step.")
    return number
