"""Sparse vector as a strategy: for questions that almost never fire, where one unit touches many keys.

Releases the keys that fire, in the domain's order, until `alarms` of them did; keys after the last alarm are not
answered, and the answer says how many were. See `louver.decide.sparse` for the mechanism and why it is private: its
price does not grow with the number of keys that a unit touches, only with the alarms. Every unit may touch every key,
each by all its rows that count there, so that a margin's step is what those rows weigh, and all keys pay together.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from louver import parameters
from louver.decide import payers, words
from louver.decide.decision import Decision
from louver.decide.program import Look
from louver.decide.sparse import MOST_ALARMS, SparseTest, sparse_flags, sparse_test
from louver.decide.touch import Touch
from louver.errors import ParameterError
from louver.noise import Bits
from louver.privacy import Charge, Outcome
from louver.privacy.plan import registered
from louver.source.measures import View

ALARMS = 1


@registered("sparse")
@dataclass(frozen=True, slots=True, init=False)
class Sparse(Decision):
    """The plan of comparing key by key until so many alarms were raised."""

    alarms: int
    mechanism: ClassVar[str] = "sparse"
    gradual: ClassVar[bool] = True

    def __init__(self, *given: Any, alarms: int = ALARMS, **named: Any) -> None:
        object.__setattr__(self, "alarms", parameters.integer("alarms", alarms, 1, MOST_ALARMS))
        Decision.__init__(self, *given, **named)

    @property
    def test(self) -> SparseTest:
        if len(self.program.leaves) != 1:
            raise ParameterError("The sparse strategy answers one comparison at a time; take another for a tree.")
        (leaf,), (look,) = self.program.leaves, self.program.looks
        if look.keys != 0:
            raise ParameterError("The sparse strategy answers key by key; group by all the question's keys.")
        # Each unit adds rows, and rows that only push a margin one way make it monotone.
        monotone = all(min(term.coefficients) >= 0 and term.measure.grid is None for term in leaf.margin.terms)
        monotone |= all(max(term.coefficients) <= 0 and term.measure.grid is None for term in leaf.margin.terms)
        (miss, alarm), step = self.rates[0], self._step(look)
        return sparse_test(miss, look.slack, alarm, step, alarms=self.alarms, monotone=monotone)

    def _step(self, look: Look) -> int:
        """What one unit moves one margin by: all its touches may fall into one key, unless the bound is per key."""
        per_key = self.bound is not None and self.bound.keys is not None and look.keys == 0
        return look.touch.step if per_key else look.touch.step * look.touch.times

    def price_of(self, look: Look, miss_rate: Fraction, false_alarm_rate: Fraction) -> Fraction:  # noqa: ARG002 one look
        return self.test.epsilon

    @property
    def worst(self) -> tuple[Charge, ...]:
        return self._paid(self.test.epsilon)

    def _paid(self, price: Fraction) -> tuple[Charge, ...]:
        """All keys share the threshold's noise, so that each pays for every alarm; one unit pays once."""
        (look,) = self.program.looks
        keys = self.reading.keys[look.keys]
        return payers.reserved(keys, look.box, Touch(look.touch.step, 1), self.unit, price)

    def run(self, view: View, bits: Bits) -> Outcome:
        test = self.test
        found = sparse_flags(test.aligned(self.margins(view)[0]), test, bits)
        flagged = np.zeros(len(self.program.keys), dtype=np.bool_)
        flagged[: found.answered] = found.flagged
        answer = {**self.answer(flagged), "answered": found.answered}
        return Outcome(answer, self._paid(test.charge(found.raised)))

    @property
    def promise(self) -> str:
        alarms = "one alarm" if self.alarms == 1 else f"{self.alarms:,} alarms"
        return (
            f"{words.promise(self)} After {alarms} nothing more is answered, and keys that come later are not covered."
        )

    def _given(self) -> dict[str, Any]:
        return {**Decision._given(self), "alarms": self.alarms}

    def parameters(self) -> dict[str, Any]:
        return {**Decision.parameters(self), "alarms": self.alarms}
