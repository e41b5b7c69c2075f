"""Occupancy as a stream: events in, in any order within the lateness; rows of final slots out, once and in order.

By default a row says where a person is at the instant that names the slot, so that there is one for each person and
slot. With `during=m` it says which regions the person was in within [slot, next slot): at most m, those of the longest
stay, and of equal stays the first by name. The result equals that of `Batch` on the accepted events.

With `by_clock` only `advance(to)` makes slots final. Otherwise the newest event does as well, so that one person's
event can make those of others late: that is for replays, and hides nobody from whoever sees which slots there are.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.sense.admitted import Admitted
from louver.sense.events import Tally
from louver.sense.intake import Intake
from louver.sense.places import Places
from louver.sense.presence import Presence, Rule, Whole, ends, last_hour, stays
from louver.sense.rows import Rows, Slots

MOST_REGIONS = 1000


class Occupancy:
    """Where people are, slot by slot.

    >>> from louver.sense import Admitted
    >>> minute = 60_000_000
    >>> occupancy = Occupancy(Rule(), {"ap-1": "hall", "ap-2": "lab"})
    >>> events = Admitted.of([7, 7, 8], ["ap-1", "ap-2", "ap-2"], [4 * minute, 9 * minute, 12 * minute])
    >>> occupancy.add(events).tolist()
    [True, True, True]
    >>> for slot, rows in occupancy.advance():
    ...     print(slot // minute, rows.names())
    5 ['hall']
    10 ['lab']
    """

    def __init__(
        self, rule: Rule, regions: Mapping[str, str] | Places, *, during: int | None = None, by_clock: bool = False
    ) -> None:
        self._rule = rule
        self._places = regions if isinstance(regions, Places) else Places(regions)
        self._during = None if during is None else parameters.integer("during", during, 1, MOST_REGIONS)
        self._intake = Intake(rule, self._places, by_clock=by_clock)
        self._next: int | None = None  # the first slot that was not given out
        self._person: Whole = np.empty(0, np.int64)  # the last event of everybody who may still be present
        self._region: NDArray[np.int32] = np.empty(0, np.int32)
        self._time: Whole = np.empty(0, np.int64)
        self._start: Whole = np.empty(0, np.int64)  # and since when its presence goes on, which was not given out

    @property
    def tally(self) -> Tally:
        """What became of the events so far."""
        return self._intake.tally

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
        return self._intake.add(events, now)

    def advance(self, to: int | None = None) -> Slots:
        """The slots that became final. A clock moves the watermark on where no events come."""
        if to is not None:
            self._intake.advance(to)
        return self._until(self.watermark)

    def finish(self) -> Slots:
        """All slots that are left, as if nothing came any more; what does is late."""
        end = self._intake.newest + self._rule.validity + 2 * self._rule.slot
        self._intake.advance(end + self._rule.lateness)
        return self._until(end)

    def restore(self, events: Admitted, begin: int) -> None:
        """Go on after a stop: events that were accepted before, and the first slot that was not given out then.

        Events from `Rule.needed_from(begin)` on are enough.
        """
        self._next = begin
        self._intake.restore(events, begin - self._rule.slot + 1 if self._during is None else begin)
        self._final(begin, begin)  # what was given out before is not given out again

    def forget(self, person: int) -> None:
        """Drop what is held of one person; slots that were given out are the store's to erase from."""
        self._intake.forget(person)
        kept = self._person != person
        self._carry(self._person[kept], self._region[kept], self._time[kept], self._start[kept])

    def _until(self, watermark: int) -> Slots:
        step = self._rule.slot
        begin = self._next if self._next is not None else self._first()
        # At an instant a slot is final once the watermark is past it, within a slot once it has reached its end.
        end = (watermark if self._during else watermark + step - 1) // step * step
        if begin is None or end <= begin:
            return Slots(0, 0, step, Rows.none(self._places.regions))
        self._next = end
        return self._final(begin, end)

    def _first(self) -> int | None:
        """The first slot that an event so far can reach; none where there is no event."""
        earliest, step = self._intake.earliest(), self._rule.slot
        if earliest is None:
            return None
        return (earliest if self._during else earliest + step - 1) // step * step

    def _final(self, begin: int, end: int) -> Slots:
        """The slots from begin up to end with their rows and presence; what goes on is carried over."""
        step = self._rule.slot
        # An instant needs no event after it, and there may be more to come: those wait, and presence is known up to it.
        known = end if self._during else end - step
        taken = self._intake.take(known - 1 if self._during else known)
        person = np.concatenate([self._person, taken[0]])
        region = np.concatenate([self._region, taken[1]])
        time, start = np.concatenate([self._time, taken[2]]), np.concatenate([self._start, taken[2]])
        order = np.lexsort((region, time, person))
        person, region, time, start = person[order], region[order], time[order], start[order]
        until = ends(person, time, self._rule.validity)
        lasting = until > time  # of events at one instant all but the last count for no time at all
        if not lasting.all():
            person, region = person[lasting], region[lasting]
            time, start, until = time[lasting], start[lasting], until[lasting]
        presence = self._presence(person, region, start, time, until, known)
        return Slots(begin, end, step, self._rows(person, region, time, until, begin, end), presence)

    def _rows(self, person: Whole, region: NDArray[np.int32], time: Whole, until: Whole, begin: int, end: int) -> Rows:
        step = self._rule.slot
        first = (time if self._during else time + step - 1) // step
        first, last = np.maximum(first, begin // step), np.minimum((until - 1) // step, end // step - 1)
        each = np.maximum(last - first + 1, 0)
        source = np.repeat(np.arange(len(time)), each)
        number = np.arange(len(source)) - np.repeat(np.cumsum(each) - each, each)
        slot = (first[source] + number) * step
        if self._during is None:
            return Rows.ordered(person[source], slot, region[source], self._places.regions)
        stay = np.minimum(until[source], slot + step) - np.maximum(time[source], slot)
        return longest(person[source], slot, region[source], stay, self._during, self._places.regions)

    def _presence(
        self, person: Whole, region: NDArray[np.int32], start: Whole, time: Whole, until: Whole, known: int
    ) -> Presence:
        """What is known of presence before `known`. What goes on is cut at whole hours only, so that pieces are few."""
        first, last = stays(person, region, time, until)
        since, cut = start[first], last_hour(known)
        goes_on = until[last] > known
        ended = np.where(goes_on, cut, until[last])
        self._carry(person[last][goes_on], region[last][goes_on], time[last][goes_on], np.maximum(since, cut)[goes_on])
        given = ended > since
        return Presence(person[first][given], region[first][given], since[given], ended[given], self._places.regions)

    def _carry(self, person: Whole, region: NDArray[np.int32], time: Whole, start: Whole) -> None:
        self._person, self._region, self._time, self._start = person, region, time, start


def longest(
    person: Whole, slot: Whole, region: NDArray[np.int32], stay: Whole, most: int, regions: tuple[str, ...]
) -> Rows:
    """Of each person and slot the regions with the longest stay, so many at most."""
    if not len(stay):
        return Rows.none(regions)
    order = np.lexsort((region, person, slot))
    person, slot, region, stay = person[order], slot[order], region[order], stay[order]
    unit_begins = np.append(True, (person[1:] != person[:-1]) | (slot[1:] != slot[:-1]))
    begins = np.flatnonzero(unit_begins | np.append(True, region[1:] != region[:-1]))
    total = np.add.reduceat(stay, begins)
    person, slot, region, unit_begins = person[begins], slot[begins], region[begins], unit_begins[begins]
    order = np.lexsort((region, -total, person, slot))
    starts = np.flatnonzero(unit_begins)
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    chosen = order[rank < most]
    return Rows.ordered(person[chosen], slot[chosen], region[chosen], regions)
