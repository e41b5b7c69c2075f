"""From an accuracy to a price: the least noise that keeps a released number within a distance, often enough.

And back: how far off numbers with noise of a known standard deviation are, at a level such as 19 of 20 cases.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any

from louver import parameters
from louver.errors import ParameterError
from louver.noise.enclosure import ln
from louver.noise.laplace import LARGEST_RATE, SMALLEST_RATE
from louver.privacy.calibrate.certain import at_most, decay, dyadic_step, least, rounded_up, working_bits

LEVEL = Fraction(19, 20)
LOWEST_LEVEL, HIGHEST_LEVEL = Fraction(4, 5), Fraction(999_999, 1_000_000)


@lru_cache(maxsize=256)
def least_rate(distance: int, miss_rate: Fraction) -> Fraction:
    """The least rate, to about 40 bits, at which discrete Laplace noise is seldom enough farther off than the distance.

    P(|X| > d) = 2 a^(d+1) / (1 + a), a = exp(-rate).
    """
    enough = rounded_up(lambda bits: -ln(miss_rate / 2, bits) / (distance + 1), working_bits(miss_rate))
    step = dyadic_step(enough)

    def suffices(count: int) -> bool:
        rate = count * step

        def beyond(bits: int) -> Any:
            a = decay(rate, bits)
            return 2 * a ** (distance + 1) / (1 + a)

        return at_most(beyond, miss_rate, working_bits(rate * miss_rate))

    found = step * least(suffices, int(enough / step) + 1)
    if not SMALLEST_RATE <= found <= LARGEST_RATE:
        raise ParameterError(
            "There is no exact noise for such a distance; take one that is not so far, or not so near."
        )
    return found


def checked_level(level: parameters.Number) -> Fraction:
    """How often a band holds; a float means what it is written as."""
    exact = Fraction(repr(level)) if isinstance(level, float) and math.isfinite(level) else level
    return parameters.within("level", exact, LOWEST_LEVEL, HIGHEST_LEVEL)


def normal_factor(level: Fraction) -> float:
    """How many standard deviations normal noise stays within at this level."""
    return NormalDist().inv_cdf((1 + float(level)) / 2)


def laplace_factor(level: Fraction) -> float:
    """The same for one Laplace draw."""
    return -math.log(1 - level) / math.sqrt(2)


def sum_factor(level: Fraction) -> float:
    """The same for sums of Laplace draws, which lie between one draw and the normal law; the wider of the two."""
    return max(normal_factor(level), laplace_factor(level))
