"""Dice for invented data: the same numbers from the same seed, on every machine and with every version of NumPy.

This is simulation and not privacy noise, so a seed is right, and `louver.noise` is not used. Only the raw words of a
Philox generator are taken, which NumPy keeps as they are, and everything made from them is whole numbers from tables,
so no rounding of a machine or a library can show.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
Truths = NDArray[np.bool_]
UNIT = 1 << 16  # the mean of a table's exponential, and the standard deviation of its normal


class Dice:
    """A stream of random numbers; each seed and stream number has its own."""

    def __init__(self, seed: int, stream: int) -> None:
        self._words = np.random.Philox(key=seed | stream << 64)

    def below(self, high: int | Whole, size: int) -> Whole:
        """Whole numbers from 0 to high - 1; 0 where high is 0."""
        words = (self._words.random_raw(size) >> np.uint64(33)).astype(np.int64)
        return (words * high) >> 31

    def between(self, low: int | Whole, high: int | Whole, size: int) -> Whole:
        """Whole numbers from low to high, both included."""
        return low + self.below(high - low + 1, size)

    def chance(self, share: float | NDArray[np.floating], size: int) -> Truths:
        """True in this share of cases."""
        return self.below(1 << 31, size) < np.asarray(np.asarray(share) * float(1 << 31)).astype(np.int64)

    def normal(self, mean: int | Whole, deviation: int | Whole, size: int) -> Whole:
        return mean + ((_normal()[self.below(UNIT, size)] * deviation) >> 16)

    def waits(self, size: int) -> Whole:
        """Waiting times between two events, UNIT in the mean: three exponential steps, so neither regular nor wild."""
        steps = _exponential()[self.below(UNIT, 3 * size)].reshape(3, size)
        return np.asarray(steps.sum(axis=0) // 3, dtype=np.int64)

    def order(self, count: int) -> Whole:
        """The numbers from 0 to count - 1, shuffled."""
        return np.argsort(self._words.random_raw(count), kind="stable").astype(np.int64)


@cache
def _normal() -> Whole:
    law = NormalDist()
    return np.array([round(law.inv_cdf((n + 0.5) / UNIT) * UNIT) for n in range(UNIT)], dtype=np.int64)


@cache
def _exponential() -> Whole:
    return np.array([round(-math.log((n + 0.5) / UNIT) * UNIT) for n in range(UNIT)], dtype=np.int64)
