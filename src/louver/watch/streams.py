"""The streams of a watch: each final slot is a tick of each of them, released once and published.

A slot that is not decided, for whatever reason (the feed was not there, the clock was set, data came too late,
pseudonyms changed), is a tick that is missing: no row is read, the stream goes on as if nobody had been there, and what
is published says that nothing is known. When that is depends on the feed and the clocks and never on who was there, as
it does for rules. Slots that were never made, such as those before the watch began, are missing too.

What makes it safe to die at any time: a `Session` draws each tick once, and a slot that is made again after a crash
finds its tick released. A tick that fails is told and is missing when the next slot comes, and rules go on; where there
are none, the watch ends.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from louver.errors import BudgetError, DataError, LouverError, ParameterError
from louver.ledger import Ledger
from louver.sense.events import instant, microseconds
from louver.sense.rows import Rows
from louver.source import Table
from louver.stream.session import Session, payment_of
from louver.stream.tick import Tick
from louver.watch.answers import WHO
from louver.watch.rules import Rules
from louver.watch.stream_leftovers import SPOOL, STATE, Leftovers, forget
from louver.watch.stream_outlet import Outlet
from louver.watch.stream_rules import DAY, Part, StreamRule
from louver.watch.tables import Tables
from louver.watch.targets_growing import GrowingFile, live_target

Ticked = Callable[[str, Tick, bool], None]  # the stream's name, what was published, and whether it was the very last


def _aloud(said: str) -> None:
    sys.stderr.write(f"{said}\n")
    sys.stderr.flush()


def folder_of(rules: Rules) -> Path:
    """Where the states and spools of streams are: beside the journal."""
    return rules.journal.with_name(f"{rules.journal.name}.streams")


def forget_left(rules: Rules) -> None:
    """What the last process could not send or forget, where streams are over and were published again as a whole."""
    for rule in rules.streams:
        _spool(rule, rules).unlink(missing_ok=True)
        for state in folder_of(rules).glob(f"{rule.name}@*{STATE}"):
            forget(state)


def _spool(rule: StreamRule, rules: Rules) -> Path:
    return folder_of(rules) / f"{rule.name}{SPOOL}"


class Streams:
    """All streams of a watch, for one thread at a time."""

    def __init__(
        self,
        rules: Rules,
        tables: Tables,
        ledger: Ledger,
        *,
        ticked: Ticked = lambda *_: None,
        say: Callable[[str], None] = _aloud,
        token: str | None = None,
    ) -> None:
        self._tables = tables
        self._running: list[Running] = []
        folder = folder_of(rules)
        self._leftovers = Leftovers(rules, ledger, folder, say)
        if not rules.streams:
            return
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as fault:
            raise DataError(f"The folder {folder} cannot be made: {fault.strerror}.") from None
        for rule in rules.streams:
            self._running.append(Running(rule, rules, tables.empty(), ledger, ticked, say, token))

    def advance(self, slot: int, rows: Rows, why_not: str) -> None:
        """One final slot; `why_not` says why it is not decided, and is empty where it is."""
        self._leftovers.forget(slot)
        table: Table | None = None
        for running in self._running:
            if running.wants(slot):
                table = None if why_not else table or self._tables.of(slot, rows)
                running.advance(slot, table)

    def close(self) -> None:
        for running in self._running:
            running.close()


class Running:
    """One stream: its session, which is another one for each part, and its way out."""

    def __init__(
        self,
        rule: StreamRule,
        rules: Rules,
        empty: Table,
        ledger: Ledger,
        ticked: Ticked,
        say: Callable[[str], None],
        token: str | None,
    ) -> None:
        self._rule, self._rules, self._empty, self._ledger = rule, rules, empty, ledger
        self._ticked, self._say, self._token = ticked, say, token
        self._folder, self._step = folder_of(rules), rules.timing.slot
        self._part: Part | None = None
        self._session: Session | None = None
        self._said: dict[str, str] = {}
        self._place = live_target(rule.to)
        self._outlet = Outlet(rule.key or rule.name, self._place, _spool(rule, rules), say)

    def wants(self, slot: int) -> bool:
        """Whether a slot is a tick that is not released yet, as far as that is known."""
        part = self._part_of(slot)
        if part is None or part != self._part:
            return part is not None
        return self._session is not None and self._session.ticks <= self._number(part, slot)

    def advance(self, slot: int, table: Table | None) -> None:
        """The tick of a slot, and those before it that never came."""
        part = self._part_of(slot)
        if part is None:
            return
        try:
            if part != self._part:
                self._leave(part)
                self._begin(part)
            number = self._number(part, slot)
            self._fill(part, number)
            if self._session is not None and self._session.ticks == number:
                self._session.advance(table)
                self._end_if_over(part)
        except LouverError as fault:
            if not self._rules.rules:
                raise
            self._tell(f"The stream {self._rule.name} has no tick of this slot: {fault}")

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
        self._outlet.close()

    def _begin(self, part: Part) -> None:
        """Begins a part or goes on with it; one that is over, or that nobody can pay, rests until the next."""
        key, state = self._rule.key_of(part), self._state_of(part)
        paid = payment_of(self._ledger, key)
        if paid is not None and paid.settled and not state.exists():
            self._part, self._session = part, None
            return
        plan = self._rule.plan(part, self._empty, self._rules.building, self._step)
        if isinstance(self._place, GrowingFile):
            self._place.check(plan)  # others may be away for a while, and get everything when they are back
        try:
            self._session = Session.open(
                plan,
                self._ledger,
                state,
                self._publish,
                key=key,
                who=WHO,
                token=self._token,
                audience=self._rule.audience,
            )
        except BudgetError as refused:
            if not self._rules.rules:
                raise
            self._tell(f"The stream {self._rule.name} rests: {refused}")  # once: each refusal is in the ledger
        self._part = part
        self._end_if_over(part)  # where a process died right after its last tick

    def _leave(self, following: Part) -> None:
        """Parts that were begun and whose last slots never came are brought to their end without them."""
        self._rest()
        for state in sorted(self._folder.glob(f"{self._rule.name}@*{STATE}")):
            begun = int(state.name.removesuffix(STATE).rpartition("@")[2])
            if begun < following.begin:
                self._bring_to_end(begun, state, following)

    def _bring_to_end(self, begun: int, state: Path, following: Part) -> None:
        """A part that cannot be, as its rule is another now, is told and left, and no later one waits for it.

        What may pass, as a ledger that is away does, keeps the state, to be tried again within a day.
        """
        part = self._part_of(begun)
        try:
            if part is None or part.begin != begun:
                raise ParameterError("The rules have no such part any more.")
            self._begin(part)
            self._fill(part, self._number(part, part.end))
        except LouverError as fault:
            self._rest()
            when = f"{instant(begun):%Y-%m-%d %H:%M} UTC"
            self._tell(f"The part of the stream {self._rule.name} from {when} has no end: {fault}", about=state.name)
            if isinstance(fault, ParameterError) or part is None or part.end + DAY <= following.begin:
                forget(state)

    def _rest(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def _fill(self, part: Part, number: int) -> None:
        """Ticks before this one are missing."""
        while self._session is not None and self._session.ticks < number:
            self._session.advance(None)
            self._end_if_over(part)

    def _end_if_over(self, part: Part) -> None:
        """What is over and in the spool needs no private state any more."""
        if self._session is not None and self._session.is_over:
            self._rest()
            forget(self._state_of(part))

    def _publish(self, tick: Tick) -> None:
        self._outlet.put(tick)
        is_last = self._rule.end is not None and microseconds(tick.start) + self._step >= self._rule.end
        if is_last or self._session is not None:  # a session that is opened gives its last tick once more
            self._ticked(self._rule.name, tick, is_last)

    def _part_of(self, slot: int) -> Part | None:
        return self._rule.part(slot, self._rules.zone, self._step)

    def _number(self, part: Part, slot: int) -> int:
        return (slot - part.begin) // self._step

    def _state_of(self, part: Part) -> Path:
        return self._folder / f"{self._rule.name}@{part.begin}{STATE}"

    def _tell(self, sentence: str, about: str = "") -> None:
        """Once, where the same happens slot after slot."""
        if sentence != self._said.get(about):
            self._said[about] = sentence
            self._say(sentence)
