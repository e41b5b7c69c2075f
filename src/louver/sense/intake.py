"""What a stream does with each event as it arrives: take it, or say why not.

The watermark is the largest time seen less the lateness; a clock can move it on. With `by_clock` only a clock moves it:
then no person's events decide whether those of another are late, and one person changes that person's rows only. A live
feed of real people needs that; the other way is for replays. In this order, an event is

- faulty where its place is not known or its time is out of range,
- from the future where its time is beyond the clock by more than the skew,
- late where its time is behind the watermark at its arrival,
- a duplicate where the same person, place and time were taken before,
- and accepted otherwise.

Only accepted events have an effect. What is behind the watermark cannot change any more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver.sense.admitted import Admitted
from louver.sense.events import ACCEPTED, DUPLICATE, FUTURE, LATE, LATEST, Tally
from louver.sense.places import UNKNOWN, Places
from louver.sense.presence import Rule, Whole

_OUTCOMES = (ACCEPTED, DUPLICATE, LATE, FUTURE, "unknown place", "time out of range")
_ACCEPTED, _DUPLICATE, _LATE, _FUTURE, _UNKNOWN, _OUT = range(len(_OUTCOMES))
CHUNK = 1 << 16


class Intake:
    """Takes events in any order; gives those back that are final."""

    def __init__(self, rule: Rule, places: Places, *, by_clock: bool = False) -> None:
        self._rule, self._places, self._by_clock = rule, places, by_clock
        self.tally = Tally()
        self.watermark = -1
        self.newest = -1
        self._person: list[Whole] = []
        self._region: list[NDArray[np.int32]] = []
        self._time: list[Whole] = []
        self._seen: set[tuple[int, int, int]] = set()
        self._seen_limit = 4 * CHUNK

    def add(self, events: Admitted, now: int | None = None) -> NDArray[np.bool_]:
        """Which of them were accepted. Without a clock no event is from the future."""
        taken = np.zeros(len(events), dtype=np.bool_)
        for begin in range(0, len(events), CHUNK):
            end = begin + CHUNK
            taken[begin:end] = self._chunk(events[begin:end], now)
        return taken

    def advance(self, to: int) -> None:
        """The clock says so: nothing is before this time less the lateness any more."""
        self.watermark = max(self.watermark, to - self._rule.lateness)

    def restore(self, events: Admitted, watermark: int) -> None:
        """Events that were accepted before, as a store has them, in any order, with nothing said about them."""
        place = self._places.numbers(events.place)
        known = place != UNKNOWN
        self._keep(events.person[known], place[known], events.time[known])
        self._seen.update(_keys(events.person[known], place[known], events.time[known]))
        if len(events):
            self.newest = max(self.newest, int(events.time.max()))
        self.watermark = max(self.watermark, self._by_events(self.newest), watermark)

    def take(self, until: int) -> tuple[Whole, NDArray[np.int32], Whole]:
        """Person, region and time of the events up to and including this time, which are then forgotten here."""
        if not self._time:
            return np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int64)
        person, region, time = np.concatenate(self._person), np.concatenate(self._region), np.concatenate(self._time)
        due = time <= until
        left = ~due
        self._person, self._region, self._time = [person[left]], [region[left]], [time[left]]
        return person[due], region[due], time[due]

    def earliest(self) -> int | None:
        """The earliest time among the events that were not taken yet."""
        times = [int(each.min()) for each in self._time if len(each)]
        return min(times, default=None)

    def forget(self, person: int) -> None:
        """Drop what was accepted of one person."""
        keep = [each != person for each in self._person]
        for columns in (self._region, self._time, self._person):
            columns[:] = [each[kept] for each, kept in zip(columns, keep, strict=True)]  # type: ignore[index]
        self._seen = {key for key in self._seen if key[0] != person}

    def _chunk(self, events: Admitted, now: int | None) -> NDArray[np.bool_]:
        place, time = self._places.numbers(events.place), events.time
        outcome = np.zeros(len(events), dtype=np.int8)
        outcome[place == UNKNOWN] = _UNKNOWN
        outcome[(time < 0) | (time >= LATEST)] = _OUT
        if now is not None:
            outcome[(outcome == _ACCEPTED) & (time > now + self._rule.skew)] = _FUTURE
        sound = outcome == _ACCEPTED
        so_far = np.maximum.accumulate(np.concatenate([[self.newest], np.where(sound, time, -1)]))
        behind = time < np.maximum(self._by_events(so_far[:-1]), self.watermark)
        outcome[sound & behind] = _LATE
        self._mark_duplicates(events.person, place, time, outcome)
        taken: NDArray[np.bool_] = outcome == _ACCEPTED
        self._keep(events.person[taken], place[taken], time[taken])
        self.newest = int(so_far[-1])
        self.watermark = max(self.watermark, self._by_events(self.newest))
        for number, count in enumerate(np.bincount(outcome, minlength=len(_OUTCOMES)).tolist()):
            self.tally.add(_OUTCOMES[number], count)
        return taken

    def _by_events(self, newest: Any) -> Any:
        """Where the times of events alone put the watermark."""
        return -1 if self._by_clock else newest - self._rule.lateness

    def _mark_duplicates(self, person: Whole, place: NDArray[np.int32], time: Whole, outcome: NDArray[np.int8]) -> None:
        candidates = np.flatnonzero(outcome == _ACCEPTED)
        keys = _keys(person[candidates], place[candidates], time[candidates])
        before = len(self._seen)
        if not self._seen.isdisjoint(keys) or len(set(keys)) < len(keys):
            for number, key in zip(candidates.tolist(), keys, strict=True):
                if key in self._seen:
                    outcome[number] = _DUPLICATE
                self._seen.add(key)
        else:
            self._seen.update(keys)
        if before > self._seen_limit:
            # What is behind the watermark would be late, so it need not be remembered.
            self._seen = {key for key in self._seen if key[2] >= self.watermark}
            self._seen_limit = max(4 * CHUNK, 2 * len(self._seen))

    def _keep(self, person: Whole, place: NDArray[np.int32], time: Whole) -> None:
        if len(time):
            self._person.append(person)
            self._region.append(self._places.region_of[place])
            self._time.append(time)


def _keys(person: Whole, place: NDArray[np.int32], time: Whole) -> list[tuple[int, int, int]]:
    return list(zip(person.tolist(), place.tolist(), time.tolist(), strict=True))
