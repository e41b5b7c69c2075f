"""The chain with continuous Laplace noise, in floats: the limit that the papers and the notes speak of.

Levels run from noisy to clear. A scaled threshold k at level e stands for k/e; Z = e X is Lap(1) at every level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
State = TypeVar("State")
Choices: TypeAlias = Callable[[State], list[tuple[float, float, State]]]
"""From a state, what may come next: level, scaled threshold, and the state after it."""


def failure(levels: Sequence[float], scaled: Sequence[float]) -> float:
    """P(some level has Z < -k): the closed form of `louver.privacy.calibrate.chain` for small levels."""
    e, k = np.asarray(levels, dtype=np.float64), np.asarray(scaled, dtype=np.float64)
    alive, total = np.ones(len(e)), 0.0
    for g in reversed(range(len(e))):
        move = 1.0 if g + 1 == len(e) else 1 - (e[g] / e[g + 1]) ** 2
        beyond = move * alive[g] / 2
        total += beyond * math.exp(-k[g])
        noisier = e[:g]
        jump = e[g] ** 2 / (e[g] ** 2 - noisier**2)
        cut_off = beyond * e[g] * np.exp(-(e[g] - noisier) * k[g] / e[g]) / (e[g] - noisier)
        alive[:g] = alive[:g] * (1 - move + move * jump) - cut_off
    return float(total)


def common_scale(levels: Sequence[float], rate: float) -> float:
    """The k that all levels share."""
    return _root(lambda k: failure(levels, [k] * len(levels)), rate)


def early_scale(levels: Sequence[float], last: float, rate: float) -> float:
    """The k of all levels but the last."""
    return _root(lambda k: failure(levels, [k] * (len(levels) - 1) + [last]), rate)


def _root(decreasing: Callable[[float], float], value: float) -> float:
    low, high = 0.1, 20.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if decreasing(middle) > value else (low, middle)
    return high


def worst_failure(first: float, scaled: float, state: State, choices: Choices[State], points: int = 1500) -> float:
    """The largest miss probability over all rules of choosing, for a count at the threshold.

    A level accepts, and stops, at Z > k; it misses at Z < -k; in between the rule sees X and takes one of the choices.
    Backwards over the choices, S(x) = (density of X at this level) * (probability of a miss from here on).
    """
    x = _points(first, scaled, state, choices, points)
    known: dict[tuple[float, float, State], Floats] = {}

    def missed(level: float, k: float, after: State) -> Floats:
        key = level, k, after
        if key not in known:
            best = np.zeros_like(x)
            for clearer, next_k, next_state in choices(after):
                later, stay = missed(clearer, next_k, next_state), (level / clearer) ** 2
                best = np.maximum(best, stay * later + (1 - stay) * _smeared(x, later, level))
            density = level / 2 * np.exp(-level * np.abs(x))
            known[key] = np.where(x < -k / level, density, np.where(x > k / level, 0.0, best))
        return known[key]

    return float(np.trapezoid(missed(first, scaled, state), x))


def scale_with_acceptance(levels: Sequence[float], rate: float) -> float:
    """The common k at which looking at every level, in order, misses at this rate when Z > k accepts and stops."""

    def missed(k: float) -> float:
        following = {level: [(clearer, k, clearer)] for level, clearer in pairwise(levels)}
        return worst_failure(levels[0], k, levels[0], lambda level: following.get(level, []), 3000)

    without = common_scale(levels, rate)
    near = without - 0.01
    slope = (math.log(missed(without)) - math.log(missed(near))) / 0.01
    return without + (math.log(rate) - math.log(missed(without))) / slope


def _points(first: float, scaled: float, state: State, choices: Choices[State], count: int) -> Floats:
    """Positions, dense near 0 and near every threshold, at all scales."""
    steps, seen, todo = {(first, scaled)}, set(), [state]
    while todo:
        for level, k, after in choices(todo.pop()):
            steps.add((level, k))
            if after not in seen:
                seen.add(after)
                todo.append(after)
    clearest = max(level for level, _ in steps)
    parts = [np.geomspace(1e-4 / clearest, 80 / first, count)]
    for level, k in steps:
        around = np.concatenate([[1e-7 * k / level], np.geomspace(1e-4 / clearest, 3 * k / level, count // 20)])
        parts += [k / level - around, k / level + around]
    positive = np.unique(np.concatenate(parts))
    positive = positive[positive > 0]
    return np.concatenate([-positive[::-1], [0.0], positive])


def _smeared(x: Floats, values: Floats, rate: float) -> Floats:
    """The convolution with Lap(1/rate), exact for values that are linear between the points."""
    width = np.diff(x)
    z = rate * width
    kept, gone = np.exp(-z), -np.expm1(-z)
    flat = gone / rate
    slope = np.where(z > 1e-4, (1 - gone / np.maximum(z, 1e-300)) / rate, width * (0.5 - z / 6))
    rise = np.diff(values)
    rightward = values[:-1] * flat + rise * slope
    leftward = values[1:] * flat - rise * slope
    return rate / 2 * (_running(rightward, kept) + _running(leftward[::-1], kept[::-1])[::-1])


def _running(gains: Floats, kept: Floats) -> Floats:
    total, totals = 0.0, [0.0]
    for gain, keep in zip(gains.tolist(), kept.tolist(), strict=True):
        total = total * keep + gain
        totals.append(total)
    return np.array(totals)
