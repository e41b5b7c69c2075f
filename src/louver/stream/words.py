"""A stream's promise in words that a works council can read."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from louver.privacy import Unit
from louver.source.measures import Bound
from louver.stream.accuracy import LEVEL
from louver.stream.ticks import written

if TYPE_CHECKING:
    from louver.stream.plan import StreamPlan

SMALL = 20


def promise(plan: StreamPlan) -> str:
    """What error is promised, where one is; what is counted, and whose ticks the price is for."""
    return " ".join([*_error(plan), *_counted(plan.unit, plan.kept), *_covered(plan)])


def _error(plan: StreamPlan) -> list[str]:
    measured, name = plan.measured, plan.kernel
    cell = f"{measured.noun} of a tick" + (f" and {plan.keys[0]}" if len(plan.keys) == 1 else "")
    if name == "laplace" and plan.within is not None and plan.miss_rate is not None:
        return [f"Each {cell} is within {number(plan.within)} of the truth, except in at most {cases(plan.miss_rate)}."]
    if name in ("laplace", "segment", "pegasus"):
        off = f"is within {number(plan.noise_reach(LEVEL))} of the truth, except in at most {cases(1 - LEVEL)}."
        if name == "laplace":
            return [f"Each {cell} {off}"]
        late = "What is released is smoothed, and a change is seen some ticks late"
        return [f"{late}, so that no error of it is promised beyond the noise's law: each noisy {cell} behind it {off}"]
    said = f"Released is the {measured.noun} of all ticks so far{_by(plan)}"
    if name == "truncated":
        cut = "with each tick cut off at a private threshold; what is cut off is missing, and no error is promised"
        return [f"{said}, {cut}.", "Nothing is released until the threshold is found."]
    spread = plan.spread
    most, mean = number(spread.largest), number(spread.mean)
    noise = (
        f"its noise has mean 0 and a standard deviation of at most {most} at every tick, {mean} in the root mean square"
    )
    return [f"{said}; {noise}.", f"Of one tick at most {number(plan.largest)} counts."]


def _by(plan: StreamPlan) -> str:
    return f" by {' and '.join(plan.keys)}" if plan.keys else ""


def _counted(unit: Unit, bound: Bound | None) -> list[str]:
    if bound is None:
        return []
    rows = "one row is" if bound.rows == 1 else f"{bound.rows:,} rows are"
    cells = "" if bound.keys is None else f" in each of at most {bound.keys:,} ticks and regions"
    return [
        f"Of {unit.protected()}, at most {rows} counted{cells}.",
        "What these bounds leave out is not seen, and errors caused by that are not covered.",
    ]


def _covered(plan: StreamPlan) -> list[str]:
    """A window counts units, because only those are told apart; how many of somebody's are in a tick, nobody checks."""
    if plan.window == 1:
        return []
    length = written(plan.window * plan.ticks.minutes)
    what = "rows" if plan.unit.is_row else "of these units"
    return [f"The price covers any {plan.window:,} {what} together, which is {length} of whoever has one in each tick."]


def protected(plan: StreamPlan) -> str:
    """What is protected, as a sentence; with a window, several units together."""
    if plan.window == 1:
        return plan.unit.sentence()
    return f"Protected: {plan.unit.protected()}, and any {plan.window:,} of these together."


def number(value: Fraction | float) -> str:
    """A number as a reader writes it, to four digits where it has more."""
    near = float(value)
    return f"{near:,.0f}" if near == int(near) and abs(near) < 10**15 else f"{near:,.4g}"


def cases(rate: Fraction) -> str:
    """A rate in words, rounded up where it is not one of so many."""
    if rate.numerator != 1 and rate.denominator > SMALL:
        rate = Fraction(1, (1 / rate).__floor__())
    return f"{rate.numerator:,} of {rate.denominator:,} cases"
