"""What a watch checks in its journal before it goes on: that it is still about the same slots, days, rules and keys.

A slot's label is its instant, and a day's its date in the building's time zone. Under another zone one day of a person
would be paid for under two labels, with two budgets; so where a day is protected, the zone stays. Slots of another
length would not follow those that were decided. What only makes rows of later slots, as the validity does, may change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from louver.errors import DataError
from louver.watch.alarms.alarm import Alarm, new_id
from louver.watch.alarms.words import WHOLE
from louver.watch.durations import written
from louver.watch.journal import Journal
from louver.watch.journal_states import UNWATCHED
from louver.watch.rules import DAY, TERMINAL, Rules

ZONE, SLOTS = "time zone", "slot"


def resume(rules: Rules, journal: Journal) -> list[Alarm]:
    """Refuse a journal of other slots or days; tell of alarms whose rule or key is no longer watched, once."""
    _keep_to(rules, journal)
    keys = watched(rules)

    def told(alarm: Alarm, now: int) -> Alarm:
        return _left(alarm, now, rules, _why(alarm) if alarm.rule in keys else "it is not in the rules")

    return journal.leave(keys, told)


def watched(rules: Rules) -> dict[str, frozenset[str]]:
    """The keys of each rule, with the name of its level, under which a rule as a whole stands."""
    return {
        rule.name: frozenset({rule.level, *map(str, rules.building.domain(rule.level).column(rule.level))})
        for rule in rules.rules
    }


def _keep_to(rules: Rules, journal: Journal) -> None:
    facts = {SLOTS: str(rules.timing.slot)}
    if rules.unit.fixes(DAY):
        facts[ZONE] = rules.building.timezone
    others = journal.bind(facts)
    if ZONE in others:
        raise DataError(_zone_changed(rules, *others[ZONE]))
    if SLOTS in others:
        raise DataError(_slots_changed(rules, *(written(int(each)) for each in others[SLOTS])))


def _zone_changed(rules: Rules, then: str, now: str) -> str:
    return (
        f"The building's time zone was {then} and is {now} now: days would begin at another time, and one day of a "
        f"person could be paid for twice. Put {then} back, or begin anew on another day, with another store, journal "
        f"and ledger in {rules.path}."
    )


def _slots_changed(rules: Rules, then: str, now: str) -> str:
    return (
        f"Slots were {then} apart and are {now} now, which does not follow what was decided. Put slot = {then!r} back, "
        f"or name another store and journal in {rules.path}."
    )


def _why(alarm: Alarm) -> str:
    if alarm.level == WHOLE:
        return f"it does not ask about each {alarm.key}"
    return f"the {alarm.level} {alarm.key} is not one of its places"


def _left(alarm: Alarm, now: int, rules: Rules, why: str) -> Alarm:
    """Says that nobody asks any more, on those of its channels that there still are."""
    known = (TERMINAL, *(() if rules.channels is None else rules.channels.names()))
    told: Mapping[str, object] = {
        "state": UNWATCHED,
        "since": now,
        "slot": now,
        "reason": f"The rule {alarm.rule} was {alarm.state} here, and {why} any more.",
        "to": tuple(name for name in alarm.to if name in known) or (TERMINAL,),
    }
    empty = {"price": None, "closer": None, "value": None, "todo": "", "slots": 1}
    return replace(alarm, id=new_id(), **empty, **told)  # type: ignore[arg-type]
