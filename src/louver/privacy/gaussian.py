"""The tight (epsilon, delta) of Gaussian noise, and of discrete Gaussian noise on whole numbers.

A vector is released with normal noise of variance v on each number, and one unit moves it by at most D in Euclidean
length. With m = D / sqrt(v) it is (epsilon, delta)-private exactly where (Balle and Wang 2018, Theorem 8)

    delta >= T(epsilon / m - m / 2) - exp(epsilon) T(epsilon / m + m / 2),   T(x) = P(N > x), N standard normal.

This holds too where later numbers, and how far they are moved, depend on earlier released ones, as long as all squares
add up to at most D^2 (Smith and Thakurta 2022): fill them up to D^2 with a number that nobody needs, then the loss is a
sum of normal steps whose variances add up to a constant, which is normal. zCDP with rho = m^2 / 2 forgets some of it:
at epsilon 1 and delta 1e-6 it asks for 7% more noise.

Whole numbers with discrete Gaussian noise of variance v are all but a function of the same numbers with normal noise of
variance v - s. Let z be such a noisy number, and release a whole k near it, with probability proportional to
exp(-(k - z)^2 / (2 s)). That shifts with z, and the law of k - x, for whole x, has at each k the density of a normal
law of variance v, divided by B(z) averaged over some law of z, where B(z) = sum over whole j of the normal density of
variance s at j - z. By Poisson's formula B(z) = 1 + 2 sum over i > 0 of exp(-2 pi^2 s i^2) cos(2 pi i z), which is
within h of 1, h = 2 exp(-2 pi^2 s) / (1 - exp(-2 pi^2 s)). Discrete Gaussian noise has the same density divided by
a constant between 1 and 1 + h. So the two laws differ, at each k, by a factor between exp(-c) and exp(c) with c = 3 h
for h <= 1/4: (1 + h) / (1 - h) <= exp(3 h). If a unit moves n numbers, replace the noise of those: what is
(epsilon, delta)-private with normal noise of variance v - s is (epsilon + 2 n c, exp(n c) delta)-private with discrete
Gaussian noise of variance v. With s = 2, c is below 1e-16.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from louver import parameters
from louver.noise import enclosure
from louver.noise.enclosure import Enclosure
from louver.parameters import Number
from louver.privacy.guarantee import Approximate, ZeroConcentrated

WORKING_BITS = 512
FARTHEST = 40  # standard deviations: a tail of 1e-349
SPREADS = tuple(Fraction(each, 4) for each in (2, 3, 4, 5, 6, 8, 10, 12, 16))
_TWO_PI_SQUARED = Fraction(19739, 1000)  # rounded down
_MOST_APART = Fraction(1, 100)
_EPSILON_STEPS = 2**24
_LEAST_EPSILON = Fraction(1, 2**64)
_ROOT_BITS = 128
_FAR_OUT = 36.0  # standard deviations: floats have no smaller tails


def approximately(rho: Number, delta: Number, *, variance: Number, moved: int) -> Approximate:
    """(epsilon, delta) for a chosen delta, where discrete Gaussian noise of this variance on whole numbers costs rho.

    `moved` is how many of the numbers one unit moves. Where noise is so small that the proof gives nothing, what
    follows from rho alone.

    >>> float(approximately(0.0279, 1e-6, variance=2**30, moved=10**6).epsilon) < 1
    True
    >>> float(ZeroConcentrated(Fraction(0.0279)).as_approximate(1e-6).epsilon) > 1.07
    True
    """
    price, wanted = ZeroConcentrated(rho), parameters.probability("delta", delta)
    worse = _worse(price.rho, parameters.positive("variance", variance), parameters.count("moved", moved))
    if worse is None:
        return price.as_approximate(wanted)
    more, apart = worse
    epsilon = least_epsilon(2 * price.rho * more, wanted * enclosure.exp(-apart, WORKING_BITS).lower)
    return Approximate(epsilon + 2 * apart, wanted)


def largest_rho(epsilon: Number, delta: Number, *, variance: Number, moved: int) -> Fraction:
    """The largest rho, to six digits, at which such noise is (epsilon, delta)-private; 0 where the proof gives none."""
    wanted, rare = parameters.positive("epsilon", epsilon), parameters.probability("delta", delta)
    worse = _worse(wanted**2 / 8, parameters.positive("variance", variance), parameters.count("moved", moved))
    if worse is None or 2 * worse[1] >= wanted:
        return Fraction(0)
    more, apart = worse
    left, kept = wanted - 2 * apart, rare * enclosure.exp(-apart, WORKING_BITS).lower
    low, high = Fraction(0), Fraction(1)
    while delta_at(2 * high * more, left) <= kept:
        low, high = high, 4 * high
    while high - low > high / 2**20:
        middle = (low + high) / 2
        low, high = (middle, high) if delta_at(2 * middle * more, left) <= kept else (low, middle)
    return low


@lru_cache(maxsize=256)
def least_epsilon(squared: Fraction, delta: Fraction) -> Fraction:
    """The least epsilon at this delta for normal noise with this D^2 / v, rounded up.

    Floats find it, and exact numbers say whether they are right; where not, those find it, which takes far longer.
    """
    near, rare = float(squared), float(delta)
    low, high = _halved(lambda epsilon: _delta_near(near, float(epsilon)) <= rare)
    if delta_at(squared, high) <= delta and (low == 0 or delta < delta_at(squared, low)):
        return high
    return _halved(lambda epsilon: delta_at(squared, epsilon) <= delta)[1]


def _halved(is_enough: Callable[[Fraction], bool]) -> tuple[Fraction, Fraction]:
    """The least epsilon that is enough, on a grid that depends on nothing else, and the one below it.

    Where delta alone is enough it is not 0, but so small that it says the same.
    """
    low, high = Fraction(0), Fraction(1)
    while not is_enough(high):
        high *= 2
    while high - low > high / _EPSILON_STEPS and high > _LEAST_EPSILON:
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return low, high


def _delta_near(squared: float, epsilon: float) -> float:
    """`delta_at` in floats, no sharper: exp(epsilon) T(far) is the density at `near` times T(far) / density(far)."""
    moved = math.sqrt(squared)
    if moved == 0:
        return 0.0
    near, far = epsilon / moved - moved / 2, epsilon / moved + moved / 2
    return _tail_near(near) - (_density(near) * _ratio(far) if far <= FARTHEST else 0.0)


def _density(place: float) -> float:
    return math.exp(-place * place / 2) / math.sqrt(2 * math.pi)


def _tail_near(place: float) -> float:
    return math.erfc(place / math.sqrt(2)) / 2


def _ratio(place: float) -> float:
    """T / density, far out by its series."""
    if place < _FAR_OUT:
        return _tail_near(place) / _density(place)
    square = place * place
    return (1 - (1 - (3 - 15 / square) / square) / square) / place


def delta_at(squared: Fraction, epsilon: Fraction) -> Fraction:
    """The least delta at this epsilon for normal noise with this D^2 / v, rounded up.

    It grows with D, so the root is rounded up.
    """
    moved = _root_above(squared)
    if moved == 0:
        return Fraction(0)
    near, far = epsilon / moved - moved / 2, epsilon / moved + moved / 2
    lost = tail(far).lower
    kept = enclosure.exp(epsilon, WORKING_BITS).lower * lost if lost > 0 else Fraction(0)
    return max(tail(near).upper - kept, Fraction(0))


def tail(place: Fraction) -> Enclosure:
    """P(N > x) for standard normal N: 1/2 less the density times x + x^3/3 + x^5/(3 5) + ..."""
    if place < 0:
        return 1 - tail(-place)
    if place > FARTHEST:
        return Enclosure(0, _farthest_tail().high, WORKING_BITS)
    bits = WORKING_BITS + math.ceil(place * place)
    x = Enclosure.of(place, bits)
    square, term, total, odd = x * x, x, x, 1
    while term.high > 1 or odd < 2 * place * place:
        odd += 2
        term = term * square / odd
        total = total + term
    total = Enclosure(total.low, total.high + 2 * term.high, bits)  # the rest at least halves from term to term
    density = enclosure.exp(-place * place / 2, bits) * _one_over_root_of_two_pi(bits)
    exact = Fraction(1, 2) - density * total
    shift = bits - WORKING_BITS
    return Enclosure(max(exact.low >> shift, 0), -(-exact.high >> shift), WORKING_BITS)


@lru_cache(maxsize=1)
def _farthest_tail() -> Enclosure:
    return tail(Fraction(FARTHEST))


@lru_cache(maxsize=64)
def _one_over_root_of_two_pi(bits: int) -> Enclosure:
    """pi = 16 arctan(1/5) - 4 arctan(1/239)."""
    wide = bits + 32
    pi = 16 * _arctan_of_one_over(5, wide) - 4 * _arctan_of_one_over(239, wide)
    root = Enclosure(math.isqrt(2 * pi.low << wide), math.isqrt(2 * pi.high << wide) + 1, wide)
    found = 1 / root
    return Enclosure(found.low >> 32, -(-found.high >> 32), bits)


def _arctan_of_one_over(whole: int, bits: int) -> Enclosure:
    """Its series alternates, so it is off by less than the first term that is left out."""
    total, power, odd, sign = Enclosure.of(0, bits), Enclosure.of(Fraction(1, whole), bits), 1, 1
    while power.high > 1:
        total = total + sign * (power / odd)
        power, odd, sign = power / whole**2, odd + 2, -sign
    return Enclosure(total.low - power.high, total.high + power.high, bits)


@lru_cache(maxsize=256)
def _worse(rho: Fraction, variance: Fraction, moved: int) -> tuple[Fraction, Fraction] | None:
    """v / (v - s) and n c for the s that costs least; None where none is small enough."""
    found = []
    for spread in SPREADS:
        fallen = enclosure.exp(-_TWO_PI_SQUARED * spread, WORKING_BITS).upper
        apart = moved * 3 * 2 * fallen / (1 - fallen)
        if variance > spread and apart <= _MOST_APART:
            more = variance / (variance - spread)
            found.append(
                (float(more) * math.sqrt(rho) + 2 * float(apart), more, Fraction(math.ceil(apart * 2**200), 2**200))
            )
    return min(found)[1:] if found else None


def _root_above(square: Fraction) -> Fraction:
    scaled = math.ceil(square * 4**_ROOT_BITS)
    root = math.isqrt(scaled)
    return Fraction(root + (root * root < scaled), 2**_ROOT_BITS)
