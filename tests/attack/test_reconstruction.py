"""Bits and groups are seeded, so that shares are the same in each run."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from louver.attack.reconstruction import from_budget, reconstruct, without_budget
from louver.errors import LouverError
from tests.attack.broken import seeded

PEOPLE, QUESTIONS = 64, 320


def test_exact_answers_give_every_bit_away() -> None:
    assert reconstruct(lambda counts: counts.astype(np.float64), PEOPLE, PEOPLE + 10, seed=1).right == 1


def test_small_noise_on_each_of_many_answers_gives_nearly_every_bit_away() -> None:
    """The noise of epsilon 1 is well below the square root of 64."""
    found = reconstruct(without_budget(1, bits=seeded(1)), PEOPLE, QUESTIONS, seed=1)
    assert found.right > 0.95
    assert str(found).endswith(f"of the bits of {PEOPLE} people, from {QUESTIONS} answers.")


def test_more_noise_leaves_fewer_bits() -> None:
    rates = [Fraction(1), Fraction(1, 4), Fraction(1, 40)]
    shares = [
        np.mean(
            [
                reconstruct(without_budget(rate, bits=seeded(seed)), PEOPLE, QUESTIONS, seed=seed).right
                for seed in range(4)
            ]
        )
        for rate in rates
    ]
    assert shares[0] > shares[1] > shares[2]


def test_answers_from_one_budget_leave_a_guess_little_better_than_a_coin() -> None:
    """The mean of 5 x 64 bits; a coin is above 0.65 with probability 1e-8."""
    shares = [reconstruct(from_budget(1, bits=seeded(seed)), PEOPLE, QUESTIONS, seed=seed).right for seed in range(5)]
    assert np.mean(shares) < 0.65


@pytest.mark.parametrize("sizes", [(0, 5), (5, 0), (2.5, 5)])
def test_no_people_or_no_questions_are_refused(sizes: tuple[int, int]) -> None:
    with pytest.raises(LouverError, match=r"\.$"):
        reconstruct(without_budget(1), *sizes, seed=1)
