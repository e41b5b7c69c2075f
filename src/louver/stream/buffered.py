"""The square-root factorisation for endless streams, by buffers: Gaussian noise, and a fixed amount of memory.

Releases the sum of all ticks so far. As in `toeplitz`, A x = L (R x), noise goes on R x, and L is applied to what is
noisy. R is the matrix of `buffers`, which needs one decaying number for each of a dozen buffers, and L = A / R needs as
many again.

Exact on integers, by a bound. (R x)_t is computed in floating point, in units of 2^-b steps, and rounded to a whole
number; it is off by less than `error`, whatever the data. Neighbours then differ in row t by at most s 2^b F_k + 2
error + 1, k ticks after the change, and over the n ticks of an epoch, by the triangle inequality, by at most D = s 2^b
|F| + sqrt(n) (2 error + 1) in Euclidean length. `discrete_gaussian` of variance D^2 / (2 rho) on each row is rho-zCDP.
b is the largest for which the sampler has that variance, so that the second term is small: 0.02% of the first for a
million ticks of up to 10,000 at rho 1/2, and 0.2% for ticks of up to a million. It grows with the ticks and with their
size over s: 3% for 2^24 ticks of up to a million, 53% for 2^28. The variance has it, and so has every error that is
foretold.

The error. Ticks come in blocks of 128. Within a block (R x)_t is a product of at most 128 terms, off by at most 130 u
times the sum of their sizes, u = 2^-53, in any order of summation. What lies before the block comes from the buffers,
which are kept as integers of far more digits than a float has: a whole-number combination of whole ticks, which is
exact, and one rounding per block. Reading them is a product of as many terms as there are buffers. Coefficients are
rounded once and for all, which is a small linear change of R. D has room for it, and L undoes R as it was rounded: it
would be off in proportion to the sum otherwise.

Why this is private. `_noised`, and `_estimate` for one tick, add the noise to the rounded rows; all that follows is
computed from noisy rows and from nothing else. Row t depends on the ticks up to t only, so streams may react to what
was released.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError
from louver.noise import discrete_gaussian
from louver.stream.buffers import Buffers, Floats, buffers_for
from louver.stream.continual import ContinualSum, gaussian_variance
from louver.stream.convolution import inverse
from louver.stream.mechanism import GaussianNoise, Rows, packed, unpacked
from louver.stream.toeplitz import LARGEST_BOUND, VARIANCE_LIMIT, easy, rho_of

BLOCK = 128
DECAY_BITS = 62
_LOW_BITS = 10  # of weights, which leave out their high bits: products of either with a block are below 2^53, so exact
_ONE_THREAD = 2**18  # multiplications: a product of more is shared out among threads, which wait for each other
_UNIT_ROUNDOFF = 2.0**-53
_LINEAR_CHANGE = 1e-5  # of coefficients that are rounded once and for all: after 2^32 ticks, and ten times over
_LARGEST_ROW = 2.0**60


class Buffered(ContinualSum):
    """Sums of a stream with a memory that does not grow, and nearly the noise of `Toeplitz` for some million ticks.

    >>> stream = Buffered(rho=100_000)
    >>> [round(stream.update(value)) for value in (3, 0, 4)]
    [3, 3, 7]
    >>> print(f"{Buffered(horizon=100_000, rho=0.5).rms_error():.2f}")
    4.57
    """

    kind: ClassVar[str] = "buffered"
    dtype: ClassVar[type[np.float64]] = np.float64
    first_length: ClassVar[int] = 2**24  # 3% more noise than without rounding, at the default `high`
    longest: ClassVar[int] = 2**32

    def _factor(self, length: int) -> Factor:
        rho = rho_of(self._price)
        reach = max(abs(self.low), abs(self.high))
        if reach > LARGEST_BOUND:
            raise ParameterError("Values of this stream must be within 2**34 of 0; use a coarser grid.")
        return factor(length, self.sensitivity, rho, reach)

    def _length_after(self, length: int) -> int:
        """As long as the sampler has noise for at this price; never shorter than the last, which it had some for."""
        longer = super()._length_after(length)
        while longer > length and not self._has_noise(longer):
            longer = max(longer // 2, length)
        return longer

    def _has_noise(self, length: int) -> bool:
        try:
            self._factor(length)
        except ParameterError:
            return False
        return True

    def _share(self, changes: int) -> Fraction:
        return self._factor(self._asked(None)).share(changes)

    def _gaussian_noise(self, changes: int) -> GaussianNoise | None:
        """One change moves all rows of its region from its own on, and others may be in other regions."""
        if self.horizon is None:
            return None
        return GaussianNoise(self._factor(self.horizon).variance, self.horizon * changes)

    def _spread(self, length: int) -> Factor:
        return self._factor(length)

    def _begin(self, length: int) -> None:
        self._used = self._factor(length)
        self._matrices = matrices(length, self._used.weight_bits)
        count = len(self._used.buffers.sizes)
        # Of the block that is open: its ticks, its noisy rows, and both sides' buffers when it began.
        self._private = np.zeros((0, self._width), dtype=np.int64)
        self._noisy = np.zeros((0, self._width), dtype=np.int64)
        self._buffers = np.zeros((self._width, count), dtype=object)
        self._undone = np.zeros((self._width, count))
        self._total = np.zeros(self._width)
        self._ready: Floats | None = None  # the buffers as `_estimate` reads them, until they change

    def _estimates(self, rows: Rows) -> NDArray[np.float64]:
        return self._undo(self._noised(rows))

    def _estimate(self, row: Rows) -> NDArray[np.float64]:
        """Within a block, one row of each product; `_estimates` begins the next block."""
        place = len(self._private)
        if place == BLOCK - 1:
            return self._estimates(row)[0]  # type: ignore[no-any-return]
        made, used = self._matrices, self._used
        if self._ready is None:
            self._ready = np.ldexp(self._buffers.astype(np.float64), -used.weight_bits)
        self._private = np.concatenate((self._private, row))
        exact = made.within[place, : place + 1].dot(self._private.astype(np.float64)) + self._ready.dot(
            made.reads[place]
        )
        new = np.rint(np.ldexp(exact, used.scale_bits)).astype(np.int64)
        new += discrete_gaussian(used.variance, new.size, bits=self._bits)
        self._noisy = np.concatenate((self._noisy, new[None, :]))
        noisy = made.undone_sums[place, : place + 1].dot(self._noisy.astype(np.float64))
        sums = np.ldexp(noisy, -used.scale_bits) - self._undone.dot(made.undone_reads[place])
        return np.asarray(self._total + sums)

    def _noised(self, rows: Rows) -> NDArray[np.int64]:
        """The next rows of R x, rounded and with noise; all else is computed from what this returns."""
        self._ready = None
        private = np.concatenate((self._private, rows))
        blocks, made, wanted = _blocks(private), self._matrices, _wanted(len(self._private), len(private))
        self._private = private[len(private) // BLOCK * BLOCK :]
        values = blocks.astype(np.float64)
        before = self._decayed(values[:-1])
        exact = _times(values, made.within[wanted].T)
        exact += _times(np.ldexp(before, -self._used.weight_bits), made.reads[wanted].T)
        new: NDArray[np.int64] = np.rint(
            np.ldexp(_last_rows(exact, wanted, len(rows), len(private)), self._used.scale_bits)
        ).astype(np.int64)
        new += discrete_gaussian(self._used.variance, new.size, bits=self._bits).reshape(new.shape)
        return new

    def _decayed(self, blocks: Floats) -> Floats:
        """The buffers before each of these blocks and after them, as floats; exactly those after them stay.

        Python's integers in lists: arrays of objects, a dozen at a time, take three times as long.
        """
        made, (count, width) = self._matrices, blocks.shape[:2]
        added = _times(blocks, made.high_weights).astype(np.int64) << _LOW_BITS
        added += _times(blocks, made.low_weights).astype(np.int64)
        before = np.empty((count + 1, width, len(made.decays)))
        before[0] = self._buffers
        if count:
            kept, decays = self._buffers.ravel().tolist(), made.decays * width
            rows = before.reshape(count + 1, -1)
            for number, new in enumerate(added.reshape(count, -1).tolist(), start=1):
                kept = [
                    (each * decay >> DECAY_BITS) + more for each, decay, more in zip(kept, decays, new, strict=True)
                ]
                rows[number] = kept
            self._buffers = np.array(kept, dtype=object).reshape(width, -1)
        return before

    def _undo(self, new: NDArray[np.int64]) -> Floats:
        """Prefix sums of R^-1 y: what R would make y of is solved for, block by block."""
        noisy = np.concatenate((self._noisy, new))
        blocks = _blocks(np.ldexp(noisy.astype(np.float64), -self._used.scale_bits))
        made, wanted = self._matrices, _wanted(len(self._noisy), len(noisy))
        self._noisy = noisy[len(noisy) // BLOCK * BLOCK :]
        before = np.concatenate((self._undone[None], _times(blocks[:-1], made.undone_weights.T)))
        decay, reach = made.undone_decay.T, 1
        while reach < len(before):  # what 1, 2, 4, ... blocks before have left
            before[reach:] += _times(before[:-reach], decay)
            decay, reach = decay @ decay, 2 * reach
        self._undone = before[-1].copy()
        ends = _times(blocks[:-1], made.undone_sums[-1:].T) - _times(before[:-1], made.undone_reads[-1:].T)
        starts = self._total + np.concatenate((np.zeros((1, self._width)), ends[:, :, 0])).cumsum(axis=0)
        self._total = starts[-1]
        sums = _times(blocks, made.undone_sums[wanted].T) - _times(before, made.undone_reads[wanted].T)
        sums += starts[:, :, None]
        return _last_rows(sums, wanted, len(new), len(noisy))

    def _epoch_state(self) -> dict[str, Any]:
        return {
            "private": packed(self._private),
            "noisy": packed(self._noisy),
            "buffers": [[str(each) for each in region] for region in self._buffers.tolist()],
            "undone": packed(self._undone),
            "total": packed(self._total),
        }

    def _restore_epoch(self, state: Mapping[str, Any]) -> None:
        block = self._passed % BLOCK, self._width
        self._private = unpacked(state["private"], block, np.int64)
        self._noisy = unpacked(state["noisy"], block, np.int64)
        buffers = np.array([[int(each) for each in region] for region in state["buffers"]], dtype=object)
        if buffers.shape != self._buffers.shape:
            raise ValueError
        self._buffers, self._ready = buffers, None
        self._undone = unpacked(state["undone"], self._undone.shape, np.float64)
        self._total = unpacked(state["total"], (self._width,), np.float64)


@dataclass(frozen=True)
class Moves:
    """How far changed ticks move the rows of an epoch at most, in rounded units."""

    length: int
    exactly: float  # by one change, if nothing were rounded
    rounding: float  # of rows, whatever changes
    weights: float  # of what one change weighs

    def distance(self, changes: int, more: float) -> float:
        """In Euclidean length, where the squares of what is moved exactly are `more` times those of one change.

        Rounding is counted once for one change, and more often than need be for several, so that each of those never
        costs less than one alone.
        """
        return math.sqrt(more) * self.exactly + math.sqrt(changes) * self.rounding + changes * self.weights


@dataclass(frozen=True)
class Factor:
    """How finely rows are rounded, and the noise on them."""

    buffers: Buffers
    scale_bits: int
    weight_bits: int
    variance: Fraction
    moves: Moves

    @property
    def _in_steps(self) -> float:
        return gaussian_variance(float(self.variance)) * 4.0**-self.scale_bits

    def share(self, changes: int) -> Fraction:
        """See `ContinualSum._share`."""
        more = self.buffers.squares_together(changes, self.moves.length) / self.buffers.squares(self.moves.length)
        ratio = self.moves.distance(changes, more) / self.moves.distance(1, 1)
        return Fraction(ratio**2 / changes * (1 + 1e-9))

    def at(self, tick: int) -> float:
        return self._in_steps * self.buffers.undone_squares(tick)

    def total(self, ticks: int) -> float:
        return self._in_steps * self.buffers.undone_squares_in_all(ticks)

    def largest(self, ticks: int) -> float:
        return self.at(ticks)


@lru_cache(maxsize=64)
def factor(length: int, sensitivity: int, rho: Fraction, reach: int) -> Factor:
    """The finest rounding for which the sampler has the noise."""
    made = buffers_for(length)
    weight_bits = min(52, 62 - (reach * BLOCK).bit_length())
    terms = (BLOCK + 2) * made.total(BLOCK) + (len(made.sizes) + 6) * made.total(length)
    roundings = np.minimum(length / BLOCK + 1, 1 / -np.expm1(BLOCK * np.log1p(-made.losses)))
    error = 1.01 * _UNIT_ROUNDOFF * reach * terms + 2.0**-weight_bits * float(made.sizes @ roundings)
    weights_rounded = sensitivity * 2.0**-weight_bits * float(made.sizes.sum())
    moved = sensitivity * math.sqrt(made.squares(length)) * (1 + _LINEAR_CHANGE)
    for scale_bits in range(44, -64, -1):
        scale = 2.0**scale_bits
        rows = math.sqrt(length)
        moves = Moves(length, scale * moved, rows * (2 * scale * error + 1), rows * scale * weights_rounded)
        variance = easy(Fraction(moves.distance(1, 1) * (1 + 1e-12)) ** 2 / (2 * rho))
        if variance <= VARIANCE_LIMIT and scale * reach * made.total(length) <= _LARGEST_ROW:
            return Factor(made, scale_bits, weight_bits, variance, moves)
    raise ParameterError("This price is too small for so long a stream; pay more.")


@dataclass(frozen=True)
class Matrices:
    """What one block of ticks adds to its rows, what the buffers add, and what the block adds to the buffers."""

    within: Floats
    reads: Floats
    high_weights: Floats  # without their lowest bits
    low_weights: Floats  # those bits
    decays: list[int]
    undone_sums: Floats
    undone_reads: Floats
    undone_weights: Floats
    undone_decay: Floats


@lru_cache(maxsize=8)
def matrices(length: int, weight_bits: int) -> Matrices:
    made = buffers_for(length)
    ratios = 1 - made.losses
    powers = ratios ** np.arange(BLOCK)[:, None]
    within, reads = _toeplitz(made.coefficients(BLOCK)), made.sizes * ratios * powers
    weights = np.rint(np.ldexp(powers[::-1], weight_bits)).astype(np.int64)
    ages = np.ldexp(weights.astype(np.float64), -weight_bits)  # as rounded: what is undone is what was done
    undone_within = _toeplitz(inverse(made.coefficients(BLOCK)))
    undone_weights = ages.T @ undone_within
    return Matrices(
        within=within,
        reads=reads,
        high_weights=(weights >> _LOW_BITS).astype(np.float64),
        low_weights=(weights & ((1 << _LOW_BITS) - 1)).astype(np.float64),
        decays=[round(Fraction(each) ** BLOCK * 2**DECAY_BITS) for each in ratios.tolist()],
        undone_sums=undone_within.cumsum(axis=0),
        undone_reads=(undone_within @ reads).cumsum(axis=0),
        undone_weights=undone_weights,
        undone_decay=np.diag(ratios**BLOCK) - undone_weights @ reads,
    )


def _toeplitz(coefficients: Floats) -> Floats:
    """The lower triangular matrix with these coefficients down its diagonals."""
    back = np.subtract.outer(np.arange(len(coefficients)), np.arange(len(coefficients)))
    return np.where(back >= 0, coefficients[back], 0.0)


def _blocks(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows as blocks by regions by ticks, filled up with zeros; the last block is open, and may be empty."""
    count = len(rows) // BLOCK + 1
    filled = np.zeros((count * BLOCK, rows.shape[1]), dtype=rows.dtype)
    filled[: len(rows)] = rows
    return np.ascontiguousarray(filled.reshape(count, BLOCK, -1).transpose(0, 2, 1))


def _wanted(begun: int, count: int) -> slice:
    """Of the ticks of a block those that are asked for: all of them, unless one block has them."""
    return slice(begun, count) if count < BLOCK else slice(0, BLOCK)


def _last_rows(blocks: Floats, wanted: slice, rows: int, count: int) -> Floats:
    """Blocks of those ticks as rows: the last ones before `count`."""
    every = blocks.transpose(0, 2, 1).reshape(-1, blocks.shape[1])
    return every[count - wanted.start - rows : count - wanted.start]


def _times(blocks: Floats, matrix: Floats) -> Floats:
    """Every last axis times the matrix, so many at a time as one thread multiplies."""
    flat = blocks.reshape(-1, blocks.shape[-1])
    found = np.empty((len(flat), matrix.shape[1]))
    rows = _ONE_THREAD // matrix.size
    for start in range(0, len(flat), rows):
        np.matmul(flat[start : start + rows], matrix, out=found[start : start + rows])
    return found.reshape(*blocks.shape[:2], matrix.shape[1])
