"""Rows of readings, (unit, slot, region, value): one for each unit and slot, whatever a meter says in between.

Somebody's meter may send once an hour or once a second. A row of each reading would let one unit weigh as much as it
sends, so the readings of a unit in one slot become one value, within bounds that were stated beforehand: then one unit
of a slot adds at most the larger bound to a sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.sense.presence import Whole
from louver.sense.rows import Rows
from louver.source.names import instead_of

LAST, MEAN, SUM, MAX = "last", "mean", "sum", "max"
WAYS = (MEAN, SUM, MAX, LAST)
LARGEST = 2.0**53  # beyond it a float cannot tell whole numbers apart


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReadingRows(Rows):
    """What was read of whom in which slot, ordered by slot and unit. Private: its text shows nothing of it.

    `person` is the unit's pseudonym. `position` is x and y of the last reading, where the feed has positions.
    """

    value: NDArray[np.float64]
    position: NDArray[np.float64] | None = None

    @classmethod
    def ordered(
        cls, person: Any, slot: Any, region: Any, regions: tuple[str, ...], value: Any = (), position: Any = None
    ) -> ReadingRows:
        order = np.lexsort((region, person, slot))
        people, slots, numbers, values = (np.asarray(each)[order] for each in (person, slot, region, value))
        return cls(
            people.astype(np.int64),
            slots.astype(np.int64),
            numbers.astype(np.int32),
            regions,
            values.astype(np.float64),
            None if position is None else position[order],
        )

    def at(self, slot: int) -> ReadingRows:
        """The rows of one slot."""
        first, end = np.searchsorted(self.slot, [slot, slot + 1])
        return ReadingRows(
            self.person[first:end],
            self.slot[first:end],
            self.region[first:end],
            self.regions,
            self.value[first:end],
            None if self.position is None else self.position[first:end],
        )

    def __repr__(self) -> str:
        return "<rows of readings>"


def values_of(rows: Rows) -> NDArray[np.float64]:
    """The value of each row; NaN for rows that have none, as those of occupancy."""
    return rows.value if isinstance(rows, ReadingRows) else np.full(len(rows), np.nan)


def rows_of(person: Any, slot: Any, region: Any, regions: tuple[str, ...], value: NDArray[np.float64]) -> Rows:
    """Rows as a store has them: of readings where they have values."""
    if not len(value) or np.isnan(value).any():
        return Rows.ordered(person, slot, region, regions)
    return ReadingRows.ordered(person, slot, region, regions, value)


@dataclass(frozen=True, slots=True)
class Combining:
    """How the readings of a unit in one slot become one value, and between which bounds it lies.

    `mean` is right for what is there at an instant (power, temperature), `sum` for what adds up (energy since the last
    reading), `max` for peaks, and `last` for what replaces what was said before. Of a unit that reads in several
    regions within a slot, the readings in the region of the last one count. With `by_region` a region is the unit, and
    all sensors in it are one.

    >>> Combining("mean", 0, 10)
    Combining(way='mean', lower=0.0, upper=10.0, by_region=False)
    """

    way: str
    lower: float
    upper: float
    by_region: bool = False

    def __post_init__(self) -> None:
        if self.way not in WAYS:
            raise ParameterError(f"Readings cannot be combined by {self.way!r}{instead_of(self.way, WAYS)}.")
        for name in ("lower", "upper"):
            exact = parameters.fraction(f"The {name} bound of readings", getattr(self, name))
            if abs(exact) > LARGEST:
                raise ParameterError(f"The {name} bound of readings must be within 2^53 of 0.")
            object.__setattr__(self, name, float(exact))
        if self.lower >= self.upper:
            raise ParameterError("The lower bound of readings must be below the upper one.")

    def rows(
        self,
        columns: tuple[Whole, NDArray[np.int32], Whole, NDArray[np.float64]],
        region_of: NDArray[np.int32],
        slot: int,
        regions: tuple[str, ...],
        position: NDArray[np.float64] | None = None,
    ) -> ReadingRows:
        """Rows of readings, given as unit, number of the place, time and value, each (unit, place, time) once."""
        unit, place, time, value = columns
        region = region_of[place]
        if self.by_region:
            unit = region.astype(np.int64)
        slots = time // slot
        order = np.lexsort((place, region, time, unit, slots))
        unit, region, value, slots = unit[order], region[order], value[order], slots[order]
        begins = np.ones(len(order), dtype=np.bool_)
        begins[1:] = (unit[1:] != unit[:-1]) | (slots[1:] != slots[:-1])
        starts = np.flatnonzero(begins)
        sizes = np.diff(np.append(starts, len(order)))
        last = starts + sizes - 1
        there = region == np.repeat(region[last], sizes)
        made = self._values(value, starts, there)
        kept = None if position is None else position[order][last]
        clamped = np.clip(made, self.lower, self.upper)
        return ReadingRows.ordered(unit[last], slots[last] * slot, region[last], regions, clamped, kept)

    def _values(self, value: NDArray[np.float64], starts: Whole, there: NDArray[np.bool_]) -> NDArray[np.float64]:
        """One value for each part that begins at a start, of the readings that are `there`."""
        if not len(starts):
            return value
        if self.way == LAST:
            latest: NDArray[np.float64] = value[np.append(starts[1:], len(value)) - 1]
            return latest
        if self.way == MAX:
            largest: NDArray[np.float64] = np.maximum.reduceat(np.where(there, value, -np.inf), starts)
            return largest
        total: NDArray[np.float64] = np.add.reduceat(np.where(there, value, 0.0), starts)
        sizes: NDArray[np.float64] = np.add.reduceat(there.astype(np.float64), starts)
        return total if self.way == SUM else total / sizes
