"""Each comparison with a law has the false-alarm probability `laws.FALSE_ALARM`, 1e-9; this file makes under 20.

That a law which is nearly right is told from the right one is seen on fixed bits.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from louver.errors import LouverError
from louver.noise.bits import SYSTEM, Bits
from louver.stream.picking import LARGEST_LOSS, pick
from tests.misuse import NOT_POSITIVE
from tests.noise.laws import assert_follows, assert_rejects
from tests.stream.picked import exponential_mechanism, largest_loss, picked
from tests.stream.real_bits import seeded

DRAWS = 6_000
LOSSES = [
    np.array([0, 1, 1, 3]),
    np.array([5, 5, 5]),
    np.array([7, 0, 2, 2, 9]),
    np.array([4]),
]


def draws(losses: np.ndarray, rate: float, bits: Bits = SYSTEM) -> np.ndarray:
    return np.array([pick(losses, rate, bits=bits) for _ in range(DRAWS)])


@pytest.mark.parametrize("losses", [each for each in LOSSES if len(each) > 1])
def test_picks_follow_the_law_of_permute_and_flip(losses: np.ndarray) -> None:
    law = picked(losses, 0.5)
    assert_follows(draws(losses, 0.5), lambda index: float(law[index]))


def test_the_law_tells_half_the_noise_and_the_exponential_mechanism_from_this() -> None:
    losses = LOSSES[0]
    drawn = draws(losses, 0.5, seeded(1))
    for wrong in (picked(losses, 1.0), exponential_mechanism(losses, 0.5)):
        assert_rejects(drawn, wrong.__getitem__)


def test_one_candidate_is_always_picked() -> None:
    assert pick(np.array([4]), 1) == 0


def test_losses_that_move_together_cost_the_rate() -> None:
    worst = 0.0
    for losses in itertools.product(range(4), repeat=3):
        for moves in itertools.product((0, 1), repeat=3):
            before, after = np.array(losses), np.array(losses) + np.array(moves)
            worst = max(worst, largest_loss(picked(before, 0.5), picked(after, 0.5)))
    assert 0.4 < worst <= 0.5 + 1e-12


def test_losses_that_move_either_way_cost_twice_the_rate_and_not_less() -> None:
    worst = 0.0
    for losses in itertools.product(range(4), repeat=3):
        for moves in itertools.product((-1, 0, 1), repeat=3):
            before, after = np.array(losses), np.array(losses) + np.array(moves)
            worst = max(worst, largest_loss(picked(before, 0.5), picked(after, 0.5)))
    assert 0.9 < worst <= 1 + 1e-12


@pytest.mark.parametrize("losses", LOSSES)
def test_picks_lose_no_more_than_the_exponential_mechanism(losses: np.ndarray) -> None:
    assert picked(losses, 0.3) @ losses <= exponential_mechanism(losses, 0.3) @ losses + 1e-12


def test_absurd_losses_do_not_overflow() -> None:
    assert pick(np.array([-(2**62), 2**62, LARGEST_LOSS]), 1) == 0


@pytest.mark.parametrize("rate", NOT_POSITIVE)
def test_a_rate_that_is_none_is_refused(rate: object) -> None:
    with pytest.raises(LouverError):
        pick(np.array([1, 2]), rate)  # type: ignore[arg-type]


@pytest.mark.parametrize("losses", [np.array([]), [], np.array([0.5]), None, np.zeros((2, 2), np.int64)])
def test_losses_that_are_no_row_of_whole_numbers_are_refused(losses: object) -> None:
    with pytest.raises(LouverError, match=r"\.$"):
        pick(losses, 1)  # type: ignore[arg-type]
