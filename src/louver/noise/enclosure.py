"""Real numbers between two integers: what makes a sampler's tables exact.

The tables need floor(2^n F) for probabilities F built from exp(-rate). Each step here keeps an interval that is sure
to hold the real number; whoever needs a floor widens the working precision until the interval has only one. `decimal`
gives exp and ln correctly rounded, so one unit in the last place bounds its error, and no dependency is needed.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

GUARD_BITS = 64
LARGEST_BITS = 1 << 20
LARGEST_EXPONENT = 10**8


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A real number x with low <= 2**bits * x <= high."""

    low: int
    high: int
    bits: int

    @classmethod
    def of(cls, value: Fraction | int, bits: int) -> Enclosure:
        scaled = Fraction(value) * (1 << bits)
        return cls(scaled.__floor__(), scaled.__ceil__(), bits)

    def _same(self, other: Enclosure | Fraction | int) -> Enclosure:
        if isinstance(other, Enclosure):
            if other.bits != self.bits:
                raise ValueError("enclosures of different precision do not mix")
            return other
        return Enclosure.of(other, self.bits)

    def __add__(self, other: Enclosure | Fraction | int) -> Enclosure:
        other = self._same(other)
        return Enclosure(self.low + other.low, self.high + other.high, self.bits)

    def __neg__(self) -> Enclosure:
        return Enclosure(-self.high, -self.low, self.bits)

    def __sub__(self, other: Enclosure | Fraction | int) -> Enclosure:
        other = self._same(other)
        return Enclosure(self.low - other.high, self.high - other.low, self.bits)

    def __rsub__(self, other: Fraction | int) -> Enclosure:
        return self._same(other) - self

    def __mul__(self, other: Enclosure | Fraction | int) -> Enclosure:
        if isinstance(other, int):
            ends = (self.low * other, self.high * other)
            return Enclosure(min(ends), max(ends), self.bits)
        other = self._same(other)
        if self.low >= 0 and other.low >= 0:
            low, high = self.low * other.low, self.high * other.high
        else:
            products = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
            low, high = min(products), max(products)
        return Enclosure(low >> self.bits, -(-high >> self.bits), self.bits)

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, other: Enclosure | Fraction | int) -> Enclosure:
        other = self._same(other)
        if other.low <= 0:
            raise ZeroDivisionError("the divisor's enclosure must lie above 0")
        low_by = other.high if self.low >= 0 else other.low
        high_by = other.low if self.high >= 0 else other.high
        return Enclosure((self.low << self.bits) // low_by, -((-self.high << self.bits) // high_by), self.bits)

    def __rtruediv__(self, other: Fraction | int) -> Enclosure:
        return self._same(other) / self

    def __pow__(self, exponent: int) -> Enclosure:
        """A whole, non-negative power of a non-negative number."""
        result, square = Enclosure.of(1, self.bits), self
        while exponent:
            if exponent & 1:
                result = result * square
            square = square * square
            exponent >>= 1
        return result

    def floor(self, bits: int) -> int | None:
        """floor(2**bits * x), or None while the enclosure holds more than one candidate."""
        low, high = self.low >> (self.bits - bits), self.high >> (self.bits - bits)
        return low if low == high else None

    @property
    def lower(self) -> Fraction:
        return Fraction(self.low, 1 << self.bits)

    @property
    def upper(self) -> Fraction:
        return Fraction(self.high, 1 << self.bits)


def exp(exponent: Fraction, bits: int) -> Enclosure:
    """exp of a rational, to about `bits` binary places behind the point."""
    places = _decimal_places(bits)
    integer_digits = max(0, int(exponent)) // 2 + 2
    low, high = _enclosed_by("exp", exponent, places + integer_digits)
    scale = 1 << bits
    return Enclosure((max(low, Fraction(0)) * scale).__floor__(), (high * scale).__ceil__(), bits)


def ln(value: Fraction, bits: int) -> Enclosure:
    """Natural logarithm of a positive rational."""
    low, high = _enclosed_by("ln", value, _decimal_places(bits) + 8)
    scale = 1 << bits
    return Enclosure((low * scale).__floor__(), (high * scale).__ceil__(), bits)


def certain_floor(value: Callable[[int], Enclosure], bits: int) -> int:
    """floor(2**bits * x) for sure; `value(working_bits)` encloses x ever more tightly.

    Ends for every irrational x, and for rational x that its enclosure holds exactly.
    """
    working = bits + GUARD_BITS
    while working <= LARGEST_BITS:
        floor = value(working).floor(bits)
        if floor is not None:
            return floor
        working += working - bits
    raise ArithmeticError("the enclosure does not narrow: the value is rational but not enclosed exactly")


def _decimal_places(bits: int) -> int:
    return bits * 30103 // 100000 + 4


def _enclosed_by(function: str, argument: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Bounds on an increasing function of `decimal`."""
    numerator, denominator = Decimal(argument.numerator), Decimal(argument.denominator)
    ends = []
    for rounding in (decimal.ROUND_FLOOR, decimal.ROUND_CEILING):
        wide = decimal.Context(prec=digits, rounding=rounding, Emin=-LARGEST_EXPONENT, Emax=LARGEST_EXPONENT)
        # Places behind the point are what counts, so results below 10**(-2 digits) need not be told apart.
        context = decimal.Context(prec=digits, rounding=rounding, Emin=-digits, Emax=LARGEST_EXPONENT)
        # exp and ln of `decimal` round to half even whatever the context says: one unit each way is enough.
        value = getattr(context, function)(wide.divide(numerator, denominator))
        ends.append(context.next_minus(value) if rounding == decimal.ROUND_FLOOR else context.next_plus(value))
    low, high = ends
    return Fraction(low), Fraction(high)
