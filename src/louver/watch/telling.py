"""Which alarms a slot raises: a key begins to fire or is clear again, or a rule as a whole has no answer.

Where there is no answer there is none for many keys at once, so one alarm says it for the rule as a whole. Its level
reads `any` and its key is the name of the rule's level: any region, any floor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from louver.watch.alarms.alarm import Alarm
from louver.watch.answers import Answer
from louver.watch.journal_states import CLEAR, FIRING, NO_DATA, UNDECIDED
from louver.watch.questions import PEOPLE, Asked
from louver.watch.rules import DAY, PERSON, REGION, SLOT, Rules
from louver.watch.states import BURNING, Standing

ANY = "any"


def each(rules: Rules) -> str:
    """What a price is for."""
    who = REGION if rules.unit.fixes(REGION) else PERSON
    return f"{who} and slot" if rules.unit.fixes(SLOT) else f"{who} and day" if rules.unit.fixes(DAY) else who


def whole(old: Standing | None, answer: Answer, slot: int) -> Standing:
    """How a rule stands as a whole: clear where every key has an answer."""
    outcomes = set(answer.outcomes.values())
    state = NO_DATA if NO_DATA in outcomes else UNDECIDED if UNDECIDED in outcomes else CLEAR
    return Standing(state, old.since if old is not None and old.state == state else slot)


def alarms(
    rules: Rules, asked: Asked, slot: int, answer: Answer, old: Mapping[str, Standing], new: Mapping[str, Standing]
) -> list[Alarm]:
    """What is told of the change from the old states to the new ones."""
    rule = asked.rule
    facts: dict[str, Any] = {
        "rule": rule.name,
        "slot": slot,
        "to": rule.to,
        "counted": asked.counted,
        "promise": answer.promise or asked.promise(asked.plan),
        "question": rule.having or asked.sql,
        "price": answer.price,
        "unit": each(rules),
        "zone": rules.building.timezone,
        "over": asked.is_over,
        "within": rule.within,
        "hours": "" if rule.hours.always else str(rule.hours),
    }
    told = []
    for key in answer.outcomes:
        fires = new[key].state in BURNING
        if fires != (_state(old, key) in BURNING):
            told.append(_of_key(facts, asked, key, new[key], answer))
    if new[rule.level].state != _state(old, rule.level):
        told.append(_of_rule(facts, rule.level, new[rule.level], answer))
    return told


def _state(states: Mapping[str, Standing], key: str) -> str:
    return states[key].state if key in states else CLEAR


def _of_key(facts: Mapping[str, Any], asked: Asked, key: str, new: Standing, answer: Answer) -> Alarm:
    fires = new.state in BURNING
    number = answer.released.get(key)
    return Alarm(
        **facts,
        key=key,
        level=asked.rule.level,
        state=FIRING if fires else CLEAR,
        since=new.since,
        limit=asked.limits[key],
        devices=asked.thresholds[key] if asked.counted == PEOPLE else None,
        slots=new.streak if fires else new.clear_streak,
        closer=answer.closer.get(key),
        value=None if isinstance(number, bool) else number,
        todo=asked.rule.todo if fires else "",
    )


def _of_rule(facts: Mapping[str, Any], level: str, new: Standing, answer: Answer) -> Alarm:
    todo = "Nothing: the rule decides again, and tells by itself what it flags." if new.state == CLEAR else ""
    since, reason = new.since, answer.reason
    return Alarm(
        **facts, key=level, level=ANY, state=new.state, since=since, reason=reason, todo=todo, part=_part(answer)
    )


def _part(answer: Answer) -> str:
    """How many of the keys have no answer, where others have one."""
    left, every = sum(outcome == UNDECIDED for outcome in answer.outcomes.values()), len(answer.outcomes)
    return f"{left:,} of the {every:,}" if 0 < left < every else ""
