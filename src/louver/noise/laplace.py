"""Discrete Laplace noise, exact and by the array.

Law: P(X = x) = (1-a)/(1+a) a^|x|, a = exp(-rate). Added to an integer of sensitivity 1 it is rate-differentially
private. A geometric variable's base-256 digits are independent, because a^(sum 256^i d_i) factorises: each digit comes
from a small truncated table, and the top, which has no last value, from the lazy table of an unbounded law. The sign
joins the top: X = Y where S = 0 and X = -1-Y where S = 1, with Y geometric and P(S = 1) = a/(1+a), is discrete Laplace.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.noise.bits import SYSTEM, Bits
from louver.noise.enclosure import Enclosure, exp
from louver.noise.tables import CHUNK, FEW, TABLES, CumulativeLaw, Inversion

# Below, values pass 2^63 with probability over exp(-2^14); above, a coin that never falls would do.
SMALLEST_RATE = Fraction(1, 2**48)
LARGEST_RATE = Fraction(2**12)

_DIGIT_BITS = 8
_DIGIT_VALUES = 1 << _DIGIT_BITS
_SHORT_TABLE_RATE = Fraction(7, 20)  # from here on the top's table has at most about 250 entries
_FINE_TOP_RATE = Fraction(1, 16)  # where the top shall decide alone: at most about 700 entries

Level = TypeVar("Level", int, NDArray[np.int64])


def discrete_laplace(rate: parameters.Number, count: int, *, bits: Bits = SYSTEM) -> NDArray[np.int64]:
    """`count` independent draws of discrete Laplace noise with this rate (epsilon over sensitivity).

    >>> int(abs(discrete_laplace(50, 1000)).max())
    0
    """
    exact = rate if type(rate) is Fraction else noise_rate("The rate", rate)
    top, digits = _signed_tables(exact.numerator, exact.denominator)
    if type(count) is int and 0 < count <= FEW:
        return np.array([_one(top, digits, bits) for _ in range(count)], dtype=np.int64)
    drawn = np.empty(parameters.count("The number of draws", count), dtype=np.int64)
    for start in range(0, len(drawn), CHUNK):
        chunk = drawn[start : start + CHUNK]
        signed = top.draw(len(chunk), bits)
        np.bitwise_xor(_append_digits(signed >> 1, digits, bits), -(signed & 1), out=chunk)
    return drawn


def one_laplace(rate: Fraction, bits: Bits) -> int:
    """What `discrete_laplace(rate, 1, bits=bits)` gives, from the same bits, as a plain number."""
    return _one(*_signed_tables(rate.numerator, rate.denominator), bits)


def _one(top: Inversion, digits: list[Inversion], bits: Bits) -> int:
    signed = top.one(bits)
    value = signed >> 1
    for digit in digits:
        value = (value << _DIGIT_BITS) | digit.one(bits)
    return value ^ -(signed & 1)


def geometric(rate: parameters.Number, count: int, *, bits: Bits = SYSTEM) -> NDArray[np.int64]:
    """`count` independent draws of P(Y = y) = (1-a) a^y, y = 0, 1, ..., a = exp(-rate); so P(Y >= y) = exp(-rate y)."""
    exact = noise_rate("The rate", rate)
    top, digits = _geometric_tables(exact.numerator, exact.denominator)
    drawn = np.empty(parameters.count("The number of draws", count), dtype=np.int64)
    for start in range(0, len(drawn), CHUNK):
        chunk = drawn[start : start + CHUNK]
        chunk[:] = _append_digits(top.draw(len(chunk), bits), digits, bits)
    return drawn


def geometric_reaches(rate: Fraction, levels: NDArray[np.int64], bits: Bits) -> NDArray[np.bool_]:
    """`geometric(rate, n) >= levels` for levels of 0 or more, with as few digits as it takes: from the top, each is
    drawn only where the ones above it are those of the level."""
    top, digits, shift = _reach_tables(rate.numerator, rate.denominator)
    drawn, wanted = top.draw(len(levels), bits), levels >> shift
    reached: NDArray[np.bool_] = drawn > wanted
    tied = np.flatnonzero(drawn == wanted)
    for digit in digits:
        if not len(tied):
            break
        shift -= _DIGIT_BITS
        drawn, wanted = digit.draw(len(tied), bits), _digit_at(levels[tied], shift)
        reached[tied] = drawn > wanted
        tied = tied[drawn == wanted]
    reached[tied] = True
    return reached


def one_geometric_reaches(rate: Fraction, level: int, bits: Bits) -> bool:
    """The same for one level."""
    top, digits, shift = _reach_tables(rate.numerator, rate.denominator)
    drawn, wanted = top.one(bits), level >> shift
    for digit in digits:
        if drawn != wanted:
            break
        shift -= _DIGIT_BITS
        drawn, wanted = digit.one(bits), _digit_at(level, shift)
    return drawn >= wanted


def noise_rate(name: str, rate: object, largest: Fraction = LARGEST_RATE) -> Fraction:
    """A rate that the samplers take: a positive rational, neither absurdly small nor absurdly large."""
    return parameters.within(name, parameters.positive(name, rate), SMALLEST_RATE, largest)


@lru_cache(maxsize=64)
def _signed_tables(numerator: int, denominator: int) -> tuple[Inversion, list[Inversion]]:
    """The tables of a rate. Kept by two whole numbers, which are quickly compared: live streams draw one at a time."""
    exact = noise_rate("The rate", Fraction(numerator, denominator))
    top_rate, digits = _split(exact)
    return TABLES.get(("signed top", exact), _signed_top_law(exact, top_rate)), digits


@lru_cache(maxsize=64)
def _geometric_tables(numerator: int, denominator: int) -> tuple[Inversion, list[Inversion]]:
    """The same without a sign."""
    top_rate, digits = _split(noise_rate("The rate", Fraction(numerator, denominator)))
    return TABLES.get(("top", top_rate), _top_law(top_rate)), digits


@lru_cache(maxsize=64)
def _reach_tables(numerator: int, denominator: int) -> tuple[Inversion, list[Inversion], int]:
    """Tables whose top decides nearly always, and at which bit of a level the top begins.

    A variable of rate / 2^f reaches level 2^f as often as one of this rate reaches the level. With the right f the
    top's rate is small, so that few are tied, and not so small that its table is long.
    """
    rate = noise_rate("The rate", Fraction(numerator, denominator))
    top_rate, digits = _split(rate, _FINE_TOP_RATE)
    finer = math.floor(math.log2(top_rate / _FINE_TOP_RATE)) if digits else 0
    top_rate, digits = _split(rate / 2**finer, _FINE_TOP_RATE)
    return TABLES.get(("top", top_rate), _top_law(top_rate)), digits, _DIGIT_BITS * len(digits) - finer


def _digit_at(level: Level, shift: int) -> Level:
    """The digit that begins at this bit, which is below the first in the last digit of a finer level."""
    return (level >> shift if shift >= 0 else level << -shift) & (_DIGIT_VALUES - 1)


def _split(rate: Fraction, least: Fraction = _SHORT_TABLE_RATE) -> tuple[Fraction, list[Inversion]]:
    """The rate of the top, which is at least this, and the tables of the digits below it, highest first."""
    digits: list[Inversion] = []
    while rate < least:
        digits.append(TABLES.get(("digit", rate), _digit_law(rate)))
        rate *= _DIGIT_VALUES
    return rate, digits[::-1]


def _append_digits(values: NDArray[np.int64], digits: list[Inversion], bits: Bits) -> NDArray[np.int64]:
    for digit in digits:
        values = (values << _DIGIT_BITS) | digit.draw(len(values), bits)
    return values


def _digit_law(rate: Fraction) -> CumulativeLaw:
    """A geometric variable below 256: F_j = (1 - a^(j+1)) / (1 - a^256)."""

    def law(working: int) -> Iterator[Enclosure]:
        ratio = exp(-rate, working)
        total = 1 - exp(-rate * _DIGIT_VALUES, working)
        power = ratio
        for _ in range(_DIGIT_VALUES - 1):
            yield (1 - power) / total
            power = power * ratio

    return law


def _top_law(rate: Fraction) -> CumulativeLaw:
    """An unbounded geometric variable: F_j = 1 - a^(j+1)."""

    def law(working: int) -> Iterator[Enclosure]:
        ratio = exp(-rate, working)
        power = ratio
        while True:
            yield 1 - power
            power = power * ratio

    return law


def _signed_top_law(rate: Fraction, top_rate: Fraction) -> CumulativeLaw:
    """2Y + S: F_(2y) = 1 - b^y + b^y (1-b)/(1+a), F_(2y+1) = 1 - b^(y+1), with a of the whole and b of the top."""

    def law(working: int) -> Iterator[Enclosure]:
        ratio = exp(-top_rate, working)
        positive = (1 - ratio) / (1 + exp(-rate, working))
        power = Enclosure.of(1, working)
        while True:
            yield 1 - power + power * positive
            power = power * ratio
            yield 1 - power

    return law
