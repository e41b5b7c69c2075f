"""The most that any rule of choice could err: whoever picks the levels, and whatever he knows."""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np

from louver.decide import tree
from louver.decide.decision import Decision
from louver.decide.progressive import Progressive
from louver.privacy import LevelGrid
from tests.decide.exactly import Case, Floats, _laplace, _mixed, _window


def worst_rule(grid: LevelGrid, margin: int) -> float:
    """The largest probability that a key with this aligned margin ends on the wrong side, over all rules of choice.

    A rule begins at some level and goes on to any clearer one, picked by what it saw: the best that somebody could do
    who knows the margin and wants the error (a miss where the margin is above 0, else a false alarm).
    """
    places = _window(grid)
    shown = margin + places
    count = len(grid.levels)
    laws = [_laplace(float(level), places) for level in grid.levels]
    reached: list[Floats] = [np.zeros(0)] * count
    for level in reversed(range(count)):
        eliminated, accepted = grid.limits(level)
        wrong = shown <= eliminated if margin > 0 else shown >= accepted
        is_open = (shown > eliminated) & (shown < accepted)
        if level == count - 1:
            coin = float(1 - grid.last.coin if margin > 0 else grid.last.coin)
            reached[level] = wrong + coin * is_open
            continue
        best = np.zeros(len(places))
        with np.errstate(divide="ignore", invalid="ignore"):
            for clearer in range(level + 1, count):
                # P(clear = x | noisy = y) = P(clear = x) P(noisy = y | clear = x) / P(noisy = y).
                joint = _mixed(
                    laws[clearer] * reached[clearer], *map(float, (grid.levels[level], grid.levels[clearer]))
                )
                best = np.maximum(best, np.where(is_open, joint / laws[level], 0.0))
        reached[level] = np.where(is_open, best, wrong)
    return max(float(law @ value) for law, value in zip(laws, reached, strict=True))


@lru_cache(maxsize=4096)
def any_level_fails(grid: LevelGrid, margin: int) -> float:
    """The probability that at least one level would decide wrongly: a bound for every rule, in whatever order."""
    places = _window(grid)
    shown = margin + places
    fine = np.ones(len(places))
    for level, rate in enumerate(map(float, grid.levels)):
        if level:
            fine = _mixed(fine, float(grid.levels[level - 1]), rate)
        eliminated, accepted = grid.limits(level)
        is_last = level == len(grid.levels) - 1
        wrong = (shown <= eliminated if margin > 0 else shown >= accepted).astype(np.float64)
        if is_last:
            coin = float(1 - grid.last.coin if margin > 0 else grid.last.coin)
            wrong += coin * ((shown > eliminated) & (shown < accepted))
        fine = fine * (1 - wrong)
    return 1 - float(_laplace(float(grid.levels[-1]), places) @ fine)


def any_rule(plan: Progressive, case: Case) -> float:
    """A bound on the error of this case, whatever rule picks the levels of the looks.

    A look whose leaves must not fail does so with at most the sum of their chances; where it fails, all its leaves are
    taken to be wrong, and leaves that are within their slack to be on the wrong side anyway.
    """
    program = plan.program
    fails, wrong_side = [], not case.holds
    for number, look in enumerate(program.looks):
        sure = [at for at in look.leaves if _must_not_fail(plan, case, at)]
        step = look.touch.step
        fails.append(min(1.0, sum(any_level_fails(plan.grids[number], -(-case.margins[at] // step)) for at in sure)))
    total = 0.0
    for failed in itertools.product((True, False), repeat=len(fails)):
        given = [
            wrong_side if failed[leaf.look] or not _must_not_fail(plan, case, at) else case.margins[at] > 0
            for at, leaf in enumerate(program.leaves)
        ]
        if tree.holds(program.tree, given) == wrong_side:
            total += math.prod(p if yes else 1 - p for p, yes in zip(fails, failed, strict=True))
    return total


def _must_not_fail(plan: Decision, case: Case, at: int) -> bool:
    """Whether the promise binds this leaf here: it holds and must be found, or fails with its slack and must not be."""
    return case.margins[at] > 0 if case.holds else case.margins[at] <= -plan.program.leaves[at].slack
