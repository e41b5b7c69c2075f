"""The rule from events to presence: who is where from when to when.

An event at t makes its person present in its region from t until the person's next event, and for the validity at
most: in [t, min(t + validity, next)). Intervals of one region that touch are one presence. So at any instant a person
is where the last event in (t - validity, t] was, in one region at most. Of several events of a person at one instant
the one in the last region by name counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError

if TYPE_CHECKING:
    from louver.privacy import Unit
    from louver.source import Table

MICROSECOND = timedelta(microseconds=1)
DAY = timedelta(days=1) // MICROSECOND
LONGEST = 3660 * DAY
MINUTE = timedelta(minutes=1) // MICROSECOND
HOUR = timedelta(hours=1) // MICROSECOND

Whole = NDArray[np.int64]


def duration(name: str, given: object, smallest: int = 1) -> int:
    """Whole microseconds of a `timedelta`; whole numbers are taken as they are. Ten years at most."""
    exact = given // MICROSECOND if isinstance(given, timedelta) else given
    if not isinstance(exact, int) or isinstance(exact, bool):
        raise ParameterError(f"{name} is a timedelta, or a whole number of microseconds.")
    if not smallest <= exact <= LONGEST:
        least = {0: "0 or more", 1: "above 0"}.get(smallest, f"{timedelta(microseconds=smallest)} or more")
        raise ParameterError(f"{name} must be {least}, and ten years at most.")
    return exact


@dataclass(frozen=True, slots=True, init=False)
class Rule:
    """How long an event counts, how far apart slots are, and what comes too late or too early; in microseconds.

    `validity` is how long an event says where its person is. Occupancy is taken every `slot`, at the whole multiples
    of it since midnight UTC. An event may come up to `lateness` after newer ones, and be up to `skew` ahead of the
    clock.

    >>> from datetime import timedelta
    >>> Rule(slot=timedelta(minutes=15)).slot
    900000000
    """

    validity: int
    slot: int
    lateness: int
    skew: int

    def __init__(
        self,
        validity: timedelta | int = 10 * MINUTE,
        slot: timedelta | int = 5 * MINUTE,
        lateness: timedelta | int = MINUTE,
        skew: timedelta | int = MINUTE,
    ) -> None:
        object.__setattr__(self, "validity", duration("The validity of an event", validity))
        object.__setattr__(self, "slot", duration("A slot", slot))
        object.__setattr__(self, "lateness", duration("The lateness", lateness, smallest=0))
        object.__setattr__(self, "skew", duration("The skew", skew, smallest=0))
        if DAY % self.slot:
            raise ParameterError("A slot must divide a day, as 5 minutes do, so that each day has the same ones.")

    def needed_from(self, slot: int) -> int:
        """From when on a stream that goes on with this slot needs events: a validity before presence was last cut."""
        return last_hour(slot - self.slot) - self.validity


def last_hour(time: int) -> int:
    """The whole hour at or before a time, at which presence that goes on is cut to be stored."""
    return time // HOUR * HOUR


def ends(person: Whole, time: Whole, validity: int) -> Whole:
    """When each event stops counting; events are ordered by person, time and region."""
    until = time + validity
    if len(time) > 1:
        follows = person[1:] == person[:-1]
        until[:-1] = np.where(follows, np.minimum(until[:-1], time[1:]), until[:-1])
    return until


def stays(person: Whole, region: NDArray[np.int32], time: Whole, until: Whole) -> tuple[Whole, Whole]:
    """The first and the last event of each presence; events are in the order of `ends`, and each lasts for a while."""
    if not len(time):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    begins = np.append(True, (person[1:] != person[:-1]) | (region[1:] != region[:-1]) | (time[1:] > until[:-1]))
    first = np.flatnonzero(begins)
    return first, np.append(first[1:], len(time)) - 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Presence:
    """Who was where from when to when, ordered by person and start. Private: its text shows nothing of it.

    `region` are numbers of names in `regions`; times are microseconds UTC since 1970, `end` not included.
    """

    person: Whole
    region: NDArray[np.int32]
    start: Whole
    end: Whole
    regions: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.start)

    def names(self) -> NDArray[np.object_]:
        """The region of each row by its name."""
        return np.array(self.regions, dtype=object)[self.region]

    def within(self, begin: int, end: int) -> Presence:
        """What of it lies in [begin, end); pieces of one stay, which touch, are one again."""
        start, until = np.maximum(self.start, begin), np.minimum(self.end, end)
        kept = until > start
        order = np.flatnonzero(kept)[np.lexsort((start[kept], self.person[kept]))]
        person, region, start, until = self.person[order], self.region[order], start[order], until[order]
        first, last = stays(person, region, start, until)
        return Presence(person[first], region[first], start[first], until[last], self.regions)

    def table(
        self, *, dataset: str, unit: Unit | None = None, timezone: str = "UTC", name: str | None = "presence"
    ) -> Table:
        """The rows for a steward: person, region, start, end, day and minutes; protected is (person, day) unless said.

        What lasts over midnight in this time zone is a row for each day, so that all of a row is on its day.
        """
        from louver.sense.presence_table import table

        return table(self, dataset, unit, timezone, name)

    def __repr__(self) -> str:
        return "<presence>"
