"""Counts, sums and averages of any rectangle or polygon, with standard errors, from a released map alone.

A leaf that is partly inside counts in proportion to its area. Errors are those of the noise: exact for counts and sums,
to first order for averages. They do not include that readings may lie unevenly inside a leaf at the rectangle's edge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from louver import parameters
from louver.errors import ParameterError
from louver.space.bounds import Bounds
from louver.space.field import Floats, Integers
from louver.space.polygons import Polygons
from louver.space.released import Map

Area = Bounds | Sequence[parameters.Number] | Polygons

_NOTHING = 1e-9  # of a leaf: what rounding leaves of one that is not touched


class Estimate(NamedTuple):
    """A value, and how much it scatters around the true one."""

    value: float
    error: float


@dataclass(frozen=True, slots=True)
class Region:
    """What a map says about one rectangle. Values are not clipped, so a count can be negative."""

    count: Estimate
    total: Estimate
    average: Estimate


def region(released: Map, area: Area | None = None) -> Region:
    """The number of readings in an area, the sum of their values, and their average.

    It is a rectangle (west, south, east, north) or `Polygons`; everything by default. The average is NaN where
    the count is not above 0.
    """
    weights = _inside_polygons(released, area) if isinstance(area, Polygons) else _inside_bounds(released, area)
    if not weights.any():
        raise ParameterError("The region lies outside the map's bounds, where nothing is known.")
    leaves, tree, noisy = released.tree.leaves, released.tree, released.noisy
    count, excess = float(weights @ released.counts[leaves]), float(weights @ released.sums[leaves])
    count_variance = float(tree.influence(weights[:, None], noisy.count_variances).sum())
    excess_variance = float(tree.influence(weights[:, None], noisy.sum_variances).sum())
    zero, step = released.zero, released.step
    total_variance = step**2 * excess_variance + zero**2 * count_variance
    return Region(
        Estimate(count, math.sqrt(count_variance)),
        Estimate(step * excess + zero * count, math.sqrt(total_variance)),
        _average(zero, step, count, excess, count_variance, excess_variance),
    )


def _average(
    zero: float, step: float, count: float, excess: float, count_variance: float, excess_variance: float
) -> Estimate:
    if count <= 0:
        return Estimate(math.nan, math.inf)
    above = excess / count
    return Estimate(zero + step * above, step * math.sqrt(excess_variance + above**2 * count_variance) / count)


def _inside_polygons(released: Map, area: Polygons) -> Floats:
    """The part of each leaf that lies in polygons."""
    whole = released.bounds
    sides = released.rectangles[released.tree.leaves].T.astype(np.float64)
    west, east = (whole.west + side * (whole.east - whole.west) / released.columns for side in sides[::2])
    south, north = (whole.south + side * (whole.north - whole.south) / released.rows for side in sides[1::2])
    shares = area.shares(west, south, east, north)
    return np.where(shares > _NOTHING, shares, 0.0)


def _inside_bounds(released: Map, area: Bounds | Sequence[parameters.Number] | None) -> Floats:
    """The part of each leaf that lies in a rectangle."""
    whole = released.bounds
    asked = whole if area is None else Bounds.of(area)
    across, along = released.columns / (whole.east - whole.west), released.rows / (whole.north - whole.south)
    west, south, east, north = released.rectangles[released.tree.leaves].T
    width = _inside(west, east, (asked.west - whole.west) * across, (asked.east - whole.west) * across)
    height = _inside(south, north, (asked.south - whole.south) * along, (asked.north - whole.south) * along)
    return np.asarray(width * height)


def _inside(start: Integers, end: Integers, first: float, last: float) -> Floats:
    return np.asarray((np.clip(last, start, end) - np.clip(first, start, end)) / (end - start))
