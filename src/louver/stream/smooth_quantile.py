"""A private upper quantile by smooth sensitivity, after Perrier, Asghar and Kaafar (2019), in whole numbers.

Releases factor * (x_(k) + offset + noise), between 1 and `high`, for m values between 0 and `high`; k leaves a share of
them above. Noise and offset grow with the smooth sensitivity of x_(k): the offset keeps the noise from taking the
threshold below the quantile, but for a chance of `miss`. Neighbours differ in one value. Price: (epsilon, delta). It
does not promise that the quantile of the values is that of later ones; `factor` above 1 is for light tails (see
`tail`).

Why `SmoothQuantile.find` is private. The scale is a rung of a public ladder (see `rung`), and neighbours are at
most one rung apart. Rung i has a span s_i, an offset o_i and discrete Laplace noise of rate (epsilon/2)/s_i, all in
fine steps of which `fineness` make one. Put the neighbour's noise round the same centre first: where it is wider, no
outcome grows by more than s_(i+1)/s_i <= `growth` <= exp(epsilon/2); where it is narrower, what grows by more than
exp(epsilon/2) has together at most the probability `Ladder.delta`, because P(|noise| >= z) = 2 a^z/(1+a) and the worst
z is known. Then move the centre: by at most fineness * ladder[i] + |o_i - o_(i+-1)| <= s_i, which costs epsilon/2.
`Ladder` checks these three inequalities in whole numbers for every rung, so nothing rests on how floats were rounded
when it was made.

The published choice, falloff = epsilon/(2 ln(2/delta)), is safe and wasteful: the falloff here is the largest that the
exact delta allows, about a quarter larger, and the scale falls exponentially in it. Which rung is used is secret, and
so is the time that its draw takes.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise import discrete_laplace, enclosure
from louver.noise.bits import SYSTEM, Bits
from louver.privacy import Approximate
from louver.stream.smooth_sensitivity import Spread, rung

SHARE_ABOVE = Fraction(1, 200)
MISS = Fraction(3, 500)
SMALLEST_DELTA = Fraction(1, 2**200)
WORKING_BITS = 512
_MOST_FINE_BITS, _FEWEST_FINE_BITS = 20, 16
_WIDEST = 2**46  # spans below this many times epsilon/2 keep every rate within what the sampler takes
_MOST_RUNGS = 2**18


@dataclass(frozen=True, slots=True, eq=False)
class Ladder:
    """Public scales: for each rung the largest spread it stands for, and its span and offset in fine steps."""

    half: Fraction
    fineness: int
    tops: NDArray[np.int64]
    spans: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @property
    def growth(self) -> Fraction:
        """A bound on the ratio of neighbouring spans, from the floats next above each ratio."""
        ratios = np.nextafter(self.spans[1:].astype(np.float64) / self.spans[:-1], math.inf)
        return Fraction(float(np.nextafter(ratios.max(), math.inf)))

    @property
    def moves_are_covered(self) -> bool:
        jumps = np.abs(np.diff(self.offsets))
        jump = np.maximum(np.append(jumps, 0), np.append(0, jumps))
        return bool((self.fineness * self.tops + jump <= self.spans).all())

    @property
    def delta(self) -> Fraction:
        """2/(1+exp(-r)) (1 - 1/g) exp(-(epsilon/2 + ln g)/(g - 1)), rounded up; g the growth, r the largest rate."""
        growth = self.growth
        exponent = (self.half + enclosure.ln(growth, WORKING_BITS).lower) / (growth - 1)
        tail = enclosure.exp(-exponent, WORKING_BITS).upper
        narrowest = enclosure.exp(-self.half / int(self.spans[0]), WORKING_BITS).lower
        return 2 / (1 + narrowest) * (1 - 1 / growth) * tail

    def keeps(self, delta: Fraction) -> bool:
        """Whether noise of this ladder is (2 half, delta)-private for neighbours at most one rung apart."""
        growth_is_paid = enclosure.ln(self.growth, WORKING_BITS).upper <= self.half
        return growth_is_paid and self.moves_are_covered and self.delta <= delta


@functools.lru_cache(maxsize=64)
def ladder(epsilon: Fraction, delta: Fraction, high: int, miss: Fraction) -> Ladder:
    """The ladder that falls off as fast as delta allows."""
    half = epsilon / 2
    quantile = max(-math.log(2 * miss), 0.0)
    falloff = _steepest(float(half), float(delta), quantile)
    for _ in range(60):
        made = _made(half, high, quantile, falloff)
        if made.keeps(delta):
            return made
        falloff *= 0.99
    raise ParameterError("This epsilon and delta are too small for a private quantile; ask for more of either.")


def _steepest(half: float, delta: float, quantile: float) -> float:
    """The largest falloff by bisection; at most where the offset would double the noise."""
    low, high = 0.0, min(half, math.log1p(half / (2 * quantile)) if quantile else half)
    for _ in range(60):
        middle = (low + high) / 2
        spent = math.log(-math.expm1(-middle)) - (half + middle) / math.expm1(middle)
        low, high = (middle, high) if spent <= math.log(delta) else (low, middle)
    return low * (1 - 1e-6)


def _made(half: Fraction, high: int, quantile: float, falloff: float) -> Ladder:
    rungs = math.ceil(math.log(high) / falloff) + 2
    if rungs > _MOST_RUNGS:
        raise ParameterError("This epsilon is too small for so fine a grid; use a coarser one or a larger epsilon.")
    # The offset itself moves with the rung: its part of the span.
    dearer = 1 / (1 - quantile * math.expm1(falloff) / float(half))
    fine_bits = math.floor(math.log2(_WIDEST * float(half) / (dearer * high * math.exp(falloff))))
    if fine_bits < _FEWEST_FINE_BITS:
        raise ParameterError("The largest value has too many steps for this epsilon; use a coarser grid.")
    fineness = 1 << min(fine_bits, _MOST_FINE_BITS)
    scales = np.exp(falloff * np.arange(rungs))
    spans = np.ceil(dearer * fineness * scales).astype(np.int64) + 2
    offsets = np.floor(quantile / float(half) * spans).astype(np.int64)
    tops = np.minimum(np.floor(scales).astype(np.int64), high)
    tops[-1] = high
    return Ladder(half, fineness, tops, spans, offsets)


@dataclass(frozen=True)
class SmoothQuantile:
    """A threshold that leaves about a `share` of the values above it.

    >>> SmoothQuantile(epsilon=Fraction(4, 5), delta=Fraction(1, 10**10), high=1440).price.delta
    Fraction(1, 10000000000)
    """

    epsilon: Fraction
    delta: Fraction
    high: int
    share: Fraction = SHARE_ABOVE
    factor: Fraction = Fraction(1)
    miss: Fraction = MISS

    def __post_init__(self) -> None:
        given = parameters.positive("epsilon", self.epsilon)
        object.__setattr__(self, "epsilon", parameters.within("epsilon", given, Fraction(1, 2**20), 64))
        object.__setattr__(self, "delta", parameters.within("delta", self.delta, SMALLEST_DELTA, Fraction(1, 4)))
        parameters.integer("The largest value", self.high, 1, 2**40)
        share = parameters.within("The share above", self.share, Fraction(1, 2**40), Fraction(1, 2))
        object.__setattr__(self, "share", share)
        object.__setattr__(self, "factor", parameters.within("The factor", self.factor, 1, 4))
        object.__setattr__(self, "miss", parameters.error_rate("The miss rate of the threshold", self.miss))
        _ = self._ladder

    @property
    def price(self) -> Approximate:
        """What one value pays; w values of one unit pay `price.for_group(w)`."""
        return Approximate(self.epsilon, self.delta)

    @property
    def _ladder(self) -> Ladder:
        return ladder(self.epsilon, self.delta, self.high, self.miss)

    def find(self, values: NDArray[np.int64], *, bits: Bits = SYSTEM) -> int:
        """The private threshold of whole numbers, each clamped to 0 .. `high`."""
        ordered = np.sort(np.clip(parameters.integers("The values", values), 0, self.high))
        if not len(ordered):
            raise ParameterError("There must be values to find a threshold of.")
        spread = Spread(ordered, math.ceil((1 - self.share) * len(ordered)), self.high)
        public = self._ladder
        at = rung(spread, public.tops)
        noise = int(discrete_laplace(public.half / int(public.spans[at]), 1, bits=bits)[0])
        fine = public.fineness * spread.value + int(public.offsets[at]) + noise
        return max(1, min(math.ceil(self.factor * fine / public.fineness), self.high))
