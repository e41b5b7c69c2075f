from __future__ import annotations

import math

import numpy as np
import pytest

from louver.attack import (
    Additive,
    ContinuousLaplace,
    DiscreteGaussian,
    DiscreteLaplace,
    NoNoise,
    Tabled,
    from_true_counts,
    single_posterior,
)
from louver.attack.law import Law
from louver.errors import ParameterError

RELEASED, PRIOR, PEOPLE = [3.2, 7.9, 0.4], [0.2, 0.7, 0.1], 11


def slowly(released: float, prior: float, people: int, law: Law, known: int = 0, first: int = 0) -> float:
    """Eq. 4.4 as it is written, one term after another."""
    above = below = 0.0
    for z in range(first, people + 1):
        weight = math.comb(people, z) * prior**z * (1 - prior) ** (people - z)
        weight *= math.exp(float(law.log_likelihood(np.array(released), np.array(known + z))))
        above, below = above + weight * z / people, below + weight
    return above / below


def test_the_published_example_is_met() -> None:
    found = single_posterior(RELEASED, PRIOR, PEOPLE, ContinuousLaplace(1))
    assert found == pytest.approx([0.250481, 0.716999, 0.060829], abs=5e-7)


@pytest.mark.parametrize(
    "law", [ContinuousLaplace(0.3), DiscreteLaplace(1.7), DiscreteGaussian(5), Additive(lambda x: -(np.abs(x) ** 1.5))]
)
@pytest.mark.parametrize("known", [0, 2])
def test_the_sum_is_that_of_the_formula(law: Law, known: int) -> None:
    found = single_posterior([3, 8, 0, -4, 30], [0.2, 0.7, 0.1, 0.5, 0.001], 9, law, known)
    expected = [
        slowly(y, p, 9, law, known) for y, p in zip([3, 8, 0, -4, 30], [0.2, 0.7, 0.1, 0.5, 0.001], strict=True)
    ]
    assert found == pytest.approx(expected, rel=1e-12)


def test_with_no_information_the_prior_stays() -> None:
    """Theorem B.1, epsilon to 0."""
    found = single_posterior([40, -7, 2], [0.02, 0.5, 0.97], 60, ContinuousLaplace(1e-12))
    assert found == pytest.approx([0.02, 0.5, 0.97], rel=1e-8)


def test_a_sum_that_leaves_out_nobody_being_there_would_not_keep_the_prior() -> None:
    law = ContinuousLaplace(1e-12)
    assert slowly(3, 0.02, 60, law, first=1) == pytest.approx(0.02 / (1 - 0.98**60), rel=1e-8)
    assert slowly(3, 0.02, 60, law, first=1) == pytest.approx(0.0285, abs=5e-5)


@pytest.mark.parametrize("law", [ContinuousLaplace(200), DiscreteLaplace(200), NoNoise()])
def test_with_all_information_it_is_the_true_count(law: Law) -> None:
    """Theorem B.1, epsilon to infinity."""
    counts = np.array([3, 1, 7, 0])
    found = single_posterior(counts, [0.25, 0.5, 0.15, 0.1], 11, law)
    assert found == pytest.approx(from_true_counts(counts, 11), abs=1e-9)


def test_one_noisy_count_can_push_the_attacker_past_the_truth() -> None:
    """The thesis says that posteriors stay between the prior and c/m (appendix B.2); a single one need not."""
    prior, true = 0.2, 2 / 10
    assert float(single_posterior([5], [prior], 10, ContinuousLaplace(1))[0]) > max(prior, true) + 0.05


def test_numbers_past_floating_point_are_still_judged() -> None:
    """300 people in a place where one in a million is expected: its binomial probability is 0 in floats."""
    found = single_posterior([290.0], [1e-6], 300, DiscreteLaplace(40))
    assert found == pytest.approx([290 / 300], abs=1e-6)


@pytest.mark.parametrize(("prior", "expected"), [(0.0, 0.0), (1.0, 1.0)])
def test_certain_priors_stay_certain(prior: float, expected: float) -> None:
    assert single_posterior([4.0], [prior], 9, DiscreteLaplace(1)).tolist() == [expected]


def test_what_was_not_released_leaves_the_prior() -> None:
    assert single_posterior([np.nan, 3.0], [0.3, 0.7], 9, DiscreteLaplace(1))[0] == pytest.approx(0.3)


def test_an_impossible_release_leaves_the_prior() -> None:
    assert single_posterior([50.0], [0.3], 9, NoNoise()).tolist() == [0.3]


def test_ticks_and_runs_are_judged_as_if_alone() -> None:
    rng = np.random.default_rng(3)
    prior, people = rng.dirichlet(np.ones(5), 7), rng.integers(0, 40, 7)
    released = rng.normal(5, 5, (3, 7, 5)).round()
    known = rng.integers(0, 4, (7, 5))
    found = single_posterior(released, prior, people, DiscreteLaplace(0.5), known)
    assert found.shape == (3, 7, 5)
    for tick in range(7):
        alone = single_posterior(released[1, tick], prior[tick], people[tick], DiscreteLaplace(0.5), known[tick])
        assert found[1, tick] == pytest.approx(alone, rel=1e-12)


def test_a_table_says_the_same_as_its_function() -> None:
    residuals = np.arange(-60, 61)
    table = Tabled(DiscreteLaplace(1).log_likelihood(residuals.astype(float), np.array(0)), first=-60)
    released = [3.0, 12.0, -1.0, np.nan]
    found = single_posterior(released, [0.2] * 4, 11, table)
    assert found == pytest.approx(single_posterior(released, [0.2] * 4, 11, DiscreteLaplace(1)), rel=1e-12)


def test_a_table_knows_whole_numbers_only() -> None:
    table = Tabled([0.0], first=2)
    found = table.log_likelihood(np.array([5.0, 5.5, 6.0]), np.array(3))
    assert found.tolist() == [0.0, -np.inf, -np.inf]


@pytest.mark.parametrize("law", [DiscreteLaplace(0.7), DiscreteGaussian(3), DiscreteGaussian(0.05)])
def test_laws_of_whole_noise_sum_to_one(law: Law) -> None:
    every = np.arange(-400, 401).astype(float)
    assert np.exp(law.log_likelihood(every, np.array(0))).sum() == pytest.approx(1, abs=1e-12)


def test_nobody_is_nowhere() -> None:
    assert single_posterior([3.0], [0.5], 0, DiscreteLaplace(1)).tolist() == [0.0]
    assert from_true_counts([0, 0], 0).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("released", "prior", "people", "said"),
    [
        ([1.0], [0.5, 0.5], 3, "same places"),
        ([1.0], [1.5], 3, "probabilities"),
        ([1.0], [0.5], -1, "people must be whole"),
        ([1.0], [0.5], 2.5, "people must be whole"),
        ([[1.0], [2.0]], [0.5], [1, 2, 3], "shape of people"),
    ],
)
def test_what_does_not_fit_is_refused(released: object, prior: object, people: object, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        single_posterior(released, prior, people, DiscreteLaplace(1))  # type: ignore[arg-type]


def test_a_law_of_nothing_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least one"):
        Tabled([], 0)
    with pytest.raises(ParameterError, match="greater than 0"):
        DiscreteLaplace(0)
