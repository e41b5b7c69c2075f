"""Each comparison with a law has the false-alarm probability `laws.FALSE_ALARM`, 1e-9; this file makes under 10."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from louver.errors import LouverError
from louver.stream.quantiles import NORMAL_QUARTILES, above, evenly, interquartile_range, ladder_to, quantile
from tests.misuse import NOT_POSITIVE
from tests.noise.laws import assert_follows, assert_rejects
from tests.stream.picked import GRID, largest_loss, quantile_law, replaced
from tests.stream.real_bits import seeded


def test_quantiles_follow_their_law_and_not_that_of_twice_the_epsilon() -> None:
    values, bits = (1, 1, 2, 4, 4, 4), seeded(1)
    drawn = np.array([quantile(np.array(values), 0.5, GRID, 1, bits=bits) - 1 for _ in range(5000)])
    assert_follows(drawn, lambda index: float(quantile_law(values, 0.5, 1)[index]))
    assert_rejects(drawn, lambda index: float(quantile_law(values, 0.5, 2)[index]))


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_one_changed_value_costs_at_most_epsilon_and_nearly_that(share: float) -> None:
    worst = max(
        largest_loss(quantile_law(first, share, 1), quantile_law(second, share, 1)) for first, second in replaced(4, 5)
    )
    assert 0.7 < worst <= 1 + 1e-12


def test_one_value_there_or_not_costs_at_most_epsilon() -> None:
    """A missing value is 0, which lies below every candidate."""
    for values in itertools.combinations_with_replacement(range(6), 3):
        assert largest_loss(quantile_law((0, *values), 0.5, 1), quantile_law((2, *values), 0.5, 1)) <= 1 + 1e-12


def test_values_that_are_all_the_same_are_found() -> None:
    values = np.full(10_000, 700)
    assert quantile(values, 0.25, evenly(2**16 - 1), 1) == 700
    assert interquartile_range(values, 2**16 - 1, 1) == 0


def test_the_interquartile_range_gives_the_scale_of_normal_values() -> None:
    """The quartiles of 100,000 values scatter by 0.4% of the scale, and their noise by less."""
    values = np.rint(np.random.default_rng(3).normal(5000, 200, 100_000)).astype(np.int64)
    found = interquartile_range(values, 10_000, 1, bits=seeded(1))
    assert found / NORMAL_QUARTILES == pytest.approx(200, rel=0.05)


@pytest.mark.parametrize("high", [1, 2, 37, 10**6, 2**40])
def test_candidates_rise_and_end_at_the_bound(high: int) -> None:
    for candidates in (evenly(high), ladder_to(high)):
        assert (np.diff(candidates) > 0).all()
        assert candidates[-1] == high
    steps = ladder_to(high)
    assert steps[0] == 1
    assert (np.diff(steps) <= steps[1:] / 20 + 1).all()


def test_counts_above_are_those_of_the_definition() -> None:
    assert above(np.array([5, 1, 3, 3]), np.array([0, 3, 5])).tolist() == [4, 1, 0]


@pytest.mark.parametrize("epsilon", NOT_POSITIVE)
def test_an_epsilon_that_is_none_is_refused(epsilon: object) -> None:
    with pytest.raises(LouverError):
        quantile(np.array([1, 2]), Fraction(1, 2), GRID, epsilon)  # type: ignore[arg-type]


def test_no_values_are_refused() -> None:
    with pytest.raises(LouverError, match="There must be values"):
        quantile(np.array([], dtype=np.int64), Fraction(1, 2), GRID, 1)
