"""Each comparison with a law has the false-alarm probability `laws.FALSE_ALARM`, 1e-9; this file makes under 10."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from louver.errors import LouverError
from louver.privacy import Pure
from louver.stream.quantiles import above
from louver.stream.threshold import PenalisedThreshold
from tests.misuse import NOT_POSITIVE
from tests.noise.laws import assert_follows, assert_rejects
from tests.stream.picked import ERROR, GRID, HORIZON, largest_loss, replaced, threshold_law
from tests.stream.real_bits import seeded


def worst_loss(epsilon: float) -> float:
    return max(
        largest_loss(threshold_law(first, epsilon), threshold_law(second, epsilon)) for first, second in replaced(3, 4)
    )


def test_thresholds_follow_their_law_and_not_that_of_half_the_noise() -> None:
    values = (1, 2, 4, 4, 4, 4)
    asked = PenalisedThreshold(Fraction(1, 2), 4, HORIZON, ERROR)
    drawn = np.array([asked.find(np.array(values)) - 1 for _ in range(4000)])
    assert_follows(drawn, lambda index: float(threshold_law(values, 0.5)[index]))
    assert_rejects(drawn, lambda index: float(threshold_law(values, 1)[index]))


def test_one_changed_value_costs_at_most_epsilon_and_more_with_half_the_noise() -> None:
    assert 1.5 < worst_loss(2) <= 2 + 1e-12
    assert worst_loss(4) > 2


def test_a_value_that_changes_moves_all_losses_the_same_way() -> None:
    """Why the second pick costs its rate, and not twice that."""
    for first, second in replaced(3, 4):
        moves = above(np.array(second), GRID) - above(np.array(first), GRID)
        assert set(moves.tolist()) in ({0, 1}, {0, -1}, {1}, {-1}, {0})


def test_the_unit_of_the_values_does_not_matter() -> None:
    """The same values in minutes and in seconds: thresholds of 60 runs scatter by under 10%, their mean by under 2%."""
    minutes = np.random.default_rng(5).exponential(20, 20_000)
    means = []
    for steps in (16, 16 * 60):
        asked = PenalisedThreshold(Fraction(3, 5), 1440 * steps, 100_000, 29.0)
        values = np.rint(minutes * steps).astype(np.int64)
        means.append(np.mean([asked.find(values, bits=seeded(seed)) for seed in range(60)]) / steps)
    assert means[0] == pytest.approx(means[1], rel=0.15)


@pytest.mark.parametrize("values", [[0] * 9, [10**9] * 9, [-7, 2**62], [3]])
def test_any_values_give_a_threshold_within_bounds(values: list[int]) -> None:
    assert 1 <= PenalisedThreshold(Fraction(1), 1000, 100, 29.0).find(np.array(values)) <= 1000


def test_the_price_is_pure() -> None:
    assert PenalisedThreshold(Fraction(1, 2), 10, 100, 1.0).price == Pure(Fraction(1, 2))


@pytest.mark.parametrize("epsilon", NOT_POSITIVE)
def test_an_epsilon_that_is_none_is_refused(epsilon: object) -> None:
    with pytest.raises(LouverError):
        PenalisedThreshold(epsilon, 10, 100, 1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"high": 0}, {"high": 2.5}, {"horizon": 0}, {"error": 0}, {"error": math.nan}])
def test_other_absurd_parameters_are_refused(wrong: dict[str, object]) -> None:
    given = {"epsilon": Fraction(1), "high": 10, "horizon": 100, "error": 1.0, **wrong}
    with pytest.raises(LouverError, match=r"\.$"):
        PenalisedThreshold(**given)  # type: ignore[arg-type]
