"""Each comparison with a law has the false-alarm probability `laws.FALSE_ALARM`, 1e-9; this file makes under 200."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from louver.errors import LouverError
from louver.noise import reaches, uniform_laplace
from louver.noise.enclosure import Enclosure, exp
from louver.noise.truncated import (
    LARGEST_CUT,
    LARGEST_FRACTION_BITS,
    SMALLEST_DELTA,
    _edge,
    _edge_cell,
    _edge_within_cell,
    _tail,
    acceptance,
)
from tests.misuse import NOT_COUNTS, NOT_NUMBERS, NOT_POSITIVE, anything
from tests.noise import laws
from tests.noise.laws import FALSE_ALARM, Law, assert_follows, assert_rejects, coin, same_law

DRAWS = 200_000
HALF = Fraction(1, 2)
TINY = Fraction(1, 10**12)
CUTS = [Fraction(0), HALF, -HALF, HALF - TINY, HALF + TINY, Fraction(1, 3), Fraction(-7, 3), Fraction(5, 2)]
RATES = [Fraction(1, 10), Fraction(1), Fraction(5, 2)]


def cumulative(rate: float, x: float) -> float:
    """P(N <= x) from the definition: whole cells of discrete Laplace, and the share of the cell that x lies in."""
    if x > 0:
        return 1 - cumulative(rate, -x)
    cell = math.floor(x + 0.5)
    a = math.exp(-rate)
    below = a ** (1 - cell) / (1 + a)
    return below + (1 - a) / (1 + a) * a ** abs(cell) * (x + 0.5 - cell)


def edge(rate: float, delta: float) -> float:
    """Where the cumulative probability is q/2, by bisection on the definition."""
    b = math.exp(-rate)
    tail = delta * b / (1 - b + 2 * delta * b)
    return float(brentq(lambda x: cumulative(rate, x) - tail, -300 / rate - 2, 0, xtol=1e-15, rtol=1e-15))


def on_grid(rate: float, delta: float, places: int, width: int = 1) -> Law:
    """The law of floor(2^places N) // width, N without its two tails."""
    left = edge(rate, delta) if delta else -math.inf
    kept = 1 - 2 * cumulative(rate, left) if delta else 1.0

    def law(index: int) -> float:
        low, high = (min(max(i * width / 2**places, left), -left) for i in (index, index + 1))
        return max(0.0, cumulative(rate, high) - cumulative(rate, low)) / kept

    return law


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("cut", CUTS)
def test_margins_reach_the_cut_as_often_as_their_acceptance_says(rate: Fraction, cut: Fraction) -> None:
    margins = np.arange(-3, 4)
    reached = reaches(np.repeat(margins, DRAWS // 10), rate, cut).reshape(len(margins), -1)
    for margin, coins in zip(margins.tolist(), reached, strict=True):
        chance = float(acceptance(margin, rate, cut, 200).lower)
        if DRAWS // 10 * min(chance, 1 - chance) > 2 * laws.LEAST_EXPECTED:
            assert_follows(coins, coin(chance))


@pytest.mark.parametrize("factor", [Fraction(11, 10), Fraction(9, 10)])
def test_a_rate_10_percent_off_is_noticed(factor: Fraction) -> None:
    coins = reaches(np.full(DRAWS, 2), Fraction(1), Fraction(1, 3))
    assert_follows(coins, coin(float(acceptance(2, Fraction(1), Fraction(1, 3), 100).lower)))
    assert_rejects(coins, coin(float(acceptance(2, factor, Fraction(1, 3), 100).lower)))


@settings(max_examples=300)
@given(
    st.integers(-20, 20),
    st.fractions(min_value=Fraction(1, 50), max_value=5, max_denominator=1000),
    st.fractions(min_value=-6, max_value=6, max_denominator=1000),
)
def test_acceptance_is_the_upper_tail_of_the_noise(margin: int, rate: Fraction, cut: Fraction) -> None:
    enclosed = acceptance(margin, rate, cut, 200)
    assert enclosed.upper - enclosed.lower < Fraction(1, 2**180)
    assert float(enclosed.lower) == pytest.approx(1 - cumulative(float(rate), float(cut - margin)), abs=1e-12)


@pytest.mark.parametrize("cut", CUTS)
def test_acceptance_rises_with_the_margin_and_has_no_step_at_a_cell_edge(cut: Fraction) -> None:
    chances = [acceptance(margin, Fraction(1, 2), cut, 200) for margin in range(-30, 31)]
    assert all(lower.high < higher.low for lower, higher in itertools.pairwise(chances))
    before, after = (acceptance(0, Fraction(1, 2), cut + sign * TINY / 100, 200) for sign in (-1, 1))
    assert 0 < before.lower - after.lower < TINY


@settings(max_examples=200)
@given(
    st.integers(-20, 20),
    st.fractions(min_value=Fraction(1, 50), max_value=5, max_denominator=1000),
    st.fractions(min_value=-6, max_value=6, max_denominator=1000),
)
def test_acceptance_falls_as_fast_as_privacy_lets_it_and_no_faster(margin: int, rate: Fraction, cut: Fraction) -> None:
    """F(n-1) = max(exp(-e) F(n), 1 - exp(e) (1 - F(n))), to 150 binary places: the most powerful test there is."""
    working = 250
    here, below = acceptance(margin, rate, cut, working), acceptance(margin - 1, rate, cut, working)
    slow, fast = exp(-rate, working), exp(rate, working)
    one, other = here * slow, 1 - (1 - here) * fast
    least = Enclosure(max(one.low, other.low), max(one.high, other.high), working)
    difference = below - least
    assert difference.low <= 0 <= difference.high
    assert difference.upper - difference.lower < Fraction(1, 2**150)


def test_the_least_rates_of_the_notes_reach_their_error_rates() -> None:
    """Miss and false-alarm rate 0.05; s free counts below the threshold c = 0: F(1) = 0.95 and F(-s) = 0.05."""
    beta = 0.05
    for slack, published in ((3, 1.1513), (5, 0.7675), (11, 0.3838), (21, 0.2093)):
        rate = 2 * math.log(1 / (2 * beta)) / (slack + 1)
        assert round(rate, 4) == published
        cut = Fraction(1 - slack, 2)
        assert float(acceptance(1, Fraction(rate), cut, 200).lower) == pytest.approx(1 - beta, abs=1e-12)
        assert float(acceptance(-slack, Fraction(rate), cut, 200).lower) == pytest.approx(beta, abs=1e-12)
    for slack, published in ((2, 1.3863), (10, 0.4148)):
        rate = brentq(lambda r, s=slack: math.exp(-r * (s // 2 + 1)) - beta * (1 + math.exp(-r)), 0.01, 9, xtol=1e-14)
        assert round(rate, 4) == published
        cut = Fraction(1 - slack // 2) - HALF
        assert float(acceptance(1, Fraction(rate), cut, 200).lower) == pytest.approx(1 - beta, abs=1e-12)
        assert float(acceptance(-slack, Fraction(rate), cut, 200).lower) == pytest.approx(beta, abs=1e-12)


def test_two_free_counts_fall_from_95_over_80_and_20_to_5_percent() -> None:
    chances = [float(acceptance(margin, Fraction(math.log(4)), -HALF, 200).lower) for margin in (1, 0, -1, -2)]
    assert chances == pytest.approx([0.95, 0.8, 0.2, 0.05], abs=1e-12)


@pytest.mark.parametrize(("rate", "delta"), [(1.0, 0.0), (0.3, 0.0), (1.0, 0.1), (0.5, 0.01), (2.5, 0.25), (1.0, 1e-6)])
@pytest.mark.parametrize("places", [1, 3])
def test_grid_draws_follow_the_exact_law_and_not_one_10_percent_off(rate: float, delta: float, places: int) -> None:
    draws = uniform_laplace(rate, DRAWS, delta=delta, fraction_bits=places)
    assert_follows(draws, on_grid(rate, delta, places))
    assert_rejects(draws, on_grid(rate * 1.1, delta, places))
    assert_rejects(draws, on_grid(rate * 0.9, delta, places))


@pytest.mark.parametrize("delta", [0.1, 0.25])
def test_a_delta_10_percent_off_is_noticed(delta: float) -> None:
    draws = uniform_laplace(1, DRAWS, delta=delta, fraction_bits=4)
    assert_follows(draws, on_grid(1.0, delta, 4))
    assert_rejects(draws, on_grid(1.0, delta * 1.1, 4))
    assert_rejects(draws, on_grid(1.0, min(delta * 0.9, 0.2), 4))


@pytest.mark.parametrize("places", [32, LARGEST_FRACTION_BITS])
def test_a_fine_grid_is_the_same_law_with_even_low_bits(places: int) -> None:
    draws = uniform_laplace(Fraction(1, 3), DRAWS, delta=Fraction(1, 100), fraction_bits=places)
    width = 1 << (places - 3)
    assert_follows(draws // width, on_grid(1 / 3, 0.01, places, width))
    assert_follows(draws & 255, lambda _: 1 / 256)


@pytest.mark.parametrize("delta", [0, Fraction(1, 10)])
def test_the_law_is_symmetric(delta: Fraction) -> None:
    """floor(x) of -N is -1 - floor(x) of N, but for ties of probability 0."""
    draws = uniform_laplace(Fraction(1, 2), DRAWS, delta=delta, fraction_bits=2)
    assert same_law(draws[::2], ~draws[1::2]) >= FALSE_ALARM
    assert same_law(draws[::2], ~draws[1::2] + 1) < FALSE_ALARM


@pytest.mark.parametrize("delta", [Fraction(1, 4), Fraction(1, 10), Fraction(1, 1000)])
def test_no_draw_lies_beyond_the_edges(delta: Fraction) -> None:
    places = 20
    draws = uniform_laplace(1, DRAWS, delta=delta, fraction_bits=places)
    limit = -edge(1.0, float(delta)) * 2**places
    assert draws.max() < limit + 1e-6
    assert draws.min() >= -limit - 1
    # The last quarter of a unit holds over 1e-4 of the noise: DRAWS misses have probability under exp(-20).
    assert draws.max() > limit - 2**places / 4


@settings(max_examples=100)
@given(
    st.fractions(min_value=Fraction(1, 100), max_value=20, max_denominator=100),
    st.fractions(min_value=Fraction(1, 10**12), max_value=Fraction(1, 4), max_denominator=10**12),
)
def test_the_tails_are_cut_where_the_definition_says(rate: Fraction, delta: Fraction) -> None:
    cell = _edge_cell(rate, delta)
    within = _edge_within_cell(rate, delta, cell, 200)
    assert cell <= -1
    assert within.lower >= 0
    assert within.upper <= 1
    assert within.upper - within.lower < Fraction(1, 2**100)
    place = cell - 0.5 + float(within.lower)
    b = math.exp(-float(rate))
    tail = float(delta) * b / (1 - b + 2 * float(delta) * b)
    assert cumulative(float(rate), place) == pytest.approx(tail, rel=1e-9)


@settings(max_examples=100)
@given(
    st.fractions(min_value=Fraction(1, 100), max_value=20, max_denominator=100),
    st.fractions(min_value=Fraction(1, 10**12), max_value=Fraction(1, 4), max_denominator=10**12),
)
def test_the_mass_that_only_one_neighbour_has_is_delta_exactly(rate: Fraction, delta: Fraction) -> None:
    """The first unit behind the left edge cannot come from the next count: (F(edge + 1) - q/2) / (1 - q) = delta.

    The unit ends in the cell after the edge's, as far in as the edge is: both from the sampler's own enclosures.
    """
    working = 300
    cell = _edge_cell(rate, delta)
    within = _edge_within_cell(rate, delta, cell, working)
    ratio = exp(-rate, within.bits)
    mass = (1 - ratio) / (1 + ratio)
    first, second = mass * ratio ** (-cell), mass * ratio ** (-1 - cell)
    unit = (1 - within) * first + within * second
    tail = delta * ratio / (1 - ratio + 2 * delta * ratio)
    difference = unit / (1 - 2 * tail) - delta
    assert difference.low <= 0 <= difference.high
    assert difference.upper - difference.lower < Fraction(1, 2**150)


@pytest.mark.parametrize(("rate", "delta"), [(1.0, 0.1), (0.3, 0.01), (2.0, 0.25), (1.0, 1e-6)])
def test_shifted_noise_is_private_at_rate_and_delta_and_no_better(rate: float, delta: float) -> None:
    """The integral of max(0, f(x) - exp(rate) f(x - d)), over the pieces on which both densities are constant."""
    left = edge(rate, delta)
    a, kept = math.exp(-rate), 1 - 2 * cumulative(rate, left)

    def density(x: float) -> float:
        return (1 - a) / (1 + a) * a ** abs(math.floor(x + 0.5)) / kept if left < x < -left else 0.0

    for shift in (1, -1):
        breaks = {half + 0.5 for half in range(math.floor(left) - 3, math.ceil(-left) + 3)}
        breaks |= {left, -left, left + shift, -left + shift}
        excess = math.fsum(
            max(0.0, density((low + high) / 2) - math.exp(rate + 1e-12) * density((low + high) / 2 - shift))
            * (high - low)
            for low, high in itertools.pairwise(sorted(breaks))
        )
        assert excess == pytest.approx(delta, rel=1e-6)


@pytest.mark.parametrize("cut", [Fraction(0), Fraction(5, 4), Fraction(-3, 8)])
def test_adding_the_noise_and_comparing_is_what_reaches_does(cut: Fraction) -> None:
    places, margin, rate = 6, 1, Fraction(2, 3)
    draws = uniform_laplace(rate, DRAWS, fraction_bits=places)
    assert_follows(draws >= int((cut - margin) * 2**places), coin(float(acceptance(margin, rate, cut, 100).lower)))


@pytest.mark.parametrize("margin", [2**63 - 1, -(2**63), 2**62, -(2**62)])
@pytest.mark.parametrize("cut", [-LARGEST_CUT, 0, LARGEST_CUT])
def test_margins_at_the_ends_of_64_bits_do_not_wrap_around(margin: int, cut: int) -> None:
    assert (reaches(np.full(1000, margin), Fraction(1, 2**48), cut) == (margin > 0)).all()


def test_as_many_answers_as_margins() -> None:
    assert reaches(np.array([], dtype=np.int64), 1, 0).shape == (0,)
    assert reaches([1, 2, 3], 1, 0).shape == (3,)  # type: ignore[arg-type]
    assert uniform_laplace(1, 0).shape == (0,)


@pytest.mark.parametrize("rate", [300, 2000, 4096, Fraction(1, 64)])
@pytest.mark.parametrize("delta", [Fraction(1, 4), Fraction(1e-9), SMALLEST_DELTA])
def test_extreme_rates_and_deltas_come_to_an_end(rate: Fraction, delta: Fraction) -> None:
    assert uniform_laplace(rate, 10, delta=delta).shape == (10,)
    assert _edge(Fraction(rate), delta, 32)[0] <= -1


def test_a_delta_that_cuts_nearly_all_noise_is_refused() -> None:
    assert uniform_laplace(Fraction(1, 1000), 1000, delta=Fraction(16, 1000)).shape == (1000,)
    with pytest.raises(LouverError, match="16 times the rate"):
        uniform_laplace(Fraction(1, 1000), 1, delta=Fraction(161, 10_000))


@pytest.mark.parametrize("places", [1, 20, 32, LARGEST_FRACTION_BITS])
def test_a_grid_too_fine_for_so_small_a_rate_is_refused(places: int) -> None:
    least = max(Fraction(2) ** (places - 49), Fraction(1, 2**48))
    assert uniform_laplace(least, 5, fraction_bits=places).shape == (5,)
    with pytest.raises(LouverError, match=r"^The rate must be .*\.$"):
        uniform_laplace(least * Fraction(99, 100), 5, fraction_bits=places)


@pytest.mark.parametrize("bad", [*NOT_POSITIVE, Fraction(1, 2**49), 4097, 1e308])
def test_what_is_no_rate_is_refused(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^The rate .*\.$"):
        uniform_laplace(bad, 1)  # type: ignore[arg-type]
    with pytest.raises(LouverError, match=r"^The rate .*\.$"):
        reaches(np.array([1]), bad, 0)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", NOT_COUNTS)
def test_what_is_no_number_of_draws_is_refused(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^The number of draws .*\.$"):
        uniform_laplace(1, bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [*NOT_NUMBERS, -1e-9, 0.26, 1, 1e-300, SMALLEST_DELTA / 2])
def test_what_is_no_delta_is_refused(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^delta .*\.$"):
        uniform_laplace(1, 1, delta=bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [*NOT_COUNTS, 0, LARGEST_FRACTION_BITS + 1])
def test_what_is_no_number_of_fraction_bits_is_refused(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^The number of fraction bits .*\.$"):
        uniform_laplace(1, 1, fraction_bits=bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [*NOT_NUMBERS, 2**41, -(2**41), 1e300])
def test_what_is_no_cut_is_refused(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^The cut .*\.$"):
        reaches(np.array([1]), 1, bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "bad", [None, 1, "a", ["a"], [0.5], [math.nan], [None], [[1]], [True], np.array([1], dtype=np.uint64), {}]
)
def test_what_are_no_margins_is_refused(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^The margins .*\.$"):
        reaches(bad, 1, 0)  # type: ignore[arg-type]


@settings(max_examples=200)
@given(anything, st.integers(-1, 3) | anything, anything, st.integers(-1, 41) | anything)
def test_whatever_is_passed_gives_draws_or_a_sentence(
    rate: object, count: object, delta: object, places: object
) -> None:
    try:
        draws = uniform_laplace(rate, count, delta=delta, fraction_bits=places)  # type: ignore[arg-type]
    except LouverError as refusal:
        assert str(refusal).endswith(".")
    else:
        assert len(draws) == count


@pytest.mark.parametrize(
    ("rate", "delta"),
    [
        (Fraction(3, 2**49), Fraction(1, 2**100)),
        *((Fraction(7, 2**50), Fraction(1, 2**power)) for power in (90, 94, 99, 109)),
        (Fraction(1, 2**48), Fraction(1, 2**199)),
        (Fraction(4000), Fraction(1, 2**199)),
    ],
)
def test_the_cell_of_the_tails_edge_is_found_for_extreme_rates(rate: Fraction, delta: Fraction) -> None:
    cell = _edge_cell(rate, delta)
    working = 1024 + int(2 * rate * (2 - cell))
    ratio = exp(-rate, working)
    tail, whole = _tail(ratio, delta), 1 + ratio
    assert (exp(-rate * (1 - cell), working) / whole).high <= tail.low
    assert tail.high < (exp(rate * cell, working) / whole).low
    assert uniform_laplace(rate, 3, delta=delta, fraction_bits=1).shape == (3,)
