"""Presence as a stream: events in, in any order within the lateness; each presence out once its end is known."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from louver.sense.admitted import Admitted
from louver.sense.events import Tally
from louver.sense.intake import Intake
from louver.sense.places import Places
from louver.sense.presence import Presence, Rule, Whole, ends, stays


class Presences:
    """Follows everybody who is present. The result equals that of `Batch` on the accepted events."""

    def __init__(self, rule: Rule, regions: Mapping[str, str] | Places) -> None:
        self._rule = rule
        self._places = regions if isinstance(regions, Places) else Places(regions)
        self._intake = Intake(rule, self._places)
        # Of every presence that may go on: the person, the region, its start, and the last event.
        self._open: tuple[Whole, NDArray[np.int32], Whole, Whole] = (
            np.empty(0, np.int64),
            np.empty(0, np.int32),
            np.empty(0, np.int64),
            np.empty(0, np.int64),
        )

    @property
    def tally(self) -> Tally:
        """What became of the events so far."""
        return self._intake.tally

    def add(self, events: Admitted, now: int | None = None) -> NDArray[np.bool_]:
        """Which of them were accepted; `now` is the clock against which an event can be from the future."""
        return self._intake.add(events, now)

    def advance(self, to: int | None = None) -> Presence:
        """Presence whose end is known. A clock moves the watermark on where no events come."""
        if to is not None:
            self._intake.advance(to)
        return self._ended(self._intake.watermark)

    def finish(self) -> Presence:
        """All that is left, as if nothing came any more."""
        self._intake.advance(self._intake.newest + self._rule.validity + self._rule.lateness + 1)
        return self._ended(self._intake.watermark)

    def _ended(self, watermark: int) -> Presence:
        person, region, time = self._intake.take(watermark - 1)
        start = np.concatenate([self._open[2], time])
        person, region = np.concatenate([self._open[0], person]), np.concatenate([self._open[1], region])
        time = np.concatenate([self._open[3], time])
        order = np.lexsort((region, time, person))
        person, region, start, time = person[order], region[order], start[order], time[order]
        until = ends(person, time, self._rule.validity)
        lasting = until > time  # of events at one instant the last counts
        person, region, start = person[lasting], region[lasting], start[lasting]
        time, until = time[lasting], until[lasting]
        if not len(time):
            return Presence(person, region, start, until, self._places.regions)
        first, last = stays(person, region, time, until)
        is_newest = np.append(person[1:] != person[:-1], True)[last]
        # An event at the very end of a presence still goes on with it.
        goes_on = is_newest & (until[last] >= watermark)
        self._open = person[first][goes_on], region[first][goes_on], start[first][goes_on], time[last][goes_on]
        ended = ~goes_on
        kept = person[first][ended], region[first][ended], start[first][ended], until[last][ended]
        return Presence(*kept, self._places.regions)
