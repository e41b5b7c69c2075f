"""What the strategies share: a question compiled over a domain, the parts of the promise, who pays, what is cheaper.

A strategy decides every leaf of the question with noise of its own and joins the answers by the tree. The rates of the
question are divided among the leaves (`tree.rates`); a look that several leaves share keeps the strictest of theirs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.decide import payers, tree, words
from louver.decide.program import Look, Program, compiled
from louver.decide.shown import lines_as_html, plan_lines, plan_shown
from louver.decide.tree import All, Cost, Tree
from louver.decide.values import ValueBounds, written
from louver.errors import LouverError, ParameterError
from louver.parameters import Number
from louver.privacy import Between, Charge, Unit, largest_total
from louver.question.nodes import Flag
from louver.question.plain import from_dict, to_dict
from louver.source.domain import Domain
from louver.source.measures import Bound, Reading, View

PARTS = ("question", "domain", "unit", "miss_rate", "slack", "false_alarm_rate", "bound", "values")
LARGEST_SLACK = 2**40
LARGEST_RATE_TRIED = Fraction(1, 4)  # beyond that an answer is hardly worth its price
Made = TypeVar("Made")
Option = TypeVar("Option")


@dataclass(frozen=True, slots=True, init=False)
class Decision(ABC):
    """A plan: which keys of a domain meet a condition, with a promise about misses and false alarms."""

    question: Flag
    domain: Domain
    unit: Unit
    miss_rate: Fraction
    slack: tuple[Fraction, ...]
    false_alarm_rate: Fraction
    bound: Bound | None
    values: ValueBounds
    program: Program = field(compare=False, repr=False)
    rates: tuple[tuple[Fraction, Fraction], ...] = field(compare=False, repr=False)
    mechanism: ClassVar[str]
    gradual: ClassVar[bool]

    def __init__(
        self,
        question: Flag,
        domain: Domain,
        *,
        unit: Unit,
        miss_rate: Number,
        slack: Number | Sequence[Number],
        false_alarm_rate: Number | None = None,
        bound: Bound | None = None,
        values: ValueBounds | None = None,
    ) -> None:
        if not isinstance(question, Flag):
            raise ParameterError(
                "A decision answers which keys meet a condition; this question asks for something else."
            )
        check_public(domain, unit, bound)
        miss = error_rate("miss_rate", miss_rate)
        alarm = miss if false_alarm_rate is None else error_rate("false_alarm_rate", false_alarm_rate)
        slacks = tuple(map(slack_of, one_or_several(slack)))
        kept = bound if unit.is_row or bound is not None else Bound()
        bounds = values if values is not None else ValueBounds()
        for name, value in (
            ("question", question),
            ("domain", domain),
            ("unit", unit),
            ("miss_rate", miss),
            ("slack", slacks),
            ("false_alarm_rate", alarm),
            ("bound", bound),
            ("values", bounds),
            ("program", compiled(question, domain, unit, kept, bounds, slacks)),
        ):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "rates", self._look_rates())
        _ = self.look_prices  # a promise without a price is refused here

    def _look_rates(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """For each look the miss rate and the false-alarm rate that its leaves must keep."""
        program = self.program
        costs = [
            Cost(look.touch.times / look.steps, float(look.steps))
            for look in (program.looks[leaf.look] for leaf in program.leaves)
        ]
        misses = tree.rates(program.tree, self.miss_rate, All, costs, self._are_apart)
        alarms = tree.rates(program.tree, self.false_alarm_rate, tree.Any, costs, self._are_apart)
        return tuple(
            (min(misses[leaf] for leaf in look.leaves), min(alarms[leaf] for leaf in look.leaves))
            for look in program.looks
        )

    def _are_apart(self, parts: Sequence[Tree]) -> bool:
        """Whether the unit's columns show that no unit can have rows in two of the parts."""
        boxes = [{self.program.leaves[leaf].look for leaf in tree.leaves(part)} for part in parts]
        looks = self.program.looks
        return all(
            looks[one].box.for_unit(self.unit).disjoint(looks[two].box.for_unit(self.unit))
            for first, second in combinations(boxes, 2)
            for one in first
            for two in second
        )

    @abstractmethod
    def price_of(self, look: Look, miss_rate: Fraction, false_alarm_rate: Fraction) -> Fraction:
        """The worst price of one touch of such a look."""

    @property
    def look_prices(self) -> list[Fraction]:
        return [self.price_of(look, *rates) for look, rates in zip(self.program.looks, self.rates, strict=True)]

    @property
    def reading(self) -> Reading:
        return self.program.reading

    @property
    def sensitivity(self) -> Fraction:
        """How much one unit can change the margins, in all."""
        return Fraction(sum(look.touch.step * look.touch.times for look in self.program.looks))

    @property
    def worst(self) -> tuple[Charge, ...]:
        return tuple(
            charge
            for look, price in zip(self.program.looks, self.look_prices, strict=True)
            for charge in self.reserved(look, price)
        )

    def reserved(self, look: Look, price: Fraction) -> tuple[Charge, ...]:
        """What a look costs whose keys all cost the same."""
        return payers.reserved(self.program.reading.keys[look.keys], look.box, look.touch, self.unit, price)

    def charges(self, look: Look, levels: Sequence[int], prices: Sequence[Fraction]) -> tuple[Charge, ...]:
        return payers.charges(self.program.reading.keys[look.keys], look.box, look.touch, self.unit, levels, prices)

    def margins(self, view: View) -> list[NDArray[np.int64]]:
        """Each leaf's margins over the keys of its look. Private."""
        return [
            np.broadcast_to(leaf.margin.of(self.program.reading, view), len(self.program.reading.keys[leaf.keys]))
            for leaf in self.program.leaves
        ]

    def joined(self, decided: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """The keys that meet the condition, from each leaf's answers over the keys of its look."""
        flags = [
            np.where(yes[self.program.positions[leaf.keys]], tree.YES, tree.NO).astype(np.int8)
            for leaf, yes in zip(self.program.leaves, decided, strict=True)
        ]
        return np.asarray(tree.value(self.program.tree, flags) == tree.YES)

    def answer(self, flagged: NDArray[np.bool_]) -> dict[str, Any]:
        keys = self.program.keys.values
        return {"flagged": [words.plain_key(keys[at]) for at in np.flatnonzero(flagged).tolist()], "keys": len(keys)}

    @property
    def promise(self) -> str:
        return words.promise(self)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should know beside the promise."""
        from louver.decide.cautions import of_decision

        return of_decision(self)

    def __str__(self) -> str:
        return plan_shown(self)

    def _repr_html_(self) -> str:
        """For notebooks."""
        return lines_as_html(plan_lines(self))

    def with_(self, **changed: Any) -> Self:
        """The same plan with other parameters."""
        return type(self)(**{**self._given(), **changed})

    def _given(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in PARTS}

    def cheaper(self, price: Fraction) -> tuple[str, ...]:
        """What would fit the price: a larger miss rate, or wider slacks."""
        from louver.decide.cheaper import cheaper

        return tuple(cheaper(self, price))

    def has_keys_in(self, column: str, moved: Between) -> bool:
        """Whether the domain has keys for the same question elsewhere along a column."""
        from louver.decide.cheaper import has_keys_in

        return has_keys_in(self.domain, column, moved)

    def parameters(self) -> dict[str, Any]:
        return to_plain(Decision._given(self))

    @classmethod
    def from_parameters(cls, plain: Mapping[str, Any]) -> Self:
        return from_plain(cls, plain, PARTS)


def to_plain(parts: Mapping[str, Any]) -> dict[str, Any]:
    """What a plan is made of, as plain values for JSON."""
    return {name: _WRITTEN[name](value) for name, value in parts.items()}


def from_plain(make: Callable[..., Made], plain: Mapping[str, Any], needed: Iterable[str]) -> Made:
    """The plan behind plain values, all of which must be there; what else is there is its own."""
    try:
        return make(**{**plain, **{name: _READ[name](plain[name]) for name in needed}})
    except (KeyError, TypeError, ValueError, ZeroDivisionError, OverflowError, AttributeError):
        raise ParameterError("The stored plan's parameters are not complete; make it again.") from None


def _texts(lengths: Iterable[Fraction]) -> list[str]:
    return [str(each) for each in lengths]


def _lengths(texts: Iterable[str]) -> tuple[Fraction, ...]:
    return tuple(Fraction(each) for each in texts)


_WRITTEN: dict[str, Callable[[Any], Any]] = {
    "question": to_dict,
    "domain": Domain.to_dict,
    "unit": str,
    "miss_rate": str,
    "false_alarm_rate": str,
    "slack": _texts,
    "distance": _texts,
    "bound": lambda bound: None if bound is None else [bound.rows, bound.keys],
    "values": ValueBounds.to_list,
}
_READ: dict[str, Callable[[Any], Any]] = {
    "question": from_dict,
    "domain": Domain.from_dict,
    "unit": Unit.parse,
    "miss_rate": Fraction,
    "false_alarm_rate": Fraction,
    "slack": _lengths,
    "distance": _lengths,
    "bound": lambda plain: None if plain is None else Bound(*plain),
    "values": ValueBounds.from_list,
}


def fits(plan: Any, price: Fraction, **changed: Any) -> bool:
    """Whether the plan with other parameters would cost at most so much."""
    try:
        return bool(largest_total(plan.with_(**changed).worst).price <= price)
    except LouverError:
        return False


def least(rising: Sequence[Option], suffices: Callable[[Option], bool]) -> Option | None:
    """The first that suffices, where all after it do as well."""
    place = bisect_left(rising, True, key=suffices)
    return rising[place] if place < len(rising) else None


def check_public(domain: object, unit: object, bound: object) -> None:
    """Whether these are what every plan is made of."""
    if not isinstance(domain, Domain):
        raise ParameterError(f"A plan needs a Domain of public keys, not a {type(domain).__name__}.")
    if not isinstance(unit, Unit):
        raise ParameterError(f"A plan needs a Unit, not a {type(unit).__name__}; Unit.row() is one row.")
    if bound is not None and not isinstance(bound, Bound):
        raise ParameterError(f"A plan needs a Bound on what one unit contributes, not a {type(bound).__name__}.")
    if unit.is_row and bound is not None:
        raise ParameterError("Where the unit is the row itself there is nothing to bound per unit.")


def one_or_several(given: object) -> list[object]:
    """One length for all comparisons, or a list with one for each."""
    return list(given) if isinstance(given, Sequence) and not isinstance(given, str | bytes) else [given]


def slack_of(given: object) -> Fraction:
    exact = written("slack", given)
    if not 0 <= exact <= LARGEST_SLACK:
        raise ParameterError(f"slack must be between 0 and 2**40, not {parameters.short(exact)}.")
    return exact


def error_rate(name: str, given: Number) -> Fraction:
    """The exact rate; a float means what it is written as or what it is, whichever promises more: 0.05 means 1/20."""
    exact = parameters.error_rate(name, given)
    return min(exact, Fraction(repr(float(given)))) if isinstance(given, float) else exact


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
