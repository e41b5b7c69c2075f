"""A grid, and a finer one in each of its cells, sized by what the cell holds (Maruseac et al., Eq. 10 and 11).

N0 = sqrt(epsilon K/sqrt(2) b (1-b) a (n0 + s0/M)) cells a side, each cut into N_u x N_u with 1-a for a and the cell's
own noisy n and s. Price: epsilon, pure: a of it at the first level, 1-a at the second. A cell that stays whole spends
the second part on another look at itself. Neighbours differ in one reading, which lies in one cell of each level.

Why this is private: see `louver.space.measure`; the second grid depends on released numbers only.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import ClassVar

import numpy as np

from louver import parameters
from louver.space.field import Floats
from louver.space.measure import Measured, Price
from louver.space.structure import HALF, Growth, Sized, constant, divide, share, square
from louver.space.uniform import grid_side


class TwoGrids(Sized):
    """A first grid, and a second in each cell; subclasses say how fine."""

    level_share: Fraction

    @property
    def levels(self) -> tuple[Price, ...]:
        first = self._split(self.level_share * self.below)
        return (*self._above, first, self._split((1 - self.level_share) * self.below))

    @abstractmethod
    def _second_sides(self, growth: Growth, measured: Measured) -> Floats:
        """The side of the second grid in each cell; 1 or less where it stays whole."""

    def _grow(self, growth: Growth) -> None:
        *_, first, second = self.levels
        whole = self._begin(growth)
        if len(whole.places):
            cells, parents = divide(whole)
            seen = growth.look(cells, first)
            growth.add_last(growth.add(cells, parents, seen, square(self._second_sides(growth, seen)), second), second)


class TwoLevel(TwoGrids):
    """Two grids by Eq. 10 and 11."""

    kind: ClassVar[str] = "two-level"

    def __init__(
        self,
        epsilon: parameters.Number,
        *,
        readings: int | None = None,
        mean_share: parameters.Number = HALF,
        non_uniformity: parameters.Number = Fraction(1, 20),
        level_share: parameters.Number = HALF,
        count_share: parameters.Number = HALF,
        centred: bool = False,
    ) -> None:
        super().__init__(epsilon, readings, mean_share, count_share, centred)
        self.non_uniformity = constant("non_uniformity", non_uniformity)
        self.level_share = share("level_share", level_share)

    def _side(self, readings: float, weight: float) -> float:
        del readings
        return grid_side(self.level_share * self.below, self.count_share, self.non_uniformity, weight)

    def _second_sides(self, growth: Growth, measured: Measured) -> Floats:
        unit = grid_side((1 - self.level_share) * self.below, self.count_share, self.non_uniformity, 1.0)
        return np.floor(unit * np.sqrt(growth.weight(measured)) + 0.5)
