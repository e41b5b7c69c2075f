"""One regular grid, sized as Maruseac et al. do (Eq. 3): N0 = sqrt(epsilon K/sqrt(2) b (1-b) (n0 + s0/M)) cells a side.

Releases a noisy count and sum for each cell. Neighbours differ in one reading, which lies in one cell. Price: epsilon,
pure: b epsilon for counts, (1-b) epsilon for sums, and of these `SIZING_SHARE` for the totals where they are not
public. What it does not promise: that the grid is a good one. K = 1 gives cells that are far too small for a threshold
map; K = 0.05 is about right. For counts alone there is no K: N0 = sqrt(epsilon n0 / 10), as Qardaji, Yang and Li (2013)
advise.

Why this is private: see `louver.space.measure`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

from louver import parameters
from louver.space.measure import Price
from louver.space.structure import HALF, Growth, Sized, constant

COUNTS_CONSTANT = 10


def grid_side(epsilon: Fraction, count_share: Fraction, non_uniformity: float, weight: float) -> float:
    """Eq. 3, before it is rounded; `weight` is n + s/M, which is 2 n where there are counts alone."""
    if count_share == 1:
        return math.sqrt(float(epsilon) * weight / 2 / COUNTS_CONSTANT)
    return math.sqrt(float(epsilon * count_share * (1 - count_share)) * non_uniformity / math.sqrt(2) * weight)


class Uniform(Sized):
    """A regular grid.

    >>> Uniform(1, readings=50_000).levels
    (Price(counts=Fraction(1, 2), sums=Fraction(1, 2)),)
    """

    kind: ClassVar[str] = "uniform"

    def __init__(
        self,
        epsilon: parameters.Number,
        *,
        readings: int | None = None,
        mean_share: parameters.Number = HALF,
        non_uniformity: parameters.Number = Fraction(1, 20),
        count_share: parameters.Number = HALF,
        centred: bool = False,
    ) -> None:
        super().__init__(epsilon, readings, mean_share, count_share, centred)
        self.non_uniformity = constant("non_uniformity", non_uniformity)

    @property
    def levels(self) -> tuple[Price, ...]:
        return (*self._above, self._split(self.below))

    def _side(self, readings: float, weight: float) -> float:
        del readings
        return grid_side(self.below, self.count_share, self.non_uniformity, weight)

    def _grow(self, growth: Growth) -> None:
        growth.add_last(self._begin(growth), self.levels[-1])
