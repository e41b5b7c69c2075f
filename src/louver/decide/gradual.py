"""Step by step: a very noisy look first, and clearer ones only at keys that are not yet decided.

Releases the keys that are flagged and, for each key, the level at which it was decided. Neighbours differ in all rows
of one unit. Reserved is the last level's price; charged is less where keys are decided early. Levels and limits come
from `louver.privacy.grid_levels`, on one chain of gradual noise per key. What it does not promise: that the charge is
small; only keys far from their threshold are cheap.

Why this is private. Seeing a chain of `louver.noise.levels` down to a level tells no more than seeing that level
alone, so a key that stops at level g has an outcome whose probability moving its aligned margin by d changes by a
factor of at most exp(e_g |d|). Where the unit fixes the key column, one unit moves one key, and that key is charged
e_g. Where it does not, one unit moves several margins, by m in all; each move costs at most the largest e_g that any
key reached, so m times the largest covers every unit, and the keys' own levels do not add up. Charges depend on the
released levels only, so that what is charged tells nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from louver import parameters
from louver.decide.counts import ThresholdCounts
from louver.noise import Bits, bernoulli, levels
from louver.parameters import Number
from louver.privacy import LevelGrid, Outcome, Scope, Unit, grid_levels, one_shot
from louver.privacy.calibrate.grid import LARGEST_LEVELS
from louver.privacy.plan import registered
from louver.source import View

LAST_SHARE = Fraction(1, 2)
LEVELS = 7

_calibrated = lru_cache(maxsize=256)(grid_levels)
_last_test = lru_cache(maxsize=256)(one_shot)


@registered("gradual counts")
@dataclass(frozen=True, slots=True, init=False)
class GradualCounts(ThresholdCounts):
    """The plan of looking at each key until it is decided, at most `levels` times.

    >>> from louver.privacy import Unit
    >>> plan = GradualCounts("room", {"hall": 180, "lab": 40}, unit=Unit.row(), miss_rate=0.05, slack=10)
    >>> [round(float(price), 3) for price in plan.grid.levels]
    [0.008, 0.017, 0.034, 0.067, 0.135, 0.269, 0.538]
    """

    levels: int
    mechanism: ClassVar[str] = "gradual counts"
    gradual: ClassVar[bool] = True

    def __init__(
        self,
        by: str,
        thresholds: Mapping[str, int],
        *,
        unit: Unit,
        miss_rate: Number,
        slack: int,
        false_alarm_rate: Number | None = None,
        rows_per_unit: int = 1,
        within: Scope | None = None,
        levels: int = LEVELS,
    ) -> None:
        object.__setattr__(self, "levels", parameters.integer("levels", levels, 1, LARGEST_LEVELS))
        ThresholdCounts.__init__(
            self,
            by,
            thresholds,
            unit=unit,
            miss_rate=miss_rate,
            slack=slack,
            false_alarm_rate=false_alarm_rate,
            rows_per_unit=rows_per_unit,
            within=within,
        )
        _ = self.grid  # refuses levels that cannot keep the promise

    @property
    def grid(self) -> LevelGrid:
        return _calibrated(
            self.miss_rate,
            self.slack,
            self.false_alarm_rate,
            self.step,
            levels=self.levels,
            last_share=LAST_SHARE,
        )

    def price_of(self, miss_rate: Fraction, slack: int, false_alarm_rate: Fraction) -> Fraction:
        share = LAST_SHARE if self.levels > 1 else 1
        return _last_test(miss_rate * share, slack, false_alarm_rate * share, self.step).epsilon

    def run(self, view: View, bits: Bits) -> Outcome:
        grid = self.grid
        margins = grid.aligned(self.margins(view))
        flagged = np.zeros(len(margins), dtype=np.bool_)
        undecided = np.ones(len(margins), dtype=np.bool_)
        stopped = np.full(len(margins), len(grid.levels) - 1)
        for level, noise in enumerate(levels(grid.levels, len(margins), bits=bits)):
            eliminated, accepted = grid.limits(level)
            seen = margins + noise
            decided = undecided & ((seen <= eliminated) | (seen >= accepted))
            flagged |= decided & (seen >= accepted)
            stopped[decided] = level
            undecided &= ~decided
        # The last level leaves one value open, and a coin decides it.
        flagged |= undecided & bernoulli(grid.last.coin, len(margins), bits=bits)
        reached = [int(level) for level in stopped]
        charged = self.charges([grid.levels[level] for level in reached])
        return Outcome({**self.answer(flagged), "levels": reached}, charged)

    def parameters(self) -> dict[str, Any]:
        return {**ThresholdCounts.parameters(self), "levels": self.levels}
