"""Numbers of rectangles spread over the cells of a grid, each in proportion to the part of it that lies in the cell."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from louver.space.field import MOST_ATOMS, Floats, Integers
from louver.space.released import Map

Parts = Callable[[Integers, Integers, Floats], Floats]
AT_ONCE = 1 << 22  # numbers in one intermediate array
_WORTH_THREADS = 1 << 23


def spread(
    released: Map, nodes: Integers, level: float, across: Floats, along: Floats, parts: Parts
) -> tuple[Floats, Floats]:
    """The count in each cell, and its sum less `level` for each reading, in steps."""
    rectangles, counts = released.rectangles[nodes], released.counts[nodes]
    excess = released.sums[nodes] - level * counts
    return raster(rectangles, counts, across, along, parts), raster(rectangles, excess, across, along, parts)


def raster(rectangles: Integers, values: Floats, across: Floats, along: Floats, parts: Parts, power: int = 1) -> Floats:
    """For each cell, the sum of the nodes' values, each times a power of the part of the node that lies in the cell.

    Nodes that begin and end in the same rows are first added up, column by column.
    """
    west, south, east, north = rectangles.T
    bands, band = np.unique(south * (MOST_ATOMS + 1) + north, return_inverse=True)
    held = np.zeros((len(bands), len(across) - 1))
    order = np.argsort(band, kind="stable")
    chunk = max(1, AT_ONCE // len(across))
    for start in range(0, len(order), chunk):
        some = order[start : start + chunk]
        wide = values[some, None] * parts(west[some], east[some], across) ** power
        first = np.flatnonzero(np.diff(band[some], prepend=-1))
        held[band[some[first]]] += np.add.reduceat(wide, first)
    return _product(parts(*np.divmod(bands, MOST_ATOMS + 1), along) ** power, held)


def shares(start: Integers, end: Integers, edges: Floats) -> Floats:
    """The part of each node, from its start to its end, that lies between two neighbouring edges."""
    reached = np.clip(edges, start[:, None], end[:, None])
    return np.asarray(np.diff(reached, axis=1) / (end - start)[:, None])


def around_centre(start: Integers, end: Integers, edges: Floats) -> Floats:
    """1 where a node holds the middle between two neighbouring edges."""
    middle = (edges[1:] + edges[:-1]) / 2
    return ((start[:, None] <= middle) & (middle < end[:, None])).astype(np.float64)


def _product(high: Floats, wide: Floats) -> Floats:
    """high' wide, summed over the bands. Starting the threads of a matrix product takes longer than a small one."""
    small = high.size * wide.shape[1] < _WORTH_THREADS
    return np.einsum("nr,nc->rc", high, wide) if small else np.asarray(high.T @ wide)
