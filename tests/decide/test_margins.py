"""A leaf holds iff its margin is above 0: against the comparison itself, on whatever rows a key may have."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.decide.margins import LARGEST_OFFSET, Margin, margin
from louver.errors import ParameterError
from louver.noise.grid import Grid
from louver.question import nodes
from louver.question.nodes import Against, Aggregate, Comparison, Threshold
from louver.source.filters import Compare
from louver.source.measures import Keys, Reading, View
from tests.decide.asked import where
from tests.decide.outcomes import contribution

SIGNS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
GRID = Grid(-4, 6, Fraction(1, 2))

thresholds = st.fractions(-12, 12, max_denominator=6)
signs = st.sampled_from(sorted(SIGNS))
values = st.fractions(-9, 9, max_denominator=4)
tables = st.lists(st.fixed_dictionaries({"watts": values, "a": st.booleans(), "b": st.booleans()}), max_size=7)
factors = st.fractions(-3, 3, max_denominator=4).filter(bool)


def made(comparison: Comparison) -> Margin:
    def limits(threshold: Threshold) -> Sequence[Fraction]:
        return [threshold.constant]

    return margin(comparison, 0, limits, lambda _: GRID)


def value(leaf: Margin, rows: Sequence[dict[str, Any]]) -> int:
    """The margin of a key with these rows."""
    reading = Reading((Keys((), ((),)),), tuple(dict.fromkeys(leaf.measures)))
    read = [np.array([sum(contribution(each, row) for row in rows)]) for each in reading.measures]
    (found,) = leaf.of(reading, View(tuple(read)))
    return int(found)


def quantised(rows: Sequence[dict[str, Any]]) -> list[Fraction]:
    return [GRID.value(int(GRID.quantise([row["watts"]])[0])) for row in rows]


@given(tables, signs, thresholds)
def test_counts_hold_exactly_where_the_comparison_does(
    rows: list[dict[str, Any]], sign: str, threshold: Fraction
) -> None:
    counted = Aggregate(nodes.COUNT, where=where("a"))
    leaf = made(Comparison(counted, sign, Threshold(threshold)))
    assert (value(leaf, rows) > 0) == SIGNS[sign](sum(row["a"] for row in rows), threshold)


@given(tables, signs, thresholds)
def test_sums_hold_exactly_where_the_clamped_and_quantised_sum_does(
    rows: list[dict[str, Any]], sign: str, threshold: Fraction
) -> None:
    leaf = made(Comparison(Aggregate(nodes.SUM, "watts"), sign, Threshold(threshold)))
    total = sum(quantised(rows), Fraction(0))
    assert (value(leaf, rows) > 0) == SIGNS[sign](total, threshold)
    # Each step of the margin is worth one step of the grid.
    further = value(leaf, [*rows, {"watts": Fraction(1, 2)}]) - value(leaf, rows)
    assert further == (1 if sign in (">", ">=") else -1)


@given(tables, signs, thresholds)
def test_averages_hold_exactly_where_the_average_of_quantised_values_does(
    rows: list[dict[str, Any]], sign: str, threshold: Fraction
) -> None:
    leaf = made(Comparison(Aggregate(nodes.AVG, "watts"), sign, Threshold(threshold)))
    found = value(leaf, rows)
    if not rows:
        assert (found > 0) == leaf.holds_when_empty == (sign in (">=", "<="))
        return
    values = quantised(rows)
    assert (found > 0) == SIGNS[sign](sum(values, Fraction(0)) / len(values), threshold)
    # The margin is the sum of what values are beyond the threshold, whatever their number: slack is stated in that.
    beyond = sum((each - threshold for each in values), Fraction(0)) * (1 if sign in (">", ">=") else -1)
    assert found * leaf.step == beyond + (leaf.step if sign in (">=", "<=") else 0)


def test_a_threshold_of_many_digits_moves_an_average_towards_flagging_only() -> None:
    odd = Fraction(10**12 + 1, 3 * 10**12)
    rows = [{"watts": Fraction(1, 2)}, {"watts": Fraction(0)}, {"watts": Fraction(1, 2)}]
    for sign, holds in ((">", False), ("<", True), (">=", False), ("<=", True)):
        leaf = made(Comparison(Aggregate(nodes.AVG, "watts"), sign, Threshold(odd)))
        assert leaf.step > GRID.step / 2**21
        assert value(leaf, rows) > 0 or not holds
    near = made(Comparison(Aggregate(nodes.AVG, "watts"), ">", Threshold(odd - Fraction(1, 10**5))))
    assert value(near, rows) > 0


@given(tables, signs, thresholds, st.sampled_from([nodes.MIN, nodes.MAX, nodes.MEDIAN]))
def test_extremes_and_medians_hold_exactly_and_say_what_they_do_without_rows(
    rows: list[dict[str, Any]], sign: str, threshold: Fraction, kind: str
) -> None:
    leaf = made(Comparison(Aggregate(kind, "watts"), sign, Threshold(threshold)))
    holds = value(leaf, rows) > 0
    if not rows:
        assert holds == leaf.holds_when_empty
        return
    ordered = sorted(row["watts"] for row in rows)
    truth = {nodes.MIN: ordered[0], nodes.MAX: ordered[-1], nodes.MEDIAN: ordered[(len(ordered) - 1) // 2]}[kind]
    assert holds == SIGNS[sign](truth, threshold)


@given(
    tables,
    signs,
    factors,
    thresholds,
    st.sampled_from([nodes.COUNT, nodes.SUM]),
    st.sampled_from([nodes.COUNT, nodes.SUM]),
)
def test_one_aggregate_against_another_holds_exactly(
    rows: list[dict[str, Any]], sign: str, factor: Fraction, constant: Fraction, left: str, right: str
) -> None:
    def of(kind: str, column: str) -> Aggregate:
        return Aggregate(kind, "watts" if kind == nodes.SUM else None, where=where(column))

    def truth(kind: str, column: str) -> Fraction:
        kept = [row for row in rows if row[column]]
        return sum(quantised(kept), Fraction(0)) if kind == nodes.SUM else Fraction(len(kept))

    leaf = made(Comparison(of(left, "a"), sign, Against(of(right, "b"), factor, constant)))
    assert (value(leaf, rows) > 0) == SIGNS[sign](truth(left, "a"), factor * truth(right, "b") + constant)


COMPARED = [
    *(
        Comparison(Aggregate(kind, "watts"), sign, Threshold(Fraction(limit, 3)))
        for kind in (nodes.SUM, nodes.AVG, nodes.MAX, nodes.MIN, nodes.MEDIAN)
        for sign in SIGNS
        for limit in (-20, 0, 4, 25)
    ),
    Comparison(Aggregate(nodes.COUNT, where=where("a")), "<", Against(Aggregate(nodes.COUNT), Fraction(2, 3))),
    Comparison(
        Aggregate(nodes.SUM, "watts", where=where("a")), ">", Against(Aggregate(nodes.SUM, "watts"), Fraction(-1, 2))
    ),
    Comparison(
        Aggregate(nodes.SUM, "watts", where=Compare("kind", "=", "x")),
        ">",
        Against(Aggregate(nodes.COUNT, where=Compare("kind", "=", "y")), Fraction(3)),
    ),
]


@pytest.mark.parametrize("comparison", COMPARED)
def test_no_row_moves_a_margin_by_more_than_its_weight_and_some_row_does(comparison: Comparison) -> None:
    leaf = made(comparison)
    kinds = [
        {"watts": Fraction(watts, 2), "a": a, "b": True, "kind": kind}
        for watts in range(-30, 31)
        for a in (True, False)
        for kind in ("x", "y")
    ]
    moves = {abs(value(leaf, [row]) - value(leaf, [])) for row in kinds}
    assert max(moves) <= leaf.row_weight
    # Only where a row may count on both sides the weight is a sum that no single row needs to reach.
    if not isinstance(comparison.right, Against):
        assert max(moves) == leaf.row_weight


def test_filters_that_no_row_passes_together_weigh_as_the_heavier_one() -> None:
    assert made(COMPARED[-1]).row_weight == max(12, 3 * 2)
    assert made(COMPARED[-2]).row_weight == 12 + 2 * 12


@pytest.mark.parametrize("sign", [">", "<="])
def test_a_row_weighs_no_more_where_the_numbers_are_as_large_as_they_get(sign: str) -> None:
    """Bounds far from 0 and close to each other: each sum is large, and what one row adds to the margin is not."""
    grid = Grid(10**6, 10**6 + 1, Fraction(1, 2))
    leaf = margin(
        Comparison(Aggregate(nodes.AVG, "watts"), sign, Threshold()), 0, lambda _: [Fraction(10**6)], lambda _: grid
    )
    reading = Reading((Keys((), ((),)),), leaf.measures)
    full = LARGEST_OFFSET // grid.highest  # so many rows sum up to all that a margin can hold
    for rows in (1, 10**3, full - 2, full - 1, full, full + 1, full + 2, 4 * full):
        for each, last in itertools.product((grid.lowest, grid.highest), repeat=2):
            read = [(rows * each, rows), (rows * each + last, rows + 1)]
            before, after = (int(leaf.of(reading, View((np.array([s]), np.array([n]))))[0]) for s, n in read)
            assert abs(after - before) <= leaf.row_weight


def test_a_margin_beyond_all_bounds_is_cut_off_and_never_wraps_around() -> None:
    leaf = made(
        Comparison(Aggregate(nodes.COUNT), ">", Against(Aggregate(nodes.COUNT, where=where("a")), Fraction(1000)))
    )
    reading = Reading((Keys((), ((),)),), leaf.measures)
    for one, other, expected in (
        (2**62, 0, LARGEST_OFFSET),
        (0, 2**62, -LARGEST_OFFSET),
        (-(2**62), 2**62, -LARGEST_OFFSET),
    ):
        assert leaf.of(reading, View((np.array([one]), np.array([other]))))[0] == expected


@pytest.mark.parametrize("factor", [Fraction(0), Fraction(1, 2**30), Fraction(2**30)])
def test_a_factor_that_is_no_simple_fraction_is_refused(factor: Fraction) -> None:
    with pytest.raises(ParameterError, match="factor"):
        made(Comparison(Aggregate(nodes.COUNT), ">", Against(Aggregate(nodes.COUNT), factor)))


def test_a_threshold_that_no_margin_can_hold_is_refused() -> None:
    with pytest.raises(ParameterError, match="too many steps"):
        made(Comparison(Aggregate(nodes.COUNT), ">", Threshold(Fraction(10**30))))


@pytest.mark.parametrize("kind", [nodes.AVG, nodes.MAX, nodes.MEDIAN])
def test_only_counts_and_sums_are_compared_with_each_other(kind: str) -> None:
    with pytest.raises(ParameterError, match="counts and sums"):
        made(Comparison(Aggregate(kind, "watts"), ">", Against(Aggregate(nodes.COUNT))))
