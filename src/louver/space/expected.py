"""What a map would be like, before anything is read: how many cells of what size, and how wrong their numbers are.

The structure grows as it would over readings that are spread evenly, by their expected numbers: no data and no noise
goes into it, so it costs nothing. Real readings lie where people are, and there cells are fuller, or smaller.

An average a, in steps above the centre, is estimated as (s + S) / (n + N), with noise S and N. It is off by more than E
where S - (a + E) N > E n, or likewise below (Fieller's way to bound a ratio). The left side is noise; it is taken for
Laplace noise of its variance, whose tails are the heaviest that it can have, with a at the end of the range, reach R
away. So a cell is off by more than E in at most exp(-sqrt(2) E n / sqrt(var S + (R + E)^2 var N)) of all maps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from louver.noise.bits import SYSTEM
from louver.space.bounds import Bounds
from louver.space.field import Field, Floats, Integers
from louver.space.measure import Measured, Price, rates, variance
from louver.space.structure import Growth, Structure

FURTHER = 1 / 20  # the part of cells that may be further off than is said
_HALVINGS = 40
_ENOUGH = 4096  # cells, to tell how many of all are further off


@dataclass(frozen=True, slots=True)
class Expected:
    """A map of so many readings, spread evenly: its cells, in columns and rows where they are one grid, the width and
    height of one of them and the readings in it, and how wrong the numbers of such a cell are.

    `count_error` is a standard error. `average_error` is passed in at most 1 of 20 cells, and None where an average
    tells nothing, being off by half the range or more.
    """

    readings: int
    cells: int
    grid: tuple[int, int] | None
    width: float
    height: float
    held: float
    count_error: float
    average_error: float | None

    @classmethod
    def of(cls, structure: Structure, field: Field, readings: int, rounds: int = 1) -> Expected:
        """What `structure` makes of so many readings in the atoms of `field`, whose numbers are not looked at.

        With `rounds` the errors are those after so many, combined.
        """
        centre = structure.centre(field)
        growth = _Even(field, centre, readings)
        structure._grow(growth)
        made = growth.map(structure.kind, structure.price)
        leaves, noisy = made.tree.leaves, made.noisy
        west, south, east, north = made.rectangles[leaves].T
        columns, rows = len(np.unique(west)), len(np.unique(south))
        sides = np.median(east - west) / field.columns, np.median(north - south) / field.rows
        held = made.counts[leaves]
        of_counts, of_sums = (
            made.tree.variances(each)[leaves] / rounds for each in (noisy.count_variances, noisy.sum_variances)
        )
        wrong = _average_error(held, of_counts, of_sums, field.span, max(centre, field.span - centre))
        return cls(
            readings,
            len(leaves),
            (columns, rows) if columns * rows == len(leaves) else None,
            float(sides[0]) * field.bounds.width,
            float(sides[1]) * field.bounds.height,
            float(np.median(held)),
            math.sqrt(np.median(of_counts)),
            None if wrong is None else wrong * float(field.values.step),
        )


class _Even(Growth):
    """A map in the making, of readings that lie everywhere alike, with values in the middle of their range."""

    def __init__(self, field: Field, centre: int, readings: int) -> None:
        super().__init__(field, centre, SYSTEM)
        self._even = readings / (field.columns * field.rows)

    def look(self, rectangles: Integers, price: Price) -> Measured:
        west, south, east, north = rectangles.T
        counts = self._even * ((east - west) * (north - south)).astype(np.float64)
        middle = self._field.span / 2 - self._centre if price.sums else 1.0
        scatter = (np.full(len(counts), variance(rate)) for rate in rates(self._field, price, self._centre))
        return Measured(counts, middle * counts, *scatter)


def size(bounds: Bounds, width: float, height: float) -> str:
    """A width and a height, in metres or kilometres where the bounds are degrees, else in their own unit."""
    if not bounds.degrees:
        return f"{width:.3g} x {height:.3g}"
    if max(width, height) < 1000:
        return f"{width:.0f} x {height:.0f} m"
    return f"{width / 1000:.3g} x {height / 1000:.3g} km"


def _average_error(held: Floats, of_counts: Floats, of_sums: Floats, span: int, reach: int) -> float | None:
    """In steps; None where it would be half the range or more."""

    def further(wrong: float) -> float:
        scatter = np.sqrt(of_sums + (reach + wrong) ** 2 * of_counts)
        return float(np.exp(-math.sqrt(2) * wrong * held / scatter).mean())

    some = slice(None, None, -(-len(held) // _ENOUGH))
    held, of_counts, of_sums = held[some], of_counts[some], of_sums[some]
    low, high = 0.0, span / 2
    if further(high) > FURTHER:
        return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if further(middle) > FURTHER else (low, middle)
    return high
