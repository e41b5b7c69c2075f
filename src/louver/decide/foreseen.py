"""A grid as `louver.privacy.grid_levels` would make it, in floats: to compare many quickly before one is made.

Levels and the last test are the exact ones. The other thresholds come from the same law
(`louver.privacy.calibrate.chain`) in floats and may be off by a step, so nothing is decided with such a grid: what is
chosen is calibrated exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver.decide.stopping import same_value
from louver.privacy import LevelGrid, one_shot
from louver.privacy.calibrate.grid import Side, side
from louver.privacy.calibrate.ladder import geometric, short

Floats: TypeAlias = NDArray[np.float64]
LAST_SHARE = Fraction(1, 2)
SPAN = 64
HALVINGS = 20


def foreseen_grid(miss: Fraction, slack: int, alarm: Fraction, sensitivity: int, levels: int) -> LevelGrid:
    """The grid of this many levels, nearly."""
    share = LAST_SHARE if levels > 1 else Fraction(1)
    last = one_shot(miss * share, slack, alarm * share, sensitivity)
    ladder = geometric(short(last.epsilon / SPAN), last.epsilon, levels) if levels > 1 else [last.epsilon]
    misses = side(miss, miss * share, 2 - last.boundary, 1 - last.coin)
    alarms = side(alarm, alarm * share, last.boundary + last.steps, last.coin)
    eliminate = _thresholds(misses, ladder)
    accept = eliminate if alarms == misses else _thresholds(alarms, ladder)
    return LevelGrid(tuple(ladder), eliminate, accept, last, miss, alarm)


def _thresholds(error: Side, levels: Sequence[Fraction]) -> tuple[int, ...]:
    """The least common scale at which some level fails with at most the error's rate."""
    if len(levels) == 1:
        return (error.last,)
    rates = np.array([float(level) for level in levels])
    too_small, enough = 0.0, -math.log(2 * float(error.rate - error.last_rate) / (len(levels) - 1))
    for _ in range(HALVINGS):
        middle = (too_small + enough) / 2
        fails = _failure(rates, _at_scale(rates, middle, error.last), float(error.coin))
        too_small, enough = (middle, enough) if fails > float(error.rate) else (too_small, middle)
    return tuple(int(threshold) for threshold in _at_scale(rates, enough, error.last))


def _at_scale(rates: Floats, scale: float, last: int) -> Floats:
    """Per level the least t with P(X <= -t) <= exp(-scale)/2, but never below that of a clearer level."""
    early = np.ceil((scale + np.log(2 / (1 + np.exp(-rates[:-1])))) / rates[:-1])
    return np.maximum.accumulate(np.append(early, last)[::-1])[::-1]


def _failure(rates: Floats, thresholds: Floats, coin: float) -> float:
    """`louver.privacy.failure_probability` in floats."""
    total, alive = 0.0, np.ones(len(rates))
    for g in range(len(rates) - 1, -1, -1):
        rate, noisier, is_last = float(rates[g]), rates[:g], g + 1 == len(rates)
        move = 1.0 if is_last else 1 - same_value(rate, float(rates[g + 1]))
        beyond = move * alive[g] / (1 + math.exp(-rate))
        ratio = np.exp(noisier - rate)
        chance, t = coin if is_last else 0.0, thresholds[g]
        total += beyond * math.exp(-rate * (t - 1)) * (math.exp(-rate) * (1 - chance) + chance)
        jump = math.expm1(-rate) ** 2 / (np.expm1(-rate - noisier) * np.expm1(noisier - rate))
        cut_off = -math.expm1(-rate) * beyond * ratio ** (t - 1) * (ratio * (1 - chance) + chance) / (1 - ratio)
        alive[:g] = alive[:g] * (1 - move + move * jump) - cut_off
    return float(total)
