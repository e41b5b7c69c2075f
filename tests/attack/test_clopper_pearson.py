from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from louver.attack.clopper_pearson import at_least, at_most, reaches


@given(st.integers(1, 3000), st.floats(0, 1), st.sampled_from([1e-12, 1e-8, 1e-3, 0.05]))
def test_bounds_are_those_of_the_beta_distribution(trials: int, share: float, level: float) -> None:
    times = round(share * trials)
    least = beta.ppf(level, times, trials - times + 1) if times else 0.0
    most = beta.isf(level, times + 1, trials - times) if times < trials else 1.0
    assert at_least(times, trials, level) == pytest.approx(least, rel=1e-6, abs=1e-12)
    assert at_most(times, trials, level) == pytest.approx(most, rel=1e-6)


@pytest.mark.parametrize("chance", [0.01, 0.3, 0.5, 0.97])
def test_the_binomial_tail_is_the_sum_of_its_terms(chance: float) -> None:
    for times in range(21):
        terms = [math.comb(20, k) * chance**k * (1 - chance) ** (20 - k) for k in range(times, 21)]
        assert reaches(times, 20, chance) == pytest.approx(math.fsum(terms))


@pytest.mark.parametrize("chance", [0.02, 0.5])
def test_a_bound_is_wrong_no_more_often_than_its_level(chance: float) -> None:
    """Summed over all that can be seen, not by trials."""
    for level in (0.05, 0.001):
        seen = [math.comb(60, k) * chance**k * (1 - chance) ** (60 - k) for k in range(61)]
        assert sum(p for k, p in enumerate(seen) if at_least(k, 60, level) > chance) <= level
        assert sum(p for k, p in enumerate(seen) if at_most(k, 60, level) < chance) <= level
