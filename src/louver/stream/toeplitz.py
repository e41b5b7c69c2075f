"""The square root of counting: Gaussian noise that is spread over later ticks as well as can be.

Releases the sum of all ticks so far. Let A be the matrix of prefix sums, lower triangular with all ones. Its square
root is Toeplitz too, with the coefficients f_0 = 1, f_k = f_(k-1) (2k-1)/(2k), and A x = L (R x) with L = R that root.
Noise goes on y = R x, and L y is released: the error at each tick is within a small constant of the least that any
factorisation has (Fichtenberger, Henzinger and Upadhyay 2022; Henzinger, Upadhyay and Upadhyay 2023).

Exact on integers. R x is not on a grid, so R is put on one: F_k = f_k 2^14, rounded to a whole number, is the matrix
that is used, and L is A times its inverse, so that nothing is biased. F x is a whole vector, by exact convolution.
Where units are so large that the noise would leave the sampler's range, 2^c steps are rounded to one by floor(v + 1/2).

Price: rho, zCDP. One unit moves a tick by at most s, so (F x)_t by at most s F_k, k ticks later, and its rounded value
by at most ceil(s F_k / 2^c). `discrete_gaussian` of variance sum_k ceil(s F_k / 2^c)^2 / (2 rho) on each makes y + z
rho-zCDP; the sum is one of integers and exact. Several changes: see `together`.

Why this is private. `_noised` adds that noise to the whole vector, row by row; y_t depends on the ticks up to t
only, so streams may react to what was released. All floats come after that, from noisy values and from nothing else.

It keeps every tick of an epoch, private and noisy, and an update looks at all of them: for long streams use `Buffered`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError
from louver.noise import discrete_gaussian
from louver.noise.gaussian import SMALLEST_VARIANCE
from louver.privacy import ZeroConcentrated
from louver.privacy.guarantee import Guarantee
from louver.stream.continual import ContinualSum, gaussian_variance
from louver.stream.convolution import Series, inverse
from louver.stream.mechanism import GaussianNoise, Rows, packed, unpacked
from louver.stream.together import squared_length

SCALE_BITS = 14  # enough for a million ticks: the error is within 1e-4 of the unrounded one's
LARGEST_BOUND = 2**34  # so that sums of 2^23 ticks times coefficients fit 64 bits
VARIANCE_LIMIT = 2**46
LARGEST_MOVE_BITS = 28
_FEW_ROWS = 32


class Toeplitz(ContinualSum):
    """Sums of a stream with the noise of the square-root factorisation; memory grows with the ticks.

    >>> stream = Toeplitz(horizon=1000, rho=100_000)
    >>> [round(stream.update(value)) for value in (3, 0, 4)]
    [3, 3, 7]
    >>> stream = Toeplitz(horizon=100_000, rho=0.5)
    >>> print(f"{stream.rms_error():.2f}, at most {stream.largest_error():.2f}")
    4.57, at most 4.73
    """

    kind: ClassVar[str] = "toeplitz"
    dtype: ClassVar[type[np.float64]] = np.float64
    growth: ClassVar[int] = 2
    longest: ClassVar[int] = 2**23

    def __init__(self, horizon: int | None = None, **shared: Any) -> None:
        super().__init__(horizon, **shared)
        if max(abs(self.low), abs(self.high)) > LARGEST_BOUND:
            raise ParameterError("Values of this stream must be within 2**34 of 0; use a coarser grid.")

    def _factor(self, length: int) -> Factor:
        return factor(length, self.sensitivity, rho_of(self._price))

    def _share(self, changes: int) -> Fraction:
        return share(self._asked(None), self.sensitivity, rho_of(self._price), changes)

    def _gaussian_noise(self, changes: int) -> GaussianNoise | None:
        """One change moves all rows of its region from its own on, and others may be in other regions."""
        if self.horizon is None:
            return None
        return GaussianNoise(self._factor(self.horizon).variance, self.horizon * changes)

    def _spread(self, length: int) -> Factor:
        return self._factor(length)

    def _begin(self, length: int) -> None:
        self._used = self._factor(length)
        self._private = Grown(np.zeros((0, self._width), dtype=np.int64))
        self._noisy = Grown(np.zeros((0, self._width), dtype=np.int64))

    def _estimates(self, rows: Rows) -> NDArray[np.float64]:
        self._noisy.append(self._noised(rows))
        if len(rows) <= _FEW_ROWS:
            return _last_terms(self._used.undone_back, self._noisy.rows, len(rows))
        return self._used.undone.times(self._noisy.rows)[-len(rows) :]

    def _noised(self, rows: Rows) -> NDArray[np.int64]:
        """The next rows of F x, rounded and with noise; all else is computed from what this returns."""
        used = self._used
        self._private.append(rows)
        if len(rows) <= _FEW_ROWS:
            exact = _last_terms(used.whole_back, self._private.rows, len(rows))
        else:
            reach = max(abs(self.low), abs(self.high))
            exact = used.whole.times_exactly(self._private.rows, reach)[-len(rows) :]
        rounded = (exact + ((1 << used.shift) >> 1)) >> used.shift
        return rounded + discrete_gaussian(used.variance, rounded.size, bits=self._bits).reshape(rows.shape)

    def _epoch_state(self) -> dict[str, Any]:
        return {"private": packed(self._private.rows), "noisy": packed(self._noisy.rows)}

    def _restore_epoch(self, state: Mapping[str, Any]) -> None:
        shape = (self._passed, self._width)
        self._private = Grown(unpacked(state["private"], shape, np.int64))
        self._noisy = Grown(unpacked(state["noisy"], shape, np.int64))


class Grown:
    """Rows that are added to, without a copy of all at each tick."""

    def __init__(self, rows: NDArray[np.int64]) -> None:
        self._room, self._count = rows, len(rows)

    @property
    def rows(self) -> NDArray[np.int64]:
        return self._room[: self._count]

    def append(self, more: NDArray[np.int64]) -> None:
        count = self._count + len(more)
        if count > len(self._room):
            wider = np.empty((max(count, 2 * self._count), more.shape[1]), dtype=np.int64)
            wider[: self._count] = self.rows
            self._room = wider
        self._room[self._count : count] = more
        self._count = count


@dataclass(frozen=True)
class Factor:
    """R as whole numbers, L as floats, and the noise between them."""

    whole: Series
    undone: Series
    shift: int
    variance: Fraction

    @cached_property
    def whole_back(self) -> NDArray[np.int64]:
        return np.ascontiguousarray(self.whole.terms[::-1])

    @cached_property
    def undone_back(self) -> NDArray[np.float64]:
        return np.ascontiguousarray(self.undone.terms[::-1])

    @cached_property
    def _variances(self) -> NDArray[np.float64]:
        return gaussian_variance(float(self.variance)) * np.cumsum(self.undone.terms**2)

    def at(self, tick: int) -> float:
        return float(self._variances[tick - 1])

    def total(self, ticks: int) -> float:
        return float(self._variances[:ticks].sum())

    def largest(self, ticks: int) -> float:
        return self.at(ticks)


@lru_cache(maxsize=4)
def factor(length: int, sensitivity: int, rho: Fraction) -> Factor:
    after = np.arange(1, length)
    root = np.cumprod(np.concatenate(([1.0], (2 * after - 1) / (2 * after))))
    whole = np.rint(root * 2**SCALE_BITS).astype(np.int64)
    shift = max((sensitivity << SCALE_BITS).bit_length() - LARGEST_MOVE_BITS, 0)
    while (variance := easy(_squares(whole, sensitivity, shift) / (2 * rho))) > VARIANCE_LIMIT:
        if (sensitivity << SCALE_BITS) >> shift == 0:  # one change moves each row by one already
            raise ParameterError("This price is too small for so long a stream; pay more.")
        shift += 1
    undone = np.cumsum(inverse(whole.astype(np.float64))) * 2.0**shift
    return Factor(Series(whole), Series(undone), shift, variance)


@lru_cache(maxsize=64)
def share(length: int, sensitivity: int, rho: Fraction, changes: int) -> Fraction:
    """See `ContinualSum._share`. Rounding moves what several changes move by no more than all of theirs alone."""
    used = factor(length, sensitivity, rho)
    moved = _moved(used.whole.terms, sensitivity, used.shift)
    together = squared_length(changes, lambda lag: _product(moved, lag))
    return Fraction(together, changes * _product(moved, 0))


def _squares(whole: NDArray[np.int64], sensitivity: int, shift: int) -> int:
    """The sum of ceil(s F_k / 2^c)^2."""
    return _product(_moved(whole, sensitivity, shift), 0)


def _moved(whole: NDArray[np.int64], sensitivity: int, shift: int) -> NDArray[np.int64]:
    """By how much one change moves each row from its own on, at most: ceil(s F_k / 2^c), which never rises."""
    return np.asarray(-((-sensitivity * whole) >> shift))


def _product(moved: NDArray[np.int64], lag: int) -> int:
    """Of what two changes move, so many ticks apart, exactly: with F falling like 1 / sqrt(k) it fits 64 bits."""
    return int((moved[: len(moved) - lag] * moved[lag:]).sum())


def easy(variance: Fraction) -> Fraction:
    """At least this variance, as a fraction that is quick to draw by."""
    places = 0 if variance > 2**20 else 20
    return max(Fraction(math.ceil(variance * 2**places), 2**places), SMALLEST_VARIANCE)


def rho_of(price: Guarantee) -> Fraction:
    if not isinstance(price, ZeroConcentrated):
        raise ParameterError("Gaussian noise has no pure price; say rho, or use Tree or KAry with this epsilon.")
    return price.rho


def _last_terms(backwards: NDArray[Any], columns: NDArray[np.int64], count: int) -> NDArray[Any]:
    """The last terms of the product with a series whose terms are given backwards, one by one."""
    found = np.empty((count, columns.shape[1]), dtype=backwards.dtype)
    for row, end in enumerate(range(len(columns) - count + 1, len(columns) + 1)):
        np.einsum("t,tr->r", backwards[len(backwards) - end :], columns[:end], out=found[row])
    return found
