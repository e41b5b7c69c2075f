"""A rule as a question about one slot: the same plan each time but for the slot, so that it is priced once."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from louver import steward
from louver.decide.planning import node, plan
from louver.decide.words import counted
from louver.errors import LouverError, ParameterError
from louver.privacy import largest_total
from louver.privacy.rates import cases
from louver.question.nodes import Classes, Comparison, Flag, Question, Threshold, Values
from louver.question.normal import rebuilt
from louver.sense.events import instant
from louver.source import Source, Table
from louver.source.filters import Compare, Filter, both
from louver.watch.rules import DAY, SLOT, SPARSE, Rule, Rules
from louver.watch.tables import VALUE, name_of

DEVICES, PEOPLE, CAPACITY, LOAD = "devices", "people", "capacity", "load"
READ = "what sensors read"


class Asked:
    """What one rule asks in a slot, and what that costs.

    `thresholds` are the limits in devices, `limits` the same in what is `counted`.
    """

    def __init__(self, rule: Rule, rules: Rules, table: Table) -> None:
        self.rule = rule
        self._table, self._reads = name_of(rules), rules.combining is not None
        self.domain = rules.building.domain(rule.level)
        self._within = _bounds(rules)
        self._by_day, self._zone = rules.unit.fixes(DAY), rules.zone
        self._source = Source(table, domains=self.domain)
        self._question = self._checked(node(self.sql))
        self.plan = self._planned(rule)
        steward.check(table, self.plan)
        self.price = largest_total(self.plan.worst).price
        self.not_sparse = self._not_sparse()
        self.closer = self._closer()
        self.closer_price = Fraction(0) if self.closer is None else largest_total(self.closer.worst).price
        self.keys: tuple[str, ...] = tuple(map(str, self.domain.column(rule.level)))
        threshold = self._threshold()
        # Capacities are people; a calibrated building says how many devices they carry.
        is_people = threshold is not None and threshold.column == DEVICES and not threshold.constant
        self.counted = READ if self._reads else PEOPLE if is_people else DEVICES
        self.thresholds = self._numbers(threshold, None if threshold is None else threshold.column)
        self.limits = self._numbers(threshold, CAPACITY) if is_people else self.thresholds

    @property
    def sql(self) -> str:
        rule, level = self.rule, self.rule.level
        if rule.ask is not None:
            return rule.ask
        if rule.having is not None:
            return f"SELECT {level} FROM {self._table} GROUP BY {level} HAVING {rule.having}"  # noqa: S608 it is parsed
        number = f"sum({VALUE})" if self._reads else "count(*)"
        return f"SELECT {level}, {number} FROM {self._table} GROUP BY {level}"  # noqa: S608

    def at(self, slot: int) -> Any:
        """The plan for one slot."""
        return self.plan.with_(question=self._about(slot))

    def closer_at(self, slot: int, flagged: Collection[str]) -> Any:
        """The plan of the closer question, about the keys that were flagged in one slot."""
        if self.closer is None:
            raise ParameterError(f"The rule {self.rule.name!r} has no closer question.")
        numbers = np.array([number for number, key in enumerate(self.keys) if key in flagged], dtype=np.int64)
        return self.closer.with_(question=self._about(slot), domain=self.closer.domain.only(numbers))

    def promise(self, made: Any) -> str:
        """What is promised about a slot and, where several are pending, about all of them together."""
        said = self.promise_of(made)
        if self.rule.pending == 1:
            return said
        together = f"over {self.rule.pending} slots in a row, together in at most {cases(self.rule.miss_rate)}"
        return f"In each slot: {said} A miss {together}."

    def promise_of(self, made: Any) -> str:
        """The promise of a plan, without what it says of rows that a bound leaves out: a person has one in a slot."""
        said = str(made.promise)
        for errors in ("misses", "errors"):  # of flags, and of numbers
            said = said.replace(f" {' '.join(counted(made.reading.where, made.unit, made.reading.bound, errors))}", "")
        return said + self._within

    @property
    def meant(self) -> str:
        """Which keys a rule is to find, in words."""
        return f"a {self.rule.level} {'over its limit' if self.is_over else 'that meets its condition'}"

    @property
    def is_over(self) -> bool:
        """Whether it looks for what is above a limit, and not for another condition."""
        if self.rule.is_number:
            return self.rule.limit is not None
        condition = getattr(self._question, "condition", None)
        return isinstance(condition, Comparison) and condition.sign in (">", ">=") and self._threshold() is not None

    def _planned(self, rule: Rule) -> Any:
        promise: dict[str, Any] = {"miss_rate": rule.slot_miss_rate, "rows_per_unit": 1, "domain": self.domain}
        if rule.is_number:
            promise["within"] = rule.within
        else:
            promise |= {"slack": rule.slack, "strategy": rule.strategy, "objective": rule.objective}
            promise |= {"alarms": rule.alarms, "false_alarm_rate": rule.false_alarm_rate}
        return plan(self._source, self._about(0), **promise)

    def _not_sparse(self) -> Fraction | None:
        """What a sparse rule would cost without its strategy; none where there is no other."""
        if self.rule.strategy != SPARSE:
            return None
        try:
            other = self._planned(replace(self.rule, strategy=None, alarms=None, objective=None))
        except LouverError:
            return None
        return largest_total(other.worst).price

    def _closer(self) -> Any:
        if (closer := self.rule.closer) is None:
            return None
        return plan(
            self._source,
            self._about(0),
            miss_rate=closer.miss_rate,
            slack=closer.slack,
            false_alarm_rate=closer.false_alarm_rate,
            rows_per_unit=1,
            domain=self.domain,
        )

    def _checked(self, question: Question) -> Flag | Values:
        level = self.rule.level
        if isinstance(question, Classes) or isinstance(question, Values) != self.rule.is_number:
            raise ParameterError("A rule asks which keys meet a condition; numbers are asked with values = true.")
        if question.table not in (None, self._table):
            raise ParameterError(
                f"The question must be FROM {self._table}, the rows of a slot, not {question.table!r}."
            )
        if question.keys != (level,):
            raise ParameterError(f"The question must be grouped by {level}, the rule's level.")
        return question

    def _about(self, slot: int) -> Question:
        """The question about the rows of one slot only; of one day, where that is what is protected."""
        conditions: list[Filter] = [Compare(SLOT, "=", instant(slot))]
        if self._by_day:
            conditions.append(Compare(DAY, "=", instant(slot).astimezone(self._zone).date()))
        return rebuilt(self._question, lambda each: replace(each, where=both([each.where, *conditions])))

    def _threshold(self) -> Threshold | None:
        """The one limit that the question has, if it has one."""
        limit = self.rule.limit
        if limit is not None:
            return Threshold(column=limit) if isinstance(limit, str) else Threshold(limit)
        condition = getattr(self._question, "condition", None)
        right = condition.right if isinstance(condition, Comparison) else None
        return right if isinstance(right, Threshold) else None

    def _numbers(self, threshold: Threshold | None, column: str | None) -> dict[str, Fraction | None]:
        if threshold is None:
            return dict.fromkeys(self.keys)
        base = [Fraction(0)] * len(self.keys) if column is None else self.domain.numbers(column)
        return {key: threshold.factor * each + threshold.constant for key, each in zip(self.keys, base, strict=True)}


def missing(rule: Rule, rules: Rules) -> str:
    """Which line a rule that was refused needs, where it names a column that the building or the feed does not give."""
    named = set(re.findall(r"\w+", f"{rule.having} {rule.ask} {rule.limit}"))
    known = rules.building.domain(rule.level).columns
    if DEVICES in named and DEVICES not in known:
        return "There is no column 'devices'; write under [building] of the building's file: devices_per_person = 1.3."
    if LOAD in named and LOAD not in known:
        return f"There is no column 'load'; write for every {rule.level} of the building's file one like: load = 12."
    if VALUE in named and rules.combining is None:
        return 'Presence has no value; where sensors read one, write under [watch]: rows = "readings".'
    return ""


def _bounds(rules: Rules) -> str:
    """What the promise about readings leaves out."""
    if (combining := rules.combining) is None:
        return ""
    return f" Readings below {combining.lower:g} count as that, and those above {combining.upper:g} as that."
