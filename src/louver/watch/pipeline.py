"""From events to decided slots, in blocking steps: door, occupancy, store, final slots, rules, steward, journal.

What makes it safe to die at any time:

- `take` returns when accepted events are on disk; only then may the feed forget them.
- A slot's rows go to the store after all its rules are decided, and mark it as done. Where that is missing, the slot is
  made again from the stored events, and the journal and the ledger know which rules decided it or paid for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from louver.errors import AccessError, ParameterError
from louver.ledger import Ledger
from louver.sense.events import Event, Tally, instant
from louver.sense.occupancy import Occupancy
from louver.sense.pseudonyms import Door
from louver.sense.retention import Retention
from louver.sense.rows import Slots
from louver.sense.store import Store
from louver.source import Table
from louver.steward import Steward
from louver.watch.answers import WHO
from louver.watch.deciding import Decided, Decider
from louver.watch.durations import written
from louver.watch.forecast import Forecast, forecast
from louver.watch.journal import Journal
from louver.watch.questions import Asked
from louver.watch.rules import WALL, Rule, Rules
from louver.watch.tables import Tables


def wall_clock() -> int:
    """Now, in microseconds UTC since 1970."""
    return time.time_ns() // 1000


@dataclass(frozen=True, slots=True)
class Prepared:
    """Rules whose questions are checked and priced, and what they will cost."""

    rules: Rules
    tables: Tables
    asked: tuple[Asked, ...]
    forecast: Forecast


def prepared(rules: Rules, ledger: Ledger, now: int | None = None) -> Prepared:
    """Check every rule against the ledger, before anything is read or paid."""
    tables = Tables(rules)
    table = tables.empty()
    Steward(table, ledger)  # says whether the ledger is this building's
    if any(person.name == WHO for person in ledger.people()):
        raise AccessError(
            f"Somebody called {WHO!r} has a token of the ledger, and a watch asks in this name; rename them."
        )
    asked = tuple(_asked(rules, rule, table) for rule in rules.rules)
    return Prepared(rules, tables, asked, forecast(rules, asked, ledger, wall_clock() if now is None else now))


def _asked(rules: Rules, rule: Rule, table: Table) -> Asked:
    try:
        return Asked(rule, rules, table)
    except ParameterError as fault:
        raise ParameterError(f"{rules.path}, [rule.{rule.name}]: {fault}") from None


class Pipeline:
    """Everything that a watcher holds, for one thread at a time. Open it with `Pipeline.open`."""

    def __init__(
        self,
        ready: Prepared,
        door: Door,
        store: Store,
        decider: Decider,
        clock: str,
        now: Callable[[], int],
        held: ExitStack,
    ) -> None:
        self.forecast = ready.forecast
        self._rules, self._timing = ready.rules, ready.rules.timing
        self._door, self._store, self._decider, self._held = door, store, decider, held
        self._clock, self._now = clock, now
        self._occupancy = Occupancy(self._timing, ready.rules.building.access_points, by_clock=clock == WALL)
        self._newest = -1
        self._retention = None if ready.rules.keep is None else Retention(ready.rules.keep)
        self._forgotten = 0
        self._complete_from = 0  # slots before are not asked about
        self._away: list[tuple[int, int]] = []  # from when to when the feed was not there
        self._restore()

    @classmethod
    def open(cls, rules: Rules, journal: Journal, *, clock: str = WALL, now: Callable[[], int] = wall_clock) -> Self:
        """Prepares the rules, and goes on where the store and the journal end."""
        with ExitStack() as stack:
            ledger = stack.enter_context(Ledger.open(rules.ledger))
            ready = prepared(rules, ledger, now())
            door = Door.open(rules.salt)
            store = stack.enter_context(Store.open(rules.store))
            store.bind(door)
            decider = Decider(rules, ready.asked, ready.tables, ledger, journal)
            return cls(ready, door, store, decider, clock, now, stack.pop_all())
        raise AssertionError  # nothing in the stack swallows what is raised

    @property
    def tally(self) -> Tally:
        """What became of the events so far."""
        return self._occupancy.tally

    def take(self, events: Sequence[Event]) -> None:
        """Events through the door into the store; they are on disk when it returns."""
        admitted = self._door.admit(events)
        taken = self._occupancy.add(admitted, self._now() if self._clock == WALL else None)
        accepted = admitted[taken]
        if len(accepted):
            self._store.append(accepted)
            self._newest = max(self._newest, int(accepted.time.max()))

    def advance(self, *, by_clock: bool = False) -> list[Decided]:
        """Decide the slots that became final; by the clock too, where the feed has nothing more from before."""
        to = self._now() if by_clock and self._clock == WALL else None
        return self._decided(self._occupancy.advance(to))

    def finish(self) -> list[Decided]:
        """The feed has ended: every slot up to now is final, or in a replay up to the newest event."""
        if self._clock == WALL:
            return self.advance(by_clock=True)
        if self._newest < 0:
            return []
        return self._decided(self._occupancy.advance(self._newest + self._timing.lateness + 1))

    def no_data(self, reason: str) -> list[Decided]:
        """The feed is not there; told by every rule whose hours hold."""
        last = self._occupancy.next_slot
        at = self._now() if self._clock == WALL else last
        return [] if at is None else self._decider.no_data(at, reason)

    def away(self, begin: int, end: int) -> None:
        """The feed was not there in this time. What happened then is not known, so it is not asked about."""
        self._away.append((begin, end))

    def close(self) -> None:
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _decided(self, slots: Slots) -> list[Decided]:
        decided = [
            each
            for slot, rows in slots
            if slot >= self._complete_from
            for each in self._decider.decide(slot, rows, self._too_late(slot))
        ]
        self._store.put(slots)
        self._forget()
        return decided

    def _too_late(self, slot: int) -> str:
        """Why an answer is not worth its price any more; empty where it is."""
        reached = slot - self._timing.validity, slot + self._timing.lateness
        if any(begin <= reached[1] and reached[0] <= end for begin, end in self._away):
            return f"The feed was not there when {instant(slot):%H:%M} was heard of, so nothing was asked."
        after = self._rules.late_after
        if self._clock != WALL or after is None or self._now() - slot <= after:
            return ""
        return f"The data of {instant(slot):%H:%M} came more than {written(after)} late, so nothing was asked."

    def _restore(self) -> None:
        """Occupancy as it was, from stored events: those that can still reach a slot that is not done."""
        begin, step = self._store.next_slot, self._timing.slot
        events = self._store.events(0 if begin is None else begin - self._timing.validity)
        if len(events):
            self._newest = int(events.time.max())
        if begin is None:
            if not len(events) and self._clock != WALL:
                return
            # By the clock slots begin now, and not with the first event: that would tell when somebody came. Who was
            # there before is not known until the validity has passed.
            since = int(events.time.min()) if len(events) else self._now()
            begin = -(-since // step) * step
            if self._clock == WALL:
                self._store.begin(since + self._timing.validity)
        self._complete_from = self._store.complete_from or 0
        self._occupancy.restore(events, begin)

    def _forget(self) -> None:
        """What is older than the file says goes, at whole hours."""
        if self._retention is None:
            return
        before = self._retention.before(self._now() if self._clock == WALL else max(self._newest, 0))
        if (following := self._occupancy.next_slot) is not None:
            before = min(before, following - self._timing.validity)  # what a slot still needs stays
        if before > self._forgotten:
            self._store.expire(before)
            self._forgotten = before
