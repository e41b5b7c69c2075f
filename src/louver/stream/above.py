"""Which counts are above their limit? Read off noisy counts that a stream pays for anyway, at no further cost.

The promise, for each tick and region by itself: a count above its limit is missed with at most the miss rate, and a
count `slack` or more below the limit is flagged with at most the same rate. In between, either may happen. A count that
stays above for k ticks is missed at all of them with at most (miss rate)^k, because the noise of each tick is fresh.

Behind each released tick is count + DL(rate). With a uniform draw from -1/2 to 1/2, which needs no data, that is the
noise of `louver.privacy.one_shot`, and its test is the best there is: no other keeps the promise with a smaller slack
at this rate, or at a smaller rate with this slack. In whole numbers: a noisy count beyond a boundary is flagged, and
one on the boundary always or by a fair coin.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from louver.noise import Bits
from louver.noise.coins import bernoulli
from louver.noise.grid import LARGEST_STEPS
from louver.privacy.calibrate.oneshot import OneShot, least_epsilon, least_steps
from louver.stream.mechanism import Rows

LARGEST_LIMIT = LARGEST_STEPS  # in steps: what is counted ends there


@dataclass(frozen=True, slots=True)
class Above:
    """The test of noisy counts whose noise has this rate; all lengths are in steps of what is counted.

    >>> Above(Fraction(1), Fraction(1, 20)).slack
    4
    """

    rate: Fraction
    miss_rate: Fraction

    @property
    def test(self) -> OneShot:
        """Of the margin, count less limit; its `epsilon` is the rate."""
        steps = _steps(self.miss_rate, self.rate)
        return OneShot(self.rate, 1 - Fraction(steps, 2), 1, steps)

    @property
    def slack(self) -> int:
        """How far below the limit a count is flagged no more often than the miss rate; the least at this rate."""
        return self.test.steps - 1

    def flags(self, noisy: Rows, limits: NDArray[np.int64], bits: Bits) -> NDArray[np.bool_]:
        """Whether each noisy count speaks for one above its limit; ticks by regions, limits by regions."""
        test, margins = self.test, noisy - limits
        coins = bernoulli(test.coin, margins.size, bits=bits).reshape(margins.shape)
        flagged: NDArray[np.bool_] = (margins > test.boundary) | ((margins == test.boundary) & coins)
        return flagged


def rate_for(slack: int, miss_rate: Fraction) -> Fraction:
    """The least rate, to about 40 bits, at which the slack is no larger than this."""
    return _rate(miss_rate, slack + 1)


@lru_cache(maxsize=256)
def _steps(miss_rate: Fraction, rate: Fraction) -> int:
    return least_steps(miss_rate, miss_rate, rate)


@lru_cache(maxsize=256)
def _rate(miss_rate: Fraction, steps: int) -> Fraction:
    return least_epsilon(miss_rate, miss_rate, steps)
