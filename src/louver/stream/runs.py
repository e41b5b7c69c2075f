"""What one region's noisy counts say about its level: nothing here sees a true count.

How it works. A run of ticks has one level, (mean + median)/2 of its last noisy counts. Two cumulated sums (Page 1954),
one for each direction, add up how far the noisy counts lie from the run's median, in units of the noise's scale b,
clipped, less a drift; where one passes the alarm, the run starts anew after that sum's last zero.

Each noisy count is foretold twice: by the level of the run, and by the value released last, which follows slow changes.
Both are judged by what they foretold. How far noisy counts miss a guess, beyond what noise explains, says how far the
guess misses the truth, and so how far to move from it to the noisy count (Kalman 1960, James and Stein 1961). How
likely the noise's law makes the recent misses says how much each of the two counts for in the released value.

A jump is seen at once: the noise's law gives the odds that a noisy count this far from both belongs to a new level, by
Bayes' rule. The released value moves to the noisy count by that probability, and above 1/2 a new run starts.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Self

import numpy as np

from louver.stream.continual import gaussian_variance
from louver.stream.laplace import scale_of
from louver.stream.mechanism import Rows
from louver.stream.smoothed import Floats, Ticks, whole_numbers

RARE = 0.01  # a jump at one tick in 100, where there was none of late
FADE = 1 / 40  # of what misses and jumps say, at each tick
PER_JUMP = (1 - 2 * RARE) * FADE  # so that jumps are never taken for impossible, nor for certain
SPREAD = 2 / 100  # a jump ends anywhere in 100 scales of the noise; the noise has its peak, 1/2 over the scale, at 0
CERTAIN = 40.0  # a logarithm of odds beyond any doubt
VOTE_FADE = 1 / 10  # of what speaks for one guess or the other
LEVEL_FIRST = 1.0  # logarithm of the odds for the level of the run, before anything speaks for either guess
FOLLOWING = 0.1  # the last value moves at least so far towards a noisy count
UNSEEN = 0.03  # of the noise's variance: an error that the last misses may not show
NOT_NOISE = 0.2  # of the square between a tick's own noisy count and its value: so much of it may be an error
LEVEL_VARIANCE = 1.25  # of (mean + median)/2 of n Laplace values of scale 1, times n, for large n
NO_SUM = (0.0, 0)  # a cumulated sum, and the ticks since it was last zero
UNKNOWN = -1.0
# What a run knows beside its noisy counts: the two cumulated sums; the value released last; what speaks for the level;
# and, with weights that fade, how many jumps and how many other ticks there were, and the sums of squares by which the
# level and the last value missed the latter, in units of b^2.
Held = tuple[float, int, float, int, float, float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class Tuning:
    """How a run ends and what its level looks at. Lengths are ticks; the rest is in scales of the noise."""

    clip: float
    drift: float
    alarm: float
    window: int
    margin: float  # in standard deviations or so of the misses that noise explains


TUNINGS = {
    "default": Tuning(clip=4.0, drift=0.6, alarm=6.5, window=100, margin=2.0),
    "prototype": Tuning(clip=4.0, drift=0.7, alarm=5.0, window=200, margin=3.0),
}


class Law(NamedTuple):
    """Of the noise: b, where 2 b^2 is its variance; at distance d its logarithm has fallen by slope d + bend d^2."""

    scale: float
    slope: float
    bend: float

    @classmethod
    def laplace(cls, rate: Fraction) -> Self:
        return cls(scale_of(rate), float(rate), 0.0)

    @classmethod
    def gaussian(cls, parameter: Fraction) -> Self:
        variance = gaussian_variance(float(parameter))
        return cls(math.sqrt(variance / 2), 0.0, 1 / (2 * variance))


class Run:
    """One region's run of ticks that look alike, and how well guesses did."""

    __slots__ = ("_fixed", "_guessed", "_held", "_latest", "_ordered", "_total", "_window")

    def __init__(self, law: Law, tuning: Tuning = TUNINGS["default"]) -> None:
        self._window = tuning.window
        # Numbers are in two places only, because a live stream comes here for each region and tick.
        self._fixed = (
            1 / law.scale,
            law.slope,
            law.bend,
            tuning.clip,
            tuning.drift,
            tuning.alarm,
            tuning.window,
            tuning.margin * math.sqrt(2),
        )
        self._latest: deque[int] = deque()
        self._ordered: list[int] = []
        self._total = 0
        self._held: Held = (*NO_SUM, *NO_SUM, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        self._guessed = (0.0, 0.0, 0.0)  # the median, the level and its share, which follow from the rest

    def advance(self, noisy: list[int], ticks: Ticks) -> Ticks:
        """Adds the released value of each tick, the level of its run, how many ticks of the run the level looks at, and
        the mean square that noisy counts missed the value before by, in variances of the noise, or `UNKNOWN`.

        One long loop over local names: calls would take half of the time.
        """
        latest, ordered, total = self._latest, self._ordered, self._total
        up, up_ticks, down, down_ticks, value, vote, jumps, heard, level_missed, value_missed = self._held
        unit, slope, bend, clip, drift, alarm, window, margin = self._fixed
        exp, sqrt = math.exp, math.sqrt
        values, levels, lengths, misses = ticks
        size = len(ordered)
        median, level, share = self._guessed
        for seen in noisy:
            kept = 0
            stays = 1.0
            if size:
                away = (seen - median) * unit
                away = clip if away > clip else -clip if away < -clip else away
                up += away - drift
                down -= away + drift
                if up > 0:
                    up_ticks += 1
                    if up > alarm:
                        kept = up_ticks
                else:
                    up, up_ticks = NO_SUM
                if down > 0:
                    down_ticks += 1
                    if down > alarm and not kept:
                        kept = down_ticks
                else:
                    down, down_ticks = NO_SUM

                off = abs(seen - value - share * (level - value))
                evidence = (slope + bend * off) * off
                often = RARE + PER_JUMP * jumps
                stays = 1 / (1 + often / (1 - often) * SPREAD * exp(evidence if evidence < CERTAIN else CERTAIN))
                if stays < 0.5:
                    kept = 1
                jumps += 1 - stays - FADE * jumps
                heard += stays - FADE * heard
                missed = abs(seen - level) * unit
                level_missed += stays * (missed * missed - 2 / size) - FADE * level_missed
                vote -= (missed if missed < clip else clip) + VOTE_FADE * vote
                missed = abs(seen - value) * unit
                value_missed += stays * missed * missed - FADE * value_missed
                vote += missed if missed < clip else clip
                share = 1 / (1 + exp(-vote - LEVEL_FIRST))
            else:
                value = float(seen)
            latest.append(seen)
            if kept:
                kept = min(kept, window)
                while len(latest) > kept:
                    latest.popleft()
                ordered, total = sorted(latest), sum(latest)
                (up, up_ticks), (down, down_ticks) = NO_SUM, NO_SUM
                size = len(ordered)
            else:
                insort(ordered, seen)
                total += seen
                if size == window:
                    oldest = latest.popleft()
                    del ordered[bisect_left(ordered, oldest)]
                    total -= oldest
                else:
                    size += 1
            median = (ordered[size // 2] + ordered[(size - 1) // 2]) / 2
            level = (total / size + median) / 2
            explained = 2 * heard + margin * sqrt(heard)
            guess = level + (1 - explained / level_missed) * (seen - level) if level_missed > explained else level
            gain = 1 - explained / value_missed if value_missed > explained else FOLLOWING
            value += (gain if gain > FOLLOWING else FOLLOWING) * (seen - value)
            value += share * (guess - value)
            value = seen + stays * (value - seen)
            values.append(value)
            levels.append(level)
            lengths.append(size)
            misses.append(value_missed / heard / 2 if heard else UNKNOWN)
        self._ordered, self._total = ordered, total
        self._guessed = median, level, share
        self._held = (up, up_ticks, down, down_ticks, value, vote, jumps, heard, level_missed, value_missed)
        return ticks

    def last(self) -> tuple[int, float, float]:
        """Of the last tick: the length, the miss, and how far the noisy count is from the value."""
        _, _, _, _, value, _, _, heard, _, value_missed = self._held
        size = len(self._ordered)
        apart = self._latest[-1] - value if size else 0.0
        return max(size, 1), value_missed / heard / 2 if heard else UNKNOWN, apart

    def to_dict(self) -> dict[str, Any]:
        return {"latest": list(self._latest), "held": list(self._held)}

    def take(self, plain: Mapping[str, Any]) -> None:
        """Takes over what `to_dict` gave."""
        self._latest = deque(whole_numbers(plain["latest"]))
        self._ordered, self._total = sorted(self._latest), sum(self._latest)
        up, up_ticks, down, down_ticks, *numbers = plain["held"]
        value, vote, jumps, heard, level_missed, value_missed = map(float, numbers)
        self._held = (
            float(up),
            up_ticks,
            float(down),
            down_ticks,
            value,
            vote,
            jumps,
            heard,
            level_missed,
            value_missed,
        )
        sane = all(map(math.isfinite, self._held)) and min(whole_numbers([up_ticks, down_ticks])) >= 0
        possible = 0 <= heard * FADE <= 2 and 0 <= jumps * FADE <= 1 and abs(vote) * VOTE_FADE <= CERTAIN
        if not (sane and possible) or len(self._latest) > self._window:
            raise ValueError
        if size := len(self._ordered):
            median = (self._ordered[size // 2] + self._ordered[(size - 1) // 2]) / 2
            share = 1 / (1 + math.exp(-vote - LEVEL_FIRST))
            self._guessed = median, (self._total / size + median) / 2, share


def expected_square(scale: float, lengths: Rows, misses: Floats, apart: Floats) -> Floats:
    """How much released values scatter around the truth, at most as much as a noisy count.

    A noisy count scatters around the value released one tick before by its own noise and by that value's error, so the
    excess over the noise estimates the error, whatever it comes from. `UNSEEN` is for what a few ticks can hide. A
    noisy count that is far `apart` from the value of its own tick is rare noise, or a change that was smoothed away.
    """
    noise = 2 * scale**2
    excess = noise * np.maximum(misses - 1, 0.0) + NOT_NOISE * apart**2
    found = np.minimum(noise, excess + UNSEEN * noise + LEVEL_VARIANCE * scale**2 / lengths)
    return np.where(misses == UNKNOWN, noise, found)
