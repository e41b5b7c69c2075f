"""Each comparison with a law has the false-alarm probability `laws.FALSE_ALARM`, 1e-9; this file makes under 60."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import LouverError
from louver.noise import discrete_gaussian
from louver.noise.bits import SYSTEM
from louver.noise.enclosure import Enclosure, exp
from louver.noise.gaussian import (
    _LARGEST_TABLE_VARIANCE,
    LARGEST_VARIANCE,
    SMALLEST_VARIANCE,
    _by_rejection,
    _sum_with_tail,
    _zigzag_law,
    reaches_square,
)
from tests.misuse import NOT_COUNTS, NOT_POSITIVE, anything
from tests.noise import laws
from tests.noise.laws import FALSE_ALARM, assert_follows, assert_rejects, coin, same_law

DRAWS = 300_000
SWITCH = Fraction(_LARGEST_TABLE_VARIANCE)


@pytest.mark.parametrize("variance", [Fraction(1, 10), Fraction(1, 4), Fraction(1), Fraction(7, 3), Fraction(50)])
def test_draws_follow_the_exact_law_and_not_one_10_percent_off(variance: Fraction) -> None:
    draws = discrete_gaussian(variance, DRAWS)
    assert_follows(draws, laws.gaussian(float(variance)))
    assert_rejects(draws, laws.gaussian(float(variance) * 1.1))
    assert_rejects(draws, laws.gaussian(float(variance) * 0.9))


@pytest.mark.parametrize(
    "variance", [Fraction(5000, 3), SWITCH, SWITCH + Fraction(1, 7), Fraction(10**9), Fraction(1e12), LARGEST_VARIANCE]
)
def test_wide_draws_follow_the_exact_law_and_not_one_10_percent_off(variance: Fraction) -> None:
    """Compared on some hundred cells: the values of a wide law hardly repeat."""
    width = max(1, round(math.sqrt(variance) / 20))
    cells = discrete_gaussian(variance, DRAWS) // width
    assert_follows(cells, laws.in_cells(laws.gaussian_reaches(float(variance)), width))
    assert_rejects(cells, laws.in_cells(laws.gaussian_reaches(float(variance) * 1.1), width))
    assert_rejects(cells, laws.in_cells(laws.gaussian_reaches(float(variance) * 0.9), width))


@pytest.mark.parametrize("variance", [Fraction(10**9), LARGEST_VARIANCE])
def test_the_low_bits_of_very_wide_draws_are_even(variance: Fraction) -> None:
    """Cells hide them: no value of 64 neighbours is more likely than another by more than 1e-3 standard deviations."""
    assert_follows(discrete_gaussian(variance, DRAWS) & 63, lambda _: 1 / 64)


@pytest.mark.parametrize("variance", [SMALLEST_VARIANCE, Fraction(1, 50)])
def test_a_tiny_variance_gives_no_noise(variance: Fraction) -> None:
    # P(X != 0) = 2 exp(-25) at 1/50: false-alarm probability 3e-8.
    assert not discrete_gaussian(variance, 1000).any()


@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(1), Fraction(9, 2), Fraction(100)])
def test_rejection_follows_the_law_where_the_table_would_be_used(variance: Fraction) -> None:
    draws = _by_rejection(variance, DRAWS, SYSTEM)
    assert_follows(draws, laws.gaussian(float(variance)))
    assert_rejects(draws, laws.gaussian(float(variance) * 1.1))
    assert_rejects(draws, laws.gaussian(float(variance) * 0.9))


def test_table_and_rejection_agree_at_one_variance() -> None:
    table, rejection = discrete_gaussian(SWITCH, DRAWS), _by_rejection(SWITCH, DRAWS, SYSTEM)
    assert same_law(table // 5, rejection // 5) >= FALSE_ALARM
    assert same_law(table // 5, _by_rejection(SWITCH * Fraction(11, 10), DRAWS, SYSTEM) // 5) < FALSE_ALARM


def pmf(variance: Fraction, working: int = 256) -> dict[int, Enclosure]:
    """The law as the table holds it: the steps of its cumulative probabilities."""
    cumulative = [Enclosure.of(0, working), *_zigzag_law(variance)(working)]
    steps = [after - before for before, after in itertools.pairwise(cumulative)]
    return {(index >> 1) ^ -(index & 1): step for index, step in enumerate(steps)}


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(1), Fraction(7, 3), Fraction(60), Fraction(1000)])
def test_the_table_holds_the_gaussian_ratios_to_300_binary_places(variance: Fraction) -> None:
    probabilities = pmf(variance, 400)
    for value in range(-8, 9):
        ratio = exp(-Fraction(value * value) / (2 * variance), 400)
        difference = probabilities[value] - probabilities[0] * ratio
        assert difference.low <= 0 <= difference.high
        assert difference.upper - difference.lower < Fraction(1, 2**300)


@pytest.mark.parametrize("variance", [SMALLEST_VARIANCE, Fraction(1), Fraction(60), SWITCH])
def test_the_table_misses_no_mass(variance: Fraction) -> None:
    *_, last = _zigzag_law(variance)(256)
    assert Fraction(1) - Fraction(1, 2**200) < last.lower <= 1


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(7, 3), Fraction(1000)])
@pytest.mark.parametrize("working", [8, 16, 40])
def test_a_coarse_table_still_holds_the_true_law(variance: Fraction, working: int) -> None:
    """Where weights are cut off early, the bound on the rest carries the difference."""
    for coarse, fine in zip(_zigzag_law(variance)(working), _zigzag_law(variance)(400), strict=False):
        assert coarse.lower <= fine.lower
        assert fine.upper <= coarse.upper


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(7, 3), Fraction(1000)])
@pytest.mark.parametrize("kept", [1, 2, 5])
def test_the_weights_left_out_are_within_their_bound(variance: Fraction, kept: int) -> None:
    reach = math.isqrt(int(600 * variance)) + 2  # from here on nothing is left in 400 binary places
    weights = [exp(-Fraction(x * x) / (2 * variance), 400) for x in range(1, reach)]
    bounded = _sum_with_tail(weights[:kept], variance)
    assert bounded.lower <= sum(weight.lower for weight in weights)
    assert sum(weight.upper for weight in weights) <= bounded.upper


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(1), Fraction(12)])
def test_the_parameter_is_slightly_above_the_variance_of_the_draws(variance: Fraction) -> None:
    law = pmf(variance)
    true = sum(float(step.lower) * value * value for value, step in law.items())
    assert true <= float(variance) * (1 + 1e-12)
    assert (true < float(variance) - 1e-3) == (variance == Fraction(1, 4))


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(1), Fraction(9)])
@pytest.mark.parametrize("shift", [1, 2])
def test_neighbours_are_as_close_as_zero_concentrated_privacy_says(variance: Fraction, shift: int) -> None:
    """The Rényi divergence of order k is at most k d^2 / (2 variance); at whole orders it is equal to it."""
    law = {value: float(step.lower) for value, step in pmf(variance).items() if step.lower > 0}
    for order in (1.25, 1.5, 2, 3, 4.7):
        moment = math.fsum(
            chance * (chance / law[value - shift]) ** (order - 1)
            for value, chance in law.items()
            if chance > 1e-60 and value - shift in law
        )
        divergence = math.log(moment) / (order - 1)
        bound = order * shift * shift / (2 * float(variance))
        assert divergence <= bound * (1 + 1e-9)
        if order == int(order):
            assert divergence >= bound * (1 - 1e-9)


@pytest.mark.parametrize("distance", [0, 1, -4, 9, 15])
def test_a_square_is_reached_with_its_exponential(distance: int) -> None:
    chance = math.exp(-(distance**2) / 100)
    coins = reaches_square(np.full(DRAWS, distance), Fraction(50), SYSTEM)
    if distance == 0:
        assert coins.all()
    else:
        assert_follows(coins, coin(chance))


def test_a_distance_whose_square_overflows_is_never_reached() -> None:
    far = np.array([4 * 10**9, -(2**62), 2**63 - 1])
    assert not reaches_square(far, LARGEST_VARIANCE, SYSTEM).any()


def test_as_many_draws_as_asked_for() -> None:
    for variance in (1, SWITCH + 1):
        for count in (0, 1, 7):
            assert discrete_gaussian(variance, count).shape == (count,)


@pytest.mark.parametrize("bad", [*NOT_POSITIVE, SMALLEST_VARIANCE / 2, LARGEST_VARIANCE + 1, 5e-324, 1e308])
def test_what_is_no_variance_is_refused(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^The variance .*\.$"):
        discrete_gaussian(bad, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", NOT_COUNTS)
def test_what_is_no_number_of_draws_is_refused(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^The number of draws .*\.$"):
        discrete_gaussian(1, bad)  # type: ignore[arg-type]


@given(anything, st.integers(-2, 5) | anything.filter(lambda value: not isinstance(value, int)))
def test_whatever_is_passed_gives_draws_or_a_sentence(variance: object, count: object) -> None:
    try:
        draws = discrete_gaussian(variance, count)  # type: ignore[arg-type]
    except LouverError as refusal:
        assert str(refusal).endswith(".")
    else:
        assert draws.dtype == np.int64
        assert len(draws) == count
