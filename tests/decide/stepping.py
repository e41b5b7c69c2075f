"""Deciding step by step by other means: plain convolution, and simulation on the chain of noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver.noise import levels
from louver.privacy import LevelGrid

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
Rule: TypeAlias = Callable[[LevelGrid, int, Whole, Whole], int]
"""From grid, level, what the open keys showed there, and the levels at which the others stopped: the next level."""

NEPERS_KEPT = 40


def by_convolution(grid: LevelGrid, margins: Whole) -> tuple[Floats, Floats]:
    """The chance of stopping at each level and of being flagged, on a window that leaves out less than exp(-40)."""
    rates = [float(level) for level in grid.levels]
    reach = int(NEPERS_KEPT / rates[0]) + int(np.abs(margins).max()) + max(map(abs, grid.limits(0)))
    y = np.arange(-reach, reach + 1)
    shown, alive, flagged, at = np.ones(len(y)), np.ones(len(margins)), np.zeros(len(margins)), []
    for level, rate in enumerate(rates):
        eliminated, accepted = grid.limits(level)
        law = math.tanh(rate / 2) * np.exp(-rate * np.abs(y - margins[:, None]))
        flagged += (law * shown) @ (y >= accepted)
        still_open = shown * ((y > eliminated) & (y < accepted))
        after = law @ still_open
        at.append(alive - after)
        alive = after
        if level + 1 < len(rates):
            clear = rates[level + 1]
            stay = math.exp(rate - clear) * (math.expm1(-rate) / math.expm1(-clear)) ** 2
            shown = stay * still_open + (1 - stay) * _convolved(still_open, rate)
    at[-1] = at[-1] + alive
    return np.array(at), flagged + float(grid.last.coin) * alive


def _convolved(values: Floats, rate: float) -> Floats:
    a = math.exp(-rate)
    right, left = np.empty_like(values), np.empty_like(values)
    total = 0.0
    for index, value in enumerate(values):
        total = total * a + value
        right[index] = total
    total = 0.0
    for index in range(len(values) - 1, -1, -1):
        left[index] = total
        total = (total + values[index]) * a
    return math.tanh(rate / 2) * (left + right)


def every_level(grid: LevelGrid, level: int, seen: Whole, stopped: Whole) -> int:  # noqa: ARG001
    return level + 1


def simulated(grid: LevelGrid, margins: Whole, rule: Rule = every_level, chains: Whole | None = None) -> Whole:
    """The level at which each key stops under a rule."""
    noise = levels(grid.levels, len(margins)) if chains is None else chains
    last = len(grid.levels) - 1
    stopped, is_open, level = np.full(len(margins), last), np.ones(len(margins), dtype=np.bool_), 0
    while True:
        eliminated, accepted = grid.limits(level)
        seen = margins + noise[level]
        decided = is_open & ((seen <= eliminated) | (seen >= accepted))
        stopped[decided] = level
        is_open &= ~decided
        if level == last or not is_open.any():
            return stopped
        level = rule(grid, level, seen[is_open], stopped[~is_open])
