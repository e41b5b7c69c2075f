"""Adaptive: as `progressive`, but levels that will decide no key are skipped; the choice for the largest min-entropy.

The next level follows from the noisy margins seen so far, by `louver.decide.adaptive`. Promise, price and privacy are
those of `progressive`, whose grid is calibrated for every such rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from louver.decide.adaptive import next_level
from louver.decide.progressive import Progressive
from louver.privacy import LevelGrid
from louver.privacy.plan import registered


@registered("adaptive")
@dataclass(frozen=True, slots=True, init=False)
class Adaptive(Progressive):
    """The plan of looking again only where a look is expected to decide something."""

    mechanism: ClassVar[str] = "adaptive"

    def next_level(self, grid: LevelGrid, level: int, seen: NDArray[np.int64]) -> int:
        return next_level(grid, level, seen) if level >= 0 else 0
