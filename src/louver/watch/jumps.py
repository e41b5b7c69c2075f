"""Replays by the events' own times: one device whose clock is far ahead must not make everybody else late.

An event that is further ahead of all before it than a span (a day, unless the rules say otherwise) is held back. It
counts once two other devices follow at about its time and nobody at the old time in between, as on a Monday after a
weekend; otherwise it is from the future. Nothing is believed that is further ahead than 31 days: a recording with such
a gap is replayed by its range. The very first event is believed, because there is nothing to compare it with.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from louver.sense.admitted import Admitted
from louver.watch.durations import MICROSECONDS

DEVICES: Final = 3
MOST_HELD: Final = 100  # events; a device that repeats a wrong time does not fill the memory
LONGEST: Final = 31 * MICROSECONDS["day"]


class Jumps:
    """Lets events pass in their order. `newest` is the latest time that passed, or -1."""

    def __init__(self, span: int, newest: int = -1) -> None:
        self._span, self.newest = span, newest
        self._held = Admitted.none()
        self.refused = 0

    def passed(self, events: Admitted) -> Admitted:
        """Those that may be taken, with those that were held back and are believed now."""
        if not len(events):
            return events
        if self.newest < 0:
            self.newest = int(events.time[0])
        so_far = np.maximum.accumulate(np.concatenate([[self.newest], events.time]))
        if not len(self._held) and (np.diff(so_far) <= self._span).all():
            self.newest = int(so_far[-1])
            return events
        return self._one_by_one(events)

    def finish(self) -> None:
        """Nothing follows any more: what is held back is from the future."""
        self._refuse()

    def _one_by_one(self, events: Admitted) -> Admitted:
        passed = Admitted.none()
        begin = 0  # of the run of events that pass as they are
        for number, at in enumerate(events.time.tolist()):
            is_ahead = at > self.newest + self._span
            if not is_ahead:
                self._refuse()
                self.newest = max(self.newest, at)
                continue
            passed += events[begin:number]
            begin = number + 1
            if at > self.newest + LONGEST:
                self.refused += 1
            elif len(believed := self._hold(events[number : number + 1])):
                passed += believed
                self.newest = int(believed.time.max())
        return passed + events[begin:]

    def _hold(self, event: Admitted) -> Admitted:
        """Everything that is held back, once enough devices agree on the time; else nothing."""
        near = np.abs(self._held.time - event.time[0]) <= self._span
        self.refused += int((~near).sum())
        self._held = (self._held[near] + event)[-MOST_HELD:]
        self.refused += max(0, int(near.sum()) + 1 - MOST_HELD)
        if len(np.unique(self._held.person)) < DEVICES:
            return Admitted.none()
        believed, self._held = self._held, Admitted.none()
        return believed

    def _refuse(self) -> None:
        self.refused += len(self._held)
        self._held = Admitted.none()
