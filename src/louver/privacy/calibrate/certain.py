"""Decisions about real numbers that cannot be wrong: enclosures are narrowed until they decide.

A `Value` encloses one real number at any working precision. The numbers compared here are built from exp of non-zero
rationals and are therefore never equal to the rational they are compared with, so that narrowing always ends.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from louver.noise.enclosure import LARGEST_BITS, Enclosure, exp

Value: TypeAlias = Callable[[int], Enclosure]

FIRST_BITS = 128
SIGNIFICANT_BITS = 40


def decay(exponent: Fraction, bits: int) -> Enclosure:
    """exp(-exponent) for an exponent >= 0, in bounded time however large it is."""
    return exp(-exponent, bits) if exponent <= bits else Enclosure(0, 1, bits)


def narrowed(value: Value, bits: int) -> Enclosure:
    """The value in an interval at most 2**-bits wide."""
    return _first(value, max(FIRST_BITS, bits + 32), lambda found: (found.high - found.low) << bits <= 1 << found.bits)


def at_most(value: Value, limit: Fraction, start: int = FIRST_BITS) -> bool:
    """Whether the value is at or below the limit."""
    found = _first(value, start, lambda found: found.upper <= limit or found.lower > limit)
    return found.upper <= limit


def ceiling(value: Value, start: int = FIRST_BITS) -> int:
    """The least integer at or above the value."""
    found = _first(value, start, lambda found: found.upper.__ceil__() == found.lower.__ceil__())
    return found.upper.__ceil__()


def rounded_up(value: Value, start: int = FIRST_BITS) -> Fraction:
    """A dyadic rational at or above a positive value, too large by less than 2**-38 of it, and short to write."""
    found = _first(
        value, start, lambda found: found.low > 0 and (found.high - found.low) << 2 * SIGNIFICANT_BITS < found.low
    )
    step = dyadic_step(found.upper)
    return (found.upper / step).__ceil__() * step


def working_bits(size: Fraction) -> int:
    """Enough bits to begin with where numbers as small as this one occur."""
    return FIRST_BITS + 2 * max(0, size.denominator.bit_length() - size.numerator.bit_length())


def dyadic_step(size: Fraction) -> Fraction:
    """The power of two whose multiples give a positive number of this size about 40 significant bits."""
    exponent = size.numerator.bit_length() - size.denominator.bit_length() - SIGNIFICANT_BITS
    return Fraction(1 << max(exponent, 0), 1 << max(-exponent, 0))


def least(suffices: Callable[[int], bool], enough: int, guess: int | None = None) -> int:
    """The least whole number from 1 to `enough` that suffices, if all larger ones do; a good guess saves most tests."""
    too_little, stride = 0, 1
    probe = enough // 2 if guess is None else min(max(guess, 1), enough - 1)
    while enough - too_little > 1:
        if suffices(probe):
            enough = probe
            probe = enough - stride
        else:
            too_little = probe
            probe = too_little + stride
        if guess is None or not too_little < probe < enough:
            probe = (too_little + enough) // 2
        stride *= 4
    return enough


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The rational with the smallest denominator in the closed interval from low to high."""
    whole = low.__ceil__()
    if whole <= high:
        return Fraction(whole if low > 0 else min(high.__floor__(), 0))
    base = low.__floor__()
    return base + 1 / simplest_between(1 / (high - base), 1 / (low - base))


def _first(value: Value, start: int, good: Callable[[Enclosure], bool]) -> Enclosure:
    bits = start
    while bits <= LARGEST_BITS:
        try:
            found = value(bits)
        except ZeroDivisionError:  # at this precision a divisor is not yet told from 0
            bits *= 2
            continue
        if good(found):
            return found
        bits *= 2
    raise ArithmeticError("the enclosure does not narrow far enough to decide")
