"""The adaptive grid of Qardaji, Yang and Li (2013): two grids, sized for counts.

m1 = max(10, ceil(sqrt(N epsilon / c) / 4)) cells a side, c = 10, each cut into m2 x m2,
m2 = ceil(sqrt(n (1-a) epsilon / (c/2))), by the cell's noisy count n. Price: epsilon, pure: a of it at the first level,
1-a at the second. Neighbours differ in one reading, which lies in one cell of each level. It is there to be compared
with: for a threshold map its cells are far too small.

Why this is private: see `louver.space.measure`; the second grid depends on released numbers only.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from louver import parameters
from louver.space.field import Floats
from louver.space.measure import Measured
from louver.space.structure import HALF, Growth, constant, share
from louver.space.two_level import TwoGrids

FEWEST = 10


class Adaptive(TwoGrids):
    """Two grids, the second by the counts of the first."""

    kind: ClassVar[str] = "adaptive"

    def __init__(
        self,
        epsilon: parameters.Number,
        *,
        readings: int | None = None,
        cell_constant: parameters.Number = 10,
        level_share: parameters.Number = HALF,
        count_share: parameters.Number = HALF,
        centred: bool = False,
    ) -> None:
        super().__init__(epsilon, readings, HALF, count_share, centred)
        self.cell_constant = constant("cell_constant", cell_constant)
        self.level_share = share("level_share", level_share)

    def _side(self, readings: float, weight: float) -> float:
        del weight
        return max(FEWEST, math.ceil(math.sqrt(readings * float(self.below) / self.cell_constant) / 4))

    def _second_sides(self, growth: Growth, measured: Measured) -> Floats:
        del growth
        paid = float((1 - self.level_share) * self.below)
        return np.ceil(np.sqrt(np.maximum(measured.counts, 0) * paid / (self.cell_constant / 2)))
