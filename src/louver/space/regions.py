"""Counts, sums and averages of any rectangle or polygon, with standard errors, from a released map alone.

A leaf that is partly inside counts in proportion to its area. What that may be wrong by is not noise, and part of the
error all the same: of a leaf's n readings a part p lies inside where w was taken, and whatever the law of p, as long as
its mean is w, its variance is at most w (1 - w), that of readings which all lie at one spot. So a cut leaf adds at most
w (1 - w) n^2 to the variance of a count. Their values are taken to differ among themselves as the region's leaves do,
so it adds w (1 - w) n^2 ((a - A)^2 + V) to that of a sum above A per reading: a is the leaf's average, A the region's,
and V the variance of the leaves' averages. A test checks it on readings that lie in clusters and at spots.

That leans on the region being chosen without regard to how readings lie inside leaves, on many leaves, and on what one
leaf is wrong by telling nothing of the next. The last fails along streets: one that runs beside a border has all
readings of many leaves on the same side. A test measures counts that are off by 1.5 times what is stated, and it grows
with the number of leaves; averages hold. To add up standard deviations instead would be safe, and many times too large
elsewhere. A region that holds no whole leaf may be all of a leaf's readings or none: its error is not known.
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
_ALL = 1 - 1e-7  # and what it leaves of a whole one


class Estimate(NamedTuple):
    """A value, and how much it scatters around the true one: one standard error, infinite where that is not known.

    `noise` is the part of it that the map's noise alone has.
    """

    value: float
    error: float
    noise: float


@dataclass(frozen=True, slots=True)
class Region:
    """What a map says about one area. A count can be negative; an average is moved into the public range of values.

    `cut` is the part of the area that lies in leaves which its border cuts, and `outside` the part of what was asked
    for that lies beyond the map's bounds, where nothing is known: it is not counted.
    """

    count: Estimate
    total: Estimate
    average: Estimate
    cut: float
    outside: float


def region(released: Map, area: Area | None = None) -> Region:
    """The number of readings in an area, the sum of their values, and their average.

    It is a rectangle (west, south, east, north) or `Polygons`; everything by default. The average is NaN where
    the count is not above 0.
    """
    weights = _inside_polygons(released, area) if isinstance(area, Polygons) else _inside_bounds(released, area)
    if not weights.any():
        raise ParameterError("The region lies outside the map's bounds, where nothing is known.")
    leaves, tree, noisy = released.tree.leaves, released.tree, released.noisy
    zero, step = released.zero, released.step
    counts, sums = released.counts[leaves], step * released.sums[leaves]
    count, above = float(weights @ counts), float(weights @ sums)
    count_noise = float(tree.influence(weights[:, None], noisy.count_variances).sum())
    sum_noise = step**2 * float(tree.influence(weights[:, None], noisy.sum_variances).sum())
    mean = above / count if count > 0 else 0.0
    added = _Cut.of(weights, counts, sums, mean)
    return Region(
        _estimate(count, count_noise, added.variance(0.0, 1.0)),
        _estimate(above + zero * count, sum_noise + zero**2 * count_noise, added.variance(1.0, zero)),
        _average(released, count, mean, sum_noise + mean**2 * count_noise, added.variance(1.0, -mean)),
        _part_cut(released, weights),
        _part_outside(released, area, weights),
    )


class _Cut(NamedTuple):
    """What leaves may add that a border cuts: the numbers of each, their weights w (1 - w), and V."""

    parts: Floats
    counts: Floats
    sums: Floats
    differing: float
    known: bool

    @classmethod
    def of(cls, weights: Floats, counts: Floats, sums: Floats, mean: float) -> _Cut:
        whole = weights > _ALL
        parts = np.where(whole, 0.0, weights * (1 - weights))
        squares = float(weights @ counts**2)
        differing = float(weights @ (sums - mean * counts) ** 2) / squares if squares else 0.0
        return cls(parts, counts, sums, differing, bool(whole.any()))

    def variance(self, of_sums: float, of_counts: float) -> float:
        """Of a sum of both, so many times each; infinite where no whole leaf is inside."""
        if not self.known:
            return math.inf
        moved = (of_sums * self.sums + of_counts * self.counts) ** 2
        return float(self.parts @ (moved + of_sums**2 * self.differing * self.counts**2))


def _estimate(value: float, noise: float, added: float) -> Estimate:
    return Estimate(value, math.sqrt(noise + added), math.sqrt(noise))


def _average(released: Map, count: float, mean: float, noise: float, added: float) -> Estimate:
    if count <= 0:
        return Estimate(math.nan, math.inf, math.inf)
    low, high = float(released.values.low), float(released.values.high)
    value = min(max(released.zero + mean, low), high)
    return Estimate(value, math.sqrt(noise + added) / count, math.sqrt(noise) / count)


def _part_cut(released: Map, weights: Floats) -> float:
    inside = weights * _atoms(released)
    return float(inside[weights <= _ALL].sum() / inside.sum())


def _part_outside(released: Map, area: Area | None, weights: Floats) -> float:
    if area is None:
        return 0.0
    whole = released.bounds
    if isinstance(area, Polygons):
        asked = area.area
    else:
        sides = Bounds.of(area)
        asked = (sides.east - sides.west) * (sides.north - sides.south)
    atom = (whole.east - whole.west) / released.columns * (whole.north - whole.south) / released.rows
    found = float((weights * _atoms(released)).sum()) * atom
    return min(max(1 - found / asked, 0.0), 1.0) if asked > 0 else 0.0


def _atoms(released: Map) -> Floats:
    """How many atoms each leaf is."""
    west, south, east, north = released.rectangles[released.tree.leaves].T.astype(np.float64)
    return np.asarray((east - west) * (north - south))


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
