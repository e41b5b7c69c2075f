from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.attack import (
    ContinuousLaplace,
    DiscreteGaussian,
    DiscreteLaplace,
    NoNoise,
    confidence_class,
    from_true_counts,
    joint_posterior,
    joint_posterior_of_unknown,
    prior_of,
    single_posterior,
    with_outside,
    worst_posterior,
)
from louver.attack.law import Law
from louver.errors import ParameterError

Floats = NDArray[np.float64]
RELEASED, PRIOR, PEOPLE = [3.2, 7.9, 0.4], [0.2, 0.7, 0.1], 11


def slowly(released: list[float], prior: list[float], people: int, law: Law, known: int = 0) -> tuple[Floats, float]:
    """Everybody's place, by all ways to fill the places; and how likely the release is."""
    found, total = np.zeros(len(prior)), 0.0
    for counts in itertools.product(range(people + 1), repeat=len(prior)):
        if sum(counts) != people:
            continue
        weight = float(math.factorial(people))
        for y, p, z in zip(released, prior, counts, strict=True):
            seen = 0.0 if math.isnan(y) else float(law.log_likelihood(np.array(y), np.array(known + z)))
            weight *= p**z / math.factorial(z) * math.exp(seen)
        found, total = found + weight * np.array(counts) / max(people, 1), total + weight
    return found / total, total


def test_the_published_example_is_met() -> None:
    found = joint_posterior(RELEASED, PRIOR, PEOPLE, ContinuousLaplace(1))
    assert found == pytest.approx([0.247970, 0.706733, 0.045297], abs=5e-7)


@pytest.mark.parametrize("law", [ContinuousLaplace(1), DiscreteLaplace(0.05), DiscreteLaplace(3), DiscreteGaussian(4)])
@pytest.mark.parametrize("people", [1, 2, 7])
@pytest.mark.parametrize("known", [0, 1])
def test_it_is_the_sum_over_all_ways_to_fill_the_places(law: Law, people: int, known: int) -> None:
    released = [3.0, 9.0, -2.0, float("nan")]
    prior = [0.2, 0.6, 0.05, 0.15]
    found = joint_posterior(released, prior, people, law, known)
    assert found == pytest.approx(slowly(released, prior, people, law, known)[0], abs=1e-14)


def test_places_sum_to_one() -> None:
    rng = np.random.default_rng(2)
    prior = rng.dirichlet(np.full(20, 0.3), 6)
    found = joint_posterior(rng.normal(4, 20, (6, 20)).round(), prior, 80, DiscreteLaplace(0.7))
    assert found.sum(axis=-1) == pytest.approx(np.ones(6), abs=1e-12)


def test_with_no_information_the_prior_stays() -> None:
    assert joint_posterior([9, -3, 100], PRIOR, PEOPLE, ContinuousLaplace(1e-12)) == pytest.approx(PRIOR, abs=1e-9)


@pytest.mark.parametrize("law", [DiscreteLaplace(60), NoNoise()])
def test_with_all_information_it_is_the_true_count(law: Law) -> None:
    assert joint_posterior([3, 7, 1], PRIOR, 11, law) == pytest.approx(from_true_counts([3, 7, 1], 11), abs=1e-9)


def by_logarithms(released: list[float], prior: list[float], people: int, law: Law) -> Floats:
    """The same place by place, in logarithms alone, which never vanish: one run for each place, put last."""
    z = np.arange(people + 1)
    factorials = np.array([math.lgamma(k + 1) for k in z])
    weights = [
        law.log_likelihood(np.array(y), z) + z * math.log(p) - factorials for y, p in zip(released, prior, strict=True)
    ]
    found = []
    for place in range(len(prior)):
        filled = np.where(z == 0, 0.0, -np.inf)
        for other in weights[:place] + weights[place + 1 :]:
            filled = np.array([np.logaddexp.reduce(filled[: k + 1] + other[k::-1]) for k in z])
        mine = weights[place] + filled[::-1]
        chances = np.exp(mine - mine.max())
        found.append(chances @ z / chances.sum() / people)
    return np.array(found)


@pytest.mark.parametrize("rate", [0.01, 1, 30, 300])
@pytest.mark.parametrize("times", [-3, 0, 0.5, 2, 5])
def test_releases_far_from_the_number_of_people_are_still_judged(rate: float, times: float) -> None:
    """They sum to this many times the people: without a tilt most numbers would vanish."""
    released = [float(round(times * count)) for count in (30, 20, 7, 2, 1)]
    prior = [0.01, 0.2, 0.3, 0.1, 0.39]
    found = joint_posterior(released, prior, 60, DiscreteLaplace(rate))
    assert found == pytest.approx(by_logarithms(released, prior, 60, DiscreteLaplace(rate)), abs=1e-9)


def test_an_impossible_release_leaves_the_prior() -> None:
    assert joint_posterior([3, 3, 3], PRIOR, 11, NoNoise()).tolist() == PRIOR
    assert joint_posterior([3, 3, 30], PRIOR, 11, NoNoise()).tolist() == PRIOR


def test_a_place_where_nobody_goes_stays_empty() -> None:
    found = joint_posterior([5, 5, 5], [0.5, 0.5, 0.0], 10, DiscreteLaplace(1))
    assert found == pytest.approx([0.5, 0.5, 0.0])


def test_a_histogram_gives_away_twice_the_odds_of_one_count() -> None:
    """One person in one of two places: at worst the odds grow by exp(2 epsilon), which the bound allows and meets."""
    found = joint_posterior([50, -50], [0.05, 0.95], 1, DiscreteLaplace(1))
    assert found[0] == pytest.approx(float(worst_posterior(0.05, 1, changed=2)), rel=1e-12)
    assert found[0] > 2 * float(worst_posterior(0.05, 1, changed=1))


@pytest.mark.parametrize("method", [single_posterior, joint_posterior])
def test_an_attacker_is_right_as_often_as_the_posterior_says(method: Callable[..., Floats]) -> None:
    """In each class, over 2,000 crowds drawn from the prior: six standard errors, a false alarm in under 1e-7."""
    rng = np.random.default_rng(6)
    prior = rng.dirichlet(np.full(4, 0.6), 2000)
    counts = np.array([rng.multinomial(12, row) for row in prior])
    noise = rng.geometric(1 - np.exp(-0.8), (2, *counts.shape))
    found = method(counts + noise[0] - noise[1], prior, 12, DiscreteLaplace(0.8))
    classes = confidence_class(found)
    for each in range(6):
        wrong = (counts / 12 - found)[classes == each]
        assert abs(wrong.mean()) < 6 * wrong.std() / math.sqrt(len(wrong))


def test_rows_are_judged_as_if_alone() -> None:
    rng = np.random.default_rng(4)
    prior, people = rng.dirichlet(np.ones(5), 4), np.array([0, 1, 9, 30])
    released = rng.normal(5, 5, (2, 4, 5)).round()
    found = joint_posterior(released, prior, people, DiscreteLaplace(0.5))
    assert found[:, 0].tolist() == np.zeros((2, 5)).tolist()
    for tick in range(1, 4):
        alone = joint_posterior(released[1, tick], prior[tick], people[tick], DiscreteLaplace(0.5))
        assert found[1, tick] == pytest.approx(alone, rel=1e-12)


def test_an_unknown_number_of_people_is_mixed_over_given_that_there_is_somebody() -> None:
    law, chances = DiscreteLaplace(0.8), np.array([0.1, 0.0, 0.2, 0.3, 0.25, 0.15])
    released = [2.0, 3.0, float("nan")]
    each = [slowly(released, PRIOR, people, law) for people in range(6)]
    weights = np.where(np.arange(6) > 0, chances, 0) * [total for _, total in each]
    expected = sum(weight * shares for weight, (shares, _) in zip(weights, each, strict=True)) / weights.sum()
    found = joint_posterior_of_unknown(released, PRIOR, chances, law)
    assert found == pytest.approx(expected, abs=1e-14)
    assert found.sum() == pytest.approx(1)


def test_a_number_of_people_that_is_certain_is_a_known_one() -> None:
    chances = np.zeros(60)
    chances[11] = 1
    found = joint_posterior_of_unknown(RELEASED, PRIOR, chances, ContinuousLaplace(1))
    assert found == pytest.approx(joint_posterior(RELEASED, PRIOR, PEOPLE, ContinuousLaplace(1)), abs=1e-13)


def test_a_number_of_people_far_from_the_guess_is_found() -> None:
    """The first guess is 1000 people; the releases say 60."""
    found = joint_posterior_of_unknown([40.0, 20.0], [0.5, 0.5], np.ones(2001), DiscreteLaplace(2))
    assert found == pytest.approx([2 / 3, 1 / 3], abs=0.01)


def test_outside_is_a_place_without_a_release() -> None:
    """Of 20 people some are outside: the same as an unknown number inside."""
    prior = prior_of(with_outside([60, 20], 200), smoothing=0)
    assert prior.tolist() == [0.3, 0.1, 0.6]
    found = joint_posterior([5, 4, np.nan], prior, 20, DiscreteLaplace(1))
    inside = np.array([math.comb(20, m) * 0.4**m * 0.6 ** (20 - m) * m / 20 for m in range(21)])
    given_inside = joint_posterior_of_unknown([5, 4], [0.75, 0.25], inside, DiscreteLaplace(1))
    assert found[:2] / found[:2].sum() == pytest.approx(given_inside, abs=1e-12)


def test_a_prior_that_leaves_people_out_is_refused() -> None:
    with pytest.raises(ParameterError, match="sum to 1"):
        joint_posterior([3, 3], [0.3, 0.3], 6, DiscreteLaplace(1))
    with pytest.raises(ParameterError, match="people_prior"):
        joint_posterior_of_unknown([3, 3], [0.5, 0.5], [0.0, 0.0], DiscreteLaplace(1))
    with pytest.raises(ParameterError, match="people_prior"):
        joint_posterior_of_unknown([3, 3], [0.5, 0.5], [1.0, 0.0], DiscreteLaplace(1))
