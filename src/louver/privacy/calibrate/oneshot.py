"""One look, one yes or no: the least ε that keeps both promises on integer counts.

The promise: a count n >= c+1 is accepted with probability at least 1-β (β the miss rate), a count n <= c-s with
probability at most γ (γ the false-alarm rate); the s counts between are free (s the slack). For sensitivity 1 the
acceptance probability F of any ε-DP test obeys F(n-1) >= max(exp(-ε) F(n), 1 - exp(ε) (1-F(n))). The least ε is the one
whose fastest descent gets from 1-β to γ in the s+1 steps from c+1 to c-s. The truncated-uniform-Laplace noise of Awan
and Slavkovic (2018), N = DL(ε) + Uniform(-1/2, 1/2), descends like that everywhere: accepting iff n - c + N >= cut is a
best test. In terms of its quantile `reach`(q) = r with P(N >= r) = q, both promises hold iff

    reach(γ) - s <= cut <= 1 - reach(β),     hence some cut serves iff reach(β) + reach(γ) <= s + 1.

If one unit can add up to D to a count, counts are first divided by D, rounding up (`aligned`). That has sensitivity 1,
sends c+1 to 1 and c-s to -(⌈(s+1)/D⌉ - 1), and never costs more than noise D times as wide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import overload

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise.enclosure import Enclosure, ln
from louver.noise.laplace import SMALLEST_RATE
from louver.noise.truncated import acceptance
from louver.privacy.calibrate.certain import (
    at_most,
    decay,
    dyadic_step,
    least,
    narrowed,
    rounded_up,
    simplest_between,
    working_bits,
)

LARGEST_MARGIN, LARGEST_SLACK = 2**61, 2**40
HALF = Fraction(1, 2)
FLOAT_HALVINGS = 50


@dataclass(frozen=True, slots=True)
class OneShot:
    """Accept a key iff aligned(margin) + DL(epsilon) + Uniform(-1/2, 1/2) >= cut, where margin = count - threshold.

    This costs `epsilon`, whatever the sensitivity: the noise is added to the aligned margin.
    """

    epsilon: Fraction
    cut: Fraction
    sensitivity: int
    steps: int

    @property
    def boundary(self) -> int:
        """The one noisy integer at which a coin decides; larger ones are accepted, smaller ones are not."""
        return (self.cut + HALF).__floor__()

    @property
    def coin(self) -> Fraction:
        """The probability of accepting at the boundary."""
        return self.boundary + HALF - self.cut

    @overload
    def aligned(self, margin: int) -> int: ...
    @overload
    def aligned(self, margin: NDArray[np.int64]) -> NDArray[np.int64]: ...
    def aligned(self, margin: int | NDArray[np.int64]) -> int | NDArray[np.int64]:
        """What the noise is added to: count - threshold, divided by the sensitivity and rounded towards flagging."""
        return aligned(margin, self.sensitivity)

    def acceptance(self, margin: int, bits: int = 96) -> Enclosure:
        """The probability that a key with this margin is accepted, to 2**-bits."""
        margin = parameters.integer("margin", margin, -LARGEST_MARGIN, LARGEST_MARGIN)
        bits = parameters.integer("bits", bits, 1, 2**12)
        seen = self.aligned(margin)
        return narrowed(lambda working: acceptance(seen, self.epsilon, self.cut, working), bits)


def one_shot(
    miss_rate: object, slack: object, false_alarm_rate: object | None = None, sensitivity: object = 1
) -> OneShot:
    """The cheapest test that keeps the promise; the false-alarm rate is the miss rate unless given."""
    miss = parameters.error_rate("miss_rate", miss_rate)
    alarm = miss if false_alarm_rate is None else parameters.error_rate("false_alarm_rate", false_alarm_rate)
    width = parameters.integer("sensitivity", sensitivity, 1, LARGEST_SLACK)
    steps = aligned(parameters.integer("slack", slack, 0, LARGEST_SLACK) + 1, width)
    epsilon = least_epsilon(miss, alarm, steps)
    return OneShot(epsilon, _cut(epsilon, miss, alarm, steps), width, steps)


@overload
def aligned(margin: int, sensitivity: int) -> int: ...
@overload
def aligned(margin: NDArray[np.int64], sensitivity: int) -> NDArray[np.int64]: ...
def aligned(margin: int | NDArray[np.int64], sensitivity: int) -> int | NDArray[np.int64]:
    """The margin in units of the sensitivity, rounded up: positive iff the margin is, and with sensitivity 1."""
    exact = margin if isinstance(margin, int) else parameters.integers("The margins", margin)
    # -(-exact // sensitivity) would overflow at the most negative integer.
    return exact // sensitivity + (exact % sensitivity != 0)


def least_epsilon(miss: Fraction, alarm: Fraction, steps: int) -> Fraction:
    """The least ε with reach(miss) + reach(alarm) <= steps, rounded up to about 40 significant bits."""
    # Laplace noise needs ln(1/(4 miss alarm))/steps, an upper bound.
    ratio = 4 * miss * alarm
    enough = rounded_up(lambda bits: -ln(ratio, bits) / steps, working_bits(1 - ratio) + steps.bit_length())
    _check_drawable(enough)
    step = dyadic_step(enough)
    guess = Fraction(_guessed_epsilon(miss, alarm, steps, float(enough)))
    found = step * least(
        lambda count: _suffices(count * step, miss, alarm, steps), int(enough / step), int(guess / step) + 1
    )
    _check_drawable(found)
    return found


def least_steps(miss: Fraction, alarm: Fraction, epsilon: Fraction) -> int:
    """The other way round: the fewest steps, 1 or more, that suffice at this ε."""
    bits = working_bits(epsilon)
    fewest = max(math.ceil((reach(epsilon, miss, bits) + reach(epsilon, alarm, bits)).lower), 1)
    while not _suffices(epsilon, miss, alarm, fewest):
        fewest += 1
    return fewest


def _check_drawable(epsilon: Fraction) -> None:
    if epsilon < SMALLEST_RATE:
        raise ParameterError(
            f"slack and error rates ask for a level of {parameters.short(epsilon)}, for which there is no exact noise; "
            f"lower them to get a level of at least {parameters.short(SMALLEST_RATE)}."
        )


def _guessed_epsilon(miss: Fraction, alarm: Fraction, steps: int, enough: float) -> float:
    """In floats, to save narrowing: `least` checks the guess and moves on from it where it is wrong."""
    logarithms = [math.log(rate.denominator) - math.log(rate.numerator) for rate in (miss, alarm)]
    too_little = 0.0
    for _ in range(FLOAT_HALVINGS):
        middle = (too_little + enough) / 2
        exponents = [(logarithm - math.log1p(math.exp(-middle))) / middle for logarithm in logarithms]
        parts = [math.floor(x) - 0.5 + math.expm1(-middle * (x % 1)) / math.expm1(-middle) for x in exponents]
        too_little, enough = (too_little, middle) if sum(parts) <= steps else (middle, enough)
    return enough


def reach(epsilon: Fraction, rate: Fraction, bits: int) -> Enclosure:
    """The r with P(DL(ε) + Uniform(-1/2, 1/2) >= r) = rate, for a rate below 1/2.

    With a = exp(-ε) and x = ln(1/(rate (1+a)))/ε = i + part: r = i - 1/2 + (1 - exp(-ε part)) / (1-a), increasing in x.
    """
    a = decay(epsilon, bits)
    exponents = [-ln(rate * (1 + end), bits) / epsilon for end in (a.upper, a.lower)]
    low, high = (_reach_at(x, epsilon, 1 - a) for x in (exponents[0].lower, exponents[1].upper))
    return Enclosure(low.low, high.high, bits)


def _reach_at(x: Fraction, epsilon: Fraction, one_minus_a: Enclosure) -> Enclosure:
    whole = x.__floor__()
    return (1 - decay(epsilon * (x - whole), one_minus_a.bits)) / one_minus_a + (whole - HALF)


def _suffices(epsilon: Fraction, miss: Fraction, alarm: Fraction, steps: int) -> bool:
    return at_most(
        lambda bits: reach(epsilon, miss, bits) + reach(epsilon, alarm, bits), Fraction(steps), working_bits(epsilon)
    )


def _cut(epsilon: Fraction, miss: Fraction, alarm: Fraction, steps: int) -> Fraction:
    """The simplest cut that keeps both promises; there is room for one because ε was rounded up."""
    if miss == alarm:
        return 1 - Fraction(steps, 2)
    bits = working_bits(epsilon)
    while True:
        lowest = reach(epsilon, alarm, bits).upper - (steps - 1)
        highest = 1 - reach(epsilon, miss, bits).upper
        if lowest <= highest:
            return simplest_between(lowest, highest)
        bits *= 2
