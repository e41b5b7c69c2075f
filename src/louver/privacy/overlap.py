"""Where boxes pile up highest: the largest total weight of boxes over one point, exactly.

Each column becomes an axis with one position for every range between two neighbouring edges, or for every group of
categories that always go together. A cell of this grid is halved again and again (Overmars and Yap 1991; Chan 2013). A
box that covers the cell is added to its base; one that is restricted along one axis only is added to that axis;
positions that no other box tells apart merge into the better one. A cell without other boxes is solved axis by axis, a
small one by a table of sums, and one whose upper bound is not above the best total found is left out. For n boxes over
d >= 3 columns this takes on the order of n^(d/2) steps at worst, and n log n for two.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver.errors import LouverError
from louver.privacy.ranges import Among, Between, Range, Value, check_same_kind
from louver.privacy.scope import Point, Scope

LARGEST_SEARCH = 200_000
# A table of sums costs about as much as one halving at this many positions; Python's own integers are slower.
TABLE, TABLE_OF_BIG_INTEGERS = 1 << 15, 1 << 11
# Categories become an axis while that cuts boxes into at most this many pieces on average.
PIECES_PER_BOX = 4
Ints: TypeAlias = "NDArray[np.int64]"
Weights: TypeAlias = "NDArray[Any]"


def heaviest_point(weights: dict[Scope, int], missing: bool) -> tuple[int, Point]:
    """The largest sum of weights of scopes that share a point, and that point; `missing` admits absent values too."""
    axes = _axes(weights, missing)
    total, positions = _largest(axes, weights)
    return total, {axis.column: axis.values[position] for axis, position in zip(axes, positions, strict=True)}


@dataclass(frozen=True, slots=True)
class _Axis:
    """One column as positions: a value for each, and for each range the runs of positions it takes."""

    column: str
    values: list[Value | None]
    runs: dict[Range, list[tuple[int, int]]]

    def runs_of(self, kept: Range | None) -> list[tuple[int, int]]:
        return [(0, len(self.values))] if kept is None else self.runs[kept]


def _axes(scopes: Iterable[Scope], missing: bool) -> list[_Axis]:
    columns: dict[str, dict[Range, None]] = {}
    for scope in scopes:
        for column, kept in scope.ranges:
            columns.setdefault(column, {})[kept] = None
    return [_axis(column, list(columns[column]), missing) for column in sorted(columns)]


def _axis(column: str, ranges: list[Range], missing: bool) -> _Axis:
    for kept in ranges:
        check_same_kind(column, ranges[0], kept)
    intervals = [kept for kept in ranges if isinstance(kept, Between)]
    return _interval_axis(column, intervals, missing) if intervals else _category_axis(column, ranges)


def _interval_axis(column: str, ranges: list[Between], missing: bool) -> _Axis:
    edges: list[Any] = sorted({edge for kept in ranges for edge in (kept.start, kept.end) if edge is not None})
    rank = {edge: position for position, edge in enumerate(edges, start=1)}
    runs: dict[Range, list[tuple[int, int]]] = {
        kept: [(0 if kept.start is None else rank[kept.start], len(edges) + 1 if kept.end is None else rank[kept.end])]
        for kept in ranges
    }
    return _Axis(column, [_just_before(edges[0]), *edges] + [None] * missing, runs)


def _just_before(edge: int | datetime) -> Value | None:
    if isinstance(edge, int):
        return edge - 1
    return edge - timedelta(microseconds=1) if edge.replace(tzinfo=None) > datetime.min else None  # noqa: DTZ901


def _category_axis(column: str, ranges: list[Range]) -> _Axis:
    """Categories in the same sets share a position; nested sets, larger ones first, take neighbouring positions."""
    sets = sorted(
        (kept for kept in ranges if isinstance(kept, Among)), key=lambda kept: (-len(kept.values), kept.order())
    )
    member_of: dict[Any, list[int]] = {}
    for number, kept in enumerate(sets):
        for value in kept.values:
            member_of.setdefault(value, []).append(number)
    groups: dict[tuple[int, ...], Any] = {}
    for value, numbers in member_of.items():
        key = tuple(numbers)
        groups[key] = min(groups.get(key, value), value)
    runs: dict[Range, list[tuple[int, int]]] = {kept: [] for kept in sets}
    values: list[Value | None] = []
    for position, key in enumerate(sorted(groups)):
        values.append(groups[key])
        for number in key:
            mine = runs[sets[number]]
            start = mine.pop()[0] if mine and mine[-1][1] == position else position
            mine.append((start, position + 1))
    return _Axis(column, [*values, None], runs)


def _largest(axes: list[_Axis], weights: dict[Scope, int]) -> tuple[int, list[int]]:
    """The largest total of weights of covering scopes over the positions, and the position on each axis."""
    scopes = [(dict(scope.ranges), weight) for scope, weight in weights.items() if weight]
    runs = [[axis.runs_of(ranges.get(axis.column)) for ranges, _ in scopes] for axis in axes]
    crowded = _crowded(runs)
    plain = [number for number in range(len(axes)) if number not in crowded]
    pieces = [
        [owner, *(edge for run in box for edge in run)]
        for owner in range(len(scopes))
        for box in product(*(runs[number][owner] for number in plain))
    ]
    table = np.array(pieces, dtype=np.int64).reshape(-1, 1 + 2 * len(plain))
    fits = sum(abs(weight) for _, weight in scopes) < 1 << 62
    weight = np.array([weight for _, weight in scopes], dtype=np.int64 if fits else object)
    sizes = [len(axes[number].values) for number in plain]
    cell = _Cell.grid(sizes, table[:, 1::2], table[:, 2::2], weight[table[:, 0]])
    members = [_members(runs[number], len(axes[number].values))[table[:, 0]] for number in crowded]
    search = _Search()
    search.over_atoms(cell, members, [])
    order = crowded + plain
    return search.total, [search.place[order.index(number)] for number in range(len(axes))]


def _crowded(runs: list[list[list[tuple[int, int]]]]) -> list[int]:
    """The axes whose ranges are in so many runs that going through their positions one by one is cheaper."""
    crowded, room = [], float(PIECES_PER_BOX)
    per_box = [sum(map(len, each)) / max(1, len(each)) for each in runs]
    for number in sorted(range(len(runs)), key=per_box.__getitem__):
        if per_box[number] > room:
            crowded.append(number)
        room /= max(1.0, per_box[number])
    return crowded


def _members(runs: list[list[tuple[int, int]]], size: int) -> NDArray[np.bool_]:
    members = np.zeros((len(runs), size), dtype=np.bool_)
    for row, its in zip(members, runs, strict=True):
        for start, end in its:
            row[start:end] = True
    return members


@dataclass(slots=True)
class _Cell:
    """A part of the grid: what is added everywhere and per axis, and the boxes still to be told apart."""

    base: int
    gains: list[Weights]
    places: list[Ints]
    low: Ints
    high: Ints
    weight: Weights

    @classmethod
    def grid(cls, sizes: list[int], low: Ints, high: Ints, weight: Weights) -> _Cell:
        gains = [np.zeros(size, dtype=weight.dtype) for size in sizes]
        return cls(0, gains, [np.arange(size) for size in sizes], low, high, weight)

    def restricted(self, boxes: NDArray[np.bool_]) -> _Cell:
        return _Cell(self.base, self.gains, self.places, self.low[boxes], self.high[boxes], self.weight[boxes])

    def settled(self) -> _Cell:
        """The same cell with every box that is restricted along at most one axis added for good."""
        sizes = np.array([len(gain) for gain in self.gains], dtype=np.int64)
        inner = (self.low > 0) | (self.high < sizes)
        axes_cut = inner.sum(axis=1)
        gains = list(self.gains)
        for axis in range(len(gains)):
            here = inner[:, axis] & (axes_cut == 1)
            gains[axis] = gains[axis] + _depth(
                self.low[here, axis], self.high[here, axis], self.weight[here], sizes[axis]
            )
        cell = _Cell(
            self.base + int(self.weight[axes_cut == 0].sum()), gains, self.places, self.low, self.high, self.weight
        )
        return cell.restricted(axes_cut > 1)._merged()

    def _merged(self) -> _Cell:
        """Positions that no box tells apart become one, the best of them."""
        gains, places, low, high = [], [], np.empty_like(self.low), np.empty_like(self.high)
        for axis, gain in enumerate(self.gains):
            edge = np.zeros(len(gain) + 1, dtype=np.bool_)
            edge[self.low[:, axis]] = edge[self.high[:, axis]] = edge[0] = edge[-1] = True
            starts, rank = np.flatnonzero(edge[:-1]), np.cumsum(edge) - 1
            low[:, axis], high[:, axis] = rank[self.low[:, axis]], rank[self.high[:, axis]]
            best = np.maximum.reduceat(gain, starts)
            reached = np.flatnonzero(gain == best[rank[:-1]])
            gains.append(best)
            places.append(self.places[axis][reached[np.searchsorted(reached, starts)]])
        return _Cell(self.base, gains, places, low, high, self.weight)

    def bound(self) -> int:
        """A total that no position exceeds; the largest itself where no box is left."""
        tops = [int(gain.max()) for gain in self.gains]
        total = self.base + sum(tops)
        if not len(self.weight):
            return total
        # Widening each box to a slab along one axis can only add to the total of the positive ones.
        widened = np.maximum(self.weight, 0)
        slabs = [
            int((gain + _depth(self.low[:, axis], self.high[:, axis], widened, len(gain))).max()) - tops[axis]
            for axis, gain in enumerate(self.gains)
        ]
        return total + min(slabs)

    def halves(self) -> list[_Cell]:
        """The cell cut in two at the middle edge of the axis that has the most edges."""
        edges = [np.concatenate((self.low[:, axis], self.high[:, axis])) for axis in range(len(self.gains))]
        edges = [each[(each > 0) & (each < len(gain))] for each, gain in zip(edges, self.gains, strict=True)]
        axis = max(range(len(edges)), key=lambda number: len(edges[number]))
        cut = int(np.partition(edges[axis], len(edges[axis]) // 2)[len(edges[axis]) // 2])
        return [self._part(axis, 0, cut).settled(), self._part(axis, cut, len(self.gains[axis])).settled()]

    def _part(self, axis: int, start: int, end: int) -> _Cell:
        part = self.restricted((self.low[:, axis] < end) & (self.high[:, axis] > start))
        part.low[:, axis] = np.maximum(part.low[:, axis], start) - start
        part.high[:, axis] = np.minimum(part.high[:, axis], end) - start
        part.gains, part.places = list(self.gains), list(self.places)
        part.gains[axis], part.places[axis] = self.gains[axis][start:end], self.places[axis][start:end]
        return part

    @property
    def is_small(self) -> bool:
        positions = math.prod(len(gain) for gain in self.gains)
        return positions <= (TABLE_OF_BIG_INTEGERS if self.weight.dtype == object else TABLE)

    def by_table(self) -> tuple[int, list[int]]:
        """The largest total by summing the boxes' corners over the whole cell."""
        shape = tuple(len(gain) for gain in self.gains)
        if not shape:
            return self.base, []
        sums = np.zeros([size + 1 for size in shape], dtype=self.weight.dtype)
        for corner in product((0, 1), repeat=len(shape)):
            at = tuple((self.high if end else self.low)[:, axis] for axis, end in enumerate(corner))
            np.add.at(sums, at, self.weight * (-1) ** sum(corner))
        for axis in range(len(shape)):
            sums = np.cumsum(sums, axis=axis)
        sums = sums[tuple(slice(size) for size in shape)]
        for axis, gain in enumerate(self.gains):
            sums = sums + gain.reshape([-1 if other == axis else 1 for other in range(len(shape))])
        best = [int(position) for position in np.unravel_index(int(sums.argmax()), shape)]
        return self.base + int(sums[tuple(best)]), [int(place[at]) for place, at in zip(self.places, best, strict=True)]


def _depth(low: Ints, high: Ints, weight: Weights, size: int) -> Weights:
    """What intervals add up to at each of `size` positions."""
    steps = np.zeros(size + 1, dtype=weight.dtype)
    np.add.at(steps, low, weight)
    np.subtract.at(steps, high, weight)
    return np.cumsum(steps)[:-1]


@dataclass(slots=True)
class _Search:
    """The best total so far, where it is, and how many cells were looked at."""

    total: int = 0
    place: list[int] = field(default_factory=list)
    found: bool = False
    cells: int = 0

    def _beaten_by(self, total: int) -> bool:
        return not self.found or total > self.total

    def over_atoms(self, cell: _Cell, members: list[NDArray[np.bool_]], chosen: list[int]) -> None:
        """Go through the positions of the crowded axes, the most promising first, then search what is left."""
        if not members:
            self._over_cells(cell.settled(), chosen)
            return
        first, *others = members
        positive = np.maximum(cell.weight, 0)
        tops = [int(positive[column].sum()) for column in first.T]
        for position in sorted(range(len(tops)), key=tops.__getitem__, reverse=True):
            if self._beaten_by(tops[position]):
                here = first[:, position]
                self.over_atoms(cell.restricted(here), [other[here] for other in others], [*chosen, position])

    def _over_cells(self, cell: _Cell, chosen: list[int]) -> None:
        stack = [(cell.bound(), cell)]
        while stack:
            bound, cell = stack.pop()
            if not self._beaten_by(bound):
                continue
            self.cells += 1
            if self.cells > LARGEST_SEARCH:
                raise LouverError("These charges overlap in too many ways to add up exactly; use fewer columns.")
            if cell.is_small:
                total, place = cell.by_table()
                if self._beaten_by(total):
                    self.total, self.place, self.found = total, chosen + place, True
            else:
                stack += sorted(((half.bound(), half) for half in cell.halves()), key=lambda found: found[0])
