"""Which level to take next, seen from what was released: the rule of choice of the adaptive strategy.

A `LevelGrid` keeps its promise under every rule that picks the next level from released values, so the rule is free to
be good. What is best follows from how a key pays: it is charged the level at which it stops, whichever levels it was
shown before. Take the same noise under two rules. Under the schedule that takes every level, a key stops at the first
level of the grid that decides it; under a rule that skips some, at the first *taken* level that decides it, which is
the same or a clearer one. So no rule on a grid charges any key less than the schedule, and because min-entropy falls
when any price rises, none has a higher min-entropy. Skipping pays only where it costs nothing: at levels that will
decide no key. That saves looks, not privacy.

`next_level` skips exactly those. It predicts with the law of gradual release how many of the open keys each level would
leave open, and takes the first that is expected to decide one. That is the level with the largest predicted
min-entropy, going on from there level by level, and of levels that tie the clearest. The rule of the thesis (algorithm
4) looks one level ahead, lets all other keys pay the last level, and so skips too much: `louver.decide.published`.

Why this is private. Both functions read noisy margins that are released, and public numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from louver.decide.spread import Margins
from louver.decide.stopping import stops
from louver.privacy import LevelGrid, predict_gradual

ONE_KEY = 0.5  # a number of keys that rounds to at least one


def first_level(grid: LevelGrid, keys: int, known: Margins | None = None) -> int:
    """Where to begin: at the noisiest level, or where public knowledge of the margins says that it decides nothing.

    >>> from louver.privacy import grid_levels
    >>> grid = grid_levels(0.05, 10)
    >>> first_level(grid, 24), first_level(grid, 24, Margins({-30: 1, -20: 1, 10: 1}))
    (0, 1)
    """
    if known is None:
        return 0
    decided = keys * np.cumsum(stops(grid, known.values).at, axis=0) @ known.shares
    return int(np.argmax(decided >= ONE_KEY)) if decided[-1] >= ONE_KEY else len(grid.levels) - 1


def next_level(grid: LevelGrid, level: int, seen: NDArray[np.int64]) -> int:
    """The level to take after `level`, at which the keys that are still open showed these noisy aligned margins.

    >>> from louver.privacy import grid_levels
    >>> grid = grid_levels(0.05, 10)
    >>> next_level(grid, 0, np.array([500, -500])), next_level(grid, 0, np.array([5, -5]))
    (1, 2)
    """
    last = len(grid.levels) - 1
    values, counts = np.unique(seen, return_counts=True)
    for clearer in range(level + 1, last):
        eliminated, accepted = grid.limits(clearer)
        # The prediction is for continuous noise, so the open integers are widened by 1/2 each way.
        staying = predict_gradual(
            values, grid.levels[level], grid.levels[clearer], eliminated + ONE_KEY, accepted - ONE_KEY
        )
        if counts @ (1 - staying) >= ONE_KEY:
            return clearer
    return last
