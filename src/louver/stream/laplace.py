"""Fresh noise at every tick: the plain way, and the floor that every other mechanism is measured against.

Releases value + DL(epsilon/sensitivity) for each tick and region. Price: epsilon, pure, once for a unit that changes
one tick of one region by at most `sensitivity`; a unit in w ticks pays w times as much, and nothing cheaper exists
here.

Why this is private. `Laplace._released` adds independent `discrete_laplace` noise of rate epsilon/sensitivity to each
clamped whole number. Clamping and rounding move no two neighbours further apart. One changed number changes the
probability of any outcome by a factor of at most exp(epsilon), and all other ticks keep their law.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise import Bits, discrete_laplace
from louver.noise.bits import SYSTEM
from louver.noise.enclosure import exp
from louver.noise.laplace import noise_rate
from louver.privacy import Pure
from louver.stream.mechanism import Mechanism, Rows

_WORKING_BITS = 128
_NO_NOISE = 64.0  # from this rate on, noise is 0 but once in 10^27 draws
LARGEST_SENSITIVITY = 2**40


class Laplace(Mechanism):
    """Fresh discrete Laplace noise.

    >>> stream = Laplace(epsilon=50)
    >>> stream.update(7), stream.run([1, 2, 3]).tolist()
    (7, [1, 2, 3])
    """

    kind: ClassVar[str] = "laplace"

    def __init__(
        self,
        epsilon: parameters.Number | str,
        regions: int | None = None,
        *,
        sensitivity: int = 1,
        bits: Bits = SYSTEM,
    ) -> None:
        super().__init__(regions, bits=bits)
        self.epsilon = stated("epsilon", epsilon)
        self.sensitivity = parameters.integer("sensitivity", sensitivity, 1, LARGEST_SENSITIVITY)
        self.rate = noise_rate("epsilon over sensitivity", self.epsilon / self.sensitivity)

    @property
    def price(self) -> Pure:
        return Pure(self.epsilon)

    def band(self, level: parameters.Number) -> int:
        """How far a released value is from the true one with at least this probability, at any one tick.

        >>> Laplace(epsilon=1).band(0.95)
        3
        """
        beyond = 1 - parameters.fraction("level", level)
        return reach(self.rate, beyond / 2)

    def variances(self) -> NDArray[np.float64]:
        """How much each region's released value scatters around the true one."""
        return np.full(self._width, 2 * scale_of(self.rate) ** 2)

    def _released(self, rows: Rows) -> NDArray[np.int64]:
        return rows + discrete_laplace(self.rate, rows.size, bits=self._bits).reshape(rows.shape)

    def _parameters(self) -> dict[str, Any]:
        return {"epsilon": str(self.epsilon), "regions": self.regions, "sensitivity": self.sensitivity}

    def _state(self) -> dict[str, Any]:
        return {}

    def _restore(self, state: Mapping[str, Any]) -> None:
        dict(state)


def stated(name: str, value: object) -> Fraction:
    """A positive number; as a text where it comes from a stored state."""
    if isinstance(value, str):
        try:
            return parameters.positive(name, Fraction(value))
        except (ValueError, ZeroDivisionError):
            raise ParameterError(f"{name} must be a number such as 1/2, not {value[:40]!r}.") from None
    return parameters.positive(name, value)


def scale_of(rate: Fraction) -> float:
    """b with 2 b^2 the variance of discrete Laplace noise; 1/rate for small rates."""
    return 1 / (2 * math.sinh(min(float(rate), _NO_NOISE) / 2))


@lru_cache(maxsize=256)
def reach(rate: Fraction, share: Fraction) -> int:
    """The least s >= 0 with P(X > s) <= share, for X ~ DL(rate): a^(s+1)/(1+a) <= share."""
    parameters.error_rate("The share beyond", share)

    def exceeds(steps: int) -> bool:
        # Rounded so that the answer can be one too large, never too small.
        beyond = exp(-rate * (steps + 1), _WORKING_BITS).upper / (1 + exp(-rate, _WORKING_BITS).lower)
        return beyond > share

    high = 1
    while exceeds(high):
        high *= 2
    low = 0
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if exceeds(middle) else (low, middle)
    return low
