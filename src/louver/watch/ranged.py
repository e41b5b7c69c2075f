"""A recording from one public time to another: the slots are those of the range, whatever the events say.

Events go to the store in any order. When all are in, slots are decided one part of the range after the other, from what
is stored: no event makes another one late, none adds or takes away a slot, and the memory holds one part at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from louver.errors import ParameterError
from louver.sense.admitted import Admitted
from louver.sense.events import ACCEPTED, DUPLICATE, Event, Tally
from louver.sense.store import Store
from louver.watch.absence import BEGAN
from louver.watch.deciding import Decided
from louver.watch.journal import Journal
from louver.watch.moments import shown
from louver.watch.pipeline import Pipeline
from louver.watch.rules import Rules

PART: Final = 12  # slots that are decided from one reading of the store


class RangedPipeline(Pipeline):
    """The steps of a watch over the range that its rules name."""

    @classmethod
    def _paid_from(cls, rules: Rules, store: Store, journal: Journal, now: Callable[[], int]) -> int:
        """After what was decided before, and one slot more, which may be paid for and not be written down."""
        first, step = _first(rules), rules.timing.slot
        began, following = store.remembered(BEGAN), store.next_slot
        if following is not None and (began is None or began > first):
            raise ParameterError(
                f"The store was begun by another watch, which has decided slots before {shown(following)}; this range "
                "needs a store and a journal of its own."
            )
        last = [slot for rule in rules.rules if (slot := journal.decided(rule.name)) is not None]
        return max([super()._paid_from(rules, store, journal, now), *(slot + 2 * step for slot in last)])

    def take(self, events: Sequence[Event]) -> None:
        """Events that reach a slot of the range go to the store; those before are late, those after of the future."""
        admitted = self._erasing.left(self._door.admit(events))
        screen = self._stream()
        screen.restore(Admitted.none(), self._following)
        taken = admitted[screen.add(admitted, self._end - 1 - self._timing.skew)]
        again = self._store.append(taken).duplicate if len(taken) else 0
        found = screen.tally.to_dict()
        found[ACCEPTED] = found.get(ACCEPTED, 0) - again
        found[DUPLICATE] = found.get(DUPLICATE, 0) + again
        self._taken += Tally(found)

    @property
    def tally(self) -> Tally:
        return self._taken

    def finish(self) -> Iterator[list[Decided]]:
        """Everything is in: the slots of the range, part by part."""
        at, step = self._following, self._timing.slot
        last = -(-self._end // step) * step
        self._occupancy.restore(self._store.events(self._timing.needed_from(at), at), at)
        while at < last:
            until = min(at + PART * step, last)
            self._occupancy.add(self._store.events(at, until))
            yield self._decided(self._occupancy.advance(until + self._timing.lateness))
            at = until

    @property
    def _by_clock(self) -> bool:
        return True

    def _today(self) -> int:
        return self._occupancy.next_slot or self._following

    def _restore(self) -> None:
        """The first slot is the one after which an event can reach the range; before the range nothing is asked."""
        begin, end, first = self._rules.begin, self._rules.end, _first(self._rules)
        if begin is None or end is None:
            raise ParameterError("A range of a recording has both ends: from and to.")
        self._end, self._taken = end, Tally()
        following = self._store.next_slot
        if self._store.remembered(BEGAN) is None:
            self._store.begin(begin)
            self._store.remember(BEGAN, first)
        self._following = first if following is None else following
        self._complete_from = begin
        self._occupancy.restore(Admitted.none(), self._following)


def _first(rules: Rules) -> int:
    """The first slot at which somebody may be there who is still there when the range begins."""
    step = rules.timing.slot
    return ((rules.begin or 0) - rules.timing.validity) // step * step
