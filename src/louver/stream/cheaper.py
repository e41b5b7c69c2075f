"""How a stream could be asked for at a lower price."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from louver.errors import ParameterError

if TYPE_CHECKING:
    from louver.stream.plan import StreamPlan

PLACES = 10_000
MOST_DOUBLINGS = 40


def cheaper(plan: StreamPlan, price: Fraction) -> tuple[str, ...]:
    """Ways to ask that cost at most this price, as phrases."""
    return tuple(_ways(plan, price)) if price > 0 else ()


def _ways(plan: StreamPlan, price: Fraction) -> Iterator[str]:
    if plan.within is not None or plan.slack is not None:
        name, words = ("within", "distance") if plan.within is not None else ("slack", "slack")
        far = _least_distance(plan, price, name)
        if far is not None:
            yield f"a {words} of {_written(far)}"
    else:
        name = "rho" if plan.rho is not None else "epsilon"
        less = Fraction((price * PLACES).__floor__(), PLACES)
        if less and _fits(plan, price, **{name: less}):
            yield f"{name} {_written(less)}"
    if plan.window > 1 and _fits(plan, price, window=1):
        yield "no window"


def _least_distance(plan: StreamPlan, price: Fraction, name: str) -> Fraction | None:
    """The least whole number of steps beyond the distance or slack that is asked for, by doubling and halving."""
    step = plan.measured.step
    low = int(getattr(plan, name) / step)
    high = max(2 * low, 1)
    for _ in range(MOST_DOUBLINGS):
        if _fits(plan, price, **{name: high * step}):
            break
        low, high = high, 2 * high
    else:
        return None
    while high - low > max(low // PLACES, 1):
        middle = (low + high) // 2
        low, high = (low, middle) if _fits(plan, price, **{name: middle * step}) else (middle, high)
    return high * step


def _fits(plan: StreamPlan, price: Fraction, **changed: Fraction | int) -> bool:
    try:
        return plan.with_(**changed).worst[0].price <= price
    except ParameterError:
        return False


def _written(value: Fraction) -> str:
    """With all digits that count, because a rounded one might not fit."""
    return f"{float(value):.12g}"
