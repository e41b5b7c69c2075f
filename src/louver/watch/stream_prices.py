"""What the streams of a watch cost in a slot, and whether that is paid: a part is, before its first tick."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from louver.decide.shown import up
from louver.errors import BudgetError, ParameterError
from louver.ledger import Ledger
from louver.privacy import Pure
from louver.source import Table
from louver.stream.plan import StreamPlan
from louver.stream.publishing import family
from louver.stream.session import check_live, payment_of
from louver.watch.durations import written
from louver.watch.rules import Rules
from louver.watch.stream_rules import DAY, Part, StreamRule
from louver.watch.targets_growing import live_target
from louver.watch.telling import each


class Priced:
    """A stream whose plan is checked, from a time on."""

    def __init__(self, rule: StreamRule, rules: Rules, table: Table, ledger: Ledger, start: int) -> None:
        self.rule, self._rules, self._ledger = rule, rules, ledger
        self._paid: dict[Part, bool] = {}
        step = rules.timing.slot
        self.first = max(-(-start // step) * step, start if rule.begin is None else rule.begin)
        part = self.part(self.first if rule.end is None else min(self.first, rule.end - step))
        if part is None:
            raise ParameterError("It has no tick at all; until must be a slot or more after from.")
        self.plan: StreamPlan = rule.plan(part, table, rules.building, step)
        self.kind: str = family(self.plan)
        self._part = part
        check_live(self.plan, rule.key_of(part))
        live_target(rule.to).check_plan(self.plan)

    @property
    def price(self) -> Fraction:
        """What one unit pays, or those of one window together."""
        return self.plan.worst[0].price

    def part(self, slot: int) -> Part | None:
        return self.rule.part(slot, self._rules.zone, self._rules.timing.slot)

    def due(self, slot: int) -> Fraction:
        """What is still to be paid for a slot."""
        part = self.part(slot)
        return Fraction(0) if part is None or self.is_paid(part) else self.price

    def paid(self, slot: int) -> Fraction:
        """What is paid for a slot already."""
        part = self.part(slot)
        return self.price if part is not None and self.is_paid(part) else Fraction(0)

    def is_paid(self, part: Part) -> bool:
        if part not in self._paid:
            self._paid[part] = payment_of(self._ledger, self.rule.key_of(part)) is not None
        return self._paid[part]

    def check_budget(self, start: int) -> None:
        """A stream without parts is paid once; whether it can be is known now."""
        if self.rule.each is not None or self._part.end <= start or self.is_paid(self._part):
            return
        refused = self._ledger.refusal(self.plan, audience=self.rule.audience)
        if refused is not None:
            raise BudgetError(f"The stream {self.rule.name}: {refused}")

    def __str__(self) -> str:
        plan, rule = self.plan, self.rule
        by = f" by {' and '.join(rule.by)}" if rule.by else ""
        what = f"{rule.name}: a stream of the {plan.measured.noun}{by} in each slot, by {plan.kernel}"
        kind = "" if isinstance(plan.price, Pure) else "rho "
        window = "" if plan.window == 1 else f", and for any {plan.window:,} of these together"
        whose = "it" if rule.each is None else f"each {'day' if rule.each == DAY else written(rule.each)} of it"
        price = f"{whose} costs at most {kind}{up(self.price)} for each {each(self._rules)}{window}"
        return f"{what}; {price}, paid before its first slot. {plan.promise}"


def priced(rules: Rules, table: Table, ledger: Ledger, start: int) -> tuple[Priced, ...]:
    """The streams of a watch, each checked; of one kind of price with each other and with the rules."""
    made = tuple(_one(rule, rules, table, ledger, start) for rule in rules.streams)
    kinds = {one.kind for one in made} | ({Pure.kind} if rules.rules else set())
    if len(kinds) > 1:
        raise BudgetError(
            "Prices in epsilon and in rho have no proved sum, and rules and streams of one watch add up; give its "
            f"streams epsilon{'' if rules.rules else ', or all of them rho'}."
        )
    for one in made:
        one.check_budget(start)
    return made


def _one(rule: StreamRule, rules: Rules, table: Table, ledger: Ledger, start: int) -> Priced:
    try:
        return Priced(rule, rules, table, ledger, start)
    except ParameterError as fault:
        raise ParameterError(fault_in(rule, rules, str(fault))) from None


def fault_in(rule: StreamRule, rules: Rules, said: str) -> str:
    """With its place in the file, where it is from one."""
    return said if rule.key is not None else f"{rules.path}, [stream.{rule.name}]: {said}"


def all_of(streams: Sequence[Priced], slot: int) -> tuple[Fraction, Fraction]:
    """What all streams still cost in a slot, and what they have paid there."""
    return sum((one.due(slot) for one in streams), Fraction(0)), sum((one.paid(slot) for one in streams), Fraction(0))
