from __future__ import annotations

import math
from fractions import Fraction

import pytest

from louver.errors import LouverError
from louver.noise import bernoulli, bernoulli_exp
from louver.noise.bits import SYSTEM
from louver.noise.coins import enclosed_bernoulli
from louver.noise.enclosure import exp
from tests.misuse import NOT_COUNTS, NOT_NUMBERS
from tests.noise.laws import assert_follows, assert_rejects, coin

DRAWS = 400_000


@pytest.mark.parametrize("chance", [Fraction(1, 3), Fraction(1, 2), Fraction(999, 1000), Fraction(1, 65536), 0.1])
def test_a_rational_coin_falls_with_its_probability(chance: float | Fraction) -> None:
    assert_follows(bernoulli(chance, 4_000_000 if chance == Fraction(1, 65536) else DRAWS), coin(float(chance)))


def test_a_coin_that_is_10_percent_off_is_noticed() -> None:
    draws = bernoulli(Fraction(1, 3), DRAWS)
    assert_rejects(draws, coin(1.1 / 3))
    assert_rejects(draws, coin(0.9 / 3))


@pytest.mark.parametrize("exponent", [Fraction(1, 1000), Fraction(1, 3), 1, Fraction(17, 5), 9])
def test_an_exponential_coin_falls_with_its_probability(exponent: Fraction | int) -> None:
    assert_follows(bernoulli_exp(exponent, DRAWS), coin(math.exp(-exponent)))


def test_an_exponential_coin_that_is_10_percent_off_is_noticed() -> None:
    draws = bernoulli_exp(1, DRAWS)
    assert_rejects(draws, coin(math.exp(-1.1)))
    assert_rejects(draws, coin(math.exp(-0.9)))


def test_certain_coins_need_no_randomness() -> None:
    assert bernoulli(1, 100).all()
    assert not bernoulli(0, 100).any()
    assert bernoulli_exp(0, 100).all()


def test_a_coin_of_an_enclosed_probability_agrees_with_the_same_rational_one() -> None:
    assert_follows(
        enclosed_bernoulli("test", lambda bits: 1 - exp(Fraction(-1, 2), bits), DRAWS, SYSTEM), coin(1 - math.exp(-0.5))
    )


@pytest.mark.parametrize("bad", [*NOT_NUMBERS, -0.1, 1.1, Fraction(-1, 9), 2])
def test_what_is_no_probability_is_refused(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^The probability .*\.$"):
        bernoulli(bad, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [*NOT_NUMBERS, -0.1, 4097])
def test_what_is_no_exponent_is_refused(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^The exponent .*\.$"):
        bernoulli_exp(bad, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", NOT_COUNTS)
def test_what_is_no_number_of_draws_is_refused(bad: object) -> None:
    for sampler in (bernoulli, bernoulli_exp):
        with pytest.raises(LouverError, match=r"^The number of draws .*\.$"):
            sampler(0.5, bad)  # type: ignore[arg-type]
