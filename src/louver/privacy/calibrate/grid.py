"""Levels and thresholds for deciding step by step: noisy looks first, clearer ones only for keys still undecided.

At level g a key with aligned margin m (see `oneshot.aligned`; true means m >= 1, false alarms count at m <= -s) shows
m + X_g, X the chain of `chain`. It is eliminated if that is at most 1 - t_g and accepted if it is at least u_g - s; the
last level decides all that are left with the one cut of `oneshot`. Accepting from -s + u_g on, and not only beyond the
threshold, uses that the slack is free.

Two designs, both for any rule that picks the next level from what was released so far:

- shares: the last level gets the share w of each error rate, the others split the rest evenly (union bound);
- joint (the default): the last level as before, then the least common scale k of the other levels for which the exact
  probability that any level fails is at most the error rate. Scale k means the least t with P(X_g <= -t) <= exp(-k)/2.

The price of stopping at level g is `levels[g]`, whatever the sensitivity: noise is added to the aligned margin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import overload

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError, PromiseError
from louver.noise.enclosure import Enclosure, ln
from louver.noise.gradual import LARGEST_LEVEL_RATE
from louver.noise.laplace import SMALLEST_RATE
from louver.privacy.calibrate import chain
from louver.privacy.calibrate.certain import (
    Value,
    at_most,
    ceiling,
    decay,
    least,
    narrowed,
    rounded_up,
    working_bits,
)
from louver.privacy.calibrate.ladder import LARGEST_SPAN, geometric, short
from louver.privacy.calibrate.oneshot import OneShot, aligned, one_shot

LARGEST_LEVELS = 32
SMALLEST_SPAN = Fraction(11, 10)
SCALE_STEP = Fraction(1, 2**16)


@dataclass(frozen=True, slots=True)
class LevelGrid:
    """A schedule of levels, noisy to clear, and what each decides about a noisy aligned margin y.

    Level g eliminates y <= 1 - eliminate[g] and accepts y >= accept[g] + 1 - steps. After that the last level leaves at
    most one value, `last.boundary`: accept it with probability `last.coin`. `miss` and `false_alarm` are proven bounds
    on both error probabilities under every rule that picks levels by what was released before.
    """

    levels: tuple[Fraction, ...]
    eliminate: tuple[int, ...]
    accept: tuple[int, ...]
    last: OneShot
    miss: Fraction
    false_alarm: Fraction

    @property
    def worst_price(self) -> Fraction:
        return self.levels[-1]

    @property
    def cut(self) -> Fraction:
        """The last level accepts iff y + Uniform(-1/2, 1/2) >= cut."""
        return self.last.cut

    @property
    def sensitivity(self) -> int:
        return self.last.sensitivity

    @property
    def steps(self) -> int:
        """How far the aligned margins at which misses count (1 and more) are from those where false alarms count."""
        return self.last.steps

    def limits(self, level: int) -> tuple[int, int]:
        """The largest noisy aligned margin that this level eliminates, and the least that it accepts."""
        return 1 - self.eliminate[level], self.accept[level] + 1 - self.steps

    @overload
    def aligned(self, margin: int) -> int: ...
    @overload
    def aligned(self, margin: NDArray[np.int64]) -> NDArray[np.int64]: ...
    def aligned(self, margin: int | NDArray[np.int64]) -> int | NDArray[np.int64]:
        """What the noise is added to: count - threshold, divided by the sensitivity and rounded towards flagging."""
        return aligned(margin, self.sensitivity)


def grid_levels(
    miss_rate: object,
    slack: object,
    false_alarm_rate: object | None = None,
    sensitivity: object = 1,
    *,
    levels: object = 7,
    last_share: object = Fraction(1, 2),
    span: object = 64,
    joint: object = True,
) -> LevelGrid:
    """Levels from e/span to e in equal ratios, e the least with which the last level keeps its share of the promise."""
    miss = parameters.error_rate("miss_rate", miss_rate)
    alarm = miss if false_alarm_rate is None else parameters.error_rate("false_alarm_rate", false_alarm_rate)
    size = parameters.integer("levels", levels, 1, LARGEST_LEVELS)
    if not isinstance(joint, bool):
        raise ParameterError("joint must be True (the exact law) or False (shares).")
    ratio, share = parameters.within("span", span, SMALLEST_SPAN, LARGEST_SPAN), _share(last_share)
    if size == 1:
        share = Fraction(1)
    last = one_shot(miss * share, slack, alarm * share, sensitivity)
    ladder = geometric(short(last.epsilon / ratio), last.epsilon, size) if size > 1 else [last.epsilon]
    if last.epsilon > LARGEST_LEVEL_RATE:
        raise ParameterError("slack and error rates ask for almost no noise; take more slack or larger error rates.")
    if ladder[0] < SMALLEST_RATE:
        raise ParameterError("slack and span together ask for noise too wide to draw exactly; lower the span.")
    misses = side(miss, miss * share, 2 - last.boundary, 1 - last.coin)
    alarms = side(alarm, alarm * share, last.boundary + last.steps, last.coin)
    eliminate = misses.thresholds(ladder, joint)
    accept = eliminate if alarms == misses else alarms.thresholds(ladder, joint)
    bounds = misses.bound(ladder, eliminate), alarms.bound(ladder, accept)
    return LevelGrid(tuple(ladder), tuple(eliminate), tuple(accept), last, *bounds)


@dataclass(frozen=True, slots=True)
class Side:
    """One kind of error and its promise; the other kind is its mirror image.

    At the last level noise of size `last` or more in the bad direction fails, and of size `last` - 1 with probability
    `coin`: with probability at most `last_rate` altogether.
    """

    rate: Fraction
    last_rate: Fraction
    last: int
    coin: Fraction

    def thresholds(self, levels: Sequence[Fraction], joint: bool) -> list[int]:
        if len(levels) == 1:
            return [self.last]
        by_shares = self._scale_by_shares(len(levels) - 1)
        return self.at_scale(levels, self.least_scale(levels, by_shares) if joint else by_shares)

    def at_scale(self, levels: Sequence[Fraction], scale: Fraction) -> list[int]:
        """Per level the least t with P(X <= -t) <= exp(-scale)/2, but never below that of a clearer level."""
        thresholds = [self.last]
        for level in reversed(levels[:-1]):
            thresholds.append(max(thresholds[-1], ceiling(_scaled(level, scale), working_bits(level))))
        return thresholds[::-1]

    def least_scale(self, levels: Sequence[Fraction], enough: Fraction) -> Fraction:
        """The least scale, in steps of 2**-16, that keeps the promise under every selection rule."""
        return SCALE_STEP * least(
            lambda count: self.keeps(levels, self.at_scale(levels, count * SCALE_STEP)),
            (enough / SCALE_STEP).__ceil__(),
        )

    def keeps(self, levels: Sequence[Fraction], thresholds: Sequence[int]) -> bool:
        return at_most(self._failure(levels, thresholds), self.rate, working_bits(levels[0] * self.rate))

    def bound(self, levels: Sequence[Fraction], thresholds: Sequence[int]) -> Fraction:
        """A proven bound on the probability that some level fails."""
        if not self.keeps(levels, thresholds):
            raise PromiseError("These levels cannot keep the promise; take fewer levels or more slack.")
        return min(self.rate, narrowed(self._failure(levels, thresholds), working_bits(self.rate)).upper)

    def _failure(self, levels: Sequence[Fraction], thresholds: Sequence[int]) -> Value:
        return lambda bits: chain.total_failure(levels, thresholds, self.coin, bits)

    def _scale_by_shares(self, early_levels: int) -> Fraction:
        share = (self.rate - self.last_rate) / early_levels
        return rounded_up(lambda bits: -ln(2 * share, bits), working_bits(1 - 2 * share))


def side(rate: Fraction, last_rate: Fraction, last: int, coin: Fraction) -> Side:
    """A side whose coin is less than certain."""
    return Side(rate, last_rate, last - 1, Fraction(0)) if coin == 1 else Side(rate, last_rate, last, coin)


def _scaled(level: Fraction, scale: Fraction) -> Value:
    def threshold(bits: int) -> Enclosure:
        a = decay(level, bits)
        correction = Enclosure(ln(2 / (1 + a.upper), bits).low, ln(2 / (1 + a.lower), bits).high, bits)
        return (correction + scale) / level

    return threshold


def _share(last_share: object) -> Fraction:
    share = parameters.fraction("last_share", last_share)
    if not 0 < share < 1:
        raise ParameterError("last_share must be greater than 0 and less than 1; one half is a good choice.")
    return share
