"""A stream's promise in words that a works council can read."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from louver.errors import LouverError
from louver.noise.bits import SYSTEM
from louver.privacy import Unit
from louver.privacy.rates import cases
from louver.source.derived import SLOT
from louver.source.measures import Bound
from louver.stream import cut_off, kernels
from louver.stream.accuracy import LEVEL
from louver.stream.measured import Measured
from louver.stream.places import BIN
from louver.stream.ticks import written

if TYPE_CHECKING:
    from louver.stream.plan import StreamPlan

DELTA = Fraction(1, 10**6)


def overview(plan: StreamPlan) -> str:
    """What a plan says of itself, a line each: the stream, who is protected, the promise, the price, and warnings."""
    price = math.ceil(plan.worst[0].price * 10**4) / 10**4
    paid = f"Price: {'epsilon' if plan.rho is None else 'rho'} {price:,.4f} at most"
    delta = getattr(plan.price, "delta", 0)
    paid += f" and delta {float(delta):.3g}." if delta else "."
    warned = (f"Warning: {each}" for each in plan.warnings)
    return "\n".join((f"Stream: {what(plan)}.", plan.protected, f"Promise: {plan.promise}", paid, *warned))


def what(plan: StreamPlan) -> str:
    """What is released, when, of how many regions, and how."""
    by = f" by {' and '.join(plan.keys)}" if plan.keys else ""
    regions = "1 region" if len(plan.regions) == 1 else f"{len(plan.regions):,} regions"
    return f"{plan.measured.noun}{by}, every {plan.ticks}; {len(plan.ticks):,} ticks of {regions}, by {plan.kernel}"


def promise(plan: StreamPlan) -> str:
    """What error is promised, where one is; what is counted, and whose ticks the price is for."""
    parts = (_error(plan), _totals(plan), _flagged(plan), _recent(plan), whose(plan), _means(plan))
    return " ".join(sentence for part in parts for sentence in part)


def whose(plan: StreamPlan) -> list[str]:
    """What is counted of whom, and whose ticks the price is for."""
    return [*_rounded(plan.measured), *_counted(plan.unit, plan.kept), *_covered(plan)]


def _error(plan: StreamPlan) -> list[str]:
    measured, name = plan.measured, plan.kernel
    cell = f"{measured.noun} of a tick" + (f" and {plan.keys[0]}" if len(plan.keys) == 1 else "")
    if name == "laplace" and plan.within is not None and plan.miss_rate is not None and not plan.totals:
        return [f"Each {cell} is within {number(plan.within)} of the truth, except in at most {cases(plan.miss_rate)}."]
    used = kernels.kernel(name)
    if used.is_fresh:
        off = f"is within {number(plan.noise_reach(LEVEL))} of the truth, except in at most {cases(1 - LEVEL)}."
        if name in kernels.UNSMOOTHED and not plan.totals:
            return [f"Each {cell} {off}"]
        if name == "laplace":
            return [f"Each {cell} and each total has noise of its own, and before they are joined {off}"]
        return _smoothed(plan, cell, off)
    said = f"Released is {_released(plan)}{_by(plan)}"
    if used.is_cut:
        cut = "with each tick cut off at a private threshold; what is cut off is missing, and no error is promised"
        return [f"{said}, {cut}.", *cut_off.promised(plan)]
    spread = plan.spread
    most, mean = number(spread.largest), number(spread.mean)
    noise = (
        f"its noise has mean 0 and a standard deviation of at most {most} at every tick, {mean} in the root mean square"
    )
    most_counted = [f"Of one tick at most {number(plan.largest)} counts."] if used.is_sum else []
    return [f"{said}; {noise}.", *most_counted]


def _smoothed(plan: StreamPlan, cell: str, off: str) -> list[str]:
    """First what is not promised: the law of noise that nobody sees is easily taken for that of the numbers."""
    has_band = plan.kernel == kernels.DEFAULT or plan.totals
    band = "their band is an estimate" if has_band else "how far off they are is not known"
    fresh = "laplace" if plan.rho is None else "gaussian"
    is_had = plan.kernel == kernels.DEFAULT and not plan.totals  # at this price
    unsmoothed = f"{off.removesuffix('.')}; the mechanism {fresh} releases them so." if is_had else off
    before = "smoothed and joined" if plan.totals else "smoothed"
    return [
        f"No error of these numbers is promised: they are smoothed, so a change is seen some ticks late, and {band}.",
        f"Before they are {before}, each {cell} {unsmoothed}",
    ]


def _released(plan: StreamPlan) -> str:
    """What a number stands for, where it is not that of its tick."""
    noun = plan.measured.noun
    if plan.kernel == kernels.HISTOGRAM:
        return f"how many ticks so far had a {noun} in each bin"
    if plan.kernel == "running-mean":
        return f"the mean {noun} of all ticks so far"
    if plan.kernel == "window-mean":
        return f"the mean {noun} of the last {dict(plan.options)['over']:,} ticks"
    if plan.kernel == "present-mean":
        return f"the mean {noun} of the ticks so far that have {cut_off.there(plan)}"
    return f"the {noun} of all ticks so far"


def _totals(plan: StreamPlan) -> list[str]:
    if not plan.totals:
        return []
    upper = " and ".join((*(f"of each {name}" for name in plan.keys[:-1]), "of all"))
    return [
        f"Totals are released too, {upper}, and at each tick the parts of a total sum to it.",
        f"One unit is counted at {len(plan.keys) + 1} levels, and the price is for all of them.",
    ]


def _flagged(plan: StreamPlan) -> list[str]:
    if plan.test is None or plan.miss_rate is None:
        return []
    noun, rare = plan.measured.noun, cases(plan.miss_rate)
    slack = number(plan.test.slack * plan.measured.step)
    where = f"A {' and '.join(plan.keys)}" if plan.keys else "A stream"
    return [
        f"{where} whose {noun} of a tick is above its limit is missed in at most {rare}.",
        f"One whose {noun} is {slack} or more below that is flagged in at most {rare}; in between, either may happen.",
        "This holds for each tick by itself.",
    ]


def _recent(plan: StreamPlan) -> list[str]:
    if plan.last is None:
        return []
    length = written(plan.last * plan.ticks.minutes)
    reach, said = plan.last_reach(LEVEL), f"The sum over {length} up to each tick"
    if reach is None:
        return [f"{said} follows from what is released: it costs nothing and promises nothing."]
    within = f"within {number(reach)} of the truth, except in at most {cases(1 - LEVEL)}"
    return [f"{said} follows from what is released and costs nothing; it is {within}."]


def _by(plan: StreamPlan) -> str:
    keys = [key for key in plan.keys if plan.places.edges is None or key != BIN]
    return f" by {' and '.join(keys)}" if keys else ""


def _rounded(measured: Measured) -> list[str]:
    """What a sum is the sum of."""
    grid = measured.grid
    if grid is None:
        return []
    ends = f"from {number(grid.low)} to {number(grid.high)}"
    return [
        f"Each value of {measured.column} counts as the nearest multiple of {number(grid.step)} {ends}.",
        "The truth here is the sum of those; errors caused by clamping and rounding values are not covered.",
    ]


def moment(plan: StreamPlan) -> str | None:
    """Where a unit has times as they are recorded, it lasts for one of them; a column that is called slot has slots."""
    time, unit = plan.ticks.time, plan.unit
    if time == SLOT or time not in unit.columns:
        return None
    longer = Unit(*(f"{SLOT}({time}, {plan.ticks.minutes})" if each == time else each for each in unit.columns))
    return (
        f"A unit is what has one and the same {time}, perhaps a single second, and not all of a tick; to protect "
        f"that, let the unit be {longer}."
    )


def rounding(plan: StreamPlan) -> str | None:
    """From how many rows on rounding alone can pass the distance that is promised; None where none is rounded."""
    if plan.measured.grid is None or plan.within is None:
        return None
    half = plan.measured.step / 2
    rows = int(plan.within / half) + 1
    few = "one row can" if rows == 1 else f"in {rows:,} rows of one tick and region that can"
    return (
        f"Each value of {plan.measured.column} is off by up to {number(half)} by rounding, unless it is a multiple of "
        f"{number(plan.measured.step)}; {few} come to more than the distance of {number(plan.within)}."
    )


def levels(plan: StreamPlan) -> str | None:
    """A level whose totals have one part each is paid for and says nothing; mostly, the wider column came second."""
    if not plan.totals:
        return None
    sizes = [
        len({region[: at + 1] for region in plan.regions if region[at] is not None}) for at in range(len(plan.keys))
    ]
    for at, (upper, lower) in enumerate(pairwise(sizes)):
        if upper == lower:
            one, other = plan.keys[at], plan.keys[at + 1]
            return (
                f"Each total of a {one} has one {other} in it, so that the level of {other} is paid for and says "
                f"nothing new; name the wider column first, or leave {other} out."
            )
    return None


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
    slot, what = plan.ticks.slot_of(plan.unit), "rows" if plan.unit.is_row else "of these units"
    covered = f"The price covers any {plan.window:,} {what}"
    covered += " that are in different ticks" if plan.ticks_apart else " together"
    if slot is None:
        return [f"{covered}, whenever they are."]
    length = written(plan.window * slot)
    return [
        f"{covered}, which is {length} of whoever has one in each slot.",
        f"A stay of {length} that begins within a slot is in {plan.window + 1:,} of them.",
    ]


def _means(plan: StreamPlan) -> list[str]:
    """A price in rho as epsilon and delta, which more people know; the ledger adds up rho."""
    if plan.rho is None:
        return []
    try:
        found = plan.made(SYSTEM).approximately_at(plan.rho, DELTA, plan.units_together)
    except LouverError:  # noise so small that another package would have to convert it
        return []
    epsilon = math.ceil(found.epsilon * 1000) / 1000
    rare = f"1 in {DELTA.denominator:,}"
    return [f"By itself this stream has a price of epsilon {epsilon:,.3f} with a delta of {rare}."]


def protected(plan: StreamPlan) -> str:
    """What is protected, as a sentence; with a window, several units together."""
    if plan.window == 1:
        return plan.unit.sentence()
    where = "in different ticks" if plan.ticks_apart else "together"
    return f"Protected: {plan.unit.protected()}, and any {plan.window:,} of these {where}."


def number(value: Fraction | float) -> str:
    """A number as a reader writes it, to four digits where it has more."""
    near = float(value)
    return f"{near:,.0f}" if near == int(near) and abs(near) < 10**15 else f"{near:,.4g}"
