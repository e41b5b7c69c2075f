"""Whether the parts of a stream's plan fit each other: one sentence about what to change where they do not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from louver import parameters
from louver.errors import ParameterError
from louver.privacy import Unit
from louver.source.domain import Domain
from louver.source.measures import MOST_KEYS, Bound
from louver.stream import kernels
from louver.stream.above import LARGEST_LIMIT
from louver.stream.measured import Measured
from louver.stream.recent import LARGEST_WINDOW
from louver.stream.released import FLAGGED, LAST
from louver.stream.ticks import Ticks
from louver.stream.truncated import SMOOTH

if TYPE_CHECKING:
    from louver.stream.plan import StreamPlan

PUBLISHED = ("tick", "value", "low", "high", "band", LAST, FLAGGED)


def check(measured: object, domain: object, ticks: object, unit: object, bound: object) -> None:
    for given, kind, word in ((measured, Measured, "a Measured"), (ticks, Ticks, "Ticks"), (unit, Unit, "a Unit")):
        if not isinstance(given, kind):
            raise ParameterError(f"A stream needs {word}, not a {type(given).__name__}.")
    if domain is not None and not isinstance(domain, Domain):
        raise ParameterError(f"A stream needs a Domain of public regions or none, not a {type(domain).__name__}.")
    if bound is not None and not isinstance(bound, Bound):
        raise ParameterError(f"A stream needs a Bound on what one unit contributes, not a {type(bound).__name__}.")
    if bound is not None and unit == Unit.row():
        raise ParameterError("Where the unit is the row itself there is nothing to bound per unit.")


def check_columns(plan: StreamPlan) -> None:
    """Whether the columns of regions can be told from the others, and a tick can have so many regions."""
    ticks = plan.ticks
    if ticks.column in plan.keys or ticks.time in plan.keys:
        raise ParameterError(
            f"The regions of a stream have a column {ticks.time!r}, which its ticks have; leave it out."
        )
    check_heads(plan.keys)
    if len(plan.regions) > MOST_KEYS:
        raise ParameterError(f"{len(plan.regions):,} regions are more than the {MOST_KEYS:,} that a tick can have.")


def check_heads(heads: Iterable[str]) -> None:
    """Whether regions have columns of names that nothing else of a stream has, in whatever case."""
    for head in heads:
        if head.lower() in PUBLISHED:
            raise ParameterError(
                f"The regions of a stream cannot have a column {head!r}, because what is published has one; give it "
                "another name in the source and the domain."
            )


def check_whole(plan: StreamPlan) -> None:
    """Whether all ticks can be read at once, as every stream is that is not live."""
    count, ticks = len(plan.regions), len(plan.ticks)
    if count * ticks > MOST_KEYS:
        raise ParameterError(
            f"{count:,} regions at {ticks:,} ticks are more than the {MOST_KEYS:,} numbers that are released at once; "
            "take a shorter range or longer ticks, or publish the stream live, tick by tick."
        )


def check_window(plan: StreamPlan) -> None:
    if plan.window > 1 and not plan.ticks.in_one(plan.unit):
        raise ParameterError(
            f"A window is for units that are in one tick each, and one unit here is {plan.unit}, whose rows of all "
            f"ticks are protected together; protect (person, {plan.ticks.column}), or leave the window out."
        )


def check_price(plan: StreamPlan) -> None:
    """Whether the price is said in one way, and in one that the mechanism has."""
    ways = (plan.epsilon, plan.rho, plan.within, plan.slack)
    if sum(way is not None for way in ways) != 1:
        raise ParameterError(
            "Say the price in one way: epsilon, or rho, or within together with miss_rate, or above together with "
            "miss_rate and slack."
        )
    for name, asked in (("within", plan.within), ("above", plan.above)):
        if asked is not None and plan.miss_rate is None:
            raise ParameterError(f"{name} needs miss_rate too: in how many cases it may be wrong, such as 0.05.")
    if plan.miss_rate is not None and plan.within is None and plan.above is None:
        raise ParameterError(
            "miss_rate belongs to a promise: give within together with miss_rate, or above together with miss_rate."
        )
    if plan.within is not None and plan.kernel != "laplace":
        raise ParameterError(
            f"The mechanism {plan.kernel!r} promises no distance; within and miss_rate are for mechanism 'laplace'."
        )
    if plan.slack is not None and plan.above is None:
        raise ParameterError("slack says how far below a limit either answer may come; give the limit with above.")
    used = kernels.kernel(plan.kernel)
    if (plan.tick_bound is not None) != used.is_cut:
        cut = " and ".join(repr(name) for name, each in kernels.KERNELS.items() if each.is_cut)
        raise ParameterError(
            f"tick_bound, the largest value that one tick of a region can have, is for the mechanisms {cut}, which "
            "need it."
        )
    if plan.delta is not None and dict(plan.options).get("threshold") != SMOOTH:
        raise ParameterError(f"delta is for a mechanism with the threshold {SMOOTH!r}; leave it out.")


def check_views(plan: StreamPlan) -> None:
    """Whether what is asked for beside the numbers can be made of them."""
    used = kernels.kernel(plan.kernel)
    if plan.above is not None:
        if plan.totals:
            raise ParameterError("Limits are not tested where there are totals; leave totals out, or leave above out.")
        if not used.is_fresh or plan.rho is not None:
            raise ParameterError(
                f"Limits are tested on counts with fresh Laplace noise, which the mechanism {plan.kernel!r} does not "
                "have; take 'segment', 'laplace' or 'pegasus', with epsilon."
            )
        if len(plan.above) != len(plan.regions):
            raise ParameterError("above must be one number, or one for each region.")
        if any(abs(limit) > LARGEST_LIMIT for limit in plan.limits):
            raise ParameterError(
                f"A limit is more than 2^52 steps of {parameters.short(plan.measured.step)} away from 0, where "
                "counting ends; take a smaller one, or give the sum a larger step."
            )
    if plan.last is not None:
        if not used.is_fresh and not used.is_sum:
            raise ParameterError(f"The mechanism {plan.kernel!r} has no sums of its last ticks; leave last out.")
        if plan.last * len(plan.regions) > LARGEST_WINDOW:
            raise ParameterError(
                f"The last {plan.last:,} ticks of {len(plan.regions):,} regions are more than the {LARGEST_WINDOW:,} "
                "numbers that a sliding window can hold; take a shorter one."
            )
