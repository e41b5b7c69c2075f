"""A recipient's heatmap: any grid, any threshold, from a released map alone.

For each level, a cell's count and sum are those of the nodes under it, each in proportion to the overlap (Maruseac et
al., section 5), or, coarser, those of the node at its centre. A level votes for a cell where its count is above 0: yes
where the average is above the threshold. One with a count of 0 or less abstains. A leaf votes once, at its own level.
All of this is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.space.field import MOST_ATOMS, Floats, Integers
from louver.space.outline import outlined
from louver.space.released import Map

Flags = NDArray[np.bool_]
Parts = Callable[[Integers, Integers, Floats], Floats]
RULES = ("mean", "one vote", "two votes", "majority", "cut")
_MOST_AT_ONCE = 1 << 22  # numbers in one intermediate array
_WORTH_THREADS = 1 << 23


def heatmap(
    released: Map,
    threshold: parameters.Number,
    columns: int,
    rows: int | None = None,
    *,
    rule: str = "mean",
    read: str = "overlap",
    sure: parameters.Number = 3,
) -> Flags:
    """Which cells of a grid have an average above the threshold; rows from south to north.

    `mean` takes the estimates of the leaves, which all levels went into. `one vote` and `two votes` need so many levels
    that say so, and `majority` more than half of those that vote, as published. `cut` outlines a region on a regular
    grid. For `mean` and `cut`, leaves whose count is not `sure` standard errors above 0 are taken to be empty: where
    nobody is, noise alone would flag many cells.
    """
    across, along = released.edges(columns, columns if rows is None else rows)
    if rule not in RULES:
        raise ParameterError(f"The rule must be one of {', '.join(RULES)}.")
    if read not in ("overlap", "centre"):
        raise ParameterError("A cell is read by 'overlap' or at its 'centre'.")
    level, least = released.in_steps(threshold), float(parameters.within("sure", sure, 0, 100))
    if rule == "cut":
        return outlined(released, level, least, across, along)
    parts = _shares if read == "overlap" else _around_centre
    if rule == "mean":
        counts, excess = _spread(released, released.occupied(least), level, across, along, parts)
        return np.asarray((counts > 0) & (excess > 0))
    votes, voters = _votes(released, level, across, along, parts)
    if rule == "majority":
        return np.asarray(2 * votes > voters)
    return np.asarray(votes >= (1 if rule == "one vote" else 2))


def averages(released: Map, columns: int, rows: int | None = None, *, sure: parameters.Number = 0) -> Floats:
    """The estimated average value in each cell of a grid; NaN where the estimated count is not above 0.

    With `sure`, leaves whose count is not so many standard errors above 0 are taken to be empty, as `heatmap` does.
    """
    return cells(released, columns, rows, sure=sure).averages


class Cells(NamedTuple):
    """For each cell of a grid: how many readings, their average, and the standard error of its noise."""

    counts: Floats
    averages: Floats
    errors: Floats


def cells(released: Map, columns: int, rows: int | None = None, *, sure: parameters.Number = 3) -> Cells:
    """What a map says about each cell; averages and errors are NaN where nobody is."""
    edges = released.edges(columns, columns if rows is None else rows)
    least = float(parameters.within("sure", sure, 0, 100))
    counts, excess = _spread(released, released.occupied(least), 0.0, *edges, _shares)
    moments = _tree_moments if released.depth else _grid_moments
    count_squares, sum_squares = (
        moments(released, each, *edges)[0] for each in (released.noisy.count_variances, released.noisy.sum_variances)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.where(counts > 0, excess / counts, np.nan)
        errors = released.step * np.sqrt(sum_squares + above**2 * count_squares) / counts
    return Cells(counts, released.zero + released.step * above, errors)


def posterior(released: Map, threshold: parameters.Number, columns: int, rows: int | None = None) -> Floats:
    """For each cell, how probable it is that its average is above the threshold, given the map and nothing else.

    The error of sum - threshold * count is a sum of Laplace variables with known weights. Its law is taken for a
    mixture of Laplace and normal with the same variance and kurtosis: exact for one variable, and for many. Nothing is
    assumed beforehand, and what varies inside a leaf is not known: where there are no readings it is near 1/2.
    """
    across, along = released.edges(columns, columns if rows is None else rows)
    level = released.in_steps(threshold)
    leaves = released.tree.leaves
    _, excess = _spread(released, leaves, level, across, along, _shares)
    moments = _tree_moments if released.depth else _grid_moments
    squares, fourths = np.zeros(excess.shape), np.zeros(excess.shape)
    for factor, variances in ((1.0, released.noisy.sum_variances), (level**2, released.noisy.count_variances)):
        square, fourth = moments(released, variances, across, along)
        squares += factor * square
        fourths += factor**2 * fourth
    return _below(excess / np.sqrt(squares), fourths / squares**2)


def _grid_moments(released: Map, variances: Floats, across: Floats, along: Floats) -> tuple[Floats, Floats]:
    """For each cell, the sum over all noise in it of its variance, and of the square of its variance."""
    rectangles = released.rectangles
    return (
        _raster(rectangles, variances, across, along, _shares, power=2),
        _raster(rectangles, variances**2, across, along, _shares, power=4),
    )


def _tree_moments(released: Map, variances: Floats, across: Floats, along: Floats) -> tuple[Floats, Floats]:
    """The same where every node's noise is in every cell."""
    west, south, east, north = released.rectangles[released.tree.leaves].T
    wide, high = _shares(west, east, across), _shares(south, north, along)
    rows, columns = high.shape[1], wide.shape[1]
    square, fourth = np.empty(rows * columns), np.empty(rows * columns)
    chunk = max(1, _MOST_AT_ONCE // len(released.parents))
    for start in range(0, rows * columns, chunk):
        cells = np.arange(start, min(start + chunk, rows * columns))
        added = released.tree.influence(wide[:, cells % columns] * high[:, cells // columns], variances)
        square[cells], fourth[cells] = added.sum(axis=0), np.einsum("nc,nc->c", added, added)
    return square.reshape(rows, columns), fourth.reshape(rows, columns)


def _below(scores: Floats, heavy: Floats) -> Floats:
    """P(error < score) for an error of variance 1 and excess kurtosis 3 `heavy`: of Laplace 3, of the normal law 0."""
    normal = np.array([0.5 * math.erfc(-score / math.sqrt(2)) for score in scores.ravel().tolist()])
    tail = 0.5 * np.exp(-math.sqrt(2) * np.abs(scores))
    return np.asarray(heavy * np.where(scores < 0, tail, 1 - tail) + (1 - heavy) * normal.reshape(scores.shape))


def _votes(released: Map, level: float, across: Floats, along: Floats, parts: Parts) -> tuple[Integers, Integers]:
    """How many levels say yes, and how many say anything."""
    votes = np.zeros((len(along) - 1, len(across) - 1), dtype=np.int64)
    voters = np.zeros_like(votes)
    for depth in range(released.depth + 1):
        counts, excess = _spread(released, np.flatnonzero(released.tree.levels == depth), level, across, along, parts)
        voters += counts > 0
        votes += (counts > 0) & (excess > 0)
    return votes, voters


def _spread(
    released: Map, nodes: Integers, level: float, across: Floats, along: Floats, parts: Parts
) -> tuple[Floats, Floats]:
    """The count in each cell, and its sum less `level` for each reading, in steps."""
    rectangles, counts = released.rectangles[nodes], released.counts[nodes]
    excess = released.sums[nodes] - level * counts
    return _raster(rectangles, counts, across, along, parts), _raster(rectangles, excess, across, along, parts)


def _raster(
    rectangles: Integers, values: Floats, across: Floats, along: Floats, parts: Parts, power: int = 1
) -> Floats:
    """For each cell, the sum of the nodes' values, each times a power of the part of the node that lies in the cell.

    Nodes that begin and end in the same rows are first added up, column by column.
    """
    west, south, east, north = rectangles.T
    bands, band = np.unique(south * (MOST_ATOMS + 1) + north, return_inverse=True)
    held = np.zeros((len(bands), len(across) - 1))
    order = np.argsort(band, kind="stable")
    chunk = max(1, _MOST_AT_ONCE // len(across))
    for start in range(0, len(order), chunk):
        some = order[start : start + chunk]
        wide = values[some, None] * parts(west[some], east[some], across) ** power
        first = np.flatnonzero(np.diff(band[some], prepend=-1))
        held[band[some[first]]] += np.add.reduceat(wide, first)
    return _product(parts(*np.divmod(bands, MOST_ATOMS + 1), along) ** power, held)


def _shares(start: Integers, end: Integers, edges: Floats) -> Floats:
    """The part of each node, from its start to its end, that lies between two neighbouring edges."""
    reached = np.clip(edges, start[:, None], end[:, None])
    return np.asarray(np.diff(reached, axis=1) / (end - start)[:, None])


def _around_centre(start: Integers, end: Integers, edges: Floats) -> Floats:
    """1 where a node holds the middle between two neighbouring edges."""
    middle = (edges[1:] + edges[:-1]) / 2
    return ((start[:, None] <= middle) & (middle < end[:, None])).astype(np.float64)


def _product(high: Floats, wide: Floats) -> Floats:
    """high' wide, summed over the bands. Starting the threads of a matrix product takes longer than a small one."""
    small = high.size * wide.shape[1] < _WORTH_THREADS
    return np.einsum("nr,nc->rc", high, wide) if small else np.asarray(high.T @ wide)
