from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.errors import LouverError
from louver.noise import discrete_laplace, geometric
from louver.noise.enclosure import Enclosure, exp
from louver.noise.laplace import SMALLEST_RATE, _digit_law, _signed_top_law, _split, _top_law
from tests.misuse import NOT_COUNTS, NOT_POSITIVE
from tests.noise import laws
from tests.noise.laws import assert_follows, assert_rejects

DRAWS = 1_000_000
RATES = [Fraction(5), Fraction(5, 2), Fraction(1), Fraction(7, 20), Fraction(1, 10), Fraction(1, 100)]
WIDE_RATES = [Fraction(1, 1000), Fraction(1, 100_000), Fraction(1, 2**30), SMALLEST_RATE]


def in_cells(draws: NDArray[np.int64], rate: Fraction) -> tuple[NDArray[np.int64], int]:
    """Wide laws are compared on some hundred cells: their values hardly repeat."""
    width = int(Fraction(1, 20) / rate)
    return draws // width, width


@pytest.mark.parametrize("rate", RATES)
def test_draws_follow_the_exact_law_and_not_one_10_percent_off(rate: Fraction) -> None:
    draws = discrete_laplace(rate, DRAWS)
    assert_follows(draws, laws.laplace(float(rate)))
    assert_rejects(draws, laws.laplace(float(rate) * 1.1))
    assert_rejects(draws, laws.laplace(float(rate) * 0.9))


@pytest.mark.parametrize("rate", WIDE_RATES)
def test_wide_draws_follow_the_exact_law_and_not_one_10_percent_off(rate: Fraction) -> None:
    cells, width = in_cells(discrete_laplace(rate, DRAWS), rate)
    assert_follows(cells, laws.in_cells(laws.laplace_reaches(float(rate)), width))
    assert_rejects(cells, laws.in_cells(laws.laplace_reaches(float(rate) * 1.1), width))
    assert_rejects(cells, laws.in_cells(laws.laplace_reaches(float(rate) * 0.9), width))


@pytest.mark.parametrize("rate", WIDE_RATES)
def test_the_lowest_digit_of_wide_draws_follows_its_own_law(rate: Fraction) -> None:
    """Cells hide the low digits; here they are looked at alone, folded back to the geometric variable behind."""
    draws = discrete_laplace(rate, DRAWS)
    low = np.where(draws < 0, ~draws, draws) & 255
    total = -math.expm1(-256 * float(rate))
    assert_follows(low, lambda digit: math.exp(-float(rate) * digit) * -math.expm1(-float(rate)) / total)


@pytest.mark.parametrize("rate", [*RATES, Fraction(1, 1000)])
def test_geometric_draws_follow_the_exact_law_and_not_one_10_percent_off(rate: Fraction) -> None:
    draws = geometric(rate, DRAWS)
    assert draws.min() >= 0
    assert_follows(draws, laws.geometric(float(rate)))
    assert_rejects(draws, laws.geometric(float(rate) * 1.1))
    assert_rejects(draws, laws.geometric(float(rate) * 0.9))


def test_the_probability_of_zero_and_the_variance_are_those_of_the_notes() -> None:
    assert round(laws.laplace(1.0)(0), 5) == 0.46212
    assert round(laws.laplace(0.1)(0), 6) == 0.049958
    draws = discrete_laplace(1, 4_000_000)
    a = math.exp(-1)
    variance = 2 * a / (1 - a) ** 2
    fourth = 2 * a * (1 + 10 * a + a * a) / (1 - a) ** 4
    # Six standard deviations each: false-alarm probability 4e-9.
    assert abs((draws == 0).mean() - 0.46212) < 6 * (0.46212 * 0.53788 / len(draws)) ** 0.5 + 5e-6
    assert abs((draws.astype(float) ** 2).mean() - variance) < 6 * ((fourth - variance**2) / len(draws)) ** 0.5


@pytest.mark.parametrize(
    "rate", [Fraction(1), Fraction(1, 10), Fraction(1, 1000), Fraction(1, 100_000), Fraction(5, 2)]
)
def test_digits_and_top_multiply_to_the_discrete_laplace_pmf(rate: Fraction) -> None:
    """The identity behind the sampler, from the tables' own laws, to 100 binary places."""
    bits = 300
    top_rate, digits = _split(rate)

    def steps(cumulative: list[Enclosure]) -> list[Enclosure]:
        return [cumulative[0]] + [after - before for before, after in itertools.pairwise(cumulative)]

    signed = steps(list(itertools.islice(_signed_top_law(rate, top_rate)(bits), 8)))
    low_rates = [rate * 256**place for place in range(len(digits))]
    digit_steps = [steps([*_digit_law(low)(bits), Enclosure.of(1, bits)]) for low in low_rates]
    ratio = exp(-rate, bits)
    for index, places in itertools.product(range(4), itertools.product((0, 1, 200, 255), repeat=len(digits))):
        probability = signed[index]
        value = index >> 1
        for place in reversed(range(len(digits))):
            probability = probability * digit_steps[place][places[place]]
            value = value * 256 + places[place]
        value = ~value if index & 1 else value
        expected = (1 - ratio) / (1 + ratio) * ratio ** abs(value)
        difference = probability - expected
        assert difference.low <= 0 <= difference.high
        assert difference.high - difference.low < 2 ** (bits - 100)


def test_the_top_of_a_geometric_is_memoryless() -> None:
    cumulative = list(itertools.islice(_top_law(Fraction(1, 2))(200), 20))
    for earlier, later in itertools.pairwise(cumulative):
        ratio = (1 - later) / (1 - earlier)
        assert abs(float(ratio.lower) - math.exp(-0.5)) < 1e-15


def test_neighbouring_counts_reach_the_same_outputs() -> None:
    """The floating-point attack: with float noise, 0 + x and 1 + x have different sets of possible outputs.

    Integers have no gaps. Both sets of outputs cover every integer near the counts, whatever the rate.
    """
    for rate in (Fraction(1, 3), Fraction(1), 0.1):
        near = set(range(-3, 5))
        # The rarest of these has probability over 5e-4: missing one in 100,000 draws has probability under 1e-20.
        outputs = [set((count + discrete_laplace(rate, 100_000)).tolist()) for count in (0, 1)]
        assert near <= outputs[0]
        assert near <= outputs[1]


def test_float_noise_would_fail_the_same_attack() -> None:
    """The control: numpy's Laplace noise on 0 and on 1 gives values that the other could never give."""
    generator = np.random.default_rng(1)
    at_one = 1.0 + generator.laplace(scale=1.0, size=10_000)
    # Near 0, outputs of the count 1 lie on a grid of 2^-53; the count 0 reaches far finer numbers.
    small = at_one[np.abs(at_one) < 2.0**-10]
    finest = generator.laplace(scale=1.0, size=10_000_000)
    finest = finest[np.abs(finest) < 2.0**-10]
    assert (small * 2.0**53 % 1 == 0).all()
    assert not (finest * 2.0**53 % 1 == 0).all()


def test_a_float_rate_is_the_fraction_that_it_is() -> None:
    assert _split(Fraction(0.1))[0] != _split(Fraction(1, 10))[0]
    assert discrete_laplace(np.float64(0.5), 3).shape == (3,)


def test_an_absurdly_clear_rate_gives_no_noise_and_no_delay() -> None:
    assert not discrete_laplace(4096, 1000).any()
    assert not geometric(4096, 1000).any()


@pytest.mark.parametrize("bad", [*NOT_POSITIVE, SMALLEST_RATE / 2, 4097, 5e-324, 1e308])
def test_what_is_no_rate_is_refused(bad: object) -> None:
    for sampler in (discrete_laplace, geometric):
        with pytest.raises(LouverError, match=r"^The rate .*\.$"):
            sampler(bad, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", NOT_COUNTS)
def test_what_is_no_number_of_draws_is_refused(bad: object) -> None:
    for sampler in (discrete_laplace, geometric):
        with pytest.raises(LouverError, match=r"^The number of draws .*\.$"):
            sampler(1, bad)  # type: ignore[arg-type]
