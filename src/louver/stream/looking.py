"""A look at tails before a stream is cut off: one line from a source to a verdict for each region, paid for.

`tails(source, every="5m", begin=..., end=..., by="room", tick_bound=500, epsilon=1)` is the plan, which takes what
`stream` does; `look_at_tails` also pays and looks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from louver.errors import ParameterError
from louver.ledger import Ledger
from louver.parameters import Number
from louver.publishing.columns import json_value
from louver.publishing.paying import paid
from louver.source.description import Source
from louver.source.table import Table
from louver.steward import Release
from louver.stream.heads import heads
from louver.stream.planning import stream
from louver.stream.tail import HEAVY, UNCLEAR, Tail, factor_of
from louver.stream.tail_plan import BEHIND, FACTOR, TailPlan
from louver.stream.words import number


@dataclass(frozen=True, eq=False)
class Tails:
    """What was released of each region's tail, what it promises and protects, and what it cost."""

    plan: TailPlan
    release: Release
    heads: tuple[str, ...]
    remaining: Fraction | None = None
    ledger: str | None = None

    @property
    def tails(self) -> tuple[Tail, ...]:
        """One for each region, in steps."""
        return self.plan.tails(self.release.answer)

    @property
    def verdicts(self) -> tuple[str, ...]:
        return tuple(tail.verdict for tail in self.tails)

    @property
    def stretch(self) -> Fraction:
        """The factor that all regions allow, for a stream has one for all."""
        return min(tail.stretch for tail in self.tails)

    @property
    def sentences(self) -> tuple[str, ...]:
        """One about each region, and one about what follows."""
        return (*self._each(), self._advice())

    def _each(self) -> Iterator[str]:
        plan, step = self.plan.stream, self.plan.stream.measured.step
        for region, tail in zip(plan.regions, self.tails, strict=True):
            where = ", ".join(str(json_value(value)) for value in region) or "All rows"
            # No tick is beyond where all are cut off.
            stretched = min(int(tail.factor * tail.quantile), plan.shape.largest)
            low, high = number(tail.quantile * step), number(stretched * step)
            near, far = max(tail.near, 0), max(tail.far, 0)
            beyond = tail.size * math.pow((near + far) / tail.size, tail.factor)
            yield (
                f"{where}: {tail.verdict}. Of {tail.size:,} ticks about {near:,} are above {low} up to {high} and "
                f"{far:,} beyond, each give or take {tail.reach:,}; an exponential tail would leave about "
                f"{beyond:,.0f} beyond."
            )

    def _advice(self) -> str:
        if self.stretch > 1:
            return f"A smooth threshold may be stretched by a factor of {number(self.stretch)}."
        found = HEAVY if HEAVY in self.verdicts else UNCLEAR
        return f"A smooth threshold should keep its factor of 1, because {_whose(self.verdicts)} {found}."

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the price, what was released in the measured unit, and what follows from it."""
        step = float(self.plan.stream.measured.step)
        return {
            "protected": self.plan.protected,
            "promise": self.release.promise,
            "worst": str(self.release.worst),
            "charged": str(self.release.charged),
            "remaining": None if self.remaining is None else str(self.remaining),
            "number": self.release.number,
            "again": self.release.again,
            "factor": str(self.plan.factor),
            "stretch": str(self.stretch),
            "tails": [
                {
                    **{head: json_value(value) for head, value in zip(self.heads, region, strict=True)},
                    "verdict": tail.verdict,
                    "quantile": tail.quantile * step,
                    "near": tail.near,
                    "far": tail.far,
                    "reach": tail.reach,
                }
                for region, tail in zip(self.plan.stream.regions, self.tails, strict=True)
            ],
        }


def tails(source: Source | Table, *, factor: Number = FACTOR, **asked: Any) -> TailPlan:
    """The plan of a look at the tails of a stream's ticks; `asked` are parameters of `stream`, with its price."""
    return TailPlan(stream(source, mechanism=BEHIND, **asked), factor_of(factor))


def look_at_tails(
    source: Source | Table,
    plan: TailPlan | None = None,
    *,
    ledger: Ledger | str | Path | None = None,
    who: str = "local",
    token: str | None = None,
    audience: str | None = None,
    key: str | None = None,
    **asked: Any,
) -> Tails:
    """Pays, and looks at the tails of all regions; the same `key` again gives the same for nothing."""
    if plan is None:
        plan = tails(source, **asked)
    elif asked or not isinstance(plan, TailPlan):
        raise ParameterError("Give the plan of a look at tails, or what it is made of, not both.")
    table = source.table if isinstance(source, Source) else source
    named = heads(plan.stream, table)
    receipt = paid(source, plan, "A look", ledger=ledger, who=who, token=token, audience=audience, key=key)
    return Tails(plan, receipt.release, named, receipt.remaining, receipt.ledger)


def _whose(verdicts: tuple[str, ...]) -> str:
    return "its tail is" if len(verdicts) == 1 else "not all tails are light: one is"
