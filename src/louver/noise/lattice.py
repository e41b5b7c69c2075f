"""Integer noise vectors with a fixed sum, exact: for tables whose totals are published as they are.

Law: P(v) proportional to exp(-rate |v|_1) on the integer vectors with sum s. Neighbours whose vectors differ by d in L1
are told apart by at most rate * d; moving one record between two cells is d = 2, so a price e buys rate = e/2.

Discrete Laplace noise is the difference of two geometrics, whose weights depend on their totals alone. So, for s >= 0,
draw the total T of the negative parts, P(T) proportional to C(n+T+s-1, T+s) C(n+T-1, T) exp(-2 rate T); then split T+s
and T over the n cells, each by a uniform composition; subtract. Where T spreads too far for a table, n-1 free draws are
completed to the sum and stand with the probability that the last cell owes: one in about 1.6 sqrt(n) does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise.bits import SYSTEM, Bits
from louver.noise.enclosure import Enclosure, exp
from louver.noise.gaussian import (
    LARGEST_VARIANCE,
    SMALLEST_VARIANCE,
    discrete_gaussian,
    reaches_square,
)
from louver.noise.laplace import discrete_laplace, geometric, noise_rate
from louver.noise.tables import TABLES, CumulativeLaw

LARGEST_SIZE = 2**20
LARGEST_COMPLETED_SIZE = 2**18
LARGEST_TOTAL = 2**40
LARGEST_CELLS = 2**28
_LONG_TABLE = 2**15  # half a second to build; more cells pay for more, as completion grows dear with them
_LONGEST_TABLE = 2**18
_BATCH_CELLS = 2**20


def fixed_sum(
    size: int, rate: parameters.Number, count: int = 1, *, total: int = 0, bits: Bits = SYSTEM
) -> NDArray[np.int64]:
    """`count` vectors of `size` cells, each with sum `total`, as an array of shape (count, size).

    >>> fixed_sum(5, 1, 3).sum(axis=1)
    array([0, 0, 0])
    """
    size, count = _shape(size, count)
    exact = noise_rate("The rate", rate)
    total = parameters.integer("The total", total, -LARGEST_TOTAL, LARGEST_TOTAL)
    if size == 1:
        return np.full((count, 1), total, dtype=np.int64)
    if total < 0:
        return -fixed_sum(size, exact, count, total=-total, bits=bits)
    centre, spread = _centre_and_spread(size, exact, total)
    entries = 45 / exact + 26 * spread  # what it takes to go down to 2^-128 on both sides
    if entries > _LONG_TABLE + size and total <= 3 * spread:
        if size > LARGEST_COMPLETED_SIZE:
            raise ParameterError(
                f"With noise as wide as this, a vector has at most {LARGEST_COMPLETED_SIZE} cells; use a larger rate."
            )
        return _completed(size, exact, count, total, bits)
    if entries > _LONGEST_TABLE + size:
        raise ParameterError(
            "The total is too far from 0 for noise as wide as this; use a larger rate or shift a cell."
        )
    index = TABLES.get(("fixed sum", size, exact, total), _zigzag_law(size, exact, total, centre)).draw(count, bits)
    removed = _from_zigzag(index, centre)
    drawn = np.empty((count, size), dtype=np.int64)
    batch = max(1, _BATCH_CELLS // size)
    for start in range(0, count, batch):
        taken = removed[start : start + batch]
        drawn[start : start + batch] = _compositions(taken + total, size, bits) - _compositions(taken, size, bits)
    return drawn


def fixed_sums(
    sizes: Sequence[int], rate: parameters.Number, *, totals: Sequence[int] | None = None, bits: Bits = SYSTEM
) -> NDArray[np.int64]:
    """One vector for groups of cells that stand one behind the other, each group with its own size and fixed total.

    >>> len(fixed_sums([2, 3], 1))
    5
    """
    exact = noise_rate("The rate", rate)
    lengths, sums = _groups(sizes, totals)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    if starts[-1] > LARGEST_CELLS:
        raise ParameterError(f"All groups together must have at most {LARGEST_CELLS} cells.")
    drawn = np.empty(int(starts[-1]), dtype=np.int64)
    if not len(lengths):
        return drawn
    kinds, kind_of, members = np.unique(
        np.stack((lengths, sums), axis=1), axis=0, return_inverse=True, return_counts=True
    )
    by_kind = np.split(np.argsort(kind_of.reshape(-1), kind="stable"), np.cumsum(members)[:-1])
    for (size, total), groups in zip(kinds.tolist(), by_kind, strict=True):
        cells = starts[groups][:, None] + np.arange(size)
        drawn[cells] = fixed_sum(size, exact, len(groups), total=total, bits=bits)
    return drawn


def gaussian_fixed_sum(
    size: int, variance: parameters.Number, count: int = 1, *, bits: Bits = SYSTEM
) -> NDArray[np.int64]:
    """The same with discrete Gaussian weights exp(-|v|_2^2 / (2 variance)) and sum 0."""
    size, count = _shape(size, count)
    exact = parameters.within("The variance", variance, SMALLEST_VARIANCE, LARGEST_VARIANCE)
    if size == 1:
        return np.zeros((count, 1), dtype=np.int64)
    return _by_completion(
        size,
        count,
        0,
        lambda number: discrete_gaussian(exact, number, bits=bits),
        lambda last: reaches_square(last, exact, bits),
    )


def _shape(size: object, count: object) -> tuple[int, int]:
    cells = parameters.integer("The number of cells", size, 1, LARGEST_SIZE)
    draws = parameters.count("The number of draws", count)
    if cells * draws > LARGEST_CELLS:
        raise ParameterError(f"One call draws at most {LARGEST_CELLS} cells in all; ask for fewer vectors at a time.")
    return cells, draws


def _groups(sizes: Sequence[int], totals: Sequence[int] | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    try:
        lengths = [parameters.integer("Each group's size", size, 1, LARGEST_SIZE) for size in sizes]
        sums = [0] * len(lengths) if totals is None else list(totals)
        sums = [parameters.integer("Each group's total", total, -LARGEST_TOTAL, LARGEST_TOTAL) for total in sums]
    except TypeError:
        raise ParameterError("Sizes and totals must be lists with a whole number for each group.") from None
    if len(lengths) != len(sums):
        raise ParameterError(f"There are {len(lengths)} groups but {len(sums)} totals; give one total for each group.")
    return np.array(lengths, dtype=np.int64), np.array(sums, dtype=np.int64)


def _centre_and_spread(size: int, rate: Fraction, total: int) -> tuple[int, float]:
    """Where P(T) peaks and its standard deviation, both roughly: they steer speed, not the law."""
    a = math.exp(-float(rate))
    # (n+T+s)(n+T) a^2 = (T+s+1)(T+1) where neighbouring weights are equal
    quadratic, linear = 1 - a * a, (total + 2) - a * a * (2 * size + total)
    constant = (total + 1) - a * a * size * (size + total)
    root = (-linear + math.sqrt(max(0.0, linear * linear - 4 * quadratic * constant))) / (2 * quadratic)
    centre = max(0, int(root))
    slope = 1 / (centre + 1) + 1 / (centre + total + 1) - 1 / (size + centre) - 1 / (size + centre + total)
    return centre, 1 / math.sqrt(max(slope, 1e-300))


def _from_zigzag(index: NDArray[np.int64], centre: int) -> NDArray[np.int64]:
    """0, 1, 2, 3, ... to centre, centre-1, centre+1, ..., until 0 is reached, and upwards from there."""
    half = (index + 1) >> 1
    return np.where(index > 2 * centre, index, centre + np.where(index & 1, -half, half))


def _zigzag_law(size: int, rate: Fraction, total: int, centre: int) -> CumulativeLaw:
    def law(working: int) -> Iterator[Enclosure]:
        square = exp(-2 * rate, working)
        rising, rising_tail = _rising(size, total, centre, square)
        falling, falling_tail = _falling(size, total, centre, square)
        everything = _sum(rising, working) + _sum(falling, working)
        everything = Enclosure(everything.low, everything.high + rising_tail.high + falling_tail.high, working)
        reached = rising[0]
        yield reached / everything
        for step in range(1, len(rising)):
            if step <= centre:
                below = falling[step - 1] if step <= len(falling) else Enclosure(0, falling_tail.high, working)
                reached = reached + below
                yield reached / everything
            reached = reached + rising[step]
            yield reached / everything

    return law


def _rising(size: int, total: int, centre: int, square: Enclosure) -> tuple[list[Enclosure], Enclosure]:
    """Weights of T = centre, centre+1, ... relative to the centre's, and a bound on all that follow."""
    weights = [Enclosure.of(1, square.bits)]
    at = centre
    while True:
        ratio = square * ((size + at + total) * (size + at)) / ((at + total + 1) * (at + 1))
        # the lower end reaches 0; the upper, rounded up at each step, may not
        if weights[-1].low == 0 and ratio.high < 1 << square.bits:
            return weights, weights[-1] * ratio / (1 - ratio)
        weights.append(weights[-1] * ratio)
        at += 1


def _falling(size: int, total: int, centre: int, square: Enclosure) -> tuple[list[Enclosure], Enclosure]:
    """Weights of T = centre-1, centre-2, ..., and a bound on all that follow down to 0."""
    weights: list[Enclosure] = []
    weight = Enclosure.of(1, square.bits)
    for at in range(centre, 0, -1):
        weight = weight * ((at + total) * at) / (square * ((size + at - 1 + total) * (size + at - 1)))
        weights.append(weight)
        if weight.low == 0:
            return weights, weight * (at - 1)
    return weights, Enclosure.of(0, square.bits)


def _sum(weights: list[Enclosure], bits: int) -> Enclosure:
    return Enclosure(sum(w.low for w in weights), sum(w.high for w in weights), bits)


def _completed(size: int, rate: Fraction, count: int, total: int, bits: Bits) -> NDArray[np.int64]:
    return _by_completion(
        size,
        count,
        total,
        lambda number: discrete_laplace(rate, number, bits=bits),
        lambda last: geometric(rate, len(last), bits=bits) >= np.abs(last),
    )


def _by_completion(
    size: int,
    count: int,
    total: int,
    draw: Callable[[int], NDArray[np.int64]],
    stands: Callable[[NDArray[np.int64]], NDArray[np.bool_]],
) -> NDArray[np.int64]:
    """Draw all cells but the last freely, let the last make up the sum, keep with the last cell's own weight."""
    drawn = np.empty((count, size), dtype=np.int64)
    filled = 0
    while filled < count:
        tries = max(1, min(4 * (count - filled), _BATCH_CELLS // size))
        free = draw(tries * (size - 1)).reshape(tries, size - 1)
        last = total - free.sum(axis=1)
        standing = np.flatnonzero(stands(last))[: count - filled]
        drawn[filled : filled + len(standing), :-1] = free[standing]
        drawn[filled : filled + len(standing), -1] = last[standing]
        filled += len(standing)
    return drawn


def _compositions(totals: NDArray[np.int64], parts: int, bits: Bits) -> NDArray[np.int64]:
    """For each total, a uniform way to write it as an ordered sum of `parts` non-negative integers (parts >= 2).

    Stars and bars: of total + parts - 1 places, choose those of the bars, or those of the stars where they are fewer.
    """
    result = np.empty((len(totals), parts), dtype=np.int64)
    few_stars = totals < parts - 1
    rows = np.flatnonzero(~few_stars)
    places = totals[rows] + parts - 1
    bars = _distinct(places, np.full(len(rows), parts - 1), bits)
    edges = np.concatenate((np.full((len(rows), 1), -1), bars, places[:, None]), axis=1)
    result[rows] = np.diff(edges, axis=1) - 1
    rows = np.flatnonzero(few_stars)
    stars = _distinct(totals[rows] + parts - 1, totals[rows], bits)
    owners = stars - np.arange(stars.shape[1])
    real = np.arange(stars.shape[1]) < totals[rows][:, None]
    flat = (np.arange(len(rows))[:, None] * parts + owners)[real]
    result[rows] = np.bincount(flat, minlength=len(rows) * parts).reshape(len(rows), parts)
    return result


def _distinct(places: NDArray[np.int64], chosen: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
    """For each row, a uniform set of `chosen` of its places, ascending; shorter rows are filled up with larger numbers.

    Values that repeat are drawn again, all but one: the first k distinct values of a uniform sequence are a uniform
    set.
    """
    width = int(chosen.max(initial=0))
    columns = np.arange(width)
    real = columns < chosen[:, None]
    filler = int(places.max(initial=0)) + columns
    picked = np.where(real, 0, filler)
    redraw = real
    while redraw.any():
        picked[redraw] = bits.below(np.broadcast_to(places[:, None], redraw.shape)[redraw])
        picked.sort(axis=1)
        redraw = np.zeros_like(real)
        redraw[:, 1:] = picked[:, 1:] == picked[:, :-1]
    return picked
