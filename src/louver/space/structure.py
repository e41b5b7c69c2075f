"""What all structures share: parameters that are checked, a price known before the data, and the nodes of a release."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np

from louver import parameters
from louver.errors import ParameterError
from louver.noise import Bits
from louver.noise.bits import SYSTEM
from louver.noise.laplace import LARGEST_RATE
from louver.privacy import Pure
from louver.space.field import Field, Floats, Integers
from louver.space.measure import Measured, Price, measure, rates
from louver.space.released import Map

HALF = Fraction(1, 2)
SIZING_SHARE = Fraction(1, 20)
LARGEST_CONSTANT = 10**6


class Structure(ABC):
    """One way to build a map. `count_share` of what a level pays goes to its counts, the rest to its sums; with 1 there
    are counts alone, of a field in which every reading has the value 1.

    With `centred`, sums are taken above the middle of the range: one reading then weighs half as much, and
    `sum > threshold * count` scatters less for every threshold above a quarter of the range.
    """

    kind: ClassVar[str]

    def __init__(self, epsilon: parameters.Number, count_share: parameters.Number, centred: bool) -> None:
        self.epsilon = parameters.within("epsilon", parameters.positive("epsilon", epsilon), 0, LARGEST_RATE)
        self.count_share = counted("count_share", count_share)
        self.centred = bool(centred)

    @property
    def price(self) -> Pure:
        """Of one reading, added or removed: it lies in one node of each level, and the levels' prices add up."""
        return Pure(self.epsilon)

    @property
    @abstractmethod
    def levels(self) -> tuple[Price, ...]:
        """The prices of the levels, from the top down, of a reading whose path goes all the way."""

    @abstractmethod
    def _grow(self, growth: Growth) -> None:
        """Adds the nodes, level by level."""

    def release(self, field: Field, *, bits: Bits = SYSTEM) -> Map:
        """The map of a field. This spends `price`."""
        if not isinstance(field, Field):
            raise ParameterError("A map is made of a Field; Field.of(x, y, value, bounds, high=...) makes one.")
        self.check(field)
        growth = Growth(field, self.centre(field), bits)
        self._grow(growth)
        return growth.map(self.kind, self.price)

    def check(self, field: Field) -> None:
        """Refuses noise that no sampler draws: now or never, for a level that is not reached tells nothing."""
        if self.count_share == 1 and field.span != 1:
            raise ParameterError("A map that spends all on counts is made of a field without values.")
        for price in self.levels:
            rates(field, price, self.centre(field))

    def centre(self, field: Field) -> int:
        """What sums are taken above, in steps above the lowest value."""
        return field.span // 2 if self.centred else 0

    def _split(self, epsilon: Fraction) -> Price:
        return Price.of(epsilon, self.count_share)


class Split(NamedTuple):
    """Nodes to be divided: where they are in the map, their rectangles, and into how many columns and rows each."""

    places: Integers
    rectangles: Integers
    shape: Integers


class Growth:
    """A map in the making."""

    def __init__(self, field: Field, centre: int, bits: Bits) -> None:
        self._field, self._centre, self._bits = field, centre, bits
        self._levels: list[tuple[Integers, Integers, Measured]] = []
        self._size = 0

    @property
    def whole(self) -> Integers:
        """The rectangle of everything."""
        return np.array([[0, 0, self._field.columns, self._field.rows]])

    @property
    def aspect(self) -> float:
        return self._field.bounds.aspect

    def look(self, rectangles: Integers, price: Price) -> Measured:
        return measure(self._field, rectangles, price, self._centre, self._bits)

    def weight(self, measured: Measured) -> Floats:
        """n + s/M, which sizes grids: counts plus sums in multiples of the largest value, and 0 where negative."""
        plain = measured.sums + self._centre * measured.counts
        return np.maximum(measured.counts + plain / self._field.span, 0.0)

    def add(
        self, rectangles: Integers, parents: Integers, measured: Measured, shape: Integers, left: Price | None
    ) -> Split:
        """Adds one level, and returns those of its nodes that are to be split into more than one cell.

        The others end here: what their children would have paid, `left`, buys a second look at themselves.
        """
        shape = np.minimum(shape, rectangles[:, 2:] - rectangles[:, :2])
        splits = shape.max(axis=1) > 1
        ending = np.flatnonzero(~splits)
        if left is not None and len(ending):
            joined = Measured(*(column[ending] for column in measured)).joined(self.look(rectangles[ending], left))
            for column, better in zip(measured, joined, strict=True):
                column[ending] = better
        self._levels.append((rectangles, parents, measured))
        self._size += len(rectangles)
        index = np.flatnonzero(splits)
        return Split(index + self._size - len(rectangles), rectangles[index], shape[index])

    def add_last(self, split: Split, price: Price) -> None:
        """The children of a split as the last level."""
        if len(split.places):
            cells, parents = divide(split)
            self.add(cells, parents, self.look(cells, price), np.ones((len(cells), 2), dtype=np.int64), None)

    def map(self, kind: str, price: Pure) -> Map:
        rectangles, parents, measured = zip(*self._levels, strict=True)
        counts, sums, *variances = (np.concatenate(column) for column in zip(*measured, strict=True))
        # To a millionth, as it will be stored, so that what is stored is what is used.
        noisy = Measured(np.round(counts, 6), np.round(sums, 6), *variances)
        return Map(
            kind,
            price,
            self._field.bounds,
            self._field.columns,
            self._field.rows,
            self._field.values,
            self._centre,
            np.concatenate(rectangles),
            np.concatenate(parents),
            noisy,
        )


class Sized(Structure):
    """A structure whose first grid is sized by the totals: public ones, or noisy ones, paid for by a share of epsilon.

    `readings` is a public number of readings, near enough for a size, and `mean_share` where in the range the mean
    value lies. Without `readings`, `SIZING_SHARE` of epsilon buys both, as a node above the grid.
    """

    def __init__(
        self,
        epsilon: parameters.Number,
        readings: int | None,
        mean_share: parameters.Number,
        count_share: parameters.Number,
        centred: bool,
    ) -> None:
        super().__init__(epsilon, count_share, centred)
        self.readings = None if readings is None else parameters.integer("readings", readings, 0, 2**40)
        self.mean_share = parameters.probability("mean_share", 1 if self.count_share == 1 else mean_share)

    @property
    def below(self) -> Fraction:
        """What is left for the grids once the totals are known."""
        return self.epsilon if self.readings is not None else (1 - SIZING_SHARE) * self.epsilon

    @property
    def _above(self) -> tuple[Price, ...]:
        return () if self.readings is not None else (self._split(SIZING_SHARE * self.epsilon),)

    def _begin(self, growth: Growth) -> Split:
        """Everything, to be divided into the first grid: by public totals, or by noisy ones that are paid for here."""
        whole, none = growth.whole, np.array([-1])
        if self.readings is not None:
            public = self._shape(growth, float(self.readings), float(self.readings * (1 + self.mean_share)))
            return Split(none, whole, np.minimum(public, whole[:, 2:]))
        seen = growth.look(whole, self._above[0])
        shape = self._shape(growth, max(float(seen.counts[0]), 0.0), float(growth.weight(seen)[0]))
        return growth.add(whole, none, seen, shape, self._split(self.below))

    def _shape(self, growth: Growth, readings: float, weight: float) -> Integers:
        """About side x side cells: more columns than rows where the bounds are wider than high."""
        side = self._side(readings, weight)
        return np.array([[max(1, rounded(side * growth.aspect**power)) for power in (0.5, -0.5)]])

    @abstractmethod
    def _side(self, readings: float, weight: float) -> float:
        """The side of the first grid, for a number of readings and n + s/M."""


def divide(split: Split) -> tuple[Integers, Integers]:
    """The cells of each rectangle, cut along the nearest lines of atoms, and the index of each cell's parent."""
    west, south, east, north = split.rectangles.T
    across, along = split.shape.T
    parent = np.repeat(np.arange(len(across)), across * along)
    number = np.arange(len(parent)) - np.repeat(np.cumsum(across * along) - across * along, across * along)
    column, row = number % across[parent], number // across[parent]
    sides = (
        _line(west, east, column, across, parent),
        _line(south, north, row, along, parent),
        _line(west, east, column + 1, across, parent),
        _line(south, north, row + 1, along, parent),
    )
    return np.stack(sides, axis=1), split.places[parent]


def square(sides: Floats) -> Integers:
    """As many columns as rows for each node: a shape."""
    whole = np.clip(sides, 1, 2**20).astype(np.int64)
    return np.stack((whole, whole), axis=1)


def share(name: str, value: object) -> Fraction:
    """A part of a whole that leaves something for the rest: above 0 and below 1."""
    exact = parameters.fraction(name, value)
    if not 0 < exact < 1:
        raise ParameterError(f"{name} must be between 0 and 1, and neither: both parts need something to spend.")
    return exact


def counted(name: str, value: object) -> Fraction:
    """The part of a price that goes to counts: above 0, and 1 where there are counts alone."""
    exact = parameters.fraction(name, value)
    return exact if exact == 1 else share(name, exact)


def constant(name: str, value: object) -> float:
    return float(parameters.within(name, parameters.positive(name, value), 0, LARGEST_CONSTANT))


def rounded(number: float) -> int:
    return math.floor(min(number, 2.0**20) + 0.5)


def _line(start: Integers, end: Integers, number: Integers, parts: Integers, parent: Integers) -> Integers:
    """The line of atoms nearest to start + (end - start) number / parts."""
    length = (end - start)[parent]
    return np.asarray(start[parent] + (2 * length * number + parts[parent]) // (2 * parts[parent]))
