"""The truth behind a study: who was where, as true counts by day, tick and region.

Only the owner of the data can open it, because it is made from raw events or presences. A mechanism releases from it,
and it scores what an attacker found; no attacker is handed one. It shows nothing of itself where it is printed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver import parameters
from louver.attack.prior import presences
from louver.errors import DataError, ParameterError
from louver.sense.presence import DAY, MICROSECOND, MINUTE, Rule
from louver.sense.ttl import Sightings

if TYPE_CHECKING:
    from pathlib import Path

    from louver.sense.building import Building
    from louver.sense.simulate.simulated import Simulated

Whole = NDArray[np.int64]
TICK_MINUTES = 10
MOST_DAYS = 3660
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, eq=False, repr=False)
class Truth:
    """`counts` are (days, ticks, regions); days begin at midnight of `first` and are 24 hours long.

    Who is counted is whatever events have as a device. Rotating pseudonyms can only be counted where there are events.

    >>> truth = Truth.of_presences([0, 1, 0], [1, 1, 0], [0, 0, 3], regions=["hall", "lab"], ticks=2, days=2)
    >>> truth, truth.counts.tolist()
    (<truth of 2 days, 2 ticks a day, 2 regions>, [[[0, 2], [0, 0]], [[0, 0], [1, 0]]])
    """

    counts: Whole
    regions: tuple[str, ...]
    first: date
    building: Building | None = None
    _sightings: Sightings | None = field(default=None)
    _begin: int = 0

    @classmethod
    def of_presences(
        cls,
        person: ArrayLike,
        region: ArrayLike,
        tick: ArrayLike,
        *,
        regions: Iterable[str],
        ticks: int,
        days: int,
        first: date = date(1970, 1, 1),
    ) -> Truth:
        """From rows (person, number of the region, tick since the first midnight); nobody is in two regions at once."""
        names, who, at = tuple(regions), np.asarray(person), np.asarray(tick)
        shape = (parameters.integer("days", days, 1, MOST_DAYS), parameters.integer("ticks", ticks, 1, 24 * 3600))
        where = np.asarray(region)
        counts = presences((shape[0] * shape[1], len(names)), at, where)
        if who.shape != at.shape or len(np.unique(np.stack([who, at]), axis=1).T) < len(at):
            raise ParameterError("A presence is a person, a region and a tick, and nobody is there twice at one tick.")
        return cls(counts.reshape(*shape, len(names)), names, first)

    @classmethod
    def of_events(
        cls,
        device: ArrayLike,
        region: ArrayLike,
        time: ArrayLike,
        *,
        regions: Iterable[str],
        first: date,
        days: int,
        timezone: str = "UTC",
        minutes: int = TICK_MINUTES,
        building: Building | None = None,
    ) -> Truth:
        """From events (number of the device, number of the region, microseconds UTC since 1970).

        A device is where its last event was, for ten minutes at most, and is looked for every so many `minutes`.
        """
        names = tuple(regions)
        if DAY % (parameters.integer("minutes", minutes, 1, 24 * 60) * MINUTE):
            raise ParameterError("A day must be a whole number of ticks.")
        long, ticks = parameters.integer("days", days, 1, MOST_DAYS), DAY // (minutes * MINUTE)
        midnight = datetime(first.year, first.month, first.day, tzinfo=ZoneInfo(timezone))
        begin = (midnight - _EPOCH) // MICROSECOND
        seen = Sightings(device, region, time, regions=len(names), rule=Rule(slot=timedelta(minutes=minutes)))
        counts = seen.counts(begin, long * ticks).reshape(long, ticks, len(names))
        return cls(counts, names, first, building, seen, begin)

    @classmethod
    def simulated(cls, made: Simulated, minutes: int = TICK_MINUTES) -> Truth:
        """Of a simulated building, from its events."""
        from louver.attack.truth_files import of_simulated

        return of_simulated(made, minutes)

    @classmethod
    def read(cls, building: str | Path, events: str | Path | None = None, days: int | None = None) -> Truth:
        """Of a building: `building.toml`, and a file of events, which is beside it unless given."""
        from louver.attack.truth_files import read

        return read(building, events, days)

    @property
    def days(self) -> int:
        return len(self.counts)

    @property
    def ticks(self) -> int:
        return int(self.counts.shape[1])

    @property
    def has_events(self) -> bool:
        return self._sightings is not None

    @property
    def weekdays(self) -> Whole:
        """Of each day, Monday 0."""
        return (np.arange(self.days) + self.first.weekday()) % 7

    def pseudonyms(self, seconds: parameters.Number, *, per_device: bool = False) -> Whole:
        """The counts of pseudonyms that live so long: (days, ticks, regions)."""
        if self._sightings is None:
            raise DataError(
                "Rotating pseudonyms need events; presences at ticks do not say how often a device is heard."
            )
        lives = timedelta(microseconds=round(float(parameters.positive("seconds", seconds)) * 1_000_000))
        found = self._sightings.counts(self._begin, self.days * self.ticks, lives, per_device=per_device)
        return found.reshape(self.counts.shape)

    def last(self, days: int) -> Truth:
        """The same without the days before the last so many."""
        kept = parameters.integer("days", days, 1, self.days)
        gone = self.days - kept
        begin = self._begin + gone * DAY
        first = self.first + timedelta(days=gone)
        return Truth(self.counts[gone:], self.regions, first, self.building, self._sightings, begin)

    def __repr__(self) -> str:
        return f"<truth of {self.days:,} days, {self.ticks:,} ticks a day, {len(self.regions):,} regions>"
