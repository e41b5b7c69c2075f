"""Trips as a stream: taps on and off in, in any order within the lateness; each trip out once its end is known.

The taps of a person stand in the order of their times; at one instant taps off stand first, since whoever changes gets
off and on again. A tap on and the tap right after it, if that is off and comes within the longest duration, are a trip.
All other taps are unmatched: any duration would be invented. The result equals that of `TripsBatch` on the accepted
taps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from louver.sense.admitted import Admitted
from louver.sense.events import ACCEPTED, Tally
from louver.sense.formats.fields import OFF, ON
from louver.sense.intake import Intake
from louver.sense.places import Places
from louver.sense.presence import Rule, Whole, duration

LONGEST = timedelta(hours=4)
UNMATCHED = "unmatched"
_SIGNS = {OFF: "-", ON: "+"}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TripRows:
    """Who went from where to where, and when, ordered by end and person. Private: its text shows nothing of it.

    `origin` and `destination` are numbers of names in `regions`; times are microseconds UTC since 1970.
    """

    person: Whole
    origin: NDArray[np.int32]
    destination: NDArray[np.int32]
    start: Whole
    end: Whole
    regions: tuple[str, ...]

    @classmethod
    def ordered(
        cls,
        person: Whole,
        origin: NDArray[np.int32],
        destination: NDArray[np.int32],
        start: Whole,
        end: Whole,
        regions: tuple[str, ...],
    ) -> TripRows:
        order = np.lexsort((start, person, end))
        return cls(person[order], origin[order], destination[order], start[order], end[order], regions)

    def __len__(self) -> int:
        return len(self.end)

    def __repr__(self) -> str:
        return "<trips>"


def is_tap(events: Admitted) -> NDArray[np.bool_]:
    """Which events say on or off."""
    found: NDArray[np.bool_] = (events.value == ON) | (events.value == OFF)
    return found


class Journeys:
    """Pairs the taps of each person.

    >>> from louver.sense import Admitted
    >>> minute = 60_000_000
    >>> taps = Admitted.of([7, 7, 8], ["north", "south", "north"], [minute, 13 * minute, 2 * minute], [1.0, 0.0, 1.0])
    >>> journeys = Journeys(Rule(lateness=11 * minute), {"north": "north", "south": "south"})
    >>> journeys.add(taps).tolist()
    [True, True, True]
    >>> trips = journeys.finish()
    >>> (trips.end - trips.start).tolist() == [12 * minute], journeys.tally
    (True, Tally({'accepted': 2, 'unmatched': 1}))
    """

    def __init__(
        self,
        rule: Rule,
        regions: Mapping[str, str] | Places,
        longest: timedelta | int = LONGEST,
        *,
        by_clock: bool = False,
    ) -> None:
        self._longest = duration("The longest trip", longest)
        self._places = places = regions if isinstance(regions, Places) else Places(regions)
        # A tap off and a tap on at one stop and instant are two, so that on and off are places of their own here.
        named = list(zip(places.places, (places.regions[number] for number in places.region_of), strict=True))
        signed = Places({sign + place: sign + region for sign in _SIGNS.values() for place, region in named})
        self._intake = Intake(rule, signed, by_clock=by_clock)
        self._rule, self._regions = rule, signed.regions
        self._is_on = np.array([region.startswith(_SIGNS[ON]) for region in signed.regions])
        plain = {region: number for number, region in enumerate(places.regions)}
        self._plain = np.array([plain[region[1:]] for region in signed.regions], dtype=np.int32)
        self._open: tuple[Whole, NDArray[np.int32], Whole] = (
            np.empty(0, np.int64),
            np.empty(0, np.int32),
            np.empty(0, np.int64),
        )
        self._matched = self._unmatched = self._no_tap = 0

    @property
    def tally(self) -> Tally:
        """What became of the taps so far; those whose trip may still end are not in it."""
        counts = {**self._intake.tally.to_dict(), ACCEPTED: self._matched}
        return Tally(counts) + Tally({UNMATCHED: self._unmatched, "no value": self._no_tap})

    def add(self, events: Admitted, now: int | None = None) -> NDArray[np.bool_]:
        """Which of them were accepted; `now` is the clock against which a tap can be from the future."""
        taken = is_tap(events)
        self._no_tap += len(events) - int(taken.sum())
        taps = events[taken]
        places = [_SIGNS[value] + place for place, value in zip(taps.place, taps.value.tolist(), strict=True)]
        taken[taken] = self._intake.add(Admitted.of(taps.person, places, taps.time, taps.value), now)
        return taken

    def advance(self, to: int | None = None) -> TripRows:
        """Trips whose end is known. A clock moves the watermark on where no taps come."""
        if to is not None:
            self._intake.advance(to)
        return self._ended(self._intake.watermark)

    def finish(self) -> TripRows:
        """All that is left, as if nothing came any more; trips that did not end are unmatched."""
        end = self._intake.newest + self._longest + 1
        self._intake.advance(end + self._rule.lateness)
        return self._ended(end)

    def forget(self, person: int) -> None:
        """Drop what is held of one person."""
        self._intake.forget(person)
        kept = self._open[0] != person
        self._open = self._open[0][kept], self._open[1][kept], self._open[2][kept]

    def _ended(self, watermark: int) -> TripRows:
        taken = self._intake.take(watermark - 1)
        person, region = np.concatenate([self._open[0], taken[0]]), np.concatenate([self._open[1], taken[1]])
        time = np.concatenate([self._open[2], taken[2]])
        is_on = self._is_on[region]
        order = np.lexsort((region, is_on, time, person))
        person, region, time, is_on = person[order], region[order], time[order], is_on[order]
        follows = person[1:] == person[:-1]
        pairs = np.flatnonzero(follows & is_on[:-1] & ~is_on[1:] & (time[1:] - time[:-1] <= self._longest))
        is_open = is_on & np.append(~follows, np.ones(min(len(time), 1), dtype=np.bool_))
        is_open &= watermark - time <= self._longest
        self._open = person[is_open], region[is_open], time[is_open]
        self._matched += 2 * len(pairs)
        self._unmatched += len(time) - 2 * len(pairs) - int(is_open.sum())
        origin, destination = self._plain[region[pairs]], self._plain[region[pairs + 1]]
        times = time[pairs], time[pairs + 1]
        return TripRows.ordered(person[pairs], origin, destination, *times, self._places.regions)
