"""By the law of the noise, without trials, but for one test that draws it (seeded)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from louver.attack.differencing import difference, differenced
from louver.noise import discrete_laplace
from tests.attack.broken import seeded
from tests.noise.laws import assert_follows, assert_rejects

RATES = [Fraction(1, 10), Fraction(1), Fraction(3)]


def test_exact_answers_give_the_person_away() -> None:
    found = differenced(None, None, Fraction(1, 100))
    assert found.right == found.surest == found.allowed == 1


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("prior", [Fraction(1, 2), Fraction(1, 20)])
def test_two_noisy_answers_tell_less_than_the_first_ones_price_allows(rate: Fraction, prior: Fraction) -> None:
    found = differenced(rate, rate, prior)
    odds = float(prior / (1 - prior)) * math.exp(rate)
    assert found.allowed == pytest.approx(odds / (1 + odds))
    assert prior < found.surest < found.allowed


@pytest.mark.parametrize("rate", RATES)
def test_whoever_knows_the_others_learns_as_much_as_is_allowed_and_needs_no_second_answer(rate: Fraction) -> None:
    found = differenced(rate, None)
    assert found.surest == pytest.approx(found.allowed)
    assert found.right == pytest.approx(1 / (1 + math.exp(-rate)))
    assert found.right > differenced(rate, rate).right


def test_noise_on_the_second_answer_alone_is_no_protection_beyond_its_own_rate() -> None:
    assert differenced(None, 1).allowed == 1
    assert differenced(None, 1).surest == pytest.approx(1 / (1 + math.exp(-1)))


def test_the_law_of_a_difference_is_that_of_two_draws() -> None:
    bits = seeded(1)
    drawn = discrete_laplace(1, 100_000, bits=bits) - discrete_laplace(Fraction(1, 2), 100_000, bits=bits)
    law, other = difference(1, Fraction(1, 2)), difference(Fraction(11, 10), Fraction(11, 20))
    assert law.sum() == pytest.approx(1)
    assert_follows(drawn, lambda value: float(law[len(law) // 2 + value]))
    assert_rejects(drawn, lambda value: float(other[len(other) // 2 + value]))


def test_the_verdict_is_a_sentence() -> None:
    assert str(differenced(1, 1)).endswith("and 73.1% is allowed.")
    assert np.isfinite(differenced(1, 1).right)
