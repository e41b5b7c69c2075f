"""Do draws follow a law? Shared by the tests of every sampler.

The statistic is the log-likelihood ratio against the exact law, compared with chi-square: where an expectation is as
small as 25, its far tail keeps to chi-square within a small factor, and Pearson's does not. Outcomes expected less
often than that are counted together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfc
from scipy.stats import chi2

# One true law fails one comparison with this probability, or a small factor of it: hundreds stay far below 1e-6.
FALSE_ALARM = 1e-9
LEAST_EXPECTED = 25.0

Law = Callable[[Any], float]
"""The probability of one outcome: of an int, or of a tuple of ints where each draw is a row."""


def chi_square(observed: ArrayLike, probabilities: ArrayLike) -> float:
    """The p-value of counts against the probabilities of their cells, which together are the whole law."""
    counts, expected = np.asarray(observed, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    assert counts.shape == expected.shape
    assert (expected >= 0).all(), "a probability is negative"
    assert abs(expected.sum() - 1) < 1e-9, "the probabilities do not sum to 1"
    if counts[expected == 0].any():
        return 0.0
    counts, expected = _pooled(counts, expected * counts.sum())
    seen = counts > 0
    statistic = 2 * float(np.sum(counts[seen] * np.log(counts[seen] / expected[seen])))
    return float(chi2.sf(statistic, len(counts) - 1))


def p_value(draws: NDArray[Any], law: Law) -> float:
    """The p-value of draws (integers, coins, or rows of integers) against a law."""
    _, first, counts = np.unique(_codes(draws), return_index=True, return_counts=True)
    rows = draws[first].tolist()
    probabilities = np.array([law(tuple(row) if isinstance(row, list) else int(row)) for row in rows])
    if not probabilities.all():
        return 0.0
    # Outcomes that did not come up belong with the rare ones: alone they would be a cell chosen for being empty.
    often = probabilities * counts.sum() >= LEAST_EXPECTED
    rest = 1 - probabilities[often].sum()
    assert rest > -1e-9, "the probabilities sum to more than 1"
    return chi_square(np.append(counts[often], counts[~often].sum()), np.append(probabilities[often], max(rest, 0.0)))


def assert_follows(draws: NDArray[Any], law: Law) -> None:
    found = p_value(draws, law)
    assert found >= FALSE_ALARM, f"the draws do not follow the law: p = {found:.3g}"


def assert_rejects(draws: NDArray[Any], law: Law) -> None:
    """That these draws tell a wrong law from the right one: a test that accepts everything would not."""
    found = p_value(draws, law)
    assert found < FALSE_ALARM, f"the draws do not rule out the wrong law: p = {found:.3g}"


def same_law(first: NDArray[Any], second: NDArray[Any]) -> float:
    """The p-value of two sets of draws of integers against their having one law, whatever it is."""
    outcomes, where = np.unique(_codes(np.concatenate((first, second))), return_inverse=True)
    counts = np.stack(
        [np.bincount(part, minlength=len(outcomes)) for part in (where[: len(first)], where[len(first) :])]
    )
    together = counts.sum(axis=0) / counts.sum()
    sizes = counts.sum(axis=1)
    kept = together * sizes.min() >= LEAST_EXPECTED
    pooled = np.concatenate((counts[:, kept], counts[:, ~kept].sum(axis=1, keepdims=True)), axis=1)
    pooled = pooled[:, pooled.sum(axis=0) * sizes.min() / sizes.sum() >= LEAST_EXPECTED]
    assert pooled.shape[1] > 1, "too few draws for a test"
    expected = pooled.sum(axis=0) * pooled.sum(axis=1, keepdims=True) / pooled.sum()
    seen = pooled > 0
    statistic = 2 * float(np.sum(pooled[seen] * np.log(pooled[seen] / expected[seen])))
    return float(chi2.sf(statistic, pooled.shape[1] - 1))


def coin(probability: float) -> Law:
    return lambda outcome: probability if outcome else 1 - probability


def laplace(rate: float) -> Law:
    """Discrete Laplace: (1-a)/(1+a) a^|x|, a = exp(-rate)."""
    at_zero = math.tanh(rate / 2)
    return lambda value: at_zero * math.exp(-rate * abs(value))


def geometric(rate: float) -> Law:
    """(1-a) a^y for y >= 0."""
    at_zero = -math.expm1(-rate)
    return lambda value: at_zero * math.exp(-rate * value) if value >= 0 else 0.0


def gaussian(variance: float) -> Law:
    """Discrete Gaussian: exp(-x^2 / (2 variance)) over its sum."""
    reach = math.ceil(10 * math.sqrt(variance)) + 10
    total = 1 + 2 * math.fsum(math.exp(-x * x / (2 * variance)) for x in range(1, reach))
    return lambda value: math.exp(-value * value / (2 * variance)) / total


def in_cells(reaches: Callable[[float], float], width: int) -> Law:
    """The law of x // width, for a wide law of integers x given by reaches(y) = P(x >= y)."""
    return lambda cell: reaches(cell * width) - reaches((cell + 1) * width)


def laplace_reaches(rate: float) -> Callable[[float], float]:
    """P(x >= y) of discrete Laplace noise, for whole y."""
    whole = 1 + math.exp(-rate)
    return lambda y: math.exp(-rate * y) / whole if y > 0 else 1 - math.exp(-rate * (1 - y)) / whole


def gaussian_reaches(variance: float) -> Callable[[float], float]:
    """P(x >= y) of discrete Gaussian noise of a variance above 100: the integral, and what the midpoint rule adds."""

    def reaches(y: float) -> float:
        edge = y - 0.5
        slope = -edge / variance * math.exp(-edge * edge / (2 * variance)) / math.sqrt(2 * math.pi * variance)
        return float(erfc(edge / math.sqrt(2 * variance))) / 2 + slope / 24

    return reaches


def _codes(draws: NDArray[Any]) -> NDArray[Any]:
    """One number for each row of integers: numpy finds equal numbers far faster than equal rows."""
    if draws.ndim == 1:
        return draws
    lowest = draws.min(axis=0)
    return np.asarray(np.ravel_multi_index(tuple((draws - lowest).T), tuple(draws.max(axis=0) - lowest + 1)))


def _pooled(
    counts: NDArray[np.float64], expected: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The cells expected often enough, and one for all others, joined to the rarest of the former if it is rare too."""
    often = expected >= LEAST_EXPECTED
    order = np.argsort(-expected[often])
    counts = np.append(counts[often][order], counts[~often].sum())
    expected = np.append(expected[often][order], expected[~often].sum())
    if expected[-1] < LEAST_EXPECTED and len(expected) > 1:
        counts = np.append(counts[:-2], counts[-2:].sum())
        expected = np.append(expected[:-2], expected[-2:].sum())
    assert len(expected) > 1, "too few draws for a test"
    return counts, expected
