from __future__ import annotations

import math

import numpy as np
import pytest

from louver.attack import (
    DiscreteLaplace,
    bound_with_more,
    joint_posterior,
    log_ratio_of_more,
    published_bound_with_more,
    repeated_posterior,
    single_posterior,
)
from louver.errors import ParameterError

PRIOR, PEOPLE, LAW = [0.2, 0.7, 0.1], 11, DiscreteLaplace(0.4)


def test_one_release_is_a_plain_posterior() -> None:
    released = [[3, 7, 1]]
    assert repeated_posterior(released, PRIOR, PEOPLE, LAW) == pytest.approx(
        single_posterior(released[0], PRIOR, PEOPLE, LAW)
    )
    assert repeated_posterior(released, PRIOR, PEOPLE, LAW, joint=True) == pytest.approx(
        joint_posterior(released[0], PRIOR, PEOPLE, LAW)
    )


def test_releases_of_the_same_counts_multiply_their_likelihoods() -> None:
    """Theorem B.3, term by term."""
    seen, prior = [2, 6, 4], 0.3
    z = np.arange(PEOPLE + 1)
    weights = np.array([math.comb(PEOPLE, int(k)) * prior**k * (1 - prior) ** (PEOPLE - k) for k in z])
    for y in seen:
        weights = weights * np.exp(LAW.log_likelihood(np.array(float(y)), z))
    found = repeated_posterior([[y] for y in seen], [prior], PEOPLE, LAW)
    assert found[0] == pytest.approx((weights @ z) / weights.sum() / PEOPLE, rel=1e-12)


def test_the_same_noise_twice_as_loud_is_a_release_of_twice_the_rate() -> None:
    twice = repeated_posterior([[3, 7, 1]] * 2, PRIOR, PEOPLE, LAW, joint=True)
    assert twice == pytest.approx(joint_posterior([3, 7, 1], PRIOR, PEOPLE, DiscreteLaplace(0.8)))


def test_fresh_noise_on_the_same_counts_wears_off() -> None:
    rng = np.random.default_rng(1)
    counts = np.array([3, 7, 1])
    noise = rng.geometric(1 - np.exp(-0.4), (2, 400, 3))
    released = counts + noise[0] - noise[1]
    found = repeated_posterior(released, PRIOR, PEOPLE, LAW, joint=True)
    assert found == pytest.approx(counts / PEOPLE, abs=1e-3)


def test_ticks_are_judged_as_if_alone() -> None:
    released = np.arange(24).reshape(2, 4, 3).astype(float)
    released[0, 1, 2] = np.nan
    found = repeated_posterior(released, PRIOR, [5, 11, 30, 2], LAW)
    assert found.shape == (4, 3)
    assert found[1] == pytest.approx(repeated_posterior(released[:, 1], PRIOR, 11, LAW))
    assert found[1, 2] == pytest.approx(single_posterior(released[1, 1], PRIOR, 11, LAW)[2])


def test_bounds_hold_where_the_second_count_follows_from_the_first() -> None:
    """Theorem B.4: everybody moves on to the other of two places, so the second release is of m - z."""
    z, prior = np.arange(PEOPLE + 1), 0.3
    chances = np.array([math.comb(PEOPLE, int(k)) * prior**k * (1 - prior) ** (PEOPLE - k) for k in z])
    rate = 0.05
    law = DiscreteLaplace(rate)
    for first in range(-3, 15):
        for second in range(-3, 15):
            seen = np.exp(law.log_likelihood(np.array(float(first)), z))
            weights = chances * seen * np.exp(law.log_likelihood(np.array(float(second)), PEOPLE - z))
            exact = float((weights @ z) / weights.sum() / PEOPLE)
            alone = single_posterior([first], [prior], PEOPLE, law)
            ratio = log_ratio_of_more(rate, PEOPLE, 2)
            bound, published = (
                float(bound_with_more(alone, ratio)[0]),
                float(published_bound_with_more(alone, ratio)[0]),
            )
            assert exact <= bound <= published <= 1


def test_the_bound_is_met_by_the_last_unknown_person() -> None:
    """Seen at two times, in a place that only that person may be in: the second release adds its rate to the odds."""
    alone = single_posterior([0], [0.3], 1, LAW)
    both = repeated_posterior([[0], [99]], [0.3], 1, LAW)
    assert both == pytest.approx(bound_with_more(alone, log_ratio_of_more(0.4, 1, 2)), rel=1e-12)


def test_the_published_bound_is_soon_of_no_use() -> None:
    ratio = log_ratio_of_more(1, 300, 2)
    assert ratio == 300
    assert float(published_bound_with_more(0.01, ratio)) == 1
    assert float(published_bound_with_more(0.01, math.inf)) == 1


def test_nothing_more_leaves_the_posterior() -> None:
    assert float(bound_with_more(0.3, log_ratio_of_more(1, 300, 1))) == pytest.approx(0.3)
    assert float(bound_with_more(0.0, 700.0)) == 0
    assert float(bound_with_more(1.0, 0.0)) == 1


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ParameterError, match="first axis"):
        repeated_posterior([1, 2, 3], PRIOR, PEOPLE, LAW)
    with pytest.raises(ParameterError, match="0 or more"):
        bound_with_more(0.3, -1)
