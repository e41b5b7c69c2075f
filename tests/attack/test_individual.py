from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.attack import ContinuousLaplace, DiscreteLaplace, NoNoise, individual_posterior, single_posterior
from louver.attack.law import Law
from louver.errors import ParameterError

Floats = NDArray[np.float64]


def slowly(released: float, chances: Floats, law: Law) -> Floats:
    """By everybody who may be there and everybody who may not."""
    found, total = np.zeros(len(chances)), 0.0
    for there in itertools.product([0, 1], repeat=len(chances)):
        here = np.array(there)
        weight = float(np.prod(np.where(here, chances, 1 - chances)))
        weight *= float(np.exp(law.log_likelihood(np.array(released), np.array(here.sum()))))
        found, total = found + weight * here, total + weight
    return np.asarray(found / total)


@pytest.mark.parametrize("law", [ContinuousLaplace(1), DiscreteLaplace(0.1), DiscreteLaplace(9)])
@pytest.mark.parametrize("released", [-3.0, 0.0, 2.0, 30.0])
def test_it_is_the_sum_over_all_who_may_be_there(law: Law, released: float) -> None:
    chances = np.array([0.9, 0.02, 0.5, 0.3, 0.0, 1.0, 0.11])
    found = individual_posterior([released], chances[:, None], law)
    assert found[:, 0] == pytest.approx(slowly(released, chances, law), abs=1e-13)


def test_people_who_are_alike_are_judged_as_by_one_prior() -> None:
    rng = np.random.default_rng(1)
    prior = rng.dirichlet(np.ones(6), 4)
    released = rng.normal(8, 6, (4, 6)).round()
    found = individual_posterior(released, np.broadcast_to(prior, (50, 4, 6)), DiscreteLaplace(0.5))
    alike = single_posterior(released, prior, 50, DiscreteLaplace(0.5))
    assert found == pytest.approx(np.broadcast_to(alike, found.shape), abs=1e-12)


def test_the_expected_number_of_people_is_what_was_released() -> None:
    chances = np.random.default_rng(2).uniform(0, 1, (40, 3))
    found = individual_posterior([20.0, 5.0, 39.0], chances, NoNoise())
    assert found.sum(axis=0) == pytest.approx([20, 5, 39])


def test_counts_far_from_what_habits_allow_are_still_judged() -> None:
    found = individual_posterior([180.0], np.full((200, 1), 1e-8), DiscreteLaplace(50))
    assert found[:, 0] == pytest.approx(np.full(200, 0.9), abs=1e-6)


def test_what_was_not_released_leaves_the_prior() -> None:
    chances = np.array([[0.2], [0.7]])
    assert individual_posterior([np.nan], chances, DiscreteLaplace(1)) == pytest.approx(chances)


def test_an_impossible_release_leaves_the_prior() -> None:
    chances = np.array([[0.2], [0.7]])
    assert individual_posterior([7.0], chances, NoNoise()) == pytest.approx(chances)


def test_a_prior_of_other_places_is_refused() -> None:
    with pytest.raises(ParameterError, match="first axis"):
        individual_posterior([1.0, 2.0], [[0.2], [0.7]], DiscreteLaplace(1))
