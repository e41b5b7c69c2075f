from __future__ import annotations

import random

import numpy as np
import pytest

from louver.attack import (
    ContinuousLaplace,
    DiscreteGaussian,
    DiscreteLaplace,
    NoNoise,
    Tabled,
    expected_posterior,
    from_true_counts,
    sampled_posterior,
    single_posterior,
)
from louver.attack.law import NoiseLaw
from louver.errors import ParameterError
from louver.noise.bits import Bits

COUNTS, PRIOR, PEOPLE = np.array([3, 1, 7]), np.array([0.2, 0.7, 0.1]), 11
TABLE = Tabled(np.log([0.2, 0.5, 0.3]), first=-1)
LAWS: list[NoiseLaw] = [
    ContinuousLaplace(1),
    ContinuousLaplace(12.5),
    DiscreteLaplace(0.2),
    DiscreteLaplace(1),
    DiscreteGaussian(2),
    TABLE,
]


def test_a_sum_over_whole_noise_is_the_average() -> None:
    noise = np.arange(-200, 201)
    chances = np.exp(DiscreteLaplace(0.2).log_likelihood(noise.astype(float), np.array(0)))
    each = single_posterior(COUNTS + noise[:, None], PRIOR, PEOPLE, DiscreteLaplace(0.2))
    found = expected_posterior(COUNTS, PRIOR, PEOPLE, DiscreteLaplace(0.2))
    assert found == pytest.approx(chances @ each, abs=1e-15)


@pytest.mark.parametrize("rate", [0.05, 1, 12.5])
def test_quadrature_is_the_integral(rate: float) -> None:
    """Against the middle points of a million steps."""
    steps = 200_000
    at = -1 + (np.arange(steps) + 0.5) * (4 / steps)
    each = single_posterior(at[:, None], [0.3], 2, ContinuousLaplace(rate))[:, 0]
    density = rate / 2 * np.exp(-rate * np.abs(at - 1))
    ends = single_posterior([[-1.0], [3.0]], [0.3], 2, ContinuousLaplace(rate))[:, 0]
    tails = np.exp(-2 * rate) / 2 * ends.sum()
    found = expected_posterior([1], [0.3], 2, ContinuousLaplace(rate))
    assert found[0] == pytest.approx(np.sum(each * density) * 4 / steps + tails, abs=1e-7)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("known", [0, np.array([2, 0, 5])])
def test_drawing_comes_to_the_same(law: NoiseLaw, known: int) -> None:
    """Six standard errors: a false alarm in 2e-9 of cases for each of the numbers."""
    bits = Bits._from(random.Random(5).randbytes)
    drawn = sampled_posterior(COUNTS, PRIOR, PEOPLE, law, known, runs=4000, bits=bits)
    expected = expected_posterior(COUNTS, PRIOR, PEOPLE, law, known)
    assert (np.abs(drawn.average - expected) <= 6 * drawn.standard_error + 1e-12).all()
    assert (drawn.worst >= drawn.average).all()


@pytest.mark.parametrize("law", LAWS)
def test_the_weights_of_all_releases_sum_to_one(law: NoiseLaw) -> None:
    assert law.outcomes(COUNTS, PEOPLE)[1].sum(axis=0) == pytest.approx([1, 1, 1], abs=1e-12)


def test_no_noise_is_the_true_count() -> None:
    found = expected_posterior(COUNTS, PRIOR, PEOPLE, NoNoise())
    assert found == pytest.approx(from_true_counts(COUNTS, PEOPLE))
    drawn = sampled_posterior(COUNTS, PRIOR, PEOPLE, NoNoise(), runs=2)
    assert drawn.average == pytest.approx(from_true_counts(COUNTS, PEOPLE))


def test_more_noise_brings_the_average_nearer_to_the_prior() -> None:
    """On average as in Theorem B.1, both ends and the way between."""
    rates = [1e-9, 0.05, 0.2, 0.8, 3, 50]
    found = [expected_posterior([7], [0.1], 11, ContinuousLaplace(rate))[0] for rate in rates]
    assert found == sorted(found)
    assert found[0] == pytest.approx(0.1, abs=1e-7)
    assert found[-1] == pytest.approx(7 / 11, abs=1e-7)


def test_the_average_need_not_lie_between_prior_and_truth() -> None:
    """Appendix B.2 says so of all posteriors. Here both are 0.2, and the average is below."""
    found = expected_posterior([2], [0.2], 10, ContinuousLaplace(2))
    assert found[0] == pytest.approx(0.19689, abs=5e-6)


def test_numbers_that_underflow_are_done_by_logarithms() -> None:
    found = expected_posterior([290, 0], [1e-9, 1 - 1e-9], 300, DiscreteLaplace(40))
    assert found[0] == pytest.approx(290 / 300, abs=1e-6)


def test_rows_are_judged_as_if_alone() -> None:
    rows = expected_posterior(np.array([COUNTS, [2, 2, 2]]), PRIOR, [11, 6], DiscreteLaplace(1))
    assert rows[1] == pytest.approx(expected_posterior([2, 2, 2], PRIOR, 6, DiscreteLaplace(1)))


def test_known_people_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ParameterError, match="known"):
        sampled_posterior(COUNTS, PRIOR, PEOPLE, DiscreteLaplace(1), [1, 2])
