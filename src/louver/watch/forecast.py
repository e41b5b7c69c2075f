"""What a watch will cost, said before it starts: per slot, over the pending slots, and how long the budget lasts.

For the unit (person, slot) every slot has a budget of its own, and rules that together do not fit into it are refused.
For (person, day) slots add up until the day ends, for (person) for ever. Everything is counted at its worst: closer
questions as if every slot had one, and steps as if all were taken. It begins now; in a replay of a stated range, with
the range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from louver.decide.shown import down, up
from louver.decide.words import cases
from louver.errors import BudgetError
from louver.ledger import Ledger
from louver.privacy import Scope
from louver.privacy.ranges import Between
from louver.sense.events import instant
from louver.watch.hours import local_day, midnight_after
from louver.watch.questions import Asked
from louver.watch.rules import DAY, SLOT, Rules
from louver.watch.telling import each

WEEK = 7 * 86_400_000_000
HORIZON = 10 * 366 * 86_400_000_000  # as far as anybody plans


@dataclass(frozen=True, slots=True)
class Forecast:
    """One sentence for each rule, and one about the budget; `ends` is when it does, None where it does not."""

    rules: tuple[str, ...]
    budget: str
    ends: datetime | None

    def __str__(self) -> str:
        return "\n".join([*self.rules, self.budget])


def forecast(rules: Rules, asked: Sequence[Asked], ledger: Ledger, start: int) -> Forecast:
    """What the rules cost from a slot on; refused where they never fit."""
    step = rules.timing.slot
    begin = -(-start // step) * step
    said = tuple(_rule(one, rules) for one in asked)
    costs = {one.rule.name: one.price + one.closer_price for one in asked}
    if rules.unit.fixes(SLOT):
        return Forecast(said, _by_slot(rules, costs, ledger, begin), None)
    if rules.unit.fixes(DAY):
        return Forecast(said, *_by_day(rules, costs, ledger, begin))
    return Forecast(said, *_for_ever(rules, costs, ledger, begin))


def cost(rules: Rules, costs: dict[str, Fraction], slot: int) -> Fraction:
    """What the rules whose hours hold cost in a slot, at most."""
    return sum((costs[rule.name] for rule in rules.due(slot)), Fraction(0))


def _rule(asked: Asked, rules: Rules) -> str:
    rule = asked.rule
    closer = f", and {up(asked.closer_price)} more where a closer question follows" if asked.closer_price else ""
    price = f"each slot costs at most {up(asked.price)} for each {each(rules)}{closer}"
    hours = "" if rule.hours.always else f" ({rule.hours})"
    if rule.is_number:
        promised = f"each number is within {rule.within} except in at most {cases(rule.slot_miss_rate)}"
        if rule.limit is None:
            return f"{rule.name}{hours}: {price}; {promised}."
    row = "in a slot" if rule.pending == 1 else f"in {rule.pending} slots in a row"
    promised = f"a {rule.level} over its limit {row} fires except in at most {cases(rule.miss_rate)}"
    covered = "; keys after the last alarm of a slot are undecided" if rule.strategy == "sparse" else ""
    return f"{rule.name}{hours}: {price}; {promised}{covered}."


def _by_slot(rules: Rules, costs: dict[str, Fraction], ledger: Ledger, begin: int) -> str:
    # Slots of a week see every combination of hours, also where clocks change: they change whole hours.
    worst = max(range(begin, begin + WEEK, rules.timing.slot), key=lambda slot: cost(rules, costs, slot))
    needed = cost(rules, costs, worst)
    left = ledger.remaining(Scope({SLOT: Between(instant(worst), instant(worst + 1))}))
    if needed > left:
        names = [rule.name for rule in rules.due(worst)]
        price = f"cost {up(needed)} together" if len(names) > 1 else f"costs {up(needed)}"
        raise BudgetError(
            f"The rules do not fit into a slot's budget: {' and '.join(names)} {price} and {down(left)} is left, "
            f"which is {up(needed - left)} too little. Give them a larger slack or miss rate, or other hours."
        )
    return f"Every slot has a budget of its own: {up(needed)} of {down(left)} is used at most, for as long as you like."


def _by_day(rules: Rules, costs: dict[str, Fraction], ledger: Ledger, begin: int) -> tuple[str, datetime | None]:
    """What is left of the first day, and of the seven whole days after it the first on which the budget ends."""
    zone, step = rules.zone, rules.timing.slot
    first_end = midnight_after(begin, zone)
    left, ends = _on_a_day(rules, costs, ledger, begin, first_end)
    first, said = None, ""
    if ends is not None:
        first = instant(ends).astimezone(zone)
        said = f"On {first:%Y-%m-%d} the {down(left)} that is left may be used up at {first:%H:%M}. "
    day_begin = -(-first_end // step) * step
    for _ in range(7):
        day_end = midnight_after(day_begin, zone)
        left, ends = _on_a_day(rules, costs, ledger, day_begin, day_end)
        if ends is not None:
            until = instant(ends).astimezone(zone)
            whole = f"On {until:%A}s the day's budget of {down(left)} may be used up at {until:%H:%M}"
            return f"{said}{whole}; slots after that are undecided.", first or until
        day_begin = -(-day_end // step) * step
    if first is not None:
        return f"{said}Slots of that day after that are undecided. Every other day's budget suffices.", first
    return "Every day has a budget of its own, which suffices for the whole day.", None


def _on_a_day(
    rules: Rules, costs: dict[str, Fraction], ledger: Ledger, begin: int, end: int
) -> tuple[Fraction, int | None]:
    """What a day's budget still has, and the first slot up to its end that it cannot pay any more."""
    day = local_day(begin, rules.zone)
    left = ledger.remaining(Scope({DAY: Between(day, day + timedelta(days=1))}))
    return left, _spent(rules, costs, left, range(begin, end, rules.timing.slot))


def _for_ever(rules: Rules, costs: dict[str, Fraction], ledger: Ledger, begin: int) -> tuple[str, datetime | None]:
    left, step = ledger.remaining(Scope.everything()), rules.timing.slot
    week = sum((cost(rules, costs, slot) for slot in range(begin, begin + WEEK, step)), Fraction(0))
    whole = min(int(left / week), HORIZON // WEEK) if week else HORIZON // WEEK
    rest = begin + whole * WEEK
    ends = _spent(rules, costs, left - whole * week, range(rest, rest + WEEK, step))
    if ends is None:
        return f"The budget of {down(left)} for each person suffices for more than ten years.", None
    until = instant(ends).astimezone(rules.zone)
    said = f"The budget of {down(left)} for each person may be used up at {until:%H:%M on %Y-%m-%d}"
    return f"{said}; slots after that are undecided.", until


def _spent(rules: Rules, costs: dict[str, Fraction], left: Fraction, slots: range) -> int | None:
    """The first slot that cannot be paid any more."""
    for slot in slots:
        left -= cost(rules, costs, slot)
        if left < 0:
            return slot
    return None
