"""How likely the next noisy value falls into an interval: what the choice of the next level looks at.

Floats, because nothing is promised here: a prediction only guides which level to take next, and a grid keeps its
promise under every rule of choice. The noise is idealised as continuous; on integers widen an interval by 1/2 each way.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError

Floats: TypeAlias = NDArray[np.float64]

SMALLEST_RATE, LARGEST_RATE = Fraction(1, 2**256), 2**256
FARTHEST = 1e3  # exp(-1000) is 0 in floats


def predict_fresh(value: object, rate: object, next_rate: object, low: object, high: object) -> Floats:
    """P(low <= value + Lap(1/rate) + Lap(1/next_rate) <= high): the next value if its noise were drawn anew.

    MIDE predicts like this (its equation 5.9), although its noise is correlated; `predict_gradual` fits that noise.
    """
    p, q = sorted((_rate("rate", rate), _rate("next_rate", next_rate)))
    return _mass(*_interval(value, low, high), lambda distance: _tail_of_two(distance, p, q))


def predict_gradual(value: object, rate: object, next_rate: object, low: object, high: object) -> Floats:
    """The same under gradual release and a flat prior, where the next value is this one with weight (rate/next_rate)².

    With the other weight it is value + Lap(1/rate).
    """
    now, then = _rate("rate", rate), _rate("next_rate", next_rate)
    if then < now:
        raise ParameterError("next_rate must be at least rate; gradual release goes from noisy to clear.")
    start, end = _interval(value, low, high)
    stay = (now / then) ** 2
    inside = (start <= 0) & (end >= 0)
    return np.asarray(stay * inside + (1 - stay) * _mass(start, end, lambda distance: _decay(distance, now) / 2))


def _tail_of_two(distance: Floats, p: float, q: float) -> Floats:
    """P(Lap(1/p) + Lap(1/q) > distance) for p <= q: stable where p = q, and far out."""
    farther = np.minimum(distance, FARTHEST / p)
    gap = (q - p) * farther
    shrink = np.where(gap > 0, -np.expm1(-gap) / np.where(gap > 0, gap, 1.0), 1.0)
    return _decay(distance, p) * (1 + p / (p + q) * p * farther * shrink) / 2


def _decay(distance: Floats, rate: float) -> Floats:
    return np.exp(-rate * np.minimum(distance, FARTHEST / rate))


def _mass(start: Floats, end: Floats, tail: Callable[[Floats], Floats]) -> Floats:
    """The weight of a symmetric law on [start, end], by differences of tails that do not cancel far out."""
    beyond_start, beyond_end = tail(np.abs(start)), tail(np.abs(end))
    both_sides = 1 - beyond_start - beyond_end
    return np.where(start >= 0, beyond_start - beyond_end, np.where(end <= 0, beyond_end - beyond_start, both_sides))


def _interval(value: object, low: object, high: object) -> tuple[Floats, Floats]:
    """The interval as seen from the value."""
    centre, bottom, top = _numbers("value", value), _numbers("low", low), _numbers("high", high)
    try:
        centre, bottom, top = np.broadcast_arrays(centre, bottom, top)
    except ValueError:
        raise ParameterError("value, low and high must have one shape, or be single numbers.") from None
    if np.any(bottom > top):
        raise ParameterError("low must be at most high.")
    with np.errstate(over="ignore"):  # infinitely far is far enough
        return bottom - centre, top - centre


def _numbers(name: str, value: object) -> Floats:
    try:
        array = np.asarray(value) if isinstance(value, np.ndarray | list | tuple) else np.asarray(_number(name, value))
    except ValueError:  # rows of unequal length
        array = np.asarray(None)
    if array.dtype.kind not in "iuf" or not np.all(np.isfinite(array)):
        raise ParameterError(f"{name} must be a finite number or an array of finite numbers.")
    return array.astype(np.float64)


def _number(name: str, value: object) -> float:
    try:
        return float(parameters.fraction(name, value))
    except OverflowError:
        raise ParameterError(f"{name} must be within the range of floats, about 1e308.") from None


def _rate(name: str, value: object) -> float:
    return float(parameters.within(name, value, SMALLEST_RATE, LARGEST_RATE))
