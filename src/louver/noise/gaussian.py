"""Discrete Gaussian noise, exact: P(X = x) proportional to exp(-x^2 / (2 variance)) on the integers.

A small variance is drawn by its own table. A large one by rejection from discrete Laplace noise of rate M/variance, M
the whole number nearest the standard deviation: x stands with probability exp(-(|x|-M)^2 / (2 variance)), which is the
chance that a geometric variable of rate 1/(2 variance) reaches (|x|-M)^2. After Canonne, Kamath and Steinke (2020),
with the proposal's rate chosen so that the exponent is a whole number of one small rate, and whole arrays at once.

Added to an integer of sensitivity d it is (d^2 / (2 variance))-zCDP.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.noise.bits import SYSTEM, Bits
from louver.noise.enclosure import Enclosure, exp
from louver.noise.laplace import discrete_laplace, geometric_reaches, one_geometric_reaches, one_laplace
from louver.noise.tables import CHUNK, FEW, TABLES, CumulativeLaw, Inversion

SMALLEST_VARIANCE = Fraction(1, 2**10)
LARGEST_VARIANCE = Fraction(2**47)
_LARGEST_TABLE_VARIANCE = 2**14
_SQUARE_FITS = 3_000_000_000  # its square is below 2^63, and reaching it has probability under exp(-2^14)


def discrete_gaussian(variance: parameters.Number, count: int, *, bits: Bits = SYSTEM) -> NDArray[np.int64]:
    """`count` independent draws; `variance` is the parameter sigma^2, slightly above the variance of the draws.

    >>> discrete_gaussian(4, 3).dtype
    dtype('int64')
    """
    if type(count) is int and 0 < count <= FEW and type(variance) is Fraction:
        return np.array([one_gaussian(variance, bits) for _ in range(count)], dtype=np.int64)
    exact = _variance(variance)
    count = parameters.count("The number of draws", count)
    if exact <= _LARGEST_TABLE_VARIANCE:
        index = TABLES.get(("gaussian", exact), _zigzag_law(exact)).draw(count, bits)
        return (index >> 1) ^ -(index & 1)
    return _by_rejection(exact, count, bits)


def one_gaussian(variance: Fraction, bits: Bits) -> int:
    """One draw of the same law, as a plain number."""
    table, proposal, falloff, centre = _one_by_one(variance.numerator, variance.denominator)
    if table is not None:
        index = table.one(bits)
        return (index >> 1) ^ -(index & 1)
    while True:
        proposed = one_laplace(proposal, bits)
        distance = min(abs(abs(proposed) - centre), _SQUARE_FITS)
        if one_geometric_reaches(falloff, distance * distance, bits):
            return proposed


def _variance(given: object) -> Fraction:
    return parameters.within("The variance", given, SMALLEST_VARIANCE, LARGEST_VARIANCE)


@lru_cache(maxsize=64)
def _one_by_one(numerator: int, denominator: int) -> tuple[Inversion | None, Fraction, Fraction, int]:
    """The table of a variance; or the rate of what is proposed, of what decides, and where the proposal fits best."""
    variance = _variance(Fraction(numerator, denominator))
    table = TABLES.get(("gaussian", variance), _zigzag_law(variance)) if variance <= _LARGEST_TABLE_VARIANCE else None
    centre = round(math.sqrt(variance))
    return table, centre / variance, 1 / (2 * variance), centre


def reaches_square(distance: NDArray[np.int64], variance: Fraction, bits: Bits) -> NDArray[np.bool_]:
    """True with probability exp(-distance^2 / (2 variance)), for each distance."""
    squares = np.minimum(np.abs(distance), _SQUARE_FITS) ** 2
    return geometric_reaches(1 / (2 * variance), squares, bits)


def _by_rejection(variance: Fraction, count: int, bits: Bits) -> NDArray[np.int64]:
    centre = round(math.sqrt(variance))
    rate = centre / variance
    drawn = np.empty(count, dtype=np.int64)
    filled = 0
    while filled < count:
        proposed = discrete_laplace(rate, min((count - filled) * 4 // 3 + 8, CHUNK), bits=bits)
        standing = proposed[reaches_square(np.abs(proposed) - centre, variance, bits)][: count - filled]
        drawn[filled : filled + len(standing)] = standing
        filled += len(standing)
    return drawn


def _zigzag_law(variance: Fraction) -> CumulativeLaw:
    """Cumulative probabilities in the order 0, -1, 1, -2, 2, ..., which `(i >> 1) ^ -(i & 1)` decodes."""

    def law(working: int) -> Iterator[Enclosure]:
        one_side = _one_side(variance, working)
        total = one_side[0] + 2 * _sum_with_tail(one_side[1:], variance)
        reached = Enclosure.of(0, working)
        negatives, non_negatives = one_side[1:], one_side[:-1]
        for non_negative, negative in zip(non_negatives, negatives, strict=True):
            reached = reached + non_negative
            yield reached / total
            reached = reached + negative
            yield reached / total

    return law


def _one_side(variance: Fraction, working: int) -> list[Enclosure]:
    """exp(-x^2 / (2 variance)) for x = 0, 1, ... down to the working precision, by products alone."""
    weights = [Enclosure.of(1, working)]
    factor, shrink = exp(-1 / (2 * variance), working), exp(-1 / variance, working)
    while weights[-1].low > 0:
        weights.append(weights[-1] * factor)
        factor = factor * shrink
    return weights


def _sum_with_tail(weights: list[Enclosure], variance: Fraction) -> Enclosure:
    """The sum of all weights of one side: what is left out falls at least geometrically from the last one."""
    low, high, bits = sum(w.low for w in weights), sum(w.high for w in weights), weights[0].bits
    ratio = exp(-len(weights) / variance, bits)
    tail = weights[-1] * ratio / (1 - ratio)
    return Enclosure(low, high + tail.high, bits)
