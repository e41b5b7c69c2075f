"""Naive: noise of a given price and the threshold as it is. What is done without Louver, for comparison.

Releases the keys whose noisy margin is above 0 (the papers' NLM). The caller states the price, and gets whatever miss
rate follows: a key just over its threshold is missed in almost half of all cases. Neighbours, price and privacy are
those of `shift`: discrete Laplace noise of one rate on each aligned margin. The stated price is what one unit pays in
all: the rate is that price divided by how often a unit pays, over all looks that it can be in.

Why this is private. As `shift`, with the given rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from louver import parameters
from louver.decide import words
from louver.decide.decision import Decision
from louver.decide.program import Look
from louver.decide.values import written
from louver.noise import Bits, discrete_laplace
from louver.noise.laplace import noise_rate
from louver.privacy import Outcome, largest_total
from louver.privacy.calibrate.certain import decay
from louver.privacy.calibrate.oneshot import aligned
from louver.privacy.plan import registered
from louver.privacy.rates import cases
from louver.source.measures import View

MOST_MISSED = Fraction(1, 2) - Fraction(1, 2**40)


@registered("naive")
@dataclass(frozen=True, slots=True, init=False)
class Naive(Decision):
    """The plan of comparing each noisy margin with 0, at a stated price for one unit."""

    epsilon: Fraction
    mechanism: ClassVar[str] = "naive"
    gradual: ClassVar[bool] = False

    def __init__(self, *given: Any, epsilon: parameters.Number, **named: Any) -> None:
        object.__setattr__(self, "epsilon", noise_rate("epsilon", written("epsilon", epsilon)))
        # Rates and slack are not the caller's here: they follow from the price.
        Decision.__init__(self, *given, **{**named, "miss_rate": MOST_MISSED, "slack": 0, "false_alarm_rate": None})
        noise_rate("epsilon", self.rate)

    def price_of(self, look: Look, miss_rate: Fraction, false_alarm_rate: Fraction) -> Fraction:  # noqa: ARG002 stated
        return self.rate

    @property
    def rate(self) -> Fraction:
        """What one touch costs, so that one unit pays `epsilon` in all."""
        once = [charge for look in self.program.looks for charge in self.reserved(look, Fraction(1))]
        return self.epsilon / largest_total(once).price

    @property
    def just_missed(self) -> Fraction:
        """How often a comparison that just holds is missed: P(X <= -1) = a/(1+a) with a = exp(-rate), rounded up."""
        a = decay(self.rate, 64).upper
        return a / (1 + a)

    def run(self, view: View, bits: Bits) -> Outcome:
        looks = self.program.looks
        noises = [discrete_laplace(self.rate, len(self.reading.keys[look.keys]), bits=bits) for look in looks]
        decided = []
        for leaf, exact in zip(self.program.leaves, self.margins(view), strict=True):
            seen = aligned(exact, looks[leaf.look].touch.step) + leaf.sense * noises[leaf.look]
            decided.append(seen > 0)
        return Outcome(self.answer(self.joined(decided)))

    @property
    def promise(self) -> str:
        missed = cases(Fraction((self.just_missed * 1000).__ceil__(), 1000))
        said = f"No miss rate is promised: a comparison that just holds is missed in up to {missed}."
        return " ".join([said, *words.counted(self.reading.where, self.unit, self.reading.bound)])

    def cheaper(self, price: Fraction) -> tuple[str, ...]:  # noqa: ARG002 the price is the caller's
        return ("a smaller epsilon",)

    def _given(self) -> dict[str, Any]:
        kept = {name: value for name, value in Decision._given(self).items() if name not in _FOLLOWING}
        return {**kept, "epsilon": self.epsilon}

    def parameters(self) -> dict[str, Any]:
        kept = {name: value for name, value in Decision.parameters(self).items() if name not in _FOLLOWING}
        return {**kept, "epsilon": str(self.epsilon)}

    @classmethod
    def from_parameters(cls, plain: Mapping[str, Any]) -> Self:
        following = {"miss_rate": str(MOST_MISSED), "slack": ["0"], "false_alarm_rate": str(MOST_MISSED)}
        return super(Naive, cls).from_parameters({**plain, **following, "epsilon": _exact(plain.get("epsilon"))})


_FOLLOWING = ("miss_rate", "slack", "false_alarm_rate")


def _exact(stored: object) -> Fraction:
    try:
        return Fraction(stored) if isinstance(stored, str) else Fraction(0)
    except (ValueError, ZeroDivisionError):
        return Fraction(0)
