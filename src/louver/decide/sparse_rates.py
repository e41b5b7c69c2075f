"""Rates for the sparse-vector strategy: the least price that keeps a promise about each single comparison.

A comparison adds D to an aligned margin, D the difference of two independent discrete Laplace variables: fresh noise of
rate q, and the threshold's own of rate p. With a = exp(-p), b = exp(-q) and whole t >= 0

    P(D >= t) = [ (1-b)² a^(t+1) / (1+a) - (1-a)² b^(t+1) / (1+b) ] / ((1-ab)(a-b)),   or where a = b
    P(D >= t) = (1-a)/(1+a)² a^t [ t + (1+a+2a²)/(1-a²) ].

As in `louver.privacy.one_shot`, a uniform variable on (-1/2, 1/2) is added to D, and both promises can be kept iff
reach(miss rate) + reach(false-alarm rate) <= steps, where P(D + U >= reach(rate)) = rate. The price is p + k q, k = 2c
for c alarms, or c where counts are monotone (`louver.decide.sparse`). The ratio p : q is k^(1/3) : 1, which makes the
variance of D least (Lyu, Su and Li 2017); at a miss rate of 1 in 20 the price is within 0.3% of the best ratio's,
within 3% at a slack of 0. The scale is then the least, proved by enclosures.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from louver.noise.enclosure import Enclosure
from louver.privacy.calibrate.certain import (
    at_most,
    decay,
    dyadic_step,
    least,
    simplest_between,
    working_bits,
)

HALF = Fraction(1, 2)
RATIO_STEPS = 16  # the price is flat around the best ratio
HALVINGS = 60


def tail(t: int, p: Fraction, q: Fraction, bits: int) -> Enclosure:
    """P(D >= t) for a whole t >= 0."""
    a, b = decay(min(p, q), bits), decay(max(p, q), bits)
    if p == q:
        inside = (1 + a + 2 * a * a) / (1 - a * a) + t
        return (1 - a) / ((1 + a) * (1 + a)) * a**t * inside
    wide = (1 - b) * (1 - b) * a ** (t + 1) / (1 + a)
    narrow = (1 - a) * (1 - a) * b ** (t + 1) / (1 + b)
    return (wide - narrow) / ((1 - a * b) * (a - b))


def split(miss: Fraction, alarm: Fraction, steps: int, weight: int) -> tuple[Fraction, Fraction]:
    """Rates (p, q) that keep both promises for the least p + weight * q, at p : q near weight^(1/3) : 1."""
    ratio = Fraction(round(RATIO_STEPS * weight ** (1 / 3)), RATIO_STEPS)
    guess = _least_scale(miss, alarm, steps, float(ratio))
    step = dyadic_step(Fraction(guess))
    enough = int(2 * Fraction(guess) / step) + 1
    found = least(
        lambda count: _suffices(count * step * ratio, count * step, miss, alarm, steps),
        enough,
        int(Fraction(guess) / step) + 1,
    )
    return found * step * ratio, found * step


def cut(p: Fraction, q: Fraction, miss: Fraction, alarm: Fraction, steps: int) -> Fraction:
    """The simplest cut that keeps both promises at these rates."""
    if miss == alarm:
        return 1 - Fraction(steps, 2)
    bits = _bits(p, q)
    while True:
        lowest = _reach(p, q, alarm, bits).upper - (steps - 1)
        highest = 1 - _reach(p, q, miss, bits).upper
        if lowest <= highest:
            return simplest_between(lowest, highest)
        bits *= 2


def _suffices(p: Fraction, q: Fraction, miss: Fraction, alarm: Fraction, steps: int) -> bool:
    return at_most(lambda bits: _reach(p, q, miss, bits) + _reach(p, q, alarm, bits), Fraction(steps), _bits(p, q))


def _reach(p: Fraction, q: Fraction, rate: Fraction, bits: int) -> Enclosure:
    """The r with P(D + U >= r) = rate, for a rate below 1/2.

    With i the largest whole number with P(D >= i) > rate, a part f of the step from i to i+1 is used up:
    r = i - 1/2 + f, where (1-f) P(D >= i) + f P(D >= i+1) = rate.
    """
    start = _bits(p, q)
    beyond = _first_rare(lambda t: at_most(lambda working: tail(t, p, q, working), rate, start), p, q, rate)
    here, after = tail(beyond - 1, p, q, bits), tail(beyond, p, q, bits)
    return (here - rate) / (here - after) + (beyond - 1 - HALF)


def _first_rare(rare: Callable[[int], bool], p: Fraction, q: Fraction, rate: Fraction) -> int:
    """The least t with P(D >= t) <= rate; P(D >= t) <= 2 exp(-e t/2) for e the smaller rate."""
    enough = math.ceil(2 * (math.log(2) - math.log(rate)) / float(min(p, q))) + 2
    guess = _float_reach(float(p), float(q), float(rate))
    return least(rare, enough, math.ceil(guess + 0.5))


def _bits(p: Fraction, q: Fraction) -> int:
    """Enough to begin with: numbers as small as the rates' difference are divided by."""
    return 2 * working_bits(min(p, q, abs(p - q) or p))


def _least_scale(miss: Fraction, alarm: Fraction, steps: int, ratio: float) -> float:
    """The least q, in floats, at p = ratio q."""
    rates = float(miss), float(alarm)
    low, high = 0.0, 4 * (4 - math.log(min(rates))) / (min(ratio, 1.0) * steps)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        needed = sum(_float_reach(ratio * middle, middle, rate) for rate in rates)
        low, high = (low, middle) if needed <= steps else (middle, high)
    return high


def _float_reach(p: float, q: float, rate: float) -> float:
    low, high = 0, math.ceil(2 * (math.log(2) - math.log(rate)) / min(p, q)) + 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _float_tail(middle, p, q) <= rate else (middle, high)
    here, after = _float_tail(low, p, q), _float_tail(high, p, q)
    return low - 0.5 + (here - rate) / (here - after)


def _float_tail(t: int, p: float, q: float) -> float:
    small, gap = min(p, q), abs(p - q)
    a = math.exp(-small)
    if gap < 1e-6 * small:
        return (1 - a) / (1 + a) ** 2 * a**t * (t + (1 + a + 2 * a * a) / (1 - a * a))
    b = math.exp(-small - gap)
    wide = math.expm1(-small - gap) ** 2 * math.exp(-small * (t + 1)) / (1 + a)
    narrow = math.expm1(-small) ** 2 * math.exp(-(small + gap) * (t + 1)) / (1 + b)
    return (wide - narrow) / (-math.expm1(-2 * small - gap) * a * -math.expm1(-gap))
