"""Readings as a stream: events with values in, in any order within the lateness; rows of final slots out, in order.

A reading at t belongs to the slot that t lies in, [slot, next slot), which is final once the watermark has reached its
end. A unit without a reading in a slot has no row there, so a slot should be no shorter than meters are silent. What
becomes of an event is decided as for presence, by the same intake; one without a value is none. The result equals that
of `ReadingsBatch` on the accepted events.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from louver.sense.admitted import Admitted
from louver.sense.events import Tally
from louver.sense.intake import Intake
from louver.sense.places import UNKNOWN, Places
from louver.sense.presence import Rule
from louver.sense.readings_rows import LARGEST, Combining, ReadingRows
from louver.sense.rows import Slots


def has_value(events: Admitted) -> NDArray[np.bool_]:
    """Which events carry a number; of others a reading cannot be made."""
    with np.errstate(invalid="ignore"):
        return np.abs(events.value) <= LARGEST  # NaN is not


class Readings:
    """What units read, slot by slot: with the same interface as `Occupancy`.

    >>> from louver.sense import Admitted
    >>> minute = 60_000_000
    >>> readings = Readings(Rule(), {"m-1": "east", "m-2": "west"}, Combining("mean", 0, 10))
    >>> sent = Admitted.of([7, 7, 8], ["m-1", "m-1", "m-2"], [minute, 2 * minute, 7 * minute], [3.0, 5.0, 99.0])
    >>> readings.add(sent).tolist()
    [True, True, True]
    >>> [(slot // minute, rows.names().tolist(), rows.value.tolist()) for slot, rows in readings.finish()]
    [(0, ['east'], [4.0]), (5, ['west'], [10.0])]
    """

    def __init__(
        self, rule: Rule, regions: Mapping[str, str] | Places, combining: Combining, *, by_clock: bool = False
    ) -> None:
        self._rule, self._combining = rule, combining
        self._places = regions if isinstance(regions, Places) else Places(regions)
        self._intake = Intake(rule, self._places, by_clock=by_clock)
        self._valueless = 0
        self._next: int | None = None  # the first slot that was not given out
        self._held: list[Admitted] = []

    @property
    def tally(self) -> Tally:
        """What became of the events so far."""
        return self._intake.tally + Tally({"no value": self._valueless})

    @property
    def watermark(self) -> int:
        """Events before this time are late."""
        return self._intake.watermark

    @property
    def next_slot(self) -> int | None:
        """The first slot that was not given out; none as long as no slot was."""
        return self._next

    def add(self, events: Admitted, now: int | None = None) -> NDArray[np.bool_]:
        """Which of them were accepted; `now` is the clock against which an event can be from the future."""
        taken = has_value(events)
        self._valueless += len(events) - int(taken.sum())
        taken[taken] = self._intake.add(events[taken], now)
        self._hold(events[taken])
        return taken

    def advance(self, to: int | None = None) -> Slots:
        """The slots that became final. A clock moves the watermark on where no events come."""
        if to is not None:
            self._intake.advance(to)
        return self._until(self.watermark)

    def finish(self) -> Slots:
        """All slots that are left, as if nothing came any more; what does is late."""
        end = self._intake.newest + self._rule.slot
        self._intake.advance(end + self._rule.lateness)
        return self._until(end)

    def restore(self, events: Admitted, begin: int) -> None:
        """Go on after a stop: events that were accepted before, and the first slot that was not given out then.

        Events from that slot on are enough.
        """
        self._next = begin
        valued = events[has_value(events) & (self._places.numbers(events.place) != UNKNOWN)]
        self._intake.restore(valued, begin)
        self._hold(valued[valued.time >= begin])

    def forget(self, person: int) -> None:
        """Drop what is held of one unit; slots that were given out are the store's to erase from."""
        self._intake.forget(person)
        self._held = [part[part.person != person] for part in self._held]

    def _hold(self, events: Admitted) -> None:
        if len(events):
            self._held.append(events)

    def _until(self, watermark: int) -> Slots:
        step = self._rule.slot
        begin = self._next if self._next is not None else self._first()
        end = watermark // step * step
        if begin is None or end <= begin:
            return Slots(0, 0, step, ReadingRows.none(self._places.regions))
        self._next = end
        self._intake.take(end - 1)
        held = Admitted.joined(self._held)
        due = held.time < end
        self._held = [held[~due]] if not due.all() else []
        return Slots(begin, end, step, self._rows(held[due]))

    def _first(self) -> int | None:
        """The slot of the earliest reading so far; none where there is none."""
        earliest = self._intake.earliest()
        return None if earliest is None else earliest // self._rule.slot * self._rule.slot

    def _rows(self, readings: Admitted) -> ReadingRows:
        return self._combining.rows(
            (readings.person, self._places.numbers(readings.place), readings.time, readings.value),
            self._places.region_of,
            self._rule.slot,
            self._places.regions,
            readings.position,
        )
