"""Real values as whole numbers of a power-of-two step, record by record, so that sums are exact and noise is integer.

Each value is clamped to declared bounds and rounded by floor(x/step + 1/2). Rounding records, not sums, keeps one
record's weight at most `Grid.sensitivity` steps. Half-even rounding would not do: it sends 1/2 to 0 and 3/2 to 2, so
that a change of one step could move a rounded sum by two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver import parameters
from louver.errors import ParameterError

LARGEST_STEPS = 2**52  # up to here a float's multiple of the step, and its half, are exact
_EXPONENTS = range(-512, 513)


@dataclass(frozen=True)
class Grid:
    """Values from `low` to `high` on multiples of `step`, a power of two.

    >>> watts = Grid(low=0, high=100, step=0.5)
    >>> watts.sensitivity
    200
    >>> watts.quantise([0.25, 99.9, 1000.0])
    array([  1, 200, 200])
    """

    low: Fraction
    high: Fraction
    step: Fraction

    def __init__(self, low: parameters.Number, high: parameters.Number, step: parameters.Number) -> None:
        object.__setattr__(self, "low", parameters.fraction("The lower bound", low))
        object.__setattr__(self, "high", parameters.fraction("The upper bound", high))
        object.__setattr__(self, "step", _power_of_two("The step", step))
        if self.low > self.high:
            raise ParameterError("The lower bound must not be above the upper bound.")
        if max(abs(self.low), abs(self.high)) > LARGEST_STEPS * self.step:
            raise ParameterError("The bounds are more than 2**52 steps away from 0; use a larger step.")

    @property
    def sensitivity(self) -> int:
        """The most that adding or removing one value moves a sum, in steps."""
        return max(abs(self.lowest), abs(self.highest))

    @property
    def lowest(self) -> int:
        return _round(self.low / self.step)

    @property
    def highest(self) -> int:
        return _round(self.high / self.step)

    def quantise(self, values: ArrayLike) -> NDArray[np.int64]:
        """Whole steps for each value, read as a float. None raises, for it is private: what is no number is 0 steps."""
        with np.errstate(all="ignore"):
            scaled = _floats(values) * float(1 / self.step)
        scaled = np.clip(scaled, -float(LARGEST_STEPS), float(LARGEST_STEPS))
        missing = np.isnan(scaled)
        scaled = np.where(missing, 0.0, scaled)
        below = np.floor(scaled)
        # scaled - below is exact where it matters; scaled + 0.5 is not: 0.49999999999999994 + 0.5 is 1
        steps = below.astype(np.int64) + (scaled - below >= 0.5)
        return np.where(missing, 0, np.clip(steps, self.lowest, self.highest))

    def value(self, steps: int) -> Fraction:
        """The exact real value of so many steps."""
        return self.step * parameters.integer("The number of steps", steps, -(2**63), 2**63 - 1)

    def values(self, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same for an array, as floats: exact up to 2**53 steps."""
        return parameters.integers("The numbers of steps", steps).astype(np.float64) * float(self.step)


def unmasked(values: Any) -> Any:
    """The same with None where a value is masked, which numpy would take for the number behind the mask.

    >>> unmasked(np.ma.array([1, 2], mask=[False, True])).tolist()
    [1, None]
    """
    if isinstance(values, np.ma.MaskedArray):
        plain = values.data.astype(object)
        plain[np.ma.getmaskarray(values)] = None
        return plain
    if isinstance(values, list | tuple) and any(isinstance(each, np.ma.MaskedArray) for each in values):
        return [unmasked(each) for each in values]
    return values


def _floats(values: ArrayLike) -> NDArray[np.float64]:
    """The values as floats: infinite where too large for one, NaN where no real number."""
    try:
        plain = unmasked(values)
        array = np.asarray(plain)
        if array.dtype.kind in "biuf":
            return array.astype(np.float64)
        objects = np.asarray(plain, dtype=object)
    except ValueError:
        raise ParameterError("The values must form one array, every row as long as the others.") from None
    return np.array([_float(value) for value in objects.ravel()], dtype=np.float64).reshape(objects.shape)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except Exception:  # whatever a value's own conversion does, it must not be seen
        return math.nan


def _round(exact: Fraction) -> int:
    return (exact + Fraction(1, 2)).__floor__()


def _power_of_two(name: str, value: object) -> Fraction:
    exact = parameters.positive(name, value)
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    if exact != Fraction(2) ** exponent or exponent not in _EXPONENTS:
        raise ParameterError(f"{name} must be a power of two such as 1, 0.5 or 0.125, between 2**-512 and 2**512.")
    return exact
