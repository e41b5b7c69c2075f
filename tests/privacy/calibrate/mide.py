"""MIDE's data-dependent algorithm (the thesis' algorithms 3 and 4), word for word, on continuous noise in floats."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver.privacy.calibrate import predict_fresh
from louver.privacy.entropy import min_entropy

Floats: TypeAlias = NDArray[np.float64]


def missed_by_dppwlm(
    keys: int, miss_rate: float, first: float, steps: int, fine_steps: int, dice: np.random.Generator
) -> float:
    """The share of keys missed when every count lies just above its threshold; α = 1."""
    last = math.log(steps / (2 * miss_rate))
    plan: list[float] = np.geomspace(first, last, steps).tolist()
    plan[-1] = last
    level, shift = first, math.log(steps / (2 * miss_rate)) / first
    noise = dice.laplace(size=keys) / first
    accepted, undecided = noise > shift, np.abs(noise) <= shift
    prices = np.where(undecided, last, first)
    # Printed as "while the level is at most the last one", which would look beyond the plan's end.
    while level < last and undecided.any():
        clearer, shares, plan = _next_step(
            prices, noise[undecided], plan, undecided, level, miss_rate / steps, fine_steps
        )
        noise[undecided] = relaxed(noise[undecided], level, clearer, dice)
        level, shift = clearer, math.log(steps / (2 * miss_rate * shares)) / clearer
        accepted |= undecided & (noise > shift)
        still = undecided & (np.abs(noise) <= shift)
        prices[undecided & ~still] = level
        undecided = still
    return float(1 - (accepted | undecided).mean())


def _next_step(
    prices: Floats,
    values: Floats,
    plan: list[float],
    undecided: NDArray[np.bool_],
    level: float,
    share: float,
    fine_steps: int,
) -> tuple[float, int, list[float]]:
    """Algorithm 4: the next level, how many shares of the miss rate it may use, and the levels left."""
    candidate, best, chosen = plan[0], 0.0, (plan[0], 1)
    places = np.flatnonzero(undecided)
    for r in range(1, len(plan)):
        for fine in range(1, fine_steps + 1):
            candidate = plan[r] if fine == fine_steps else candidate + (plan[r] - plan[r - 1]) / fine_steps
            shift = math.log(1 / (2 * share * r)) / candidate
            staying = round(float(predict_fresh(values, level, candidate, -shift, shift).sum()))
            guessed = prices.copy()
            guessed[places[: len(places) - staying]] = candidate
            entropy = min_entropy(guessed).value
            if best <= entropy:
                best, chosen = entropy, (candidate, r)
    return *chosen, plan[chosen[1] :]


def relaxed(noise: Floats, level: float, clearer: float, dice: np.random.Generator) -> Floats:
    """PrivRelax: noise of the clearer level, given that of this one (gradual release, forwards)."""
    y, gap, both = np.abs(noise), clearer - level, level + clearer
    exponential, place = dice.exponential(size=len(y)), dice.random(len(y))
    inside = -np.log1p(place * np.expm1(-gap * y)) / gap
    weights = np.array([1 / both * np.ones_like(y), -np.expm1(-gap * y) / gap, np.exp(-gap * y) / both])
    picked = (dice.random(len(y)) * weights.sum(axis=0) > np.cumsum(weights, axis=0)).sum(axis=0)
    moved = np.choose(picked, [-exponential / both, inside, y + exponential / both])
    stays = dice.random(len(y)) < level / clearer * np.exp(-gap * y)
    return np.where(noise >= 0, 1.0, -1.0) * np.where(stays, y, moved)
