"""What is known of sums behind a private threshold before they are paid: their wait, their noise, and what is better.

All of it follows from the plan: no row is read for it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from louver.errors import LouverError
from louver.noise.bits import SYSTEM
from louver.stream import kernels
from louver.stream.ticks import written

if TYPE_CHECKING:
    from louver.stream.plan import StreamPlan


class Instead(NamedTuple):
    """A mechanism without a threshold: its name, what to do with its numbers, and their standard deviation."""

    name: str
    to_do: str
    deviation: float


def promised(plan: StreamPlan) -> list[str]:
    """When the first number comes, and how large the noise is if nothing is cut off."""
    first = _first(plan)
    wait = f"the first number comes at the end of tick {first:,}, after {written(first * plan.ticks.minutes)}"
    if first > len(plan.ticks):
        wait = "no number comes before the end"
    found = f"The threshold is found from the first {_ticks(_lag(plan))} of {len(plan.ticks):,}"
    worst = f"the noise of the last number has a standard deviation of {_near(_own(plan))}"
    less = "a threshold of a tenth of that has a tenth of the noise"
    return [f"{found}, and {wait}.", f"With a threshold at the bound, {worst}; {less}.", *_of_missing(plan)]


def _of_missing(plan: StreamPlan) -> list[str]:
    if not kernels.kernel(plan.kernel).tells_missing:
        return []
    what = there(plan)
    return [
        f"That is with {what} in every tick; with {what} in half of the ticks it is about twice as much.",
        f"Which ticks have {what} is protected too, and a quarter of the price pays for counting them.",
    ]


def there(plan: StreamPlan) -> str:
    """What a tick has that is not missing."""
    return "rows" if plan.measured.column is None else "values"


def warned(plan: StreamPlan) -> list[str]:
    """Where the threshold is hardly better than a guess, the noise drowns all there can be, or another has less."""
    if not kernels.kernel(plan.kernel).is_cut:
        return []
    made: Any = plan.made(SYSTEM)
    said, own, instead = [], _own(plan), _instead(plan)
    most = float(plan.largest) * (len(plan.ticks) if plan.kernel == "truncated" else 1)
    if _first(plan) > len(plan.ticks):
        said.append("Its last ticks must all be after the threshold is found, so no number is released; take fewer.")
    if not made.is_found:
        said.append(
            f"{_ticks(made.lag)} are too few to find a threshold at this price: it may come out near 0, and nearly all "
            "is cut off then. Take a longer range, a larger price or a smaller tick_bound."
        )
    if own >= most:
        said.append(
            f"With a threshold at the bound, the noise of the last number ({_near(own)}) is as large as all that there "
            f"can be ({_near(most)})."
        )
    if instead is not None and instead.deviation < own:
        even = float(plan.largest) * instead.deviation / own
        said.append(
            f"The mechanism {instead.name!r}{instead.to_do} has a standard deviation of {_near(instead.deviation)} for "
            f"the same price and cuts nothing off; {plan.kernel!r} has less only with a threshold below {_near(even)}."
        )
    return said


def _lag(plan: StreamPlan) -> int:
    made: Any = plan.made(SYSTEM)
    return int(made.lag)


def _first(plan: StreamPlan) -> int:
    """The tick that releases the first number: the mean of some ticks needs a sum from before them."""
    lag, over = _lag(plan), int(dict(plan.options).get("over", 0))
    return lag + over if over < lag else lag


def _own(plan: StreamPlan) -> float:
    made: Any = plan.made(SYSTEM)
    return float(made.error_at_bound(len(plan.ticks)) * float(plan.measured.step))


def _instead(plan: StreamPlan) -> Instead | None:
    """Noise for what one unit moves, and not for the bound of a tick; None where there is no such stream."""
    if kernels.kernel(plan.kernel).tells_missing:
        return None
    step, ticks = float(plan.measured.step), len(plan.ticks)
    over = dict(plan.options).get("over")
    try:
        other: Any = plan.with_(
            kernel="kary" if over is None else "laplace", options={}, tick_bound=None, delta=None, last=None
        )
        mechanism = other.made(SYSTEM)
    except LouverError:
        return None
    if over is not None:
        fewer = min(int(over), ticks)
        each = math.sqrt(mechanism.variances()[0] / fewer)
        return Instead("laplace", f", with the last {over:,} ticks over {over:,},", each * step)
    error = mechanism.error_at(ticks) * step
    if plan.kernel == "running-mean":
        return Instead("kary", " over the number of ticks", error / ticks)
    return Instead("kary", "", error)


def _ticks(number: int) -> str:
    return "1 tick" if number == 1 else f"{number:,} ticks"


def _near(value: float) -> str:
    return f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"
