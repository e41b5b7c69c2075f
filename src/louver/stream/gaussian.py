"""Fresh Gaussian noise at every tick: the plain way for long windows, because ticks add up their prices and no more.

Releases value + discrete Gaussian noise of variance sensitivity^2 / (2 rho) for each tick and region. Price: rho, zCDP,
for a unit that changes one tick of one region by at most `sensitivity`. w different ticks or regions pay w times rho,
no more, where w changes of one of them would pay w^2 times. In standard deviations: for twelve ticks together noise
grows by sqrt(12), and Laplace noise of a pure price by 12.

Why this is private. `Gaussian._released` adds independent `discrete_gaussian` noise to each clamped whole number.
Clamping and rounding move no two neighbours further apart. Changed numbers each cost rho, whatever was released before,
and all others keep their law.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise import Bits, discrete_gaussian
from louver.noise.bits import SYSTEM
from louver.noise.gaussian import LARGEST_VARIANCE, SMALLEST_VARIANCE
from louver.privacy import ZeroConcentrated
from louver.stream.laplace import LARGEST_SENSITIVITY, stated
from louver.stream.mechanism import GaussianNoise, Mechanism, Rows

_SUMMED_DEVIATIONS, _LARGEST_SUMMED = 40, 2**16
_FLOATS_ARE_OFF = 1e-9


class Gaussian(Mechanism):
    """Fresh discrete Gaussian noise.

    >>> stream = Gaussian(rho=100)
    >>> stream.update(7), stream.run([1, 2, 3]).tolist()
    (7, [1, 2, 3])
    >>> stream.price_of(12).rho
    Fraction(1200, 1)
    """

    kind: ClassVar[str] = "gaussian"

    def __init__(
        self, rho: parameters.Number | str, regions: int | None = None, *, sensitivity: int = 1, bits: Bits = SYSTEM
    ) -> None:
        super().__init__(regions, bits=bits)
        self.rho = stated("rho", rho)
        self.sensitivity = parameters.integer("sensitivity", sensitivity, 1, LARGEST_SENSITIVITY)
        self.variance = variance_for(self.rho, self.sensitivity)

    @property
    def price(self) -> ZeroConcentrated:
        return ZeroConcentrated(self.rho)

    def price_of(self, changes: int) -> ZeroConcentrated:
        return apart(self.price, changes)

    def _gaussian_noise(self, changes: int) -> GaussianNoise:
        return GaussianNoise(self.variance, changes)

    def band(self, level: parameters.Number) -> int:
        """How far a released value is from the true one with at least this probability, at any one tick.

        >>> Gaussian(rho=0.5).band(0.95)
        2
        """
        return reach(self.variance, (1 - parameters.fraction("level", level)) / 2)

    def variances(self) -> NDArray[np.float64]:
        """How much each region's released value scatters around the true one, to within rounding."""
        return np.full(self._width, float(self.variance))

    def _released(self, rows: Rows) -> NDArray[np.int64]:
        return rows + discrete_gaussian(self.variance, rows.size, bits=self._bits).reshape(rows.shape)

    def _parameters(self) -> dict[str, Any]:
        return {"rho": str(self.rho), "regions": self.regions, "sensitivity": self.sensitivity}

    def _state(self) -> dict[str, Any]:
        return {}

    def _restore(self, state: Mapping[str, Any]) -> None:
        dict(state)


def apart(price: ZeroConcentrated, changes: int) -> ZeroConcentrated:
    """What fresh noise costs for so many different cells: their prices add up."""
    return ZeroConcentrated(price.rho * parameters.count("changes", changes, smallest=1))


def variance_for(rho: Fraction, sensitivity: int) -> Fraction:
    """The noise of one number that a unit moves by so much; never less than the sampler's least."""
    variance = Fraction(sensitivity) ** 2 / (2 * rho)
    if variance > LARGEST_VARIANCE:
        raise ParameterError("This price is too small for so large a sensitivity; use a coarser grid or pay more.")
    return max(variance, SMALLEST_VARIANCE)


@lru_cache(maxsize=256)
def reach(variance: Fraction, share: Fraction) -> int:
    """The least s >= 0, or one more, with P(X > s) <= share for discrete Gaussian X of this variance.

    For large variances P(X > s) <= P(N > s) for normal N (Canonne, Kamath and Steinke 2020, Proposition 25).
    """
    parameters.error_rate("The share beyond", share)
    wanted, spread = float(share) * (1 - _FLOATS_ARE_OFF), math.sqrt(variance)
    if variance > _LARGEST_SUMMED:
        return math.ceil(-spread * NormalDist().inv_cdf(wanted) * (1 + _FLOATS_ARE_OFF))
    steps = np.arange(1, math.ceil(_SUMMED_DEVIATIONS * spread) + 2)
    weights = np.exp(-(steps**2) / (2 * float(variance)))
    beyond = weights[::-1].cumsum()[::-1] / (1 + 2 * weights.sum())
    return int((beyond > wanted).sum())
