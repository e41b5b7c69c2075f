"""How well a learned attacker did: a score against chance, with an interval and a control.

Cases of one day share that day's noise and crowd, so intervals draw whole days again (Efron 1979). The control
trains the same attacker on mixed-up names: where it does better than chance, the experiment leaks and not the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver.errors import DataError

DRAWS = 1000
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Score:
    """A score from 0 to 1 over `cases` on `days` that were not learnt from; `low` to `high` is its 95% interval.

    `control` is the score of the same attacker after learning from mixed-up labels.
    """

    what: str
    value: float
    low: float
    high: float
    chance: float
    control: float
    cases: int
    days: int

    @property
    def beats_chance(self) -> bool:
        return self.low > self.chance


def sklearn(module: str) -> Any:
    """A module of scikit-learn, which comes with the extra `audit` and is slow to load."""
    try:
        return import_module(f"sklearn.{module}")
    except ImportError:
        raise DataError("Learned attackers need scikit-learn; install it with: pip install 'louver[audit]'.") from None


def interval(sums: NDArray[np.float64], weights: NDArray[np.float64], seed: int) -> tuple[float, float]:
    """From scores summed by day and their weights by day: the middle 95% of totals over days drawn again."""
    days = np.random.default_rng(seed).integers(0, len(sums), (DRAWS, len(sums)))
    totals = sums[days].sum(axis=1) / np.maximum(weights[days].sum(axis=1), 1e-300)
    low, high = np.quantile(totals, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
