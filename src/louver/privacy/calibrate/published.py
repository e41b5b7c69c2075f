"""The published calibrations, as printed: for reproducing the papers, on idealised continuous Laplace noise.

TSLM and PPWLM are algorithms 1 and 2 of MIDE (Ghayyur's thesis, chapter 5); MiM is the workshop paper before it (2019).
Their α leaves the closed interval [c - 2α, c] free, which on integers is a slack of 2α + 1. All ε and shifts are
rounded up, so that the miss rate is at most β. They are not the best that can be done: see `oneshot` and `grid`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from louver import parameters
from louver.errors import ParameterError
from louver.noise.enclosure import ln
from louver.privacy.calibrate.certain import rounded_up, working_bits
from louver.privacy.calibrate.ladder import LARGEST_SPAN, geometric

LARGEST_STEPS = 1000


@dataclass(frozen=True, slots=True)
class ThresholdShift:
    """Accept iff x + Lap(1/epsilon) > c - shift."""

    epsilon: Fraction
    shift: Fraction


@dataclass(frozen=True, slots=True)
class Progressive:
    """Level j accepts x + noise > c + shifts[j], eliminates x + noise <= c - shifts[j]; the last accepts the rest."""

    levels: tuple[Fraction, ...]
    shifts: tuple[Fraction, ...]


def tslm(miss_rate: object, alpha: object) -> ThresholdShift:
    """Threshold-shift Laplace mechanism: ε = ln(1/(2β))/α."""
    miss, shift = parameters.error_rate("miss_rate", miss_rate), parameters.positive("alpha", alpha)
    return ThresholdShift(_log_over(2 * miss, shift), shift)


def ppwlm(miss_rate: object, alpha: object, first_epsilon: object, steps: object) -> Progressive:
    """Progressive predicate-wise mechanism: ε_m = ln(m/(2β))/α, ε_j = ε_1 ω^(j-1), α_j = ln(m/(2β))/ε_j."""
    miss, alpha = parameters.error_rate("miss_rate", miss_rate), parameters.positive("alpha", alpha)
    first = parameters.positive("first_epsilon", first_epsilon)
    size = parameters.integer("steps", steps, 2, LARGEST_STEPS)
    share = miss / size
    last = _log_over(2 * share, alpha)
    if not last / LARGEST_SPAN <= first < last:
        raise ParameterError(
            f"first_epsilon must be less than the last level, {parameters.short(last)}, and not tiny beside it; "
            "try a hundredth of it."
        )
    levels = geometric(first, last, size)
    shifts = [_log_over(2 * share, level) for level in levels[:-1]]
    return Progressive(tuple(levels), (*shifts, alpha))


def mim_shift(miss_rate: object, epsilon: object) -> Fraction:
    """The shift of MiM's baseline by its algorithm and proof: ln(1/(2β))/ε."""
    miss, exact = parameters.error_rate("miss_rate", miss_rate), parameters.positive("epsilon", epsilon)
    return _log_over(2 * miss, exact)


def mim_shift_in_text(miss_rate: object, epsilon: object) -> Fraction:
    """The shift of MiM's baseline by its text: ln(1/β)/ε, needlessly wide, for it misses with probability β/2."""
    miss, exact = parameters.error_rate("miss_rate", miss_rate), parameters.positive("epsilon", epsilon)
    return _log_over(miss, exact)


def _log_over(rate: Fraction, divisor: Fraction) -> Fraction:
    """ln(1/rate)/divisor, rounded up."""
    return rounded_up(lambda bits: -ln(rate, bits) / divisor, working_bits((1 - rate) / max(divisor, Fraction(1))))
