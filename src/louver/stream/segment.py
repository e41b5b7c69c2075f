"""Segments of the noisy stream: the whole price goes into the noise, and where the level changes is read off the noise.

Releases one value per tick and region, at once. Price: epsilon, pure, or rho, zCDP, once for a unit that changes one
tick of one region by at most `sensitivity`; a unit in w ticks pays w times as much. What it does not promise: an error
at any one tick, because a change of level is seen some ticks late. `Laplace.band` or `Gaussian.band` of the noisy
counts, which are released too, is a promise.

Why this is private. `Segment._traced` adds independent noise to each count, `discrete_laplace` of rate
epsilon/sensitivity as `louver.stream.laplace` does or `discrete_gaussian` as `louver.stream.gaussian` does, and
`Run.advance` is given the sums and nothing else. With rho, b is the scale of Laplace noise of the same variance.

How it works. A run of ticks has one level, (mean + median)/2 of its last noisy counts. Two cumulated sums
(Page 1954), one for each direction, add up how far the noisy counts lie from the run's median, in units of the noise's
scale b, clipped, less a drift; where one passes the alarm, the run starts anew after that sum's last zero. A guard
looks at how the last noisy counts scatter around their levels: as far as that is more than noise can do, the noisy
count itself is better, and the released value moves towards it, as James and Stein would.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise import Bits, discrete_gaussian, discrete_laplace
from louver.noise.bits import SYSTEM
from louver.noise.laplace import noise_rate
from louver.privacy import Pure, ZeroConcentrated
from louver.stream.continual import gaussian_variance, price_in
from louver.stream.gaussian import apart, variance_for
from louver.stream.laplace import scale_of
from louver.stream.mechanism import GaussianNoise, Rows
from louver.stream.smoothed import Floats, Smoothed, Ticks, columns, whole_numbers

GUARDED = 60  # ticks that the guard and the band look at
# Squared distances are whole numbers, so that sums over a moving window are exact; the noise's variance is FINE.
FINE = 2**20


@dataclass(frozen=True, slots=True)
class Tuning:
    """How a run ends and what its level looks at. Lengths are ticks; the rest is in scales of the noise."""

    clip: float
    drift: float
    alarm: float
    window: int
    margin: float  # of the guard, in standard deviations or so of the scatter that noise explains


TUNINGS = {
    "default": Tuning(clip=4.0, drift=0.6, alarm=6.5, window=100, margin=1.5),
    "prototype": Tuning(clip=4.0, drift=0.7, alarm=5.0, window=200, margin=3.0),
}
NO_SUM = (0.0, 0)  # a cumulated sum, and the ticks since it was last zero
UNKNOWN = -1.0
UNSEEN = 0.1  # of the noise's variance: an error that the last 60 ticks may not show
LEVEL_VARIANCE = 1.25  # of (mean + median)/2 of n Laplace values of scale 1, times n, for large n


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
            self.scale = scale_of(self.rate)
        else:
            self.variance = variance_for(self._price.rho, self.sensitivity)
            self.scale = math.sqrt(gaussian_variance(float(self.variance)) / 2)
        self._runs = [Run(self.scale, TUNINGS[tuning]) for _ in range(self._width)]

    @property
    def price(self) -> Pure | ZeroConcentrated:
        return self._price

    def price_of(self, changes: int) -> Pure | ZeroConcentrated:
        return self._price.for_group(changes) if isinstance(self._price, Pure) else apart(self._price, changes)

    def _gaussian_noise(self, changes: int) -> GaussianNoise | None:
        return GaussianNoise(self.variance, changes) if self.variance else None

    def variances(self) -> Floats:
        lengths, misses = zip(*(run.last() for run in self._runs), strict=True)
        return expected_square(self.scale, np.array(lengths), np.array(misses))

    def band(self, level: parameters.Number) -> Floats:
        """Half the width of each region's error band for the last tick, from released values only.

        It is an estimate, and holds at about this level on average over ticks; less often just after a change of level.
        """
        beyond = 1 - parameters.within("level", level, Fraction(4, 5), Fraction(999999, 1000000))
        return np.sqrt(self.variances() / 2) * -math.log(beyond)

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

    def _estimated(self, lengths: Rows, noticed: Floats) -> Floats:
        return expected_square(self.scale, lengths, noticed)

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


class Run:
    """One region's run of ticks that look alike; all of it follows from noisy counts."""

    __slots__ = (
        "_ahead",
        "_ahead_total",
        "_down",
        "_fixed",
        "_latest",
        "_median",
        "_ordered",
        "_scatter",
        "_squares",
        "_total",
        "_up",
        "_value",
        "_window",
    )

    def __init__(self, scale: float, tuning: Tuning = TUNINGS["default"]) -> None:
        self._window = tuning.window
        # In one place, because a live stream comes here for each region and tick.
        self._fixed = (
            scale,
            FINE / (2 * scale * scale),
            tuning.clip,
            tuning.drift,
            tuning.alarm,
            tuning.window,
            _explained(tuning.margin),
        )
        self._latest: deque[int] = deque()
        self._ordered: list[int] = []
        self._total = 0
        self._squares: deque[int] = deque()
        self._scatter = 0
        self._ahead: deque[int] = deque()
        self._ahead_total = 0
        self._up = self._down = NO_SUM
        self._median = self._value = 0.0

    def advance(self, noisy: list[int], ticks: Ticks) -> Ticks:
        """Adds the released value of each tick, the level of its run, how many ticks of the run the level looks at,
        and the mean square that noisy counts missed the value before by, or `UNKNOWN`.

        One long loop over local names: calls would take half of the time.
        """
        latest, ordered, total = self._latest, self._ordered, self._total
        squares, scatter = self._squares, self._scatter
        ahead, ahead_total, value = self._ahead, self._ahead_total, self._value
        (up, up_ticks), (down, down_ticks) = self._up, self._down
        median = self._median
        scale, unit, clip, drift, alarm, window, explained = self._fixed
        values, levels, lengths, misses = ticks
        for seen in noisy:
            kept = 0
            if ordered:
                away = (seen - median) / scale
                away = clip if away > clip else -clip if away < -clip else away
                up += away - drift
                down -= away + drift
                up, up_ticks = (up, up_ticks + 1) if up > 0 else NO_SUM
                down, down_ticks = (down, down_ticks + 1) if down > 0 else NO_SUM
                kept = up_ticks if up > alarm else down_ticks if down > alarm else 0
                miss = seen - value
                missed = int(miss * miss * unit)
                ahead.append(missed)
                ahead_total += missed
                if len(ahead) > GUARDED:
                    ahead_total -= ahead.popleft()
            latest.append(seen)
            if kept:
                while len(latest) > kept:
                    latest.popleft()
                ordered, total = sorted(latest), sum(latest)
                (up, up_ticks), (down, down_ticks) = NO_SUM, NO_SUM
            else:
                insort(ordered, seen)
                total += seen
                if len(ordered) > window:
                    oldest = latest.popleft()
                    del ordered[bisect_left(ordered, oldest)]
                    total -= oldest
            size = len(ordered)
            median = (ordered[size // 2] + ordered[(size - 1) // 2]) / 2
            level = (total / size + median) / 2
            residual = seen - level
            square = int(residual * residual * unit)
            squares.append(square)
            scatter += square
            if len(squares) > GUARDED:
                scatter -= squares.popleft()
            noise = explained[len(squares)]
            weight = 1 - noise / scatter if scatter > noise else 0.0
            value = level + weight * residual
            values.append(value)
            levels.append(level)
            lengths.append(size)
            misses.append(ahead_total / len(ahead) if ahead else UNKNOWN)
        self._ordered, self._total, self._scatter = ordered, total, scatter
        self._up, self._down = (up, up_ticks), (down, down_ticks)
        self._ahead_total, self._median, self._value = ahead_total, median, value
        return ticks

    def last(self) -> tuple[int, float]:
        """The length and the miss of the last tick."""
        return max(len(self._ordered), 1), self._ahead_total / len(self._ahead) if self._ahead else UNKNOWN

    def to_dict(self) -> dict[str, Any]:
        return {
            "latest": list(self._latest),
            "squares": list(self._squares),
            "up": list(self._up),
            "down": list(self._down),
            "median": self._median,
            "ahead": list(self._ahead),
            "value": self._value,
        }

    def take(self, plain: Mapping[str, Any]) -> None:
        """Takes over what `to_dict` gave."""
        self._latest = deque(whole_numbers(plain["latest"]))
        self._ordered, self._total = sorted(self._latest), sum(self._latest)
        self._squares = deque(whole_numbers(plain["squares"]))
        self._scatter = sum(self._squares)
        (up, up_ticks), (down, down_ticks) = plain["up"], plain["down"]
        self._up, self._down = (float(up), up_ticks), (float(down), down_ticks)
        self._ahead = deque(whole_numbers(plain["ahead"]))
        self._ahead_total = sum(self._ahead)
        self._median, self._value = float(plain["median"]), float(plain["value"])
        numbers = [up, down, self._median, self._value]
        sane = all(map(math.isfinite, numbers)) and min(whole_numbers([up_ticks, down_ticks])) >= 0
        if not sane or len(self._latest) > self._window or max(len(self._squares), len(self._ahead)) > GUARDED:
            raise ValueError


def expected_square(scale: float, lengths: Rows, misses: Floats) -> Floats:
    """How much released values scatter around the truth, at most as much as a noisy count.

    A noisy count scatters around the value released one tick before by its own noise and by that value's error, so the
    excess over the noise estimates the error, whatever it comes from. `UNSEEN` is for what 60 ticks can hide.
    """
    noise = 2 * scale**2
    excess = noise * np.maximum(misses / FINE - 1, 0.0)
    found = np.minimum(noise, excess + UNSEEN * noise + LEVEL_VARIANCE * scale**2 / lengths)
    return np.where(misses == UNKNOWN, noise, found)


@cache
def _explained(margin: float) -> tuple[float, ...]:
    """The sum of that many squares that the guard takes for noise."""
    return tuple(FINE * (known + margin * math.sqrt(known)) for known in range(GUARDED + 1))
