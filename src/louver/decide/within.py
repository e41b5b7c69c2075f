"""The numbers themselves, accuracy-first: each aggregate within a stated distance, with a stated probability.

Releases one noisy number per aggregate and key (APEx's workload counting query). Neighbours differ in all rows of one
unit. An aggregate costs e per touch (see `touch`), e the least with which discrete Laplace noise of rate e/D stays
within the distance often enough, D the step of the touch. What it does not promise: that all keys are within at once.

Why this is private. `discrete_laplace` adds noise of rate e/D to an aggregate that one touch moves by at most D, which
changes the probability of any outcome by a factor of at most exp(e); `payers` adds up what one unit touches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from louver.decide import payers, words
from louver.decide.cheaper import FACTORS, has_keys_in, least_length
from louver.decide.decision import (
    check_public,
    error_rate,
    fits,
    from_plain,
    least,
    one_or_several,
    short_rates,
    slack_of,
    to_plain,
)
from louver.decide.margins import Margin, Term, plain
from louver.decide.program import KeyLists, shared_filter, without
from louver.decide.shown import lines_as_html, plan_lines, plan_shown
from louver.decide.touch import Touch, no_bound_needed, touch
from louver.decide.values import ValueBounds
from louver.errors import ParameterError
from louver.noise import Bits, discrete_laplace
from louver.parameters import Number
from louver.privacy import Between, Charge, Outcome, Scope, Unit
from louver.privacy.calibrate.distance import least_rate
from louver.privacy.plan import registered
from louver.privacy.rates import cases
from louver.question.nodes import Aggregate, Values
from louver.source import filters
from louver.source.domain import Domain
from louver.source.measures import Bound, Keys, Reading, View

PARTS = ("question", "domain", "unit", "miss_rate", "distance", "bound", "values")


@dataclass(frozen=True, slots=True)
class Wanted:
    """One aggregate: its measure as a margin without threshold, the box of its rows, its touch and its distance."""

    aggregate: Aggregate
    margin: Margin
    keys: int
    box: Scope
    touch: Touch
    distance: int


@registered("within")
@dataclass(frozen=True, slots=True, init=False)
class Within:
    """The plan of releasing aggregates, each within its distance except in at most `miss_rate` of cases."""

    question: Values
    domain: Domain
    unit: Unit
    miss_rate: Fraction
    distance: tuple[Fraction, ...]
    bound: Bound | None
    values: ValueBounds
    reading: Reading = field(compare=False, repr=False)
    wanted: tuple[Wanted, ...] = field(compare=False, repr=False)
    mechanism: ClassVar[str] = "within"
    gradual: ClassVar[bool] = False

    def __init__(
        self,
        question: Values,
        domain: Domain,
        *,
        unit: Unit,
        miss_rate: Number,
        distance: Number | Sequence[Number],
        bound: Bound | None = None,
        values: ValueBounds | None = None,
    ) -> None:
        if not isinstance(question, Values):
            raise ParameterError("Numbers within a distance answer a question that asks for aggregates, not this one.")
        check_public(domain, unit, bound)
        listed = one_or_several(distance)
        if len(listed) not in (1, len(question.aggregates)):
            raise ParameterError(
                f"Give one distance for all, or one for each of the {len(question.aggregates)} aggregates."
                if len(question.aggregates) > 1
                else "Give one distance, for there is one aggregate."
            )
        exact = tuple(slack_of(each) for each in listed)
        for name, value in (
            ("question", question),
            ("domain", domain),
            ("unit", unit),
            ("miss_rate", error_rate("miss_rate", miss_rate)),
            ("distance", exact),
            ("bound", bound),
            ("values", values if values is not None else ValueBounds()),
        ):
            object.__setattr__(self, name, value)
        self._compile()
        _ = self.worst

    def _compile(self) -> None:
        asked = self.question.aggregates
        common = shared_filter(asked)
        keys = KeyLists(self.domain, self.question.keys, common)
        bound = self.bound if self.unit.is_row or self.bound is not None else Bound()
        distances = self.distance * (len(asked) if len(self.distance) == 1 else 1)
        wanted = []
        for aggregate, distance in zip(asked, distances, strict=True):
            at = keys.number(aggregate.keys)
            columns = keys.lists[at].columns
            own = Aggregate(
                aggregate.kind,
                aggregate.column,
                aggregate.low,
                aggregate.high,
                without(aggregate.where, common),
                aggregate.keys,
            )
            measure, weight, step = plain(own, at, self.values.grid)
            margin = Margin((Term(measure, (1,)),), (0,), weight, step)
            moved = touch(self.unit, bound, columns, keys.lists[0].columns, margin)
            box = filters.scope(aggregate.where) or Scope.everything()
            wanted.append(Wanted(aggregate, margin, at, box, moved, int(distance / step)))
        measures = tuple(dict.fromkeys(measure for each in wanted for measure in each.margin.measures))
        free = all(no_bound_needed(self.unit, each.margin, keys.lists[each.keys].columns) for each in wanted)
        reading = Reading(tuple(keys.lists), measures, filters.both(common), None if free else bound)
        object.__setattr__(self, "reading", reading)
        object.__setattr__(self, "wanted", tuple(wanted))

    @property
    def keys(self) -> Keys:
        return self.reading.keys[0]

    def rate(self, each: Wanted) -> Fraction:
        """The rate of the noise on one aggregate."""
        return least_rate(each.distance, self.miss_rate)

    @property
    def sensitivity(self) -> Fraction:
        return Fraction(sum(each.touch.step * each.touch.times for each in self.wanted))

    @property
    def worst(self) -> tuple[Charge, ...]:
        made: list[Charge] = []
        for each in self.wanted:
            keys = self.reading.keys[each.keys]
            price = self.rate(each) * each.touch.step
            made += payers.reserved(keys, each.box, each.touch, self.unit, price)
        return tuple(made)

    def run(self, view: View, bits: Bits) -> Outcome:
        released = []
        for each in self.wanted:
            exact = np.broadcast_to(each.margin.of(self.reading, view), len(self.reading.keys[each.keys]))
            noisy = exact + discrete_laplace(self.rate(each), len(exact), bits=bits)
            released.append([words.number_plain(int(value) * each.margin.step) for value in noisy])
        return Outcome({"values": released, "keys": len(self.keys)})

    @property
    def promise(self) -> str:
        said = [
            f"{words.each_number(each.aggregate, each.margin.measures[0].where, self.question.keys)} is within "
            f"{words.number(each.distance * each.margin.step)} of {self._truth(each)}, except in at most "
            f"{cases(self.miss_rate)}."
            for each in self.wanted
        ]
        return " ".join([*said, *words.counted(self.reading.where, self.unit, self.reading.bound, errors="errors")])

    def _truth(self, each: Wanted) -> str:
        """What a number is near to: where bounds can change it, not the number that SQL would give."""
        grid, bound = each.margin.measures[0].grid, self.reading.bound
        bounds = [] if grid is None else [f"values from {words.number(grid.low)} to {words.number(grid.high)}"]
        if bound is not None:
            rows = "one row" if bound.rows == 1 else f"{bound.rows:,} rows"
            bounds.append(f"at most {rows} of each {self.unit}" + (" under each key" if bound.keys else ""))
        return f"the bounded {words.aggregate_phrase(each.aggregate)} ({', '.join(bounds)})" if bounds else "the truth"

    @property
    def warnings(self) -> tuple[str, ...]:
        from louver.decide.cautions import of_numbers

        return of_numbers(self)

    def __str__(self) -> str:
        return plan_shown(self)

    def _repr_html_(self) -> str:
        """For notebooks."""
        return lines_as_html(plan_lines(self))

    def with_(self, **changed: Any) -> Self:
        return type(self)(**{**self._given(), **changed})

    def _given(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in PARTS}

    def cheaper(self, price: Fraction) -> tuple[str, ...]:
        """The smallest miss rate at this distance, and the smallest distance at this miss rate, that fit the price."""
        found = []
        rates = short_rates(above=self.miss_rate)
        if (rate := least(rates, lambda rate: fits(self, price, miss_rate=rate))) is not None:
            found.append(f"a miss rate of {float(rate):.2g}")
        if len(set(self.distance)) == 1:
            far = least_length(self.distance[0], lambda far: fits(self, price, distance=(far,)))
            found += [] if far is None else [f"a distance of {words.number(far)}"]
        else:
            factor = least(
                FACTORS, lambda factor: fits(self, price, distance=[each * factor for each in self.distance])
            )
            if factor is not None:
                found.append(f"distances of {', '.join(words.number(each * factor) for each in self.distance)}")
        return tuple(found)

    def has_keys_in(self, column: str, moved: Between) -> bool:
        return has_keys_in(self.domain, column, moved)

    def parameters(self) -> dict[str, Any]:
        return to_plain(self._given())

    @classmethod
    def from_parameters(cls, plain: Mapping[str, Any]) -> Self:
        return from_plain(cls, plain, PARTS)
