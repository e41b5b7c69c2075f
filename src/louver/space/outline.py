"""The outline of a region above a threshold: the set of cells with the most evidence and a short border.

With D = sum - threshold * count of each cell and v its variance, the set S that maximises
sum over S of D/sqrt(v) - 0.5 perimeter(S) is a minimum cut between the cells and two terminals. Borders are counted
between all eight neighbours, 0.55 beside and 0.28 across corners, which makes slanting borders about as long as they
are. SciPy's maximum flow finds it exactly, on capacities rounded to 2^-16. A cell whose evidence outweighs all of its
borders together has its label anyway, so evidence beyond that is cut off, and everything fits 32 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver.errors import LouverError, ParameterError
from louver.space.field import Floats, Integers
from louver.space.released import Map

SMOOTHNESS = 0.5
BESIDE, CORNER = 0.55, 0.28
_UNITS = 1 << 16
_LIMIT = int(4 * SMOOTHNESS * (BESIDE + CORNER) * _UNITS) + 2
MOST_CELLS = (1 << 30) // _LIMIT


def outlined(released: Map, level: float, sure: float, across: Floats, along: Floats) -> NDArray[np.bool_]:
    """The cells of a grid of which at least half lies within the outline; empty leaves lie outside it."""
    leaves = released.rectangles[released.tree.leaves]
    lines = [np.unique(leaves[:, side]) for side in (0, 1)]
    columns, rows = (len(line) for line in lines)
    if columns * rows != len(leaves):
        raise ParameterError("An outline needs a map of one regular grid, such as a uniform or a cut one.")
    order = np.lexsort((leaves[:, 0], leaves[:, 1]))
    nodes = released.tree.leaves[order]
    spread = np.sqrt(released.noisy.sum_variances + level**2 * released.noisy.count_variances)[nodes]
    evidence = (released.sums - level * released.counts)[nodes] / spread
    evidence[~np.isin(nodes, released.occupied(sure))] = -np.inf
    inside = smooth(evidence.reshape(rows, columns)).astype(np.float64)
    wide = _shares(np.append(lines[0], released.columns), across)
    high = _shares(np.append(lines[1], released.rows), along)
    return np.asarray(high.T @ inside @ wide >= 0.5)


def smooth(evidence: Floats) -> NDArray[np.bool_]:
    """The set of cells with the most evidence, less half its border; of several best sets, the smallest."""
    if evidence.size > MOST_CELLS:
        raise ParameterError(f"An outline is drawn for at most {MOST_CELLS} cells.")
    worth = np.clip(np.rint(evidence * _UNITS), -_LIMIT, _LIMIT).astype(np.int32).ravel()
    if not (worth > 0).any():
        return np.zeros(evidence.shape, dtype=np.bool_)
    csgraph, sparse = _scipy()
    source, sink = worth.size, worth.size + 1
    tails, heads, capacities = _borders(*evidence.shape)
    yes, no = np.flatnonzero(worth > 0), np.flatnonzero(worth < 0)
    graph = sparse.csr_matrix(
        (
            np.concatenate((capacities, worth[yes], -worth[no])),
            (
                np.concatenate((tails, np.full(len(yes), source), no)),
                np.concatenate((heads, yes, np.full(len(no), sink))),
            ),
        ),
        shape=(worth.size + 2, worth.size + 2),
        dtype=np.int32,
    )
    flow = csgraph.maximum_flow(graph, source, sink).flow
    left = graph - flow
    left.eliminate_zeros()
    reached = csgraph.breadth_first_order(left, source, return_predecessors=False)
    inside = np.zeros(worth.size + 2, dtype=np.bool_)
    inside[reached] = True
    return inside[:-2].reshape(evidence.shape)


def _borders(rows: int, columns: int) -> tuple[Integers, Integers, NDArray[np.int32]]:
    """Both directions of every border between neighbours, with its weight."""
    cells = np.arange(rows * columns).reshape(rows, columns)
    pairs = [
        (cells[:, :-1], cells[:, 1:], BESIDE),
        (cells[:-1], cells[1:], BESIDE),
        (cells[:-1, :-1], cells[1:, 1:], CORNER),
        (cells[:-1, 1:], cells[1:, :-1], CORNER),
    ]
    one = np.concatenate([first.ravel() for first, _, _ in pairs])
    other = np.concatenate([second.ravel() for _, second, _ in pairs])
    weight = np.concatenate([np.full(first.size, round(SMOOTHNESS * w * _UNITS)) for first, _, w in pairs])
    doubled = np.concatenate((weight, weight)).astype(np.int32)
    return np.concatenate((one, other)), np.concatenate((other, one)), doubled


def _shares(lines: Integers, edges: Floats) -> Floats:
    """How much of each of the grid's columns lies in each column of the map."""
    reached = np.clip(edges, lines[:-1, None], lines[1:, None])
    return np.asarray(np.diff(reached, axis=1) / np.diff(edges))


def _scipy() -> tuple[Any, Any]:
    try:
        from scipy import sparse
        from scipy.sparse import csgraph
    except ImportError:
        raise LouverError("Drawing an outline needs SciPy; install it with: pip install 'louver[maps]'.") from None
    return csgraph, sparse
