"""Whether the parts of a stream's plan fit each other: one sentence about what to change where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from louver.errors import ParameterError
from louver.privacy import Unit
from louver.source.domain import Domain
from louver.source.measures import MOST_KEYS, Bound
from louver.stream import kernels
from louver.stream.measured import Measured
from louver.stream.recent import LARGEST_WINDOW
from louver.stream.ticks import Ticks
from louver.stream.truncated import SMOOTH

if TYPE_CHECKING:
    from louver.stream.plan import StreamPlan


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


def check_cells(plan: StreamPlan) -> None:
    """Whether a stream can have so many ticks and regions, and tell their columns apart."""
    ticks, count = plan.ticks, len(plan.regions)
    if ticks.column in plan.keys or ticks.time in plan.keys:
        raise ParameterError(
            f"The regions of a stream have a column {ticks.time!r}, which its ticks have; leave it out."
        )
    if count * len(ticks) > MOST_KEYS:
        raise ParameterError(
            f"{count:,} regions at {len(ticks):,} ticks are more than the {MOST_KEYS:,} numbers that one stream can "
            "have; take a shorter range or longer ticks."
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
    if (plan.miss_rate is None) != (plan.within is None and plan.above is None):
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
        if not used.is_fresh or plan.totals or plan.rho is not None:
            raise ParameterError(
                f"Limits are tested on counts with fresh Laplace noise, which {_asked(plan)} does not have; take "
                "'segment', 'laplace' or 'pegasus', without totals."
            )
        if len(plan.above) != len(plan.regions):
            raise ParameterError("above must be one number, or one for each region.")
    if plan.last is not None:
        if not used.is_fresh and not used.is_sum:
            raise ParameterError(f"The mechanism {plan.kernel!r} has no sums of its last ticks; leave last out.")
        if plan.last * len(plan.regions) > LARGEST_WINDOW:
            raise ParameterError(
                f"The last {plan.last:,} ticks of {len(plan.regions):,} regions are more than the {LARGEST_WINDOW:,} "
                "numbers that a sliding window can hold; take a shorter one."
            )


def _asked(plan: StreamPlan) -> str:
    return f"the mechanism {plan.kernel!r}" + (" with totals" if plan.totals else "")
