"""Products of power series: exact ones of whole numbers, and inverses in floating point.

Series are cut into parts, transforms of N points multiply parts, and parts are added up: that keeps transforms in the
processor's cache. The error of a product of P parts is at most 2 (32 log2(N) + P) u |a| |b|, where u = 2^-53 and |.| is
the root of the sum of squares. Higham (2002, theorem 24.2) bounds one transform by about 7 log2(N) u times the norm of
what goes in; a product takes three, P additions are P u, each output has two such sums, and the rest is reserve. Where
a product is whole and the error below 1/2, rounding gives it exactly. So the numbers of the second series, which are
bounded, are cut into limbs that are short enough.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNIT_ROUNDOFF = 2.0**-53
LONGEST_PART = 2**17
_LARGEST_ERROR = 0.25


class Series:
    """A power series that is multiplied with many others, as columns.

    >>> Series(np.array([1.0, 1.0, 1.0])).times(np.array([[3.0], [2.0], [1.0]])).round().ravel().tolist()
    [3.0, 5.0, 6.0]
    """

    def __init__(self, terms: NDArray[Any]) -> None:
        self.terms = terms

    def times(self, columns: NDArray[Any]) -> NDArray[np.float64]:
        """The first terms of the products, as many as there are rows."""
        rows, width = columns.shape
        part = _part(rows)
        count = -(-rows // part)
        padded = np.zeros((count * part, width))
        padded[:rows] = columns
        # One contiguous run of terms for each part of each column.
        moving = np.fft.rfft(np.ascontiguousarray(padded.reshape(count, part, width).transpose(0, 2, 1)), 2 * part)
        fixed = self._whole if part == LONGEST_PART else _transformed(self.terms[:rows], part)
        found = np.zeros((count + 1, width, part))
        added, term = np.empty_like(moving[0]), np.empty_like(moving[0])
        for last in range(count):
            added[:] = 0
            for first in range(min(last + 1, len(fixed))):
                added += np.multiply(fixed[first], moving[last - first], out=term)
            both = np.fft.irfft(added, 2 * part)
            found[last] += both[:, :part]
            found[last + 1] += both[:, part:]
        return found.transpose(0, 2, 1).reshape(-1, width)[:rows]

    def times_exactly(self, columns: NDArray[np.int64], largest: int) -> NDArray[np.int64]:
        """The same for a series and columns of whole numbers of at most that size; exact modulo 2^64.

        >>> Series(np.array([3, 2, 1])).times_exactly(np.array([[1], [10], [-10]]), 10).ravel().tolist()
        [3, 32, -9]
        """
        bits = self.limb_bits(len(columns))
        limbs = max(1, math.ceil((largest.bit_length() + 1) / bits))
        found = np.zeros(columns.shape, dtype=np.int64)
        for limb in range(limbs):
            # The lower limbs are from 0 to 2^bits - 1; the last one has the sign.
            rest = columns >> (limb * bits)
            part = rest if limb == limbs - 1 else rest & ((1 << bits) - 1)
            found += np.rint(self.times(part)).astype(np.int64) << (limb * bits)
        return found

    def limb_bits(self, rows: int) -> int:
        """How long the numbers of a column may be for the error to stay below 1/4."""
        part = _part(rows)
        steps = 2 * (32 * math.log2(2 * part) + rows / part + 1)
        room = _LARGEST_ERROR / (steps * UNIT_ROUNDOFF * self._norm * math.sqrt(rows))
        if room < 2:
            raise OverflowError("the series is too long for exact products")
        return min(math.floor(math.log2(room)), 30)

    @cached_property
    def _norm(self) -> float:
        return float(np.linalg.norm(self.terms.astype(np.float64)))

    @cached_property
    def _whole(self) -> NDArray[np.complex128]:
        return _transformed(self.terms, LONGEST_PART)


def _transformed(terms: NDArray[Any], part: int) -> NDArray[np.complex128]:
    padded = np.zeros(-(-len(terms) // part) * part)
    padded[: len(terms)] = terms
    return np.fft.rfft(padded.reshape(-1, part), 2 * part)


def inverse(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """The series whose product with this one is 1, by Newton's steps: g becomes g (2 - s g), twice as long."""
    found = 1 / series[:1]
    while len(found) < len(series):
        length = min(2 * len(found), len(series))
        longer = np.zeros((length, 1))
        longer[: len(found), 0] = found
        error = Series(series[:length]).times(longer)
        error[0] -= 1
        found = longer[:, 0] - Series(longer[:, 0]).times(error)[:, 0]
    return found


def _part(terms: int) -> int:
    return min(LONGEST_PART, 1 << max(terms - 1, 1).bit_length())
