"""The plan of a look at tails: of each region, whether a threshold on its ticks may be stretched (see `tail`).

Who pays what is as for the stream that is looked behind: neighbours differ in all rows of one unit, which is at most
`units_together` changes of one cell, a tick of a region. `look_at_tail` costs epsilon over that for any change of one
cell, and a cell is in the look of its own region only. So one unit, or one window, pays epsilon in all (see
`plan_price`). It is charged on the same box as the stream's rows.

Why this is private. `run` hands each region's ticks to `look_at_tail` and gives back what that releases. How many ticks
there are is public; one without rows is a 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from louver.errors import ParameterError
from louver.noise import Bits
from louver.privacy import Charge, Outcome, Pure, Scope, Unit
from louver.privacy.plan import registered
from louver.privacy.rates import cases
from louver.source.measures import Reading, View
from louver.stream import cut_off, words
from louver.stream.plan import StreamPlan
from louver.stream.plan_parts import digits
from louver.stream.tail import MISTAKEN, SHARE_ABOVE, Tail, factor_of, look_at_tail, reach_of

FACTOR = Fraction(2)
BEHIND = "truncated"


@registered("tail")
@dataclass(frozen=True, slots=True)
class TailPlan:
    """A look at the ticks of a `stream` of values that are cut off, at its price; none of its numbers is released."""

    stream: StreamPlan
    factor: Fraction = FACTOR
    mechanism: ClassVar[str] = "tail"
    gradual: ClassVar[bool] = False

    def __post_init__(self) -> None:
        given: object = self.stream
        if not isinstance(given, StreamPlan) or given.kernel != BEHIND or not isinstance(given.price, Pure):
            raise ParameterError(
                f"A look at tails is one behind the plan of a stream by {BEHIND!r} at a price of epsilon."
            )
        object.__setattr__(self, "factor", factor_of(self.factor))
        _ = self.reach  # says what is wrong with the price

    @property
    def price(self) -> Pure:
        """What one unit pays, or the units of one window together."""
        return self.cell_price.for_group(self.stream.units_together)

    @property
    def cell_price(self) -> Pure:
        given: Any = self.stream.cell_price
        return Pure(given.epsilon)

    @property
    def unit(self) -> Unit:
        return self.stream.unit

    @property
    def scope(self) -> Scope:
        return self.stream.scope

    @property
    def sensitivity(self) -> Fraction:
        return self.stream.sensitivity

    @property
    def worst(self) -> tuple[Charge, ...]:
        return (Charge(self.scope, self.price),)

    @property
    def reading(self) -> Reading | None:
        return self.stream.reading

    def run(self, view: View, bits: Bits) -> Outcome:
        looked = [
            look_at_tail(values, self.stream.shape.largest, self.cell_price.epsilon, factor=self.factor, bits=bits)
            for values in view.values[0].reshape(len(self.stream.regions), len(self.stream.ticks))
        ]
        return Outcome({"tails": [[each.quantile, each.near, each.far] for each in looked]})

    def tails(self, answer: Mapping[str, Sequence[Sequence[int]]]) -> tuple[Tail, ...]:
        """What was released, by region, with what is public."""
        size = len(self.stream.ticks)
        return tuple(
            Tail(quantile, self.factor, size, near, far, self.reach, self.cell_price)
            for quantile, near, far in answer["tails"]
        )

    @property
    def reach(self) -> int:
        """How far a released count of ticks is off, but for the cases in which a verdict may be wrong."""
        return reach_of(self.cell_price.epsilon)

    @property
    def least_ticks(self) -> int:
        """From about how many ticks on a light tail can be told at this price."""
        return math.ceil(self.reach / math.pow(SHARE_ABOVE, self.factor))

    @property
    def what(self) -> str:
        plan = self.stream
        by = f" by {' and '.join(plan.keys)}" if plan.keys else ""
        regions = "1 region" if len(plan.regions) == 1 else f"{len(plan.regions):,} regions"
        return f"tail of the {plan.measured.noun}{by}, every {plan.ticks}; {len(plan.ticks):,} ticks of {regions}"

    @property
    def promise(self) -> str:
        times, bound = words.number(self.factor), words.number(self.stream.largest)
        expected = f"beyond {times} times a private quantile than an exponential tail would leave there"
        said = (
            f'A tail is called "light" where no more ticks lie {expected}, and "heavy" where more do.',
            f'Either is wrong because of noise in at most {cases(MISTAKEN)}; "unclear" may always be said.',
            f"It is about the ticks of this range, cut off at {bound}, and no number of the stream is released.",
        )
        return " ".join((*said, *words.whose(self.stream)))

    @property
    def protected(self) -> str:
        return self.stream.protected

    @property
    def warnings(self) -> tuple[str, ...]:
        of_sums = cut_off.warned(self.stream)
        said = [each for each in self.stream.warnings if each not in of_sums]
        ticks = len(self.stream.ticks)
        if ticks < self.least_ticks:
            said.append(
                f"At this price a light tail is told from about {self.least_ticks:,} ticks on, and here are {ticks:,}; "
                "take a longer range or a larger price."
            )
        return tuple(said)

    def cheaper(self, price: Fraction) -> tuple[str, ...]:
        return self.stream.cheaper(price)

    def parameters(self) -> dict[str, Any]:
        return {"stream": self.stream.parameters(), "factor": str(self.factor)}

    @classmethod
    def from_parameters(cls, plain: Mapping[str, Any]) -> Self:
        if set(plain) != {"stream", "factor"} or not isinstance(plain["stream"], Mapping):
            raise ParameterError("A stored look at tails needs its stream and its factor; make it again.")
        try:
            factor = Fraction(digits(plain["factor"]))
        except (ValueError, ZeroDivisionError):
            raise ParameterError("The factor of a stored look at tails cannot be read; make it again.") from None
        return cls(StreamPlan.from_parameters(plain["stream"]), factor)
