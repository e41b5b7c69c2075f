"""Which cells are clearly above a threshold, which are clearly below it, and which may be either.

The promise, for each of the map's own cells by itself and wherever in it its readings lie: one whose average is at the
threshold or below is called above in at most `false_alarm_rate` of all maps, and one above is called below in at most
`miss_rate`, because the error of sum - threshold * count would have to be that large (`louver.space.evidence`). Between
the two is what noise leaves open, as slack does in a question. Cells whose count is not clearly above 0 are not known:
that would be to judge nobody's readings.

What it does not promise: that all cells are right together. Of 300 cells just below the threshold, 15 may be called
above at a rate of 1 in 20; a smaller rate says less, and more surely. Nor that the rates are those among cells that are
known: where counts are small, being known is luck, and luck of a count is bad luck of its average. Nor anything of the
cells of another grid, in which readings are taken to lie evenly: that is a best guess.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.privacy.rates import cases
from louver.space.evidence import Evidence, Quantity, densities, of_grid, of_leaves
from louver.space.field import Floats, Integers
from louver.space.recipient import Flags, surely
from louver.space.released import HOLES, Map

MISS_RATE = Fraction(1, 20)
CELLS = 50  # columns that are drawn where the map's own cells are too many
LARGEST_DENSITY = 10**15
MOST_OWN = CELLS * CELLS
WORDS = ("above", "maybe", "below", "unknown")


@dataclass(frozen=True, eq=False)
class Judged:
    """What is said of each cell for one threshold: it is above, below, either (maybe), or not known."""

    threshold: float
    known: Flags
    probabilities: Floats
    above: Flags
    below: Flags
    miss_rate: Fraction
    false_alarm_rate: Fraction
    are_own: bool = True

    @property
    def promise(self) -> str:
        """What holds of each cell by itself, if it is one of the map's own."""
        if not self.are_own:
            return "a best guess, because these are not the map's own cells, for which alone rates of error hold"
        # A float such as 0.05 is a hair more than 1 of 20.
        rates = (each.limit_denominator(10**9) for each in (self.false_alarm_rate, self.miss_rate))
        alarms, misses = map(cases, rates)
        return (
            f"a cell at {self.threshold:g} or below is called above in at most {alarms}, and one above is called below "
            f"in at most {misses}"
        )

    @property
    def maybe(self) -> Flags:
        return np.asarray(self.known & ~self.above & ~self.below)

    @property
    def words(self) -> NDArray[np.str_]:
        return np.select((self.above, self.maybe, self.below), WORDS[:3], default=WORDS[3])


@dataclass(frozen=True, eq=False)
class Numbers:
    """What a map says about some cells, and of which the count is clearly above 0.

    Of a map of counts alone it is how dense readings are, and all cells are known.
    """

    released: Map
    counts: Floats
    evidence: Evidence
    quantity: Quantity
    known: Flags

    @classmethod
    def of_leaves(cls, released: Map, *, sure: parameters.Number = 3) -> Numbers:
        """Of the map's own cells, one after the other."""
        bounds, evidence = released.bounds, of_leaves(released)
        sides = released.rectangles[released.tree.leaves].T
        west, east = (bounds.west + side * (bounds.east - bounds.west) / released.columns for side in sides[::2])
        south, north = (bounds.south + side * (bounds.north - bounds.south) / released.rows for side in sides[1::2])
        sizes = bounds.sizes(west, south, east, north)
        known = np.isin(released.tree.leaves, released.occupied(surely(sure))) & (evidence.counts > 0)
        return Numbers(released, evidence.counts, *_shown(released, evidence, np.asarray(known), sizes))

    @property
    def are_own(self) -> bool:
        """Whether these are the map's own cells, for which alone rates hold."""
        return True

    @property
    def averages(self) -> Floats:
        """NaN where they are not known."""
        return np.where(self.known, self.evidence.averages(self.quantity), np.nan)

    @property
    def errors(self) -> Floats:
        return np.where(self.known, self.evidence.errors(self.quantity), np.nan)

    def judge(
        self,
        threshold: parameters.Number,
        *,
        miss_rate: parameters.Number = MISS_RATE,
        false_alarm_rate: parameters.Number | None = None,
    ) -> Judged:
        """The false-alarm rate is as the miss rate unless given."""
        missed = alarmed = parameters.error_rate("miss_rate", miss_rate)
        if false_alarm_rate is not None:
            alarmed = parameters.error_rate("false_alarm_rate", false_alarm_rate)
        level = self.released.in_steps
        if self.released.alone:
            level = _density
        steps = level(threshold)
        believed, tail = self.evidence.probability(steps), self.evidence.tail(steps)
        above = self.known & (believed > 0.5) & (tail <= float(_cautious(alarmed)))
        below = self.known & (believed <= 0.5) & (tail <= float(_cautious(missed)))
        return Judged(float(threshold), self.known, believed, above, below, missed, alarmed, self.are_own)


@dataclass(frozen=True, eq=False)
class Sheet(Numbers):
    """The cells between lines of atoms, rows from south to north.

    `own` is the number of the leaf that each cell lies in; None where the cells are those of another grid.
    """

    across: Floats
    along: Floats
    own: Integers | None

    @classmethod
    def of(
        cls, released: Map, columns: int | None = None, rows: int | None = None, *, sure: parameters.Number = 3
    ) -> Sheet:
        """Of so many columns and rows; without any, the map's own cells, or 50 columns where these are too many."""
        lines = own_lines(released) if columns is None else None
        if lines is None:
            chosen = min(CELLS, released.columns) if columns is None else columns
            edges = released.edges(chosen, rows_for(released, chosen) if rows is None else rows)
            nodes = released.tree.leaves if released.alone else released.occupied(surely(sure))
            evidence = of_grid(released, nodes, *edges)
            shown = _shown(released, evidence, np.asarray(evidence.counts > 0), _sizes(released, *edges))
            return cls(released, evidence.counts, *shown, *edges, None)
        own, leaves = _owners(released, *lines), Numbers.of_leaves(released, sure=sure)
        evidence = Evidence(*(each[own] for each in leaves.evidence))
        across, along = (line.astype(np.float64) for line in lines)
        return cls(released, leaves.counts[own], evidence, leaves.quantity, leaves.known[own], across, along, own)

    @property
    def are_own(self) -> bool:
        return self.own is not None

    @property
    def areas(self) -> Floats:
        """The part of the whole that each cell is."""
        sizes = _sizes(self.released, self.across, self.along)
        return np.asarray(sizes / sizes.sum())


def judge(
    released: Map,
    threshold: parameters.Number,
    columns: int | None = None,
    rows: int | None = None,
    *,
    miss_rate: parameters.Number = MISS_RATE,
    false_alarm_rate: parameters.Number | None = None,
    sure: parameters.Number = 3,
) -> Judged:
    """What is clearly above a threshold, and what may be, for the cells of a `Sheet`."""
    sheet = Sheet.of(released, columns, rows, sure=sure)
    return sheet.judge(threshold, miss_rate=miss_rate, false_alarm_rate=false_alarm_rate)


def _shown(released: Map, found: Evidence, known: Flags, sizes: Floats) -> tuple[Evidence, Quantity, Flags]:
    """Averages; of counts alone how dense they are, which is known everywhere, also where it is 0."""
    if not released.alone:
        return found, Quantity.of_values(released), known
    return *densities(released, found, sizes), np.ones_like(known)


def _cautious(rate: Fraction) -> Fraction:
    """The law of `Evidence.tail` is safe from 1 in 20 on, and errs by a fifth of a rate at most below that: found
    from the exact tails of two to five Laplace variables, and of noise in whole steps.
    """
    return rate if rate >= Fraction(1, 20) else rate * Fraction(4, 5)


def _density(threshold: parameters.Number) -> float:
    return float(parameters.within("The threshold", threshold, 0, LARGEST_DENSITY))


def _sizes(released: Map, across: Floats, along: Floats) -> Floats:
    return released.bounds.cells(across / released.columns, along / released.rows)


def own_lines(released: Map) -> tuple[Integers, Integers] | None:
    """The lines between a map's own cells, so that each cell between them lies in one leaf; None where too many."""
    west, south, east, north = released.rectangles[released.tree.leaves].T
    across, along = np.union1d(west, east), np.union1d(south, north)
    return (across, along) if (len(across) - 1) * (len(along) - 1) <= MOST_OWN else None


def rows_for(released: Map, columns: int) -> int:
    """As many rows as make cells about as high as wide."""
    across = parameters.integer("The number of columns", columns, 1, released.columns)
    return min(max(1, round(across / released.bounds.aspect)), released.rows)


def _owners(released: Map, across: Integers, along: Integers) -> Integers:
    owners = np.full((len(along) - 1, len(across) - 1), -1, dtype=np.int64)
    rectangles = released.rectangles[released.tree.leaves]
    columns, rows = (np.searchsorted(lines, rectangles[:, side::2]) for side, lines in ((0, across), (1, along)))
    for leaf, ((west, east), (south, north)) in enumerate(zip(columns.tolist(), rows.tolist(), strict=True)):
        owners[south:north, west:east] = leaf
    if (owners < 0).any():
        raise ParameterError(HOLES)
    return owners
