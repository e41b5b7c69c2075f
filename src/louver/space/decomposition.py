"""The tree of Maruseac et al. (Algorithm 1): cells are split again and again, the fuller the finer.

A node with e to spend below and including itself spends a e on a noisy count and sum, and has
N_u = sqrt(e K/sqrt(2) b (1-b) (1-a) (n + s/M)) children (Eq. 12), in a square of side max(2, round(sqrt(N_u))); they
have (1-a) e. At the deepest level all of e is spent. Two rules end the recursion earlier: too few children
(`stop="children"`, N_u < `least`, line 13), or too few readings (`stop="count"`, n <= `least`, the text). A node that
ends early spends the (1-a) e of its children on a second look at itself, averaged in by inverse variance.

Price: epsilon, pure: whatever path a reading takes, the prices of its nodes add up to epsilon. Neighbours differ in one
reading. Why this is private: see `louver.space.measure`; where the tree is split depends on released numbers only.

What differs from the text: Eq. 12 is the number of children, not of columns, else no tree has three levels; averages
are by inverse variance, not plain; a node that stopped is not split, and one at the deepest level does not look twice,
which lines 12 to 20 let it do, and which would cost (1-a) e that nobody has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from louver import parameters
from louver.errors import ParameterError
from louver.space.field import Integers
from louver.space.measure import Measured, Price
from louver.space.structure import HALF, Growth, Split, Structure, constant, divide, share, square
from louver.space.uniform import grid_side
from louver.space.written import exact

DEEPEST = 16
STOPS = ("children", "count")


@dataclass(frozen=True, slots=True, init=False)
class Splitting:
    """How a tree is split: how deep, which part of what is left a level spends, and when a node is not split.

    `stop="children"` ends a node that would have fewer than `least` children, `"count"` one whose noisy count is not
    above `least`.
    """

    depth: int
    level_share: Fraction
    stop: str
    least: Fraction

    def __init__(
        self,
        depth: int = 3,
        level_share: parameters.Number = Fraction(1, 5),
        stop: str = STOPS[0],
        least: parameters.Number = 2,
    ) -> None:
        if stop not in STOPS:
            raise ParameterError("A node ends for too few children or too low a count: stop is 'children' or 'count'.")
        object.__setattr__(self, "depth", parameters.integer("depth", depth, 0, DEEPEST))
        object.__setattr__(self, "level_share", share("level_share", level_share))
        object.__setattr__(self, "stop", stop)
        object.__setattr__(self, "least", parameters.within("least", least, 0, 2**40))

    def to_dict(self) -> dict[str, Any]:
        return {"depth": self.depth, "level_share": str(self.level_share), "stop": self.stop, "least": str(self.least)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The same again; a KeyError, TypeError or ValueError where it is not complete."""
        if set(plain) != {"depth", "level_share", "stop", "least"}:
            raise ValueError("not how a tree is split")
        return cls(plain["depth"], exact(plain["level_share"]), plain["stop"], exact(plain["least"]))


class Decomposition(Structure):
    """A tree of cells; the root is level 0.

    >>> [str(sum(price)) for price in Decomposition(1, depth=2).levels]
    ['1/5', '4/25', '16/25']
    """

    kind: ClassVar[str] = "decomposition"

    def __init__(
        self,
        epsilon: parameters.Number,
        *,
        depth: int = 3,
        level_share: parameters.Number = Fraction(1, 5),
        count_share: parameters.Number = HALF,
        non_uniformity: parameters.Number = Fraction(1, 10),
        stop: str = "children",
        least: parameters.Number = 2,
        centred: bool = False,
    ) -> None:
        super().__init__(epsilon, count_share, centred)
        splitting = Splitting(depth, level_share, stop, least)
        self.depth, self.level_share, self.stop = splitting.depth, splitting.level_share, splitting.stop
        self.least = float(splitting.least)
        self.non_uniformity = constant("non_uniformity", non_uniformity)

    @property
    def levels(self) -> tuple[Price, ...]:
        inner = [self._split(self.level_share * self.available(level)) for level in range(self.depth)]
        return (*inner, self._split(self.available(self.depth)))

    def available(self, level: int) -> Fraction:
        """What a node of this level and all below it may spend."""
        return (1 - self.level_share) ** level * self.epsilon

    def _grow(self, growth: Growth) -> None:
        split = Split(np.array([-1]), growth.whole, np.array([[1, 1]]))
        for level, price in enumerate(self.levels[:-1]):
            cells, parents = divide(split)
            seen = growth.look(cells, price)
            left = self._split(self.available(level + 1))
            split = growth.add(cells, parents, seen, self._shape(growth, level, seen), left)
            if not len(split.places):
                return
        growth.add_last(split, self.levels[-1])

    def _shape(self, growth: Growth, level: int, measured: Measured) -> Integers:
        """Into how many columns and rows each node is split; 1 and 1 where it ends."""
        unit = grid_side(self.available(level + 1), self.count_share, self.non_uniformity, 1.0)
        children = unit * np.sqrt(growth.weight(measured))
        split = children >= self.least if self.stop == "children" else measured.counts > self.least
        return square(np.where(split, np.maximum(2, np.floor(np.sqrt(children) + 0.5)), 1))
