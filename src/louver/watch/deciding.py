"""One final slot: each rule that is due is paid and decided through the steward, and written to the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from louver.ledger import Ledger
from louver.sense.rows import Rows
from louver.source import Table
from louver.steward import Steward
from louver.watch.alarms.alarm import Alarm
from louver.watch.answers import Answer, answered, unanswered
from louver.watch.journal import Journal
from louver.watch.journal_states import NO_DATA, PENDING, UNDECIDED
from louver.watch.questions import Asked
from louver.watch.rules import Rules
from louver.watch.states import BURNING, Standing, advanced
from louver.watch.tables import Tables
from louver.watch.telling import alarms, whole


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of one rule's slot: its keys by state, what was paid, and why keys are undecided.

    No data is told between slots; `of_a_slot` is false then.
    """

    rule: str
    slot: int
    firing: tuple[str, ...]
    pending: tuple[str, ...]
    undecided: int
    paid: Fraction
    reason: str
    alarms: tuple[Alarm, ...]
    of_a_slot: bool = True


class Decider:
    """Decides slots in order, each rule's slot once."""

    def __init__(self, rules: Rules, asked: Sequence[Asked], tables: Tables, ledger: Ledger, journal: Journal) -> None:
        self._rules, self._tables, self._ledger, self._journal = rules, tables, ledger, journal
        self._asked = {each.rule.name: each for each in asked}
        self._last = {name: journal.decided(name) for name in self._asked}
        self._states = {
            name: {
                key: Standing(each.state, each.since, each.streak, each.clear_streak, each.first)
                for key, each in journal.states(name).items()
            }
            for name in self._asked
        }

    def decide(self, slot: int, rows: Rows, late: str = "") -> list[Decided]:
        """Every rule that is due and has not decided the slot before. `late` says why nothing is asked any more."""
        table: Table | None = None
        decided = []
        for rule in self._rules.due(slot):
            last, asked = self._last[rule.name], self._asked[rule.name]
            if last is not None and slot <= last:
                continue
            if late:
                answer = unanswered(asked, UNDECIDED, late)
            else:
                table = table or self._tables.of(slot, rows)
                answer = answered(asked, slot, Steward(table, self._ledger), partial(self._fired, asked, slot))
            decided.append(self._written(asked, slot, answer))
        return decided

    def no_data(self, at: int, reason: str) -> list[Decided]:
        """The feed is not there: every rule that is due says so. No slot is decided by that."""
        due = [self._asked[rule.name] for rule in self._rules.due(at)]
        return [self._written(asked, at, unanswered(asked, NO_DATA, reason), of_a_slot=False) for asked in due]

    def forget(self, before: int) -> None:
        """What was released, and alarms that are over, from before then."""
        self._journal.forget(before)

    def _fired(self, asked: Asked, slot: int, outcomes: Mapping[str, str]) -> list[str]:
        """The keys that begin to fire by these outcomes."""
        old, new = self._states[asked.rule.name], self._advanced(asked, slot, outcomes)
        was = {key for key, each in old.items() if each.state in BURNING}
        return [key for key, each in new.items() if each.state in BURNING and key not in was]

    def _advanced(
        self, asked: Asked, slot: int, outcomes: Mapping[str, str], *, of_a_slot: bool = True
    ) -> dict[str, Standing]:
        rule, last = asked.rule, self._last[asked.rule.name]
        old = self._states[rule.name]
        gap = of_a_slot and last is not None and slot != last + self._rules.timing.slot
        return {
            key: advanced(old.get(key), outcome, slot, pending=rule.pending, clear_after=rule.clear_after, gap=gap)
            for key, outcome in outcomes.items()
        }

    def _written(self, asked: Asked, slot: int, answer: Answer, *, of_a_slot: bool = True) -> Decided:
        """The states after the slot and their alarms, in one transaction."""
        rule, old = asked.rule, self._states[asked.rule.name]
        new = self._advanced(asked, slot, answer.outcomes, of_a_slot=of_a_slot)
        new[rule.level] = whole(old.get(rule.level), answer, slot)
        told = alarms(self._rules, asked, slot, answer, old, new)
        with (self._journal.slot if of_a_slot else self._journal.between)(rule.name, slot) as change:
            for key, each in new.items():
                if each != old.get(key):
                    change.set(key, each.state, each.since, each.streak, each.clear_streak, each.first)
            for key, released in answer.released.items():
                change.released(key, released)
            for alarm in told:
                change.alarm(alarm)
        self._states[rule.name] = new
        if of_a_slot:
            self._last[rule.name] = slot
        keys = {key: new[key].state for key in answer.outcomes}
        return Decided(
            rule.name,
            slot,
            tuple(key for key, state in keys.items() if state in BURNING),
            tuple(key for key, state in keys.items() if state == PENDING),
            sum(outcome in (UNDECIDED, NO_DATA) for outcome in answer.outcomes.values()),
            answer.paid,
            answer.reason,
            tuple(told),
            of_a_slot,
        )
