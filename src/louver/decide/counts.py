"""What the mechanisms on counts share: keys with thresholds, the promise, who pays, and what would be cheaper.

Who pays. Neighbours differ in all rows of one unit, of which at most m (`rows_per_unit`) are counted.

- Where the unit fixes the key column, all its rows have one key. Counts are aligned to steps of m, so that one unit
  moves one aligned count by 1 at most, and each key pays its own price e on its own scope.
- Where it does not, one unit may have rows under several keys, but at most m in all. Counts stay as they are: if it
  moves them by d_1, d_2, ... then the logarithm of the ratio of outcome probabilities is at most
  e |d_1| + e |d_2| + ... <= m e. That is charged once, on all that the unit cannot keep apart.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.parameters import Number
from louver.privacy import Charge, Scope, Unit
from louver.source import Counts, View

LARGEST_THRESHOLD = 2**40
LARGEST_RATE_TRIED = Fraction(1, 4)  # beyond that an answer is hardly worth its price


@dataclass(frozen=True, slots=True, init=False)
class ThresholdCounts(ABC):
    """A plan: which keys of the column `by` have more counted rows than their threshold."""

    by: str
    thresholds: tuple[tuple[str, int], ...]
    unit: Unit
    miss_rate: Fraction
    slack: int
    false_alarm_rate: Fraction
    rows_per_unit: int
    within: Scope
    mechanism: ClassVar[str]

    def __init__(
        self,
        by: str,
        thresholds: Mapping[str, int],
        *,
        unit: Unit,
        miss_rate: Number,
        slack: int,
        false_alarm_rate: Number | None = None,
        rows_per_unit: int = 1,
        within: Scope | None = None,
    ) -> None:
        if not isinstance(thresholds, Mapping):
            raise ParameterError(f"The thresholds must be given by key, not as a {type(thresholds).__name__}.")
        if not isinstance(unit, Unit):
            raise ParameterError(f"A plan needs a Unit, not a {type(unit).__name__}; Unit.row() is one row.")
        asked = Counts(by, thresholds, within, rows_per_unit)
        if unit.is_row and asked.rows_per_unit != 1:
            raise ParameterError("rows_per_unit must be 1 where the unit is the row itself.")
        limits = (parameters.integer("Each threshold", each, 0, LARGEST_THRESHOLD) for each in thresholds.values())
        miss = error_rate("miss_rate", miss_rate)
        alarm = miss if false_alarm_rate is None else error_rate("false_alarm_rate", false_alarm_rate)
        for name, value in (
            ("by", asked.by),
            ("thresholds", tuple(zip(asked.keys, limits, strict=True))),
            ("unit", unit),
            ("miss_rate", miss),
            ("slack", parameters.integer("slack", slack, 0, LARGEST_THRESHOLD)),
            ("false_alarm_rate", alarm),
            ("rows_per_unit", asked.rows_per_unit),
            ("within", asked.within),
        ):
            object.__setattr__(self, name, value)
        self.price_of(self.miss_rate, self.slack, self.false_alarm_rate)  # a promise without a price is refused here

    @abstractmethod
    def price_of(self, miss_rate: Fraction, slack: int, false_alarm_rate: Fraction) -> Fraction:
        """The worst e of such a promise, per step that one unit moves a count."""

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(key for key, _ in self.thresholds)

    @property
    def reading(self) -> Counts:
        return Counts(self.by, self.keys, self.within, self.rows_per_unit)

    @property
    def sensitivity(self) -> Fraction:
        return Fraction(self.rows_per_unit)

    @property
    def keys_pay_apart(self) -> bool:
        return self.unit.fixes(self.by)

    @property
    def step(self) -> int:
        """By how much one unit can move one count while it pays e once: what the counts are aligned to."""
        return self.rows_per_unit if self.keys_pay_apart else 1

    @property
    def worst(self) -> tuple[Charge, ...]:
        price = self.price_of(self.miss_rate, self.slack, self.false_alarm_rate)
        return self.charges([price] * len(self.thresholds))

    def charges(self, prices: Iterable[Fraction]) -> tuple[Charge, ...]:
        """What e for each key comes to: each on its key's scope, or m times the largest on all of them together."""
        if not self.keys_pay_apart:
            return (Charge(self.within.for_unit(self.unit), self.rows_per_unit * max(prices)),)
        ranges = dict(self.within.for_unit(self.unit).ranges)
        scopes = (Scope({**ranges, self.by: key}) for key in self.keys)
        return tuple(Charge(scope, price) for scope, price in zip(scopes, prices, strict=True))

    def margins(self, view: View) -> NDArray[np.int64]:
        """By how much each count is over its threshold. Private."""
        limits = np.array([threshold for _, threshold in self.thresholds], dtype=np.int64)
        return parameters.integers("The counts", view.counts) - limits

    def answer(self, flagged: NDArray[np.bool_]) -> dict[str, Any]:
        named = [key for key, over in zip(self.keys, flagged, strict=True) if over]
        return {"flagged": named, "keys": len(self.thresholds)}

    @property
    def promise(self) -> str:
        noun = self.by.replace("_", " ").strip()
        one = f"{'An' if noun[:1].lower() in 'aeiou' else 'A'} {noun}"
        where = f"{self.slack:,} or more below its threshold" if self.slack else "at or below its threshold"
        sentences = [
            f"{one} with more counted rows than its threshold is missed in at most {cases(self.miss_rate)}.",
            f"{one} {where} is flagged in at most {cases(self.false_alarm_rate)}"
            + ("; in between, either may happen." if self.slack else "."),
        ]
        if self.within.ranges:
            sentences.append(f"Counted are rows where {self.within}.")
        if not self.unit.is_row:
            rows = "one row is" if self.rows_per_unit == 1 else f"{self.rows_per_unit:,} rows are"
            sentences.append(f"Of {self.unit.protected()}, at most {rows} counted.")
        return " ".join(sentences)

    def cheaper(self, price: Fraction) -> tuple[str, ...]:
        """The smallest miss rate at this slack, and the smallest slack at this miss rate, that fit the price."""
        share = price if self.keys_pay_apart else price / self.rows_per_unit
        together = self.false_alarm_rate == self.miss_rate

        def by_rate(rate: Fraction) -> bool:
            return self._fits(share, rate, self.slack, rate if together else self.false_alarm_rate)

        def by_slack(slack: int) -> bool:
            return self._fits(share, self.miss_rate, slack, self.false_alarm_rate)

        found = []
        rates = short_rates(above=self.miss_rate)
        # Past the largest threshold no count would be far enough below to be safe from a false alarm.
        slacks = range(self.slack + 1, max((limit for _, limit in self.thresholds), default=0) + 1)
        if (place := bisect_left(rates, True, key=by_rate)) < len(rates):
            found.append(f"a miss rate of {float(rates[place]):.2g}")
        if (place := bisect_left(slacks, True, key=by_slack)) < len(slacks):
            found.append(f"a slack of {slacks[place]}")
        return tuple(found)

    def _fits(self, price: Fraction, miss_rate: Fraction, slack: int, false_alarm_rate: Fraction) -> bool:
        try:
            return self.price_of(miss_rate, slack, false_alarm_rate) <= price
        except ParameterError:
            return False

    def parameters(self) -> dict[str, Any]:
        return {
            "by": self.by,
            "thresholds": [[key, threshold] for key, threshold in self.thresholds],
            "unit": str(self.unit),
            "miss_rate": str(self.miss_rate),
            "slack": self.slack,
            "false_alarm_rate": str(self.false_alarm_rate),
            "rows_per_unit": self.rows_per_unit,
            "within": self.within.to_dict(),
        }

    @classmethod
    def from_parameters(cls, plain: Mapping[str, Any]) -> Self:
        given = dict(plain)
        try:
            pairs = [(key, threshold) for key, threshold in given.pop("thresholds")]
            given["unit"] = Unit.parse(given["unit"])
            given["within"] = Scope.from_dict(given["within"])
            for rate in ("miss_rate", "false_alarm_rate"):
                given[rate] = Fraction(given[rate])
            if len(dict(pairs)) < len(pairs):
                raise ParameterError("Each key is asked about once, but the stored plan has one twice.")
            return cls(thresholds=dict(pairs), **given)
        except (KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError):
            raise ParameterError("The stored plan's parameters are not complete; make it again.") from None


def error_rate(name: str, given: Number) -> Fraction:
    """The exact rate; a float means what it is written as or what it is, whichever promises more: 0.05 means 1/20."""
    exact = parameters.error_rate(name, given)
    return min(exact, Fraction(repr(float(given)))) if isinstance(given, float) else exact


def cases(rate: Fraction) -> str:
    """A rate in words, rounded up where it takes more than six digits."""
    shown = rate
    if rate.denominator > 10**6:
        size = 10**3
        while rate * size < 100:
            size *= 10
        shown = Fraction((rate * size).__ceil__(), size)
    return f"{shown.numerator:,} of {shown.denominator:,} cases"


def short_rates(above: Fraction) -> list[Fraction]:
    """Rates of two digits above the given one, in order."""
    size = 10
    while above * size < 1:
        size *= 10
    rates = []
    while size >= 10:
        rates += [Fraction(digits, 10 * size) for digits in range(10, 100)]
        size //= 10
    return [rate for rate in rates if above < rate <= LARGEST_RATE_TRIED]
