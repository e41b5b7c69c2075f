"""Exact laws of what is picked, from their definitions; the audit of noise with a secret scale; small neighbours."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.polynomial import polynomial
from numpy.typing import NDArray

Law = NDArray[np.float64]

GRID = np.array([1, 2, 3, 4])
HORIZON, ERROR = 90, 2.5


def picked(losses: NDArray[np.int64], rate: float) -> Law:
    """P(r) = p_r E[1/(1+N)], N the heads of the others; E[1/(1+N)] integrates the product of (1 - p + p u)."""
    heads = np.exp(-rate * (losses - losses.min()).astype(np.float64))
    chances = []
    for index, own in enumerate(heads):
        product = np.ones(1)
        for other in np.delete(heads, index):
            product = polynomial.polymul(product, np.array([1 - other, other]))
        chances.append(own * polynomial.polyval(1.0, polynomial.polyint(product)))
    return np.array(chances)


def quantile_law(values: tuple[int, ...], share: float, epsilon: float) -> Law:
    """Of `quantile` on GRID: a candidate loses by how many values are in the way of its being the wanted quantile."""
    wanted = round(share * len(values))
    beyond = [sum(value > each for value in values) for each in GRID]
    before = [len(values), *beyond[:-1]]
    losses = [max(b - wanted, wanted - a, 0) for a, b in zip(before, beyond, strict=True)]
    return picked(np.array(losses), epsilon / 2)


def threshold_law(values: tuple[int, ...], epsilon: float) -> Law:
    """Of `PenalisedThreshold` on GRID, for HORIZON and ERROR."""
    beyond = np.array([sum(value > each for value in values) for each in GRID])
    even = 1024 * ERROR * len(values) / HORIZON
    excess = np.maximum(1024 * beyond - math.floor(2.5 * even), 0)
    return picked(excess + np.floor(3 * even * np.log(GRID)).astype(np.int64), epsilon / 1024)


def exponential_mechanism(losses: NDArray[np.int64], rate: float) -> Law:
    weights = np.exp(-rate * (losses - losses.min()).astype(np.float64))
    return np.asarray(weights / weights.sum())


def largest_loss(first: Law, second: Law) -> float:
    """The largest |ln P/Q| over outcomes."""
    return float(np.abs(np.log(first) - np.log(second)).max())


def replaced(size: int, high: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every pair of sorted data sets of this size that differ in one value from 0 to `high`."""
    for rest in itertools.combinations_with_replacement(range(high + 1), size - 1):
        for one, other in itertools.combinations(range(high + 1), 2):
            yield tuple(sorted((*rest, one))), tuple(sorted((*rest, other)))


def laplace_below(x: float, centre: float, scale: float) -> float:
    shifted = (x - centre) / scale
    return math.exp(shifted) / 2 if shifted < 0 else 1 - math.exp(-shifted) / 2


def hockey_stick(first: tuple[float, float], second: tuple[float, float], epsilon: float) -> float:
    """The integral of max(0, p - exp(epsilon) q) for two Laplace laws, each a centre and a scale.

    ln p - ln q is linear between the centres and beyond, so that p exceeds exp(epsilon) q on a few intervals whose ends
    are known.
    """

    def excess(x: float) -> float:
        (a, s), (b, t) = first, second
        return -math.log(s) - abs(x - a) / s + math.log(t) + abs(x - b) / t - epsilon

    kinks = sorted((first[0], second[0]))
    far = 2000 * max(first[1], second[1])
    corners = [kinks[0] - far, *kinks, kinks[1] + far]
    ends = {corners[0], corners[-1]}
    for left, right in itertools.pairwise(corners):
        at_left, at_right = excess(left), excess(right)
        if at_left * at_right < 0:
            ends.add(left + (right - left) * at_left / (at_left - at_right))
    total = 0.0
    for left, right in itertools.pairwise(sorted(ends)):
        if excess((left + right) / 2) > 0:
            mass = [_between(left, right, *law) for law in (first, second)]
            total += mass[0] - math.exp(epsilon) * mass[1]
    return total


def _between(left: float, right: float, centre: float, scale: float) -> float:
    """P(left < X < right), from the tail on the interval's own side, where it is exact."""
    if left >= centre:
        return (math.exp(-(left - centre) / scale) - math.exp(-(right - centre) / scale)) / 2
    if right <= centre:
        return (math.exp((right - centre) / scale) - math.exp((left - centre) / scale)) / 2
    return laplace_below(right, centre, scale) - laplace_below(left, centre, scale)
