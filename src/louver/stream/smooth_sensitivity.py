"""How much an order statistic can move: smooth sensitivity (Nissim, Raskhodnikova and Smith 2007), exactly.

Of m values between 0 and `high`, sorted, the k-th moves by at most `Spread.at(j)` when one value changes after j others
have. Neighbours differ in one value. Between neighbours `at(j)` of one is at most `at(j + 1)` of the other, and this is
all that smoothness needs. Both answers here are secret: they are made of the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from louver import parameters

Worth = TypeVar("Worth", int, float)


class Spread:
    """The k-th smallest of sorted whole numbers (k from 1), and the largest moves near it."""

    def __init__(self, ordered: NDArray[np.int64], k: int, high: int) -> None:
        self.size = len(ordered)
        rank = parameters.integer("The rank", k, 1, self.size)
        past = self.size + 1
        self._padded = np.concatenate((np.zeros(past, np.int64), ordered, np.full(past, high, np.int64)))
        self._middle = self.size + rank

    def __repr__(self) -> str:
        return f"Spread({self.size} private values)"

    @property
    def value(self) -> int:
        return int(self._padded[self._middle])

    def at(self, changed: int) -> int:
        """The widest gap x[k+t] - x[k+t-j-1] for t = 0..j+1, with 0 below all values and `high` above them."""
        upper = self._padded[self._middle : self._middle + changed + 2]
        lower = self._padded[self._middle - changed - 1 : self._middle + 1]
        return int((upper - lower).max())

    def largest(self, worth: Callable[[int, int], Worth]) -> Worth:
        """The largest worth(at(j), j) over j = 0..m, for a worth that grows in its first argument, falls in its second.

        `at` grows, so the worth of (at(last), first) bounds a whole range of j, and most ranges are never looked into.
        """
        best = worth(self.at(0), 0)
        ranges = [(1, self.size)]
        while ranges:
            first, last = ranges.pop()
            widest = self.at(last)
            if worth(widest, first) <= best:
                continue
            best = max(best, worth(widest, last))
            middle = (first + last) // 2
            ranges += [each for each in ((middle, last - 1), (first, middle - 1)) if each[0] <= each[1]]
        return best


def smooth_sensitivity(ordered: NDArray[np.int64], k: int, high: int, falloff: float) -> float:
    """The largest exp(-falloff j) at(j): what the papers scale their noise by. `SmoothQuantile` has no use for floats.

    >>> round(smooth_sensitivity(np.arange(1, 1001), 500, 2000, 0.05), 5)
    7.73482
    """
    return Spread(ordered, k, high).largest(lambda gap, changed: gap * math.exp(-falloff * changed))


def rung(spread: Spread, ladder: NDArray[np.int64]) -> int:
    """The place on a rising ladder of whole numbers that stands for the spread; its last rung must be `high`.

    The rung of at(j), less j, at its largest, or 0: at(0) is at most ladder[rung], and the rungs of neighbours differ
    by at most 1, whatever the ladder.
    """
    return max(spread.largest(lambda gap, changed: int(np.searchsorted(ladder, gap)) - changed), 0)
