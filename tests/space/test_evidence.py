"""The law of a cell's error: no tail that judges it is smaller than the exact one, whatever the noise is made of."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from louver.space.evidence import Evidence
from louver.space.judged import _cautious
from louver.space.measure import variance


def tail(scales: list[float], size: float) -> float:
    """P(X > size) for a sum of Laplace variables of different scales, by partial fractions."""
    whole = 0.0
    for scale_ in scales:
        others = [scale_**2 / (scale_**2 - other**2) for other in scales if other != scale_]
        whole += math.prod(others) * math.exp(-size / scale_)
    return whole / 2


@pytest.mark.parametrize("scales", [[1, 0.05], [1, 0.3], [1, 0.98], [1, 0.9, 0.8], [1, 0.97, 0.93, 0.41, 0.28]])
@pytest.mark.parametrize("rate", [0.4, 0.3, 0.2, 0.1, 0.05, 0.04, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0001])
def test_no_rate_is_passed_whatever_the_noise_is_made_of(scales: list[float], rate: float) -> None:
    """The smallest error that is called clear, and the exact probability of a larger one."""
    squares = np.array([2 * each**2 for each in scales])
    sizes = np.linspace(0, 30, 60_001)
    one = np.ones_like(sizes)
    found = Evidence(one, sizes, 0 * one, one * squares.sum(), 0 * one, one * (squares**2).sum())
    clear = sizes[np.argmax(found.tail(0.0) <= float(_cautious(Fraction(rate).limit_denominator(10**6))))]
    assert clear > 0
    assert tail(scales, clear) <= rate


def whole(rate: float, reach: int) -> Any:
    """The probabilities of discrete Laplace noise from -reach to reach."""
    ratio = math.exp(-rate)
    return (1 - ratio) / (1 + ratio) * ratio ** np.abs(np.arange(-reach, reach + 1))


def coarse(sums: Any, level: float, of_counts: float, of_sums: float) -> Evidence:
    """Of cells in which nobody is, with noise of these rates: all that is seen is noise."""
    one = np.ones_like(sums)
    counted, summed = (variance(Fraction(rate)) for rate in (of_counts, of_sums))
    counted *= level != 0
    return Evidence(0 * one, sums, counted * one, summed * one, counted**2 * one, summed**2 * one)


@pytest.mark.parametrize("of_sums", [0.02, 0.5, 1, 2, 2.5, 3, 4])
@pytest.mark.parametrize("of_counts", [0.25, 1, 2, 4])
@pytest.mark.parametrize("level", [0, 0.5, 1, 7, 50, -3.3])
def test_no_rate_is_passed_by_noise_in_coarse_steps(of_sums: float, of_counts: float, level: float) -> None:
    """The exact probability of an error that large, for every error that can be, against the rate that it passes."""
    reach, wide = round(40 / of_sums), round(40 / of_counts) if level else 0
    steps = np.arange(-wide, wide + 1)
    sizes = np.unique(np.add.outer(abs(level) * steps, np.arange(0, reach, max(1, reach // 100))).ravel())
    sizes = sizes[sizes > 0][:: max(1, len(sizes) // 400)]
    least = np.ceil(np.subtract.outer(sizes, abs(level) * steps) - 1e-9).astype(np.int64)
    larger = np.append(np.cumsum(whole(of_sums, reach)[::-1])[::-1], 0.0)
    exact = (
        larger[np.clip(least + reach, 0, 2 * reach + 1)] @ whole(of_counts, wide)
        if level
        else larger[least[:, 0] + reach]
    )
    told = coarse(sizes, level, of_counts, of_sums).tail(level)
    assert (exact[told >= 0.05] <= told[told >= 0.05]).all()
    known = exact > 1e-12
    assert (0.8 * exact[known] <= told[known]).all()


def test_a_rate_smaller_than_the_last_digit_of_one_is_kept() -> None:
    """40 standard errors have a tail of 10^-25, and 1 less that is 1."""
    seen = np.array([40.0]) * math.sqrt(8 * 10**6)
    found = Evidence(np.ones(1), seen, np.zeros(1), np.full(1, 8e6), np.zeros(1), np.full(1, 64e12))
    assert found.probability(0.0)[0] == 1
    assert 1e-26 < found.tail(0.0)[0] < 1e-24
