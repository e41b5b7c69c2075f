"""Bounds of value columns, and the grids they make."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.decide.values import MOST_STEPS, ValueBounds, written
from louver.errors import ParameterError
from louver.question import nodes
from louver.question.nodes import Aggregate

WATTS = Aggregate(nodes.SUM, "watts")
positive = st.fractions(Fraction(1, 10**9), 10**9)


@given(st.fractions(-(10**9), 10**9), positive)
def test_a_grid_is_as_fine_as_it_can_be_and_never_too_fine(low: Fraction, width: Fraction) -> None:
    grid = ValueBounds.of({"watts": (low, low + width)}).grid(WATTS)
    assert (grid.low, grid.high) == (low, low + width)
    reach = max(abs(low), abs(low + width))
    assert grid.step * MOST_STEPS / 2 <= reach * (1 + Fraction(1, 10**9))
    assert reach <= grid.step * MOST_STEPS


def test_a_declared_step_is_kept() -> None:
    assert ValueBounds.of({"watts": (0, 8, 0.25)}).grid(WATTS).step == Fraction(1, 4)
    with pytest.raises(ParameterError, match="power of two"):
        ValueBounds.of({"watts": (0, 8, 0.3)}).grid(WATTS)


def test_bounds_of_the_aggregate_come_first() -> None:
    declared = ValueBounds.of({"watts": (0, 8)})
    narrow = Aggregate(nodes.SUM, "watts", low=Fraction(2), high=Fraction(3))
    grid = declared.grid(narrow)
    assert (grid.low, grid.high) == (Fraction(2), Fraction(3))
    half = Aggregate(nodes.SUM, "watts", low=Fraction(2))
    wide = declared.grid(half)
    assert (wide.low, wide.high) == (Fraction(2), Fraction(8))


@pytest.mark.parametrize(
    ("given_bounds", "match"),
    [
        ({"watts": (0,)}, "low, high"),
        ({"watts": (0, 1, 2, 3)}, "low, high"),
        ({"watts": 5}, "low, high"),
        ({"watts": ("a", "b")}, "watts"),
        ({"watts": (0, float("nan"))}, "watts"),
    ],
)
def test_bounds_that_are_none_are_refused(given_bounds: dict[str, Any], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        ValueBounds.of(given_bounds)


def test_bounds_must_rise_and_be_there() -> None:
    with pytest.raises(ParameterError, match="must rise"):
        ValueBounds.of({"watts": (5, 1)}).grid(WATTS)
    with pytest.raises(ParameterError, match="needs bounds"):
        ValueBounds().grid(WATTS)


def test_a_float_means_what_is_written() -> None:
    assert written("x", 0.1) == Fraction(1, 10)
    assert written("x", Decimal("0.1")) == Fraction(1, 10)
    assert written("x", Fraction(1, 3)) == Fraction(1, 3)
    assert ValueBounds.of({"watts": (0.1, 0.3)}).declared[0][1:3] == (Fraction(1, 10), Fraction(3, 10))


def test_bounds_come_back_from_their_list() -> None:
    kept = ValueBounds.of({"watts": (0.1, 3), "volts": (-5, 5, 0.5)})
    assert ValueBounds.from_list(kept.to_list()) == kept
    assert ValueBounds.of(None) == ValueBounds()


def test_a_thousand_rounded_values_are_nowhere_near_a_slack_away_from_their_sum() -> None:
    """With a step that is only fine beside a slack of 10, 1,000 values of 0.18 once added up to 125."""
    grid = ValueBounds.of({"watts": (0, 8)}).grid(WATTS)
    assert abs(1000 * int(grid.quantise(0.18)) * grid.step - 180) < Fraction(1, 100)
