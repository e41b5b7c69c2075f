"""Classes instead of yes or no: in which band each key's aggregate is, by several thresholds, from one noisy value.

Releases a class per key. Neighbours differ in all rows of one unit. One look at one price, that of a single
threshold: all thresholds are compared with the same noisy aligned margin, so that the classes are consistent and the
price does not grow with their number. The promise holds for each threshold: a key beyond it is put below it in at most
the miss rate of cases, and a key that is the slack or more short of it is put beyond it at the false-alarm rate.

Why this is private. `discrete_laplace` adds noise of rate e to one aligned margin per key; all else is comparison with
public numbers and coins. Thresholds that lie between two steps of the alignment are moved towards the higher class, by
a public number; so they never see more of the aggregate than the one noisy value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from louver.decide import words
from louver.decide.decision import Decision
from louver.decide.margins import PLAIN
from louver.decide.program import Look
from louver.errors import ParameterError, PromiseError
from louver.noise import Bits, bernoulli, discrete_laplace
from louver.privacy import OneShot, Outcome, one_shot
from louver.privacy.plan import registered
from louver.privacy.rates import cases
from louver.question.nodes import Any as AnyOf
from louver.question.nodes import Classes, Comparison, Flag
from louver.question.plain import to_dict
from louver.source.measures import View

_calibrated = lru_cache(maxsize=256)(one_shot)


@registered("bands")
@dataclass(frozen=True, slots=True, init=False)
class Bands(Decision):
    """The plan of one look at each key that tells its class."""

    classes: Classes
    mechanism: ClassVar[str] = "bands"
    gradual: ClassVar[bool] = False

    def __init__(self, question: Classes, domain: Any, **named: Any) -> None:
        if not isinstance(question, Classes):
            raise ParameterError("Bands answer in which class each key is; this question asks for something else.")
        if question.aggregate.kind not in PLAIN:
            raise ParameterError(f"Classes are of counts and sums, not of {question.aggregate.kind}.")
        if question.aggregate.keys != question.keys:
            raise ParameterError("The aggregate of classes must be grouped by all the question's keys.")
        if len(question.names) != len(question.cuts) + 1:
            raise ParameterError("There must be one class more than there are thresholds between them.")
        object.__setattr__(self, "classes", question)
        parts = tuple(Comparison(question.aggregate, ">", cut) for cut in question.cuts)
        slack = named.get("slack")
        if isinstance(slack, Sequence) and len(set(slack)) > 1:
            raise ParameterError("Classes share one noisy value, so they have one slack for all thresholds.")
        Decision.__init__(self, Flag(AnyOf(parts), question.keys, question.table, question.domain), domain, **named)
        self._check_order()
        _ = self.test

    def _look_rates(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Each threshold keeps the whole promise by itself."""
        return ((self.miss_rate, self.false_alarm_rate),) * len(self.program.looks)

    @property
    def _offsets(self) -> NDArray[np.int64]:
        """For each cut and key, what is added to the aggregate to get the cut's margin."""
        size = len(self.program.keys)
        return np.stack([np.broadcast_to(np.array(leaf.margin.offsets), size) for leaf in self.program.leaves])

    def _check_order(self) -> None:
        offsets = self._offsets
        if (np.diff(offsets, axis=0) >= 0).any() or len(self.program.leaves) != len(self.classes.cuts):
            raise ParameterError("The thresholds between classes must rise, for every key.")

    @property
    def shifts(self) -> NDArray[np.int64]:
        """For each cut and key, what to add to the first cut's aligned margin to get this cut's."""
        offsets = self._offsets
        width = self.program.looks[0].touch.step
        return np.asarray(-((offsets[0] - offsets) // width))

    @property
    def steps(self) -> int:
        """How far apart misses and false alarms are for the worst-placed cut, in aligned margins."""
        offsets = self._offsets
        look = self.program.looks[0]
        slack = min(leaf.slack for leaf in self.program.leaves)
        # At a margin of -slack for cut j, the first cut's margin is offsets[0] - offsets[j] - slack.
        first = -((slack + offsets - offsets[0]) // look.touch.step)
        return int(1 - (first + self.shifts).max())

    @property
    def test(self) -> OneShot:
        if self.steps < 1:
            raise PromiseError("One unit weighs more than the slack between classes; take more slack or fewer classes.")
        return _calibrated(self.miss_rate, self.steps - 1, self.false_alarm_rate)

    def price_of(self, look: Look, miss_rate: Fraction, false_alarm_rate: Fraction) -> Fraction:  # noqa: ARG002 one for all
        return self.test.epsilon

    @property
    def worst(self) -> Any:
        look = self.program.looks[0]
        return self.reserved(look, self.test.epsilon)

    @property
    def look_prices(self) -> list[Fraction]:
        return [self.test.epsilon]

    @property
    def sensitivity(self) -> Fraction:
        touch = self.program.looks[0].touch
        return Fraction(touch.step * touch.times)

    def run(self, view: View, bits: Bits) -> Outcome:
        test, look = self.test, self.program.looks[0]
        width = look.touch.step
        first = replace(test, sensitivity=width).aligned(self.margins(view)[0])
        noisy = first + discrete_laplace(test.epsilon, len(first), bits=bits)
        coins = bernoulli(test.coin, len(first), bits=bits)
        seen = noisy + self.shifts
        beyond = np.where(seen == test.boundary, coins, seen > test.boundary)
        # Shifts fall from cut to cut, so that a key beyond one cut is beyond all lower ones.
        numbers = beyond.sum(axis=0)
        named = [self.classes.names[int(number)] for number in numbers]
        return Outcome({"classes": named, "keys": len(named)})

    @property
    def promise(self) -> str:
        one = words.one_key(self.question.keys)
        slack = words.slack_shown(min(leaf.slack * leaf.margin.step for leaf in self.program.leaves))
        below = f"{slack} or more below" if slack else "at or below"
        said = [
            f"{one} above the threshold between two classes is put below it in at most {cases(self.miss_rate)}.",
            f"{one} {below} a threshold is put above it in at most {cases(self.false_alarm_rate)}"
            + ("; in between, either may happen." if slack else "."),
            *words.counted(self.reading.where, self.unit, self.reading.bound),
        ]
        return " ".join(said)

    def _given(self) -> dict[str, Any]:
        return {**Decision._given(self), "question": self.classes}

    def parameters(self) -> dict[str, Any]:
        return {**Decision.parameters(self), "question": to_dict(self.classes)}
