"""Levels in equal ratios."""

from __future__ import annotations

from fractions import Fraction

from louver.privacy.calibrate.certain import dyadic_step

LARGEST_SPAN = 2**64


def geometric(first: Fraction, last: Fraction, size: int) -> list[Fraction]:
    """`size` >= 2 levels from first to last; those between are rounded to about 40 significant bits.

    Nothing is promised by where a level lies, thresholds are computed from the rounded level: a float may place it.
    """
    ratio = float(last / first)
    between = (short(first * Fraction(ratio ** (index / (size - 1)))) for index in range(1, size - 1))
    return [first, *between, last]


def short(level: Fraction) -> Fraction:
    """The level rounded to about 40 significant bits."""
    step = dyadic_step(level)
    return round(level / step) * step
