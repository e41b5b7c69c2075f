"""How far off numbers with noise of a known standard deviation are, at a level such as 19 of 20 cases."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

from louver import parameters

LEVEL = Fraction(19, 20)
LOWEST_LEVEL, HIGHEST_LEVEL = Fraction(4, 5), Fraction(999_999, 1_000_000)


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
