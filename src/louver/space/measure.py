"""The only place where a map's noise is drawn: a noisy count and a noisy sum for each of some rectangles.

Releases n + DL(p_n) and s + DL(p_s / D) for each rectangle: n its readings, s the sum of their values, above a public
`centre`, in whole steps, D the most steps that one reading adds or takes. Neighbours differ in one reading. Price: p_n
+ p_s, pure, once, whatever the number of rectangles, as long as no two of them share an atom. Where p_s is 0, every
reading has the value 1, and what is released as the sum is the noisy count once more.

Why this is private. One reading lies in one atom, so it moves one count by 1 and one sum by at most D;
`discrete_laplace` of these rates changes the probability of any outcome by a factor of at most exp(p_n) exp(p_s).
Rectangles that depend on what was released before are as good as fixed ones: given the earlier outcomes, the next ones
keep their law. So the price of a map is the largest sum of the prices of the rectangles around one atom.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from louver.noise import Bits, discrete_laplace
from louver.noise.laplace import noise_rate
from louver.space.field import Field, Floats, Integers

_NO_NOISE = 64.0  # from this rate on, noise is 0 but once in 10^27 draws


class Price(NamedTuple):
    """What a reading pays at one level of a map: for its count, and for its sum."""

    counts: Fraction
    sums: Fraction

    @classmethod
    def of(cls, epsilon: Fraction, count_share: Fraction) -> Price:
        return cls(count_share * epsilon, (1 - count_share) * epsilon)


class Measured(NamedTuple):
    """Noisy counts, noisy sums, and how much they scatter."""

    counts: Floats
    sums: Floats
    count_variances: Floats
    sum_variances: Floats

    def joined(self, again: Measured) -> Measured:
        """Two looks at the same rectangles as one, each weighted by the inverse of its variance."""
        counts, count_variances = _joined(self.counts, self.count_variances, again.counts, again.count_variances)
        sums, sum_variances = _joined(self.sums, self.sum_variances, again.sums, again.sum_variances)
        return Measured(counts, sums, count_variances, sum_variances)


def measure(field: Field, rectangles: Integers, price: Price, centre: int, bits: Bits) -> Measured:
    """One look at rectangles of which no two share an atom."""
    count_rate, sum_rate = rates(field, price, centre)
    counts, sums = field.totals(rectangles)
    size = len(rectangles)
    if not price.sums:
        noisy = (counts + discrete_laplace(count_rate, size, bits=bits)).astype(np.float64)
        return Measured(noisy, noisy.copy(), *(np.full(size, variance(count_rate)) for _ in range(2)))
    return Measured(
        (counts + discrete_laplace(count_rate, size, bits=bits)).astype(np.float64),
        (sums - centre * counts + discrete_laplace(sum_rate, size, bits=bits)).astype(np.float64),
        np.full(size, variance(count_rate)),
        np.full(size, variance(sum_rate)),
    )


def rates(field: Field, price: Price, centre: int) -> tuple[Fraction, Fraction]:
    """The rates of the noise on counts and on sums; refused where no sampler takes them."""
    of_counts = noise_rate("The price of the counts", price.counts)
    if not price.sums:
        return of_counts, of_counts
    reach = max(centre, field.span - centre)
    return of_counts, noise_rate("The price of the sums, for one step,", price.sums / reach)


def variance(rate: Fraction) -> float:
    """Of discrete Laplace noise: 2a / (1-a)^2 with a = exp(-rate)."""
    return 1 / (2 * math.sinh(min(float(rate), _NO_NOISE) / 2) ** 2)


def _joined(first: Floats, first_variance: Floats, second: Floats, second_variance: Floats) -> tuple[Floats, Floats]:
    both = first_variance + second_variance
    return (first * second_variance + second * first_variance) / both, first_variance * second_variance / both
