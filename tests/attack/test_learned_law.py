from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from louver.attack import ContinuousLaplace, DiscreteLaplace, LearnedLaw, learn_law, single_posterior
from louver.attack.learned_law import FLOOR
from louver.errors import ParameterError

Floats = NDArray[np.float64]


def density(law: LearnedLaw, released: ArrayLike, count: int) -> Floats:
    return np.exp(law.log_likelihood(np.asarray(released, dtype=float), np.array(count)))


@pytest.mark.parametrize("bandwidth", [None, 0.1, 0.5])
def test_a_density_is_that_of_scipy(bandwidth: float | None) -> None:
    from scipy.stats import gaussian_kde

    rng = np.random.default_rng(1)
    counts = np.repeat([3, 9], 400)
    released = counts + rng.laplace(size=800) * np.where(counts == 3, 1, 4)
    law = learn_law(counts, released, bandwidth=bandwidth)
    for count in (3, 9):
        at = np.linspace(-10, 30, 500)
        theirs = gaussian_kde(released[counts == count], "scott" if bandwidth is None else bandwidth)(at)
        assert density(law, at, count) == pytest.approx(np.maximum(theirs, FLOOR), abs=0.01 * theirs.max())


def test_posteriors_come_nearer_to_the_exact_ones_with_more_examples() -> None:
    """A hundred times the examples, with Scott's bandwidth: less than a third of the error; at the end under 0.01."""
    rng = np.random.default_rng(2)
    prior = rng.dirichlet(np.ones(8), 30)
    released = np.array([rng.multinomial(40, row) for row in prior]) + rng.laplace(size=(30, 8))
    exact = single_posterior(released, prior, 40, ContinuousLaplace(1))
    errors = []
    for examples in (40, 4000):
        counts = np.repeat(np.arange(41), examples)
        law = learn_law(counts, counts + rng.laplace(size=counts.size))
        errors.append(float(np.abs(single_posterior(released, prior, 40, law) - exact).mean()))
    assert errors[1] < errors[0] / 3
    assert errors[1] < 0.002


def test_whole_releases_are_learned_as_probabilities() -> None:
    rng = np.random.default_rng(3)
    counts = np.repeat(np.arange(12), 20_000)
    noise = rng.geometric(1 - np.exp(-1), counts.size) - rng.geometric(1 - np.exp(-1), counts.size)
    law = learn_law(counts, counts + noise, bandwidth=0.1)
    every = np.arange(-60, 80).astype(float)
    assert density(law, every, 5).sum() == pytest.approx(1, abs=1e-9)
    exact = np.exp(DiscreteLaplace(1).log_likelihood(every, np.array(5)))
    assert density(law, every, 5) == pytest.approx(exact, abs=0.02)


def test_a_count_with_few_examples_borrows_from_its_neighbours() -> None:
    counts = np.concatenate([np.full(100, 10), np.full(3, 11), np.full(100, 40)])
    released = counts + np.where(counts < 30, 1, 7)
    law = learn_law(counts, released)
    for count, noise, other in [(11, 1, 7), (24, 1, 7), (27, 7, 1), (40, 7, 1)]:
        assert density(law, count + noise, count) == pytest.approx(1)
        assert density(law, count + other, count) == pytest.approx(FLOOR, rel=1e-6, abs=0)


def test_enough_wanted_examples_pool_everything() -> None:
    rng = np.random.default_rng(4)
    counts = rng.integers(0, 30, 5000)
    law = learn_law(counts, counts + rng.laplace(size=5000), least=10**9)
    assert density(law, 2.5, 2) == pytest.approx(density(law, 25.5, 25), rel=1e-9)


def test_counts_larger_than_any_seen_use_the_largest() -> None:
    counts = np.repeat(np.arange(5), 50)
    law = learn_law(counts, counts + np.tile([0, 1], 125))
    assert density(law, 901, 900) == pytest.approx(density(law, 5, 4))


def test_what_was_never_seen_is_not_impossible() -> None:
    counts = np.repeat(np.arange(5), 50)
    law = learn_law(counts, counts + np.tile([0, 1], 125))
    assert density(law, 1000.0, 2) == pytest.approx(FLOOR, rel=1e-6, abs=0)
    assert single_posterior([1000.0], [0.3], 4, law) == pytest.approx([0.3])


def test_what_was_never_seen_is_as_unlikely_where_nothing_varies() -> None:
    counts = np.repeat(np.arange(5), 50)
    law = learn_law(counts, counts + 0.5)
    assert density(law, [-9.0, 2.6, 99.0], 2) == pytest.approx(np.full(3, FLOOR), rel=1e-6, abs=0)
    assert single_posterior([2.5], [0.3], 4, law) == pytest.approx([0.5])


def test_a_mechanism_that_multiplies_is_learned_for_each_count() -> None:
    """As rotating pseudonyms do: each person is counted twice."""
    counts = np.repeat(np.arange(20), 40)
    law = learn_law(counts, 2 * counts)
    assert single_posterior([8.0], [0.3], 19, law) == pytest.approx([4 / 19], abs=1e-6)


def test_releases_that_are_missing_are_left_out() -> None:
    counts = np.repeat(np.arange(3), 40)
    released = np.where(np.arange(120) % 40 == 0, np.nan, counts)
    assert density(learn_law(counts, released), 1, 1) == pytest.approx(1)


@pytest.mark.parametrize(
    ("counts", "released"),
    [([1, 2], [1.0]), ([1.5, 2], [1.0, 2.0]), ([1], [1.0]), ([-1, 2], [1.0, 2.0]), ([1, 2], [np.inf, 2.0])],
)
def test_what_nothing_can_be_learned_from_is_refused(counts: list[float], released: list[float]) -> None:
    with pytest.raises(ParameterError, match="A law is learned from"):
        learn_law(counts, released)
