"""Segments of the noisy stream: the whole price goes into the noise, and where the level changes is read off the noise.

Releases one value per tick and region, at once. Price: epsilon, pure, or rho, zCDP, once for a unit that changes one
tick of one region by at most `sensitivity`; a unit in w ticks pays w times as much. What it does not promise: an error
at any one tick, because a change of level is seen some ticks late. `Laplace.band` or `Gaussian.band` of the noisy
counts, which are released too, is a promise.

Why this is private. `Segment._traced` adds independent noise to each count, `discrete_laplace` of rate
epsilon/sensitivity as `louver.stream.laplace` does or `discrete_gaussian` as `louver.stream.gaussian` does, and
`Run.advance` is given the sums and nothing else. What is made of the noisy counts is in `louver.stream.runs`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise import Bits, discrete_gaussian, discrete_laplace
from louver.noise.bits import SYSTEM
from louver.noise.laplace import noise_rate
from louver.privacy import Pure, ZeroConcentrated
from louver.stream import gaussian
from louver.stream.accuracy import laplace_factor
from louver.stream.continual import price_in
from louver.stream.laplace import reach
from louver.stream.mechanism import GaussianNoise, Rows
from louver.stream.runs import TUNINGS, Law, Run, expected_square
from louver.stream.smoothed import Floats, Smoothed, Ticks, columns

BESIDE = 1 / 16  # of a whole number


class Segment(Smoothed):
    """Noise, and the level of the run that a tick belongs to.

    >>> stream = Segment(epsilon=50)
    >>> stream.run([5, 5, 5, 5, 90, 90]).tolist()
    [5.0, 5.0, 5.0, 5.0, 90.0, 90.0]
    """

    kind: ClassVar[str] = "segment"

    def __init__(
        self,
        epsilon: parameters.Number | str | None = None,
        regions: int | None = None,
        *,
        rho: parameters.Number | str | None = None,
        sensitivity: int = 1,
        tuning: str = "default",
        bits: Bits = SYSTEM,
    ) -> None:
        super().__init__(regions, sensitivity=sensitivity, bits=bits)
        if tuning not in TUNINGS:
            raise ParameterError(f"tuning is one of {', '.join(TUNINGS)}.")
        self.tuning = tuning
        self._price = price_in(epsilon, rho)
        self.rate = self.variance = Fraction(0)  # of these two, the noise has one
        if isinstance(self._price, Pure):
            self.rate = noise_rate("epsilon over sensitivity", self._price.epsilon / self.sensitivity)
            self.law = Law.laplace(self.rate)
        else:
            self.variance = gaussian.variance_for(self._price.rho, self.sensitivity)
            self.law = Law.gaussian(self.variance)
        self.scale = self.law.scale  # b: 2 b^2 is the variance
        self._runs = [Run(self.law, TUNINGS[tuning]) for _ in range(self._width)]

    @property
    def price(self) -> Pure | ZeroConcentrated:
        return self._price

    def price_of(self, changes: int) -> Pure | ZeroConcentrated:
        return self._price.for_group(changes) if isinstance(self._price, Pure) else gaussian.apart(self._price, changes)

    def _gaussian_noise(self, changes: int) -> GaussianNoise | None:
        return GaussianNoise(self.variance, changes) if self.variance else None

    @property
    def noise_variance(self) -> float:
        """Of one noisy count."""
        return 2 * self.scale**2

    def variances(self) -> Floats:
        lengths, misses, apart = map(np.array, zip(*(run.last() for run in self._runs), strict=True))
        return expected_square(self.scale, lengths, misses, apart)

    def band(self, level: parameters.Number) -> Floats:
        """Half the width of each region's error band for the last tick, from released values only.

        It is an estimate, and holds at about this level on average over ticks; less often just after a change of level.
        """
        exact = parameters.within("level", level, Fraction(4, 5), Fraction(999999, 1000000))
        return np.sqrt(self.variances()) * self.factor(exact)

    def factor(self, level: Fraction) -> float:
        """Half the width of a band in standard deviations; where nothing is smoothed it is as wide as the noise's.

        Discrete noise has its quantiles at whole numbers, and a smoothed value may lie a little beside one.
        """
        beyond = (1 - level) / 2
        widest = reach(self.rate, beyond) if self.rate else gaussian.reach(self.variance, beyond)
        return max(laplace_factor(level), (widest + BESIDE) / (self.scale * math.sqrt(2)) if widest else 0.0)

    def _traced(self, rows: Rows) -> tuple[Rows, Ticks]:
        noisy, ticks = rows + self._noise(rows.size).reshape(rows.shape), Ticks.none()
        for run, seen in zip(self._runs, columns(noisy), strict=True):
            run.advance(seen, ticks)
        return noisy, ticks

    def _single(self, value: int) -> float:
        seen = value + int(self._noise(1)[0])
        ticks = self._runs[0].advance([seen], Ticks.none())
        self._latest = np.array([[seen]], dtype=np.int64), ticks
        return ticks.values[0]

    def _estimated(self, lengths: Rows, noticed: Floats, apart: Floats) -> Floats:
        return expected_square(self.scale, lengths, noticed, apart)

    def _noise(self, count: int) -> NDArray[np.int64]:
        if isinstance(self._price, Pure):
            return discrete_laplace(self.rate, count, bits=self._bits)
        return discrete_gaussian(self.variance, count, bits=self._bits)

    def _places(self) -> list[Run]:
        return self._runs

    def _parameters(self) -> dict[str, Any]:
        price = self._price
        paid = {"epsilon": str(price.epsilon)} if isinstance(price, Pure) else {"rho": str(price.rho)}
        return super()._parameters() | paid | {"tuning": self.tuning}
