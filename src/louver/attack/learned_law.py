"""A law learned from examples: for any mechanism that can be watched, whatever is inside it.

Ghayyur's thesis, section 4.5.2: for each true count z, a Gaussian kernel density of what was released. Kernels stand
on residuals y - z. A count with fewer than `least` examples borrows those of the counts nearest to it. Densities are
at least `FLOOR`, so that no release is called impossible because it was never seen.

Where all examples are whole numbers, so are releases: then kernels are taken at whole numbers and sum to 1, since a
density between them would say nothing. Densities are tabled once, and read between the table's points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver import parameters
from louver.attack.shapes import MOST_PEOPLE
from louver.errors import ParameterError

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

FLOOR = 1e-12
LEAST = 30
_POINTS = 6  # of the table for each bandwidth
_WIDE = 7.5  # bandwidths; further out a Gaussian kernel is below the floor
_LONGEST = 2**15  # points of one table; a longer one is made coarser
_SMALLEST_BANDWIDTH = 1e-6


@dataclass(frozen=True, eq=False)
class LearnedLaw:
    """ln f(y | z) from tables over y - z, one for each count up to the largest seen; larger counts use the last."""

    tables: Floats
    begin: Whole
    length: Whole
    first: Floats
    step: Floats

    def log_likelihood(self, released: Floats, counts: Whole) -> Floats:
        count = np.clip(counts, 0, len(self.begin) - 1)
        at = (released - (counts + self.first[count])) / self.step[count]
        last = self.length[count] - 1
        inside = np.clip(at, 0, last)
        below = np.minimum(inside.astype(np.int64), last - 1)
        here = self.begin[count] + below
        left = self.tables[here]
        return np.asarray(left + (inside - below) * (self.tables[here + 1] - left))


def learn_law(
    counts: ArrayLike, released: ArrayLike, *, bandwidth: parameters.Number | None = None, least: int = LEAST
) -> LearnedLaw:
    """The law behind pairs of true counts and releases, of any equal shapes; releases that are NaN are left out.

    `bandwidth` is in standard deviations of a count's examples: the thesis takes 0.1 for its comparisons; None is
    Scott's n^(-1/5), as SciPy has it. Learn from other days than those that are attacked.

    >>> rng = np.random.default_rng(7)
    >>> true = np.repeat(np.arange(20), 5000)
    >>> law = learn_law(true, true + rng.laplace(size=true.size))
    >>> bool(abs(np.exp(law.log_likelihood(np.array(4.5), np.array(3))) - np.exp(-1.5) / 2) < 0.02)
    True
    """
    true, seen = _pairs(counts, released)
    factor = None if bandwidth is None else float(parameters.positive("bandwidth", bandwidth))
    wanted = parameters.integer("least", least, 2, 2**62)
    order = np.argsort(true, kind="stable")
    true, residuals = true[order], (seen - true)[order]
    whole = bool((residuals == np.floor(residuals)).all())
    made: dict[tuple[int, int], tuple[float, float, Floats]] = {}
    spans = _spans(true, min(wanted, len(true)))
    for span in spans:
        if span not in made:
            made[span] = _table(residuals[slice(*span)], factor, whole)
    firsts, steps, tables = zip(*made.values(), strict=True)
    lengths = np.array([len(table) for table in tables])
    begins = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    numbers = {span: number for number, span in enumerate(made)}
    chosen = np.array([numbers[span] for span in spans])
    return LearnedLaw(
        np.concatenate(tables),
        begins[chosen],
        lengths[chosen],
        np.array(firsts)[chosen],
        np.array(steps)[chosen],
    )


def _pairs(counts: ArrayLike, released: ArrayLike) -> tuple[Whole, Floats]:
    true, seen = np.asarray(counts), np.asarray(released, dtype=np.float64)
    if true.dtype.kind not in "iu" or true.shape != seen.shape:
        raise ParameterError("A law is learned from true counts, which are whole, and as many releases.")
    true, seen = true.ravel().astype(np.int64), seen.ravel()
    there = ~np.isnan(seen)
    true, seen = true[there], seen[there]
    if len(true) < 2 or np.isinf(seen).any() or true.min() < 0 or true.max() > MOST_PEOPLE:
        raise ParameterError("A law is learned from at least two pairs of a count of 0 or more and a finite release.")
    return true, seen


def _spans(true: Whole, least: int) -> list[tuple[int, int]]:
    """For each count, the sorted examples to learn it from: its own, or also those of its neighbours until enough."""
    most = int(true[-1])
    begin = np.searchsorted(true, np.arange(most + 2))
    count = np.arange(most + 1)
    enough, narrow = np.full(most + 1, most), np.full(most + 1, -1)  # widths to either side: one suffices, one does not
    while (enough - narrow > 1).any():
        width = (enough + narrow) // 2
        suffices = _end(begin, count, width) - _start(begin, count, width) >= least
        enough, narrow = np.where(suffices, width, enough), np.where(suffices, narrow, width)
    starts, ends = _start(begin, count, enough), _end(begin, count, enough)
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


def _start(begin: Whole, count: Whole, width: Whole) -> Whole:
    return np.asarray(begin[np.maximum(count - width, 0)])


def _end(begin: Whole, count: Whole, width: Whole) -> Whole:
    return np.asarray(begin[np.minimum(count + width, len(begin) - 2) + 1])


def _table(residuals: Floats, factor: float | None, whole: bool) -> tuple[float, float, Floats]:
    """Where the table begins, its step, and its log densities."""
    number = len(residuals)
    deviation = float(residuals.std(ddof=1)) if number > 1 else 0.0
    bandwidth = (number**-0.2 if factor is None else factor) * deviation
    bandwidth = max(bandwidth, _SMALLEST_BANDWIDTH)
    low, high = float(residuals.min()) - _WIDE * bandwidth, float(residuals.max()) + _WIDE * bandwidth
    if whole:
        step, first = 1.0, np.floor(low) - 1
    else:
        step, first = max(bandwidth / _POINTS, (high - low) / _LONGEST), low
    points = int(np.ceil((high - first) / step)) + 2
    reach = int(np.ceil(_WIDE * bandwidth / step))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / bandwidth) ** 2)
    kernel /= kernel.sum() * step
    density = np.convolve(_binned((residuals - first) / step, points), kernel, mode="same") / number
    density[[0, -1]] = 0.0
    return float(first), step, np.log(np.maximum(density, FLOOR))


def _binned(at: Floats, points: int) -> Floats:
    """How many examples are at each point; one between two points is shared out by its distance to them."""
    below = np.floor(at).astype(np.int64)
    share = at - below
    held = np.bincount(below, 1 - share, points) + np.bincount(below + 1, share, points + 1)[:points]
    return np.asarray(held, dtype=np.float64)
