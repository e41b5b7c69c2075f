"""Where to cut real values off before they are added up: a threshold for sums, pure and exact.

Releases one threshold. Too low, and what is cut off is missing from the sum; too high, and the noise, which grows with
the threshold, drowns it. Raising a threshold of m values by one step adds `error` steps of noise to the sum after
`horizon` ticks, and gives back horizon/m steps for each value above it. So the two are even where error * m / horizon
values lie above, whatever the distribution; because errors of both kinds add in squares, the best threshold leaves one
to three times as many, the lighter the tail the more. The loss of a threshold is the number of values above it beyond
2.5 times as many, plus a penalty that grows with its logarithm, so that an unlikely pick is too high by a factor and
not without bound. No unit of values comes into it, and none has to be estimated.

A loss of this kind is that of Wang and others (ToPS, 2021), whose penalty is in proportion to the threshold itself, and
so depends on the unit of the values: minutes and seconds get different thresholds. Perrier, Asghar and Kaafar (2019)
take a fixed quantile (see `smooth_quantile`).

Price: epsilon. Neighbours differ in one value, changed to any other; a value that is missing is 0.

Why `PenalisedThreshold.find` is private. A value that grows adds 1 to the number above each threshold that it passes
and changes no other; so all losses move the same way, by at most 1, and `pick` costs its rate and not twice that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.noise.bits import SYSTEM, Bits
from louver.noise.laplace import noise_rate
from louver.privacy import Pure
from louver.stream.picking import LARGEST_LOSS, pick
from louver.stream.quantiles import above, ladder_to

LARGEST_VALUE = 2**40
_LEFT_ABOVE = 2.5  # both tuned on six distributions and four public data sets, in times of what is even
_PENALTY = 3.0
_FINE = 2**10  # a loss is counted in these parts of one value, so that penalties can be whole numbers


@dataclass(frozen=True)
class PenalisedThreshold:
    """A threshold for the first values of a stream of `horizon` ticks, whose later sum has noise of `error` thresholds.

    `error` is the root mean square of the counting mechanism's noise at sensitivity 1. It makes the threshold a good
    one; the price does not depend on it.

    >>> PenalisedThreshold(Fraction(50), high=10**6, horizon=5000, error=30.0).find(np.arange(1000)) < 1100
    True
    """

    epsilon: Fraction
    high: int
    horizon: int
    error: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", parameters.positive("epsilon", self.epsilon))
        noise_rate("epsilon/1024", self.epsilon / _FINE)
        parameters.integer("The largest value", self.high, 1, LARGEST_VALUE)
        parameters.integer("The horizon", self.horizon, 1, 2**62)
        parameters.positive("The error of counting", self.error)

    @property
    def price(self) -> Pure:
        """What one value pays; w values of one unit pay w times as much."""
        return Pure(self.epsilon)

    def hears(self, count: int) -> bool:
        """Whether so many values can outweigh the penalty of the largest threshold and the noise of the pick.

        With fewer, the threshold may come out near 0, whatever they are.
        """
        even = float(self.error) * count / self.horizon
        noise = 2 * math.log(len(ladder_to(self.high))) / float(self.epsilon)
        return count >= even * (_LEFT_ABOVE + _PENALTY * math.log(self.high)) + noise

    def find(self, values: NDArray[np.int64], *, bits: Bits = SYSTEM) -> int:
        """The private threshold of whole numbers, each clamped to 0 .. `high`."""
        bounded = np.clip(parameters.integers("The values", values), 0, self.high)
        thresholds = ladder_to(self.high)
        even = _FINE * float(self.error) * len(bounded) / self.horizon
        penalties = np.minimum(_PENALTY * even * np.log(thresholds), LARGEST_LOSS // 2).astype(np.int64)
        left = int(min(_LEFT_ABOVE * even, LARGEST_LOSS // 2))
        losses = np.maximum(_FINE * above(bounded, thresholds) - left, 0) + penalties
        return int(thresholds[pick(losses, self.epsilon / _FINE, bits=bits)])
