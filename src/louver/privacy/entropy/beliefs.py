"""Where an attacker's beliefs may lie, given prices and a prior (MIDE lemma A.1), and how exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
LARGEST_PRICE = 10**6
ROUNDING = 2.0**-52
TINY = 1e-300
# No belief passes 1, so an interval that ends beyond 2 may as well end at 2: nothing can be lifted that far.
BEYOND = 2.0


@dataclass(frozen=True, slots=True)
class Intervals:
    """Where the attacker's beliefs may lie: one row per group of keys with the same price and weight."""

    low: Floats
    high: Floats
    count: Whole
    log_centre: float  # mean of the logarithms of low and high, the same for all keys under a uniform prior
    error: float  # a bound on the relative error of low and high

    @property
    def keys(self) -> int:
        return int(self.count.sum())

    @property
    def floor(self) -> float:
        """The entropy with every belief at its lower end."""
        return float(np.sum(self.count * entropy(self.low)))

    @property
    def slack(self) -> float:
        """The mass to hand out once every belief is at its lower end."""
        room = float(np.sum(self.count * (self.high - self.low)))
        return min(max(1.0 - float(np.sum(self.count * self.low)), 0.0), room)

    def lift(self, group: Whole | slice, mass: Floats) -> Floats:
        """What beliefs add to the entropy when they rise by a mass from their lower end."""
        return entropy(self.low[group] + mass) - entropy(self.low[group])

    def blur(self, reach: float) -> float:
        """How far `running_sums` over the groups may be off where they have reached so far."""
        return ROUNDING * (2 * math.isqrt(self.low.size) + 64) * (1 + reach)

    def doubt(self, reach: float, paid: float) -> float:
        """How far rounding may move an entropy, or a bound on it, where masses sum to `reach` and gains to `paid`.

        The computed ends are off by a relative `error`, which moves the set of possible beliefs by a distance (sum of
        absolute differences) of at most 4 error. Sums of masses, and beliefs that are let pass a blur outside their
        interval, add 4 blur. Entropies of k beliefs at distance d differ by at most d ln(k/d), because
        |h(x) - h(y)| <= h(|x - y|) for the concave h(x) = -x ln x; 2 d more allow for beliefs just above 1.
        Sums of gains have a blur of their own.
        """
        distance = 4 * self.error + 4 * self.blur(reach)
        return distance * (math.log(self.keys / distance) + 2) + self.blur(paid + math.log(self.keys))


def entropy(belief: Floats) -> Floats:
    return -belief * np.log(np.maximum(belief, TINY))


def read_prices(prices: object) -> Floats:
    """One price per key: at least one, each finite and not negative."""
    price = _column("prices", prices)
    if price.min() < 0:
        raise ParameterError(f"prices[{price.argmin()}] is {price.min():.6g}; a price must be 0 or more.")
    if price.max() > LARGEST_PRICE:
        raise ParameterError(
            f"prices[{price.argmax()}] is {price.max():.6g}; a price above {LARGEST_PRICE} hides nothing: cap it there."
        )
    return price


def read_prior(prior: object, keys: int) -> Floats:
    """One positive weight per key; only their ratios count. All equal when there is no prior."""
    if prior is None:
        return np.ones(keys)
    weight = _column("prior", prior)
    if weight.size != keys:
        raise ParameterError(f"prior has {weight.size} weights for {keys} prices; give one weight per key.")
    if weight.min() <= 0:
        raise ParameterError(
            f"prior[{weight.argmin()}] is {weight.min():.6g}; a weight must be greater than 0, so leave out a key that "
            "the attacker rules out."
        )
    return weight


def intervals(price: Floats, weight: Floats) -> Intervals:
    """Lemma A.1 in logarithms, so that no exponential overflows; groups in the order of falling price."""
    keys, uniform = price.size, weight.min() == weight.max()
    order = slice(None) if uniform else np.lexsort((weight, -price))
    price, weight = -np.sort(-price) if uniform else price[order], weight[order]
    changes = (price[1:] != price[:-1]) | (weight[1:] != weight[:-1])
    first = np.append(0, np.flatnonzero(changes) + 1)
    count = np.diff(np.append(first, keys))
    return interval_ends(price[first], weight[first], count)


def interval_ends(price: Floats, weight: Floats, count: Whole) -> Intervals:
    """The same for groups of keys that are already sorted and counted."""
    log_weight = np.log(weight) - math.log(weight.max())
    up, down = _log_sum(log_weight + price, count), _log_sum(log_weight - price, count)
    low = np.exp(log_weight - price - up)
    high = np.exp(np.minimum(log_weight + price - down, math.log(BEYOND)))
    # exp and log err by at most 4 units in the last place; the largest logarithm met scales the error of their sums.
    largest = float(price.max() + np.abs(np.log(weight)).max()) + math.log(count.sum())
    error = ROUNDING * (24 * largest + 64 + math.log2(count.sum()))
    return Intervals(low, np.maximum(high, low), count, -(up + down) / 2, error)


def running_sums(values: Floats) -> Floats:
    """Sums of the first 0, 1, 2, ... values, in two levels: their error grows with the square root of the length."""
    side = math.isqrt(values.size) + 1
    rows = np.zeros((side, side))
    rows.ravel()[: values.size] = values
    np.cumsum(rows, axis=1, out=rows)
    rows[1:] += np.cumsum(rows[:-1, -1])[:, None]
    return np.append(0.0, rows.ravel()[: values.size])


def _log_sum(exponent: Floats, count: Whole) -> float:
    top = float(exponent.max())
    return top + math.log(float(np.sum(count * np.exp(exponent - top))))


def _column(name: str, values: object) -> Floats:
    """A column of finite numbers from a sequence or an array."""
    if hasattr(values, "__array__"):
        column = _from_array(name, values)
    elif isinstance(values, Sequence) and not isinstance(values, str | bytes | bytearray | memoryview):
        column = _from_items(name, values)
    else:
        raise ParameterError(
            f"{name} must be a list or an array with one number per key, not a {type(values).__name__}."
        )
    if not column.size:
        raise ParameterError(f"{name} is empty; give one number per key, for at least one key.")
    if not np.isfinite(column).all():
        raise ParameterError(f"{name}[{np.isfinite(column).argmin()}] is not finite; give each key a finite number.")
    return column


def _from_array(name: str, values: object) -> Floats:
    try:
        array = np.asarray(values)
    except Exception:
        raise ParameterError(f"{name} cannot be read as an array of numbers; give a list with one per key.") from None
    if array.ndim != 1:
        raise ParameterError(f"{name} must have one dimension, one number per key, not {array.ndim} dimensions.")
    if array.dtype.kind == "O":
        return _from_items(name, array.tolist())
    if array.dtype.kind not in "iuf":
        raise ParameterError(f"{name} must hold numbers, not values of type {array.dtype}.")
    return _floats(array)


def _from_items(name: str, values: Sequence[object]) -> Floats:
    kinds = set(map(type, values))
    if all(issubclass(kind, float | int | np.floating | np.integer) and kind is not bool for kind in kinds):
        try:
            return _floats(values)
        except OverflowError:
            raise ParameterError(f"{name} holds a whole number too large to use; check the units.") from None
    exact = [parameters.fraction(f"{name}[{index}]", value) for index, value in enumerate(values)]
    try:
        return np.array([float(value) for value in exact])
    except OverflowError:
        raise ParameterError(f"{name} holds a fraction too large to use; check the units.") from None


def _floats(values: object) -> Floats:
    # A long float too large for a float becomes infinite, which is refused later.
    with np.errstate(over="ignore"):
        return np.array(values, dtype=np.float64)
