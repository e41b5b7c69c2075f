"""A small private look at how margins spread, paid from the budget, by which a strategy can be chosen.

Releases noisy numbers of keys beyond a few public edges (see `spread.private_margins`, which says why it is private).
Neighbours differ in all rows of one unit; one touch moves one aligned margin of the surveyed look by 1 and costs
`rate`, on the scopes of all keys, because the numbers tell about all of them. One unit that touches several keys pays
`rate` for each, so `Survey.of` divides what a unit shall pay in all. It promises nothing about any key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from louver import parameters
from louver.decide.decision import Decision
from louver.decide.program import Look
from louver.decide.progressive import Progressive
from louver.decide.spread import Margins, edges, private_margins
from louver.decide.values import written
from louver.errors import ParameterError
from louver.noise import Bits
from louver.noise.laplace import noise_rate
from louver.privacy import Charge, LevelGrid, Outcome
from louver.privacy.plan import registered
from louver.source.measures import View


@registered("survey")
@dataclass(frozen=True, slots=True, init=False)
class Survey(Decision):
    """The plan of surveying the question's dearest look."""

    rate: Fraction
    mechanism: ClassVar[str] = "survey"
    gradual: ClassVar[bool] = False

    def __init__(self, *given: Any, rate: parameters.Number, **named: Any) -> None:
        object.__setattr__(self, "rate", noise_rate("rate", written("rate", rate)))
        Decision.__init__(self, *given, **named)

    @classmethod
    def of(cls, plan: Decision, price: parameters.Number) -> Survey:
        """The survey before a plan, of the same question and promise, for which one unit pays so much in all."""
        whole = noise_rate("survey", written("survey", price))
        times = plan.program.looks[dearest(plan.program.looks)].touch.times
        return cls(**Decision._given(plan), rate=whole / times)

    @property
    def look(self) -> int:
        return dearest(self.program.looks)

    @property
    def grid(self) -> LevelGrid:
        return Progressive(**Decision._given(self)).grids[self.look]

    def price_of(self, look: Look, miss_rate: Fraction, false_alarm_rate: Fraction) -> Fraction:  # noqa: ARG002 stated
        return self.rate

    @property
    def worst(self) -> tuple[Charge, ...]:
        look = self.program.looks[self.look]
        return self.reserved(look, self.rate)

    def run(self, view: View, bits: Bits) -> Outcome:
        grid, leaf = self.grid, self.program.looks[self.look].leaves[0]
        found = private_margins(grid.aligned(self.margins(view)[leaf]), edges(grid), self.rate, bits=bits)
        pairs = zip(found.values.tolist(), found.weights.tolist(), strict=True)
        return Outcome({"margins": [[place, size] for place, size in pairs], "source": found.source})

    @staticmethod
    def margins_of(answer: Mapping[str, Any]) -> Margins:
        """The released answer as knowledge for `choices`."""
        return Margins({int(place): float(size) for place, size in answer["margins"]}, str(answer["source"]))

    @property
    def promise(self) -> str:
        return "Nothing is promised about any key: these are rough numbers of keys, by which a strategy is chosen."

    def cheaper(self, price: Fraction) -> tuple[str, ...]:  # noqa: ARG002 the price is the caller's
        return ("a smaller rate",)

    def _given(self) -> dict[str, Any]:
        return {**Decision._given(self), "rate": self.rate}

    def parameters(self) -> dict[str, Any]:
        return {**Decision.parameters(self), "rate": str(self.rate)}

    @classmethod
    def from_parameters(cls, plain: Mapping[str, Any]) -> Self:
        try:
            return super(Survey, cls).from_parameters({**plain, "rate": Fraction(str(plain.get("rate")))})
        except (ValueError, ZeroDivisionError):
            raise ParameterError("The stored plan's parameters are not complete; make it again.") from None


def dearest(looks: Sequence[Look]) -> int:
    """Of several looks the one that would cost most if each key were looked at once."""
    weights = [look.touch.times / look.steps for look in looks]
    return weights.index(max(weights))
