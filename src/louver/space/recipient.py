"""A recipient's heatmap: any grid, any threshold, from a released map alone.

For each level, a cell's count and sum are those of the nodes under it, each in proportion to the overlap (Maruseac et
al., section 5), or, coarser, those of the node at its centre. A level votes for a cell where its count is above 0: yes
where the average is above the threshold. One with a count of 0 or less abstains. A leaf votes once, at its own level.
All of this is post-processing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.space.evidence import Quantity, of_grid
from louver.space.field import Floats, Integers
from louver.space.outline import outlined
from louver.space.raster import Parts, around_centre, shares, spread
from louver.space.released import Map

Flags = NDArray[np.bool_]
RULES = ("mean", "one vote", "two votes", "majority", "cut")


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
    nobody is, noise alone would flag many cells. These are best guesses; `louver.space.judged` tells which are sure.
    """
    edges = released.edges(columns, columns if rows is None else rows)
    return flagged(released, threshold, *edges, rule=rule, read=read, sure=sure)


def flagged(
    released: Map,
    threshold: parameters.Number,
    across: Floats,
    along: Floats,
    *,
    rule: str = "mean",
    read: str = "overlap",
    sure: parameters.Number = 3,
) -> Flags:
    """The heatmap of the cells between any lines of atoms."""
    if rule not in RULES:
        raise ParameterError(f"The rule must be one of {', '.join(RULES)}.")
    if read not in ("overlap", "centre"):
        raise ParameterError("A cell is read by 'overlap' or at its 'centre'.")
    level, least = released.in_steps(threshold), surely(sure)
    if rule == "cut":
        return outlined(released, level, least, across, along)
    parts = shares if read == "overlap" else around_centre
    if rule == "mean":
        counts, excess = spread(released, released.occupied(least), level, across, along, parts)
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
    """What a map says about each cell; averages and errors are NaN where nobody is.

    Averages lie within the public range: where noise puts one beyond it, it is moved to the nearest end.
    """
    edges = released.edges(columns, columns if rows is None else rows)
    found = of_grid(released, released.occupied(surely(sure)), *edges)
    quantity = Quantity.of_values(released)
    return Cells(found.counts, found.averages(quantity), found.errors(quantity))


def posterior(released: Map, threshold: parameters.Number, columns: int, rows: int | None = None) -> Floats:
    """For each cell, how probable it is that its average is above the threshold, given the map and nothing else.

    What varies inside a leaf is not known, and where there are no readings it is near 1/2: see
    `louver.space.evidence`.
    """
    edges = released.edges(columns, columns if rows is None else rows)
    level = released.in_steps(threshold)
    return of_grid(released, released.tree.leaves, *edges).probability(level)


def surely(sure: parameters.Number) -> float:
    return float(parameters.within("sure", sure, 0, 100))


def _votes(released: Map, level: float, across: Floats, along: Floats, parts: Parts) -> tuple[Integers, Integers]:
    """How many levels say yes, and how many say anything."""
    votes = np.zeros((len(along) - 1, len(across) - 1), dtype=np.int64)
    voters = np.zeros_like(votes)
    for depth in range(released.depth + 1):
        counts, excess = spread(released, np.flatnonzero(released.tree.levels == depth), level, across, along, parts)
        voters += counts > 0
        votes += (counts > 0) & (excess > 0)
    return votes, voters
