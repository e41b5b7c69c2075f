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

from louver.decide.shown import down, meaning, up
from louver.errors import BudgetError
from louver.ledger import Ledger
from louver.privacy import Pure, Scope, ZeroConcentrated
from louver.privacy.ranges import Between
from louver.privacy.rates import cases
from louver.sense.events import instant
from louver.watch.hours import local_day, midnight_after
from louver.watch.questions import Asked
from louver.watch.rules import DAY, SLOT, SPARSE, Rules
from louver.watch.stream_prices import Priced, all_of
from louver.watch.telling import each

WHOLE_DAYS = 7
WEEK = WHOLE_DAYS * 86_400_000_000
HORIZON = 10 * 366 * 86_400_000_000  # as far as anybody plans

Lasting = tuple[str, datetime | None, Fraction]  # how long the budget lasts, when it ends, what one unit pays at most


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is protected, one sentence for each rule and stream, one about the budget, and what that price means.

    `ends` is when the budget does, None where it does not. `first` is the first slot that a watch asks about, None
    before it is started.
    """

    protected: str
    rules: tuple[str, ...]
    budget: str
    ends: datetime | None
    meaning: str
    first: int | None = None

    def __str__(self) -> str:
        return "\n".join([self.protected, *self.rules, self.budget, self.meaning])


def forecast(
    rules: Rules, asked: Sequence[Asked], ledger: Ledger, start: int, streams: Sequence[Priced] = ()
) -> Forecast:
    """What the rules and streams cost from a slot on; refused where they never fit."""
    step = rules.timing.slot
    begin = -(-start // step) * step
    said = (*(_rule(one, rules) for one in asked), *map(str, streams))
    costs = {one.rule.name: one.price + one.closer_price for one in asked}
    if rules.unit.fixes(SLOT):
        budget, ends, most = _by_slot(rules, costs, ledger, begin, streams)
    else:
        budget, ends, most = (_by_day if rules.unit.fixes(DAY) else _for_ever)(rules, costs, ledger, begin)
    is_rho = bool(streams) and streams[0].kind == ZeroConcentrated.kind
    means = ZeroConcentrated(most).sentence() if is_rho else f"{meaning(rules.unit, most)}."
    protected = next((one.plan.protected for one in streams if len(said) == 1), rules.unit.sentence())
    return Forecast(protected, said, budget, ends, f"Meaning: {means}")


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
            return " ".join([f"{rule.name}{hours}: {price}; {promised}.", *asked.plan.warnings])
    row = "in a slot" if rule.pending == 1 else f"in {rule.pending} slots in a row"
    promised = f"{asked.meant} {row} fires except in at most {cases(rule.miss_rate)}"
    covered = f"; a number fires from {rule.within} below the limit on" if rule.is_number else _sparse(asked)
    return " ".join([f"{rule.name}{hours}: {price}; {promised}{covered}.", *asked.plan.warnings])


def _sparse(asked: Asked) -> str:
    """What a sparse rule leaves out, and whether it is cheaper without."""
    if asked.rule.strategy != SPARSE:
        return ""
    said = "; keys after the last alarm of a slot are undecided"
    if asked.not_sparse is None or asked.not_sparse >= asked.price:
        return said
    return f'{said}. Without strategy = "sparse" a slot costs at most {up(asked.not_sparse)}, and every key is decided'


def _by_slot(
    rules: Rules, costs: dict[str, Fraction], ledger: Ledger, begin: int, streams: Sequence[Priced]
) -> Lasting:
    kind = streams[0].kind if streams else Pure.kind
    most = used = Fraction(0)
    left = None
    for slot, (needed, paid) in _worst(rules, costs, begin, streams).items():
        there = ledger.remaining(Scope({SLOT: Between(instant(slot), instant(slot + 1))}), kind=kind)
        if needed > there:
            raise BudgetError(_too_much(rules, slot, needed, there, streams))
        if left is None or needed > used:
            used, left = needed, there
        most = max(most, needed + paid)
    said = f"{up(used)} of {down(left or Fraction(0))} is used at most, for as long as you like."
    return f"Every slot has a budget of its own: {said}", None, most


def _worst(
    rules: Rules, costs: dict[str, Fraction], begin: int, streams: Sequence[Priced]
) -> dict[int, tuple[Fraction, Fraction]]:
    """The slots that cost most, with what they need and what streams paid there: one for each sum that is paid.

    Slots of a week see every combination of hours, also where clocks change: they change whole hours.
    """
    step = rules.timing.slot
    begins = {begin, *(one.first for one in streams)}
    found: dict[Fraction, tuple[int, Fraction]] = {}
    for first in sorted(begins):
        for slot in range(first, first + WEEK, step):
            due, paid = all_of(streams, slot)
            needed = cost(rules, costs, slot) + due
            if paid not in found or needed > found[paid][1]:
                found[paid] = slot, needed
    return {slot: (needed, paid) for paid, (slot, needed) in found.items()}


def _too_much(rules: Rules, slot: int, needed: Fraction, left: Fraction, streams: Sequence[Priced]) -> str:
    published = [one.rule.name for one in streams if one.due(slot)]
    names = [*(rule.name for rule in rules.due(slot)), *published]
    price = f"cost {up(needed)} together" if len(names) > 1 else f"costs {up(needed)}"
    who = "The rules and streams" if published and rules.rules else "The streams" if published else "The rules"
    ways = "a larger slack or miss rate, or other hours"
    mend = (
        f"streams less, or rules {ways}" if published and rules.rules else "them less" if published else f"them {ways}"
    )
    paid = "" if rules.begin is None else " Where another watch has paid for this range, its journal has the answers."
    return (
        f"{who} do not fit into a slot's budget: {' and '.join(names)} {price} and {down(left)} is left, "
        f"which is {up(needed - left)} too little. Give {mend}.{paid}"
    )


def _by_day(rules: Rules, costs: dict[str, Fraction], ledger: Ledger, begin: int) -> Lasting:
    """What is left of the first day, and on which of the seven whole days after it the budget ends."""
    zone, step = rules.zone, rules.timing.slot
    first_end = midnight_after(begin, zone)
    left, ends, most = _on_a_day(rules, costs, ledger, begin, first_end)
    first, said = None, ""
    if ends is not None:
        first = instant(ends).astimezone(zone)
        said = f"On {first:%Y-%m-%d} the {down(left)} that is left may be used up at {first:%H:%M}. "
    day_begin = -(-first_end // step) * step
    short: dict[str, list[datetime]] = {}  # when the budget ends, by what is said of that day
    for _ in range(WHOLE_DAYS):
        day_end = midnight_after(day_begin, zone)
        left, ends, paid = _on_a_day(rules, costs, ledger, day_begin, day_end)
        most = max(most, paid)
        if ends is not None:
            until = instant(ends).astimezone(zone)
            short.setdefault(f"budget of {down(left)} may be used up at {until:%H:%M}", []).append(until)
        day_begin = -(-day_end // step) * step
    if short:
        whole = ". ".join(f"{_days(at)} {budget}" for budget, at in short.items())
        return f"{said}{whole}; slots after that are undecided.", first or min(min(at) for at in short.values()), most
    if first is not None:
        return f"{said}Slots of that day after that are undecided. Every other day's budget suffices.", first, most
    return "Every day has a budget of its own, which suffices for the whole day.", None, most


def _days(ends: list[datetime]) -> str:
    """Whose budget ends, by days of the week."""
    if len(ends) == WHOLE_DAYS:
        return "Each day's"
    *others, last = (f"{each:%A}s" for each in ends)
    return f"On {', '.join(others)} and {last} the day's" if others else f"On {last} the day's"


def _on_a_day(
    rules: Rules, costs: dict[str, Fraction], ledger: Ledger, begin: int, end: int
) -> tuple[Fraction, int | None, Fraction]:
    """What a day's budget still has, the first slot up to its end that it cannot pay any more, and what is paid."""
    day, slots = local_day(begin, rules.zone), range(begin, end, rules.timing.slot)
    left = ledger.remaining(Scope({DAY: Between(day, day + timedelta(days=1))}))
    needed = sum((cost(rules, costs, slot) for slot in slots), Fraction(0))
    return left, _spent(rules, costs, left, slots), min(left, needed)


def _for_ever(rules: Rules, costs: dict[str, Fraction], ledger: Ledger, begin: int) -> Lasting:
    left, step = ledger.remaining(Scope.everything()), rules.timing.slot
    week = sum((cost(rules, costs, slot) for slot in range(begin, begin + WEEK, step)), Fraction(0))
    whole = min(int(left / week), HORIZON // WEEK) if week else HORIZON // WEEK
    rest = begin + whole * WEEK
    ends = _spent(rules, costs, left - whole * week, range(rest, rest + WEEK, step))
    if ends is None:
        most = min(left, (whole + 1) * week)
        return f"The budget of {down(left)} for each person suffices for more than ten years.", None, most
    until = instant(ends).astimezone(rules.zone)
    said = f"The budget of {down(left)} for each person may be used up at {until:%H:%M on %Y-%m-%d}"
    return f"{said}; slots after that are undecided.", until, left


def _spent(rules: Rules, costs: dict[str, Fraction], left: Fraction, slots: range) -> int | None:
    """The first slot that cannot be paid any more."""
    for slot in slots:
        left -= cost(rules, costs, slot)
        if left < 0:
            return slot
    return None
