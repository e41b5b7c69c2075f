"""From events to decided slots, in blocking steps: door, occupancy, store, final slots, rules, steward, journal.

What makes it safe to die at any time:

- `take` returns when accepted events are on disk; only then may the feed forget them.
- A slot's rows go to the store after all its rules are decided and its streams have their tick, and mark it as done.
  Where that is missing, the slot is made again from the stored events, and the journal and the ledger know which rules
  decided it or paid for it, and which ticks are released.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from louver.errors import AccessError, ParameterError
from louver.ledger import Ledger
from louver.question import QuestionError
from louver.sense.events import FUTURE, Event, Tally, instant
from louver.sense.occupancy import Occupancy
from louver.sense.places import Places
from louver.sense.pseudonyms import Door
from louver.sense.readings import Readings
from louver.sense.retention import Retention
from louver.sense.rotating import Rotating
from louver.sense.rows import Slots
from louver.sense.store import Store
from louver.source import Table
from louver.steward import Steward
from louver.watch.absence import BEGAN, NOT_THERE, Absence, Missed
from louver.watch.alarms.alarm import Alarm
from louver.watch.alone import alone
from louver.watch.answers import WHO
from louver.watch.changing import opened_door, too_soon
from louver.watch.clock import wall_clock
from louver.watch.deciding import Decided, Decider
from louver.watch.durations import written
from louver.watch.erasing import Erasing
from louver.watch.forecast import Forecast, forecast
from louver.watch.journal import Journal
from louver.watch.jumps import Jumps
from louver.watch.questions import Asked, missing
from louver.watch.rules import WALL, Rule, Rules, unit_shown
from louver.watch.starting import resume
from louver.watch.stream_prices import priced
from louver.watch.streams import Streams, Ticked
from louver.watch.tables import Tables


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
    if rules.unit != ledger.unit:
        raise ParameterError(
            f'{rules.path} says unit = "{unit_shown(rules.unit)}", and its ledger protects '
            f"{unit_shown(ledger.unit)}; write that unit, or name another ledger."
        )
    Steward(table, ledger)  # says whether the ledger is this building's
    if any(person.name == WHO for person in ledger.people()):
        raise AccessError(
            f"Somebody called {WHO!r} has a token of the ledger, and a watch asks in this name; rename them."
        )
    asked = tuple(_asked(rules, rule, table) for rule in rules.rules)
    start = wall_clock() if now is None else now
    streams = priced(rules, table, ledger, start)
    return Prepared(rules, tables, asked, forecast(rules, asked, ledger, start, streams))


def _asked(rules: Rules, rule: Rule, table: Table) -> Asked:
    try:
        return Asked(rule, rules, table)
    except QuestionError as fault:
        at = f"at {fault.marked!r}: " if fault.marked else ""
        raise ParameterError(f"{rules.path}, [rule.{rule.name}]: {at}{fault.sentence}") from None
    except ParameterError as fault:
        raise ParameterError(f"{rules.path}, [rule.{rule.name}]: {missing(rule, rules) or fault}") from None


class Pipeline:
    """Everything that a watcher holds, for one thread at a time. Open it with `Pipeline.open`."""

    def __init__(
        self,
        ready: Prepared,
        door: Door | Rotating,
        store: Store,
        decider: Decider,
        streams: Streams,
        erasing: Erasing,
        clock: str,
        now: Callable[[], int],
    ) -> None:
        self.forecast = ready.forecast
        self.left: list[Alarm] = []  # alarms of what is no longer watched, told at the start
        self._rules, self._timing = ready.rules, ready.rules.timing
        self._door, self._store, self._decider, self._held = door, store, decider, ExitStack()
        self._streams = streams
        self._clock, self._now = clock, now
        self._places = Places(ready.rules.places)
        self._occupancy = self._stream()
        self._newest = -1
        self._retention = None if ready.rules.keep is None else Retention(ready.rules.keep)
        self._forgotten = 0
        self._complete_from = 0  # slots before are not asked about
        self._lasting = 0 if ready.rules.combining is None else self._timing.slot  # presence is taken at an instant
        self.absence = Absence(store, self._timing, self._lasting)
        self._erasing = erasing
        self.erase()
        self._restore()
        self._jumps = Jumps(ready.rules.jump, self._newest)

    @classmethod
    def open(
        cls,
        rules: Rules,
        journal: Journal,
        *,
        clock: str = WALL,
        now: Callable[[], int] = wall_clock,
        ticked: Ticked = lambda *_: None,
        token: str | None = None,
    ) -> Self:
        """Prepares the rules, and goes on where the store and the journal end.

        The store and the journal come first: where another watcher has them, nothing is touched. `ticked` hears of
        every tick that streams publish; with a `token` they are paid for in somebody's own name.
        """
        with ExitStack() as stack:
            store = stack.enter_context(Store.open(rules.store))
            stack.enter_context(alone(rules.journal))
            ledger = stack.enter_context(Ledger.open(rules.ledger))
            ready = prepared(rules, ledger, cls._paid_from(rules, store, journal, now))
            door = opened_door(rules)
            store.bind(door)
            left = resume(rules, journal)
            decider = Decider(rules, ready.asked, ready.tables, ledger, journal)
            streams = Streams(rules, ready.tables, ledger, ticked=ticked, token=token)
            stack.callback(streams.close)
            made = cls(ready, door, store, decider, streams, Erasing(journal.erasures, store), clock, now)
            made.left = left
            made._held = stack.pop_all()
            return made
        raise AssertionError  # nothing in the stack swallows what is raised

    @classmethod
    def _paid_from(cls, rules: Rules, store: Store, journal: Journal, now: Callable[[], int]) -> int:  # noqa: ARG003
        """From when on slots will be paid for; a store that cannot be gone on with is refused first."""
        return now() if rules.begin is None else rules.begin

    @property
    def tally(self) -> Tally:
        """What became of the events so far."""
        return self._occupancy.tally + Tally({FUTURE: self._jumps.refused})

    @property
    def next_slot(self) -> int | None:
        """The first slot that is not final."""
        return self._occupancy.next_slot

    @property
    def first_slot(self) -> int | None:
        """The first slot that is asked about."""
        step, following = self._timing.slot, self._occupancy.next_slot
        return None if following is None else max(following, -(-self._complete_from // step) * step)

    def take(self, events: Sequence[Event]) -> None:
        """Events through the door into the store; they are on disk when it returns."""
        admitted = self._erasing.left(self._door.admit(events))
        if self._clock != WALL:
            admitted = self._erasing.left(self._jumps.passed(admitted))
        taken = self._occupancy.add(admitted, self._now() if self._clock == WALL else None)
        accepted = admitted[taken]
        if len(accepted):
            self._store.append(accepted)
            self._newest = max(self._newest, int(accepted.time.max()))

    def advance(self, *, by_clock: bool = False, until: int | None = None) -> list[Decided]:
        """Decide the slots that became final; by the clock too, where the feed has nothing more from before `until`."""
        to = self._now() if by_clock and self._clock == WALL else None
        return self._decided(self._occupancy.advance(to if to is None or until is None else min(to, until)))

    def finish(self) -> Iterator[list[Decided]]:
        """The feed has ended: every slot up to now is final, or in a replay up to the newest event; part by part."""
        self._jumps.finish()
        if self._clock == WALL:
            yield self.advance(by_clock=True)
        elif self._newest >= 0:
            yield self._decided(self._occupancy.advance(self._ended() + self._timing.lateness))

    def _ended(self) -> int:
        """Up to when a recording that ended tells everything; for readings, that is the end of the last slot."""
        step = self._timing.slot
        return self._newest + 1 if self._rules.combining is None else (self._newest // step + 1) * step

    def erase(self) -> None:
        """Erase those for whom it was asked, here and in the store."""
        self._erasing.run(self._occupancy)

    def no_data(self, reason: str) -> list[Decided]:
        """The feed is not there; told by every rule whose hours hold."""
        last = self._occupancy.next_slot
        at = self._now() if self._clock == WALL else last
        return [] if at is None else self._decider.no_data(at, reason)

    def away(self, begin: int, end: int, why: str = NOT_THERE) -> None:
        """What happened in this time is not known, so it is not asked about; also after a restart."""
        self._store.unknown(begin - self._timing.lateness, end + self._timing.validity)
        self.absence.add(Missed(begin, end, why))

    def close(self) -> None:
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _decided(self, slots: Slots) -> list[Decided]:
        decided = []
        for slot, rows in slots:
            if slot >= self._complete_from:
                why_not = self._too_late(slot)
                decided += self._decider.decide(slot, rows, why_not)
                self._streams.advance(slot, rows, why_not)
        self._store.put(slots)
        if isinstance(self._door, Rotating):
            self._door.discard(self._occupancy.watermark)
        if (following := self._occupancy.next_slot) is not None:
            self.absence.forget(following)
        self._forget()
        return decided

    def _too_late(self, slot: int) -> str:
        """Why an answer is not worth its price any more; empty where it is."""
        if why := self.absence.why(slot) or too_soon(self._rules, slot):
            return why
        after = self._rules.late_after
        if self._clock != WALL or after is None or self._now() - slot - self._lasting <= after:
            return ""
        return f"The data of {instant(slot):%H:%M} came more than {written(after)} late, so nothing was asked."

    def _restore(self) -> None:
        """Occupancy as it was, from stored events: those that can still reach a slot that is not done."""
        begin, step = self._store.next_slot, self._timing.slot
        events = self._store.events(0 if begin is None else self._timing.needed_from(begin))
        if len(events):
            self._newest = int(events.time.max())
        if begin is None:
            if not len(events) and self._clock != WALL:
                return
            since = self._began() if self._clock == WALL else int(events.time.min())
            begin = -(-since // step) * step
        self._complete_from = self._store.complete_from or 0
        self._occupancy.restore(events, begin)

    def _began(self) -> int:
        """When the watch was first started: slots begin then, whenever somebody comes.

        Who was there before is not known until the validity has passed.
        """
        began = self._store.remembered(BEGAN)
        if began is None:
            began = self._now()
            self._store.remember(BEGAN, began)
        self._store.begin(began + self._timing.validity)
        return began

    @property
    def _by_clock(self) -> bool:
        """Whether no event makes a slot final, or another event late."""
        return self._clock == WALL

    def _stream(self) -> Occupancy | Readings:
        if self._rules.combining is not None:
            return Readings(self._timing, self._places, self._rules.combining, by_clock=self._by_clock)
        return Occupancy(self._timing, self._places, by_clock=self._by_clock)

    def _today(self) -> int:
        """The time from which is counted how old something is."""
        return self._now() if self._clock == WALL else max(self._newest, 0)

    def _forget(self) -> None:
        """What is older than the file says goes, at whole hours."""
        if self._retention is None:
            return
        before = self._retention.before(self._today())
        if (following := self._occupancy.next_slot) is not None:
            before = min(before, self._timing.needed_from(following))  # what a slot still needs stays
        if before > self._forgotten:
            self._store.expire(before)
            self._decider.forget(before)
            self._forgotten = before
