"""What is known of a stream's numbers before and after they are released: their unit, their error, their limits.

Bands and flags are made of what is released and of public parameters, so they cost nothing.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from typing import Any, NamedTuple

from louver.noise import Bits
from louver.noise.bits import SYSTEM
from louver.parameters import Number
from louver.stream import kernels
from louver.stream.above import Above
from louver.stream.accuracy import checked_level
from louver.stream.gaussian import Gaussian
from louver.stream.kernels import Floats, Shape
from louver.stream.laplace import Laplace
from louver.stream.measured import Measured, Touch
from louver.stream.mechanism import Mechanism
from louver.stream.places import Places
from louver.stream.recent import Anchored
from louver.stream.released import FLAGGED, LAST, digits_of, rounded_up
from louver.stream.segment import Segment
from louver.stream.ticks import Ticks


class Spread(NamedTuple):
    """The largest and the root mean square of the noise's standard deviation, in the measured unit."""

    largest: float
    mean: float


class Seen:
    """The part of a plan that speaks about released numbers."""

    __slots__ = ()
    measured: Measured
    ticks: Ticks
    kernel: str
    touch: Touch
    places: Places
    last: int | None
    above: tuple[Fraction, ...] | None
    miss_rate: Fraction | None

    @property
    @abstractmethod
    def shape(self) -> Shape: ...

    @abstractmethod
    def made(self, bits: Bits) -> Mechanism: ...

    @property
    def scale(self) -> Fraction:
        """What one step of a released number weighs: a histogram counts ticks."""
        return Fraction(1) if self.places.edges is not None else self.measured.step

    @property
    def weight(self) -> Fraction:
        """What one unit can weigh in one tick of a region."""
        return self.scale * (1 if self.places.edges is not None else self.touch.step)

    @property
    def digits(self) -> int:
        """How many digits after the point are published."""
        return digits_of(self.weight)

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns that are published beside values and bands."""
        asked = {LAST: self.last, FLAGGED: self.above}
        return tuple(name for name, each in asked.items() if each is not None)

    @property
    def limits(self) -> tuple[int, ...]:
        """Above how many whole steps each region is above its limit."""
        return tuple((limit / self.measured.step).__floor__() for limit in self.above or ())

    @property
    def test(self) -> Above | None:
        """How noisy counts are held against the limits, where there are some."""
        if self.above is None or self.miss_rate is None:
            return None
        mechanism: Any = self.made(SYSTEM)
        return Above(mechanism.rate, self.miss_rate)

    def noise_reach(self, level: Fraction) -> Fraction:
        """How far the fresh noise of one tick reaches at this level, in the measured unit."""
        return kernels.noise_reach(self.made(SYSTEM), level) * self.measured.step

    def last_reach(self, level: Fraction) -> Fraction | None:
        """How far a sum of the last ticks is off at this level, in the measured unit; None where nothing is known."""
        mechanism = self.made(SYSTEM)
        if self.last is None or not isinstance(mechanism, Laplace | Gaussian | Segment):
            return None
        allowed = Anchored(mechanism, self.last).allowed if isinstance(mechanism, Segment) else 0
        noise = kernels.sum_reach(mechanism, min(self.last, len(self.ticks)), level)
        return (noise + math.ceil(allowed)) * self.measured.step

    @property
    def spread(self) -> Spread:
        """The noise of a running sum, known beforehand."""
        mechanism: Any = self.made(SYSTEM)
        step, ticks = float(self.scale), len(self.ticks)
        return Spread(mechanism.largest_error(ticks) * step, mechanism.rms_error(ticks) * step)

    def band(self, level: Number, deviations: Floats | None = None) -> Floats | None:
        """Half the width of the error band at each tick and region, in the measured unit; from what is released."""
        return self._band(level, deviations)

    def band_at(self, number: int, level: Number, deviations: Floats | None = None) -> Floats | None:
        """The same for one tick, whose deviations are given as one row."""
        found = self._band(level, deviations, number)
        return None if found is None else found[0]

    def _band(self, level: Number, deviations: Floats | None, only: int | None = None) -> Floats | None:
        inside = None if deviations is None else deviations / float(self.scale)
        found = kernels.band(self.made(SYSTEM), self.kernel, self.shape, checked_level(level), inside, only)
        return None if found is None else rounded_up(found * float(self.scale), self.digits)
