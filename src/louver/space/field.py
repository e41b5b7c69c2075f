"""Readings as two whole numbers for each fine cell: how many there are, and the sum of their values in whole steps.

The fine cells, called atoms, are a public grid over public bounds. Every map is built from these two arrays, and its
cuts lie on lines between atoms, so that an engine can make them with one GROUP BY.

What is done to a reading depends on that reading alone: its value is clamped to the declared range and rounded to a
step; a reading without a position or a value (NaN) is left out, as is one outside the bounds, unless `outside="clamp"`
moves it to the nearest edge. So one reading more or less changes one atom: its count by 1, its sum by at most `span`.
Where readings are positions alone, each has the value 1, so that sums are counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise.grid import Grid
from louver.space.bounds import Bounds

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

ATOMS = 1024
MOST_ATOMS = 1 << 12
MOST_STEPS = 1 << 24
ALONE = Grid(0, 1, 1)  # the values of readings that are positions alone
OUTSIDE = ("drop", "clamp")
_DEFAULT_STEPS = 1 << 10
_CHUNK = 1 << 20  # sums of so many readings stay below 2^53, where the floats that numpy adds up are exact


class Field:
    """Counts and sums of values for each atom, rows from south to north. It holds private numbers and shows none.

    `sums` are steps above the lowest value: of a reading v, floor(v / step + 1/2) less that of `low`.

    >>> field = Field.of([1.0, 9.0, 50.0], [1.0, 9.0, 50.0], [20.0, 80.0, 99.0], (0, 0, 10, 10), high=100, atoms=2)
    >>> field.counts.tolist()
    [[1, 0], [0, 1]]
    >>> field.span, field.sums.tolist()
    (1600, [[320, 0], [0, 1280]])
    """

    def __init__(
        self, counts: NDArray[Any], sums: NDArray[Any], bounds: Bounds | Sequence[parameters.Number], values: Grid
    ) -> None:
        self.bounds = Bounds.of(bounds)
        self.values = _checked(values)
        self.counts, self.sums = _array("The counts", counts), _array("The sums", sums)
        if self.counts.shape != self.sums.shape:
            raise ParameterError("The counts and the sums must have one number for each atom.")
        self._corners: tuple[Integers, Integers] | None = None

    @classmethod
    def of(
        cls,
        x: ArrayLike,
        y: ArrayLike,
        value: ArrayLike | None,
        bounds: Bounds | Sequence[parameters.Number],
        *,
        high: parameters.Number | None = None,
        low: parameters.Number = 0,
        step: parameters.Number | None = None,
        atoms: int = ATOMS,
        outside: str = "drop",
    ) -> Field:
        """The field of readings at (x, y); with degrees, x is the longitude and y the latitude.

        `step` is a power of two; by default there are 1,024 to 2,047 steps from `low` to `high`. Without a value and a
        range the field has counts alone.
        """
        area = Bounds.of(bounds)
        side = parameters.integer("The number of atoms along a side", atoms, 1, MOST_ATOMS)
        if (value is None) != (high is None):
            raise ParameterError("A field has values and the highest of them, or neither, and then counts alone.")
        values = ALONE if high is None else scale(low, high, step)
        checked_outside(outside)
        if value is None:
            value = np.ones(np.shape(x)[:1])
        columns = [_numbers(name, given) for name, given in (("x", x), ("y", y), ("value", value))]
        if len({len(column) for column in columns}) > 1:
            raise ParameterError("x, y and value must have the same length.")
        binned = (
            _binned([column[start : start + _CHUNK] for column in columns], area, values, side, outside)
            for start in range(0, max(len(columns[0]), 1), _CHUNK)
        )
        # The first arrays are kept: adding them to zeros would take longer than binning 50,000 readings.
        counts, sums = next(binned)
        for more_counts, more_sums in binned:
            counts += more_counts
            sums += more_sums
        return cls(counts.reshape(side, side), sums.reshape(side, side), area, values)

    @property
    def columns(self) -> int:
        return int(self.counts.shape[1])

    @property
    def rows(self) -> int:
        return int(self.counts.shape[0])

    @property
    def span(self) -> int:
        """The most that one reading adds to a sum: the steps from the lowest value to the highest."""
        return self.values.highest - self.values.lowest

    def totals(self, rectangles: Integers) -> tuple[Integers, Integers]:
        """The count and the sum in each rectangle (west, south, east, north) of atoms: exact, and private."""
        if self._corners is None:
            self._corners = _corners(self.counts), _corners(self.sums)
        west, south, east, north = rectangles.T
        counts, sums = (
            table[north, east] - table[south, east] - table[north, west] + table[south, west] for table in self._corners
        )
        return counts, sums

    def __repr__(self) -> str:
        return f"<a field of {self.columns} x {self.rows} atoms>"


def checked_outside(outside: object) -> str:
    if not isinstance(outside, str) or outside not in OUTSIDE:
        raise ParameterError("Readings outside the bounds are dropped or clamped: outside is 'drop' or 'clamp'.")
    return outside


def scale(low: parameters.Number, high: parameters.Number, step: parameters.Number | None = None) -> Grid:
    """The steps of the values from `low` to `high`."""
    bottom, top = parameters.fraction("The lowest value", low), parameters.fraction("The highest value", high)
    if bottom >= top:
        raise ParameterError("The highest value must be above the lowest value.")
    if step is None:
        step = Fraction(2) ** math.floor(math.log2((top - bottom) / _DEFAULT_STEPS))
    return _checked(Grid(bottom, top, step))


def _checked(values: Grid) -> Grid:
    if not 1 <= values.highest - values.lowest <= MOST_STEPS:
        raise ParameterError("From the lowest to the highest value there must be 1 to 2**24 steps.")
    return values


def _binned(columns: list[Floats], bounds: Bounds, values: Grid, side: int, outside: str) -> tuple[Integers, Integers]:
    """Counts and sums of the atoms, one long row of them."""
    x, y, value = columns
    kept = ~(np.isnan(x) | np.isnan(y) | np.isnan(value))
    if outside == "drop":
        kept &= (x >= bounds.west) & (x <= bounds.east) & (y >= bounds.south) & (y <= bounds.north)
    if not kept.all():
        x, y, value = x[kept], y[kept], value[kept]
    south_to_north, west_to_east = bounds.bands("y", "x", side)
    atom = south_to_north.positions(y) * side + west_to_east.positions(x)
    steps = values.quantise(value) - values.lowest
    sums = np.bincount(atom, weights=steps, minlength=side * side)
    return np.bincount(atom, minlength=side * side), sums.astype(np.int64)


def _corners(atoms: Integers) -> Integers:
    """Sums of everything south-west of each corner; where they pass 2^63 they wrap, and their differences do not."""
    corners = np.zeros((atoms.shape[0] + 1, atoms.shape[1] + 1), dtype=np.int64)
    np.cumsum(atoms, axis=1, out=corners[1:, 1:])
    for row in range(1, len(corners)):  # six times as fast as numpy's sum down the columns
        corners[row] += corners[row - 1]
    return corners


def _numbers(name: str, given: ArrayLike) -> Floats:
    try:
        array = np.asarray(given)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.ndim != 1 or (array.dtype.kind not in "biuf" and array.size) or array.dtype == object:
        raise ParameterError(f"{name} must be one array of numbers; convert what it is made of to floats.")
    return array.astype(np.float64, copy=False)


def _array(name: str, given: object) -> Integers:
    array = np.asarray(given)
    if array.ndim != 2 or array.dtype.kind != "i" or not all(1 <= side <= MOST_ATOMS for side in array.shape):
        raise ParameterError(f"{name} must be rows and columns of signed whole numbers, at most {MOST_ATOMS} of each.")
    return array.astype(np.int64, copy=False)
