"""What a Gaussian adds up to over all whole numbers, to any precision: the sum of exp(-(x - centre)^2 / (2 variance)).

A narrow one is added up term by term. A wide one would take as many terms as it is wide; Poisson's sum takes few:

    sqrt(2 pi variance) (1 + 2 sum over k >= 1 of exp(-2 pi^2 k^2 variance) cos(2 pi k centre)).
"""

from __future__ import annotations

import math
from fractions import Fraction

from louver.noise import enclosure
from louver.noise.enclosure import Enclosure

_WIDE = 1  # the variance from which on the k-th wave adds 28 k^2 bits


def mass(centre: float, variance: float, working: int) -> Enclosure:
    """Centre and variance mean the binary fractions that they are."""
    exact, spread = Fraction(centre), Fraction(variance)
    return by_waves(exact, spread, working) if spread >= _WIDE else by_terms(exact, spread, working)


def by_terms(centre: Fraction, variance: Fraction, working: int) -> Enclosure:
    middle = round(centre)
    total = enclosure.exp(-((middle - centre) ** 2) / (2 * variance), working)
    for side in (1, -1):
        x = middle + side
        while True:
            weight = enclosure.exp(-((x - centre) ** 2) / (2 * variance), working)
            total = total + weight
            if weight.low <= 1:
                break
            x += side
        # What is left out falls from each x to the next by at least this ratio.
        ratio = enclosure.exp(-abs(x - centre) / variance, working)
        tail = weight * ratio / (1 - ratio)
        total = Enclosure(total.low, total.high + tail.high, working)
    return total


def by_waves(centre: Fraction, variance: Fraction, working: int) -> Enclosure:
    """For a variance of 1 or more."""
    pi = _pi(working)
    fall = pi * pi * (2 * variance)
    ripple, wave = Enclosure.of(0, working), 1
    while True:
        weight = _exp_minus(fall * wave**2)
        if weight.high <= 1:
            break
        turn = wave * centre
        ripple = ripple + weight * _cosine(pi * (2 * (turn - round(turn))))
        wave += 1
    # This wave and all later ones: each is less than half of the one before, and no cosine is above 1.
    left = 2 * weight.high
    ripple = Enclosure(ripple.low - left, ripple.high + left, working)
    return _root(pi * (2 * variance)) * (1 + 2 * ripple)


def _pi(working: int) -> Enclosure:
    """16 arctan(1/5) - 4 arctan(1/239) (Machin 1706)."""
    return 16 * _arctangent_of_one_over(5, working) - 4 * _arctangent_of_one_over(239, working)


def _arctangent_of_one_over(whole: int, working: int) -> Enclosure:
    """The alternating series; where it is broken off it is off by less than the next term."""
    total, power, odd = Enclosure.of(0, working), Enclosure.of(Fraction(1, whole), working), 1
    while power.high > 1:
        term = power / odd
        total = total + term if odd % 4 == 1 else total - term
        power, odd = power / (whole * whole), odd + 2
    return Enclosure(total.low - power.high, total.high + power.high, working)


def _cosine(angle: Enclosure) -> Enclosure:
    """Of an angle from -pi to pi, by its series; from the square on its terms fall and change their signs."""
    square = angle * angle
    total, term, even = Enclosure.of(0, angle.bits), Enclosure.of(1, angle.bits), 0
    while term.high > 1 or even < 4:
        total = total + term if even % 4 == 0 else total - term
        even += 2
        term = term * square / ((even - 1) * even)
    left = max(abs(term.low), abs(term.high))
    return Enclosure(total.low - left, total.high + left, angle.bits)


def _exp_minus(exponent: Enclosure) -> Enclosure:
    low, high = (enclosure.exp(-end, exponent.bits) for end in (exponent.upper, exponent.lower))
    return Enclosure(low.low, high.high, exponent.bits)


def _root(square: Enclosure) -> Enclosure:
    low, high = (math.isqrt(end << square.bits) for end in (square.low, square.high))
    return Enclosure(low, high + 1, square.bits)
