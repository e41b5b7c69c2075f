"""`mechanism="sum"`: the running sum with the least error that a plan's price and its ticks allow, and why.

Errors are known before the first tick, so choosing costs nothing. A stream that is not live cannot react to what it
releases, because its rows are there before; only then may the signed tree be taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from louver.errors import ParameterError
from louver.privacy import ZeroConcentrated
from louver.stream.buffered import Buffered
from louver.stream.choose import Choice, choose
from louver.stream.kary import KAry
from louver.stream.toeplitz import Toeplitz

if TYPE_CHECKING:
    from louver.stream.plan import StreamPlan

SUM = "sum"


def any_sum(rho: object) -> str:
    """A running sum that takes a price of this kind, to begin with."""
    return "kary" if rho is None else "buffered"


def best_sum(plan: StreamPlan, *, live: bool) -> StreamPlan:
    """The same plan, made of some running sum, with the best one."""
    if plan.options:
        raise ParameterError(f"The mechanism {SUM!r} takes no options: it chooses them.")
    return plan.with_(kernel=_named(_chosen(plan, live)))


def why(plan: StreamPlan, *, live: bool) -> str | None:
    """Why a plan's running sum is the best one; None where it is not, or is no running sum."""
    from louver.stream.kernels import kernel

    used = kernel(plan.kernel)
    if not used.is_sum or used.is_cut:
        return None
    chosen = _chosen(plan, live)
    return chosen.why if _named(chosen) == plan.kernel and not plan.options else None


def _chosen(plan: StreamPlan, live: bool) -> Choice:
    price, shape = plan.cell_price, plan.shape
    paid: dict[str, Any] = {"rho": price.rho} if isinstance(price, ZeroConcentrated) else {"epsilon": price.epsilon}
    low = -shape.largest if shape.signed else 0
    return choose(shape.ticks, adaptive=live, sensitivity=shape.sensitivity, low=low, high=shape.largest, **paid)


def _named(chosen: Choice) -> str:
    mechanism = chosen.mechanism
    if isinstance(mechanism, KAry):
        return "signed" if mechanism.signed else "kary"
    return {Buffered: "buffered", Toeplitz: "toeplitz"}.get(type(mechanism), "tree")
