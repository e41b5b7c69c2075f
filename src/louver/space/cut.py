"""A grid for threshold maps: centred sums, cells of the right size, and an outline found by a minimum cut.

Releases a noisy count and a noisy sum above the middle of the range for each of m x m cells,
m = 0.18 sqrt(N epsilon), at least 8 and at most 50. Neighbours differ in one reading, which lies in one cell. Price:
epsilon, pure, split between counts and sums; where the threshold T is known beforehand, so that
D = sum - (T - centre) count scatters least: the counts' share is |T-C|^(2/3) / (|T-C|^(2/3) + (M/2)^(2/3)), else half.
The outline (`louver.space.outline`) is drawn by the recipient, at no price. What it does not promise: the two constants
of size were tuned on synthetic bumps.

Why this is private: see `louver.space.measure`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

from louver import parameters
from louver.errors import ParameterError
from louver.space.structure import HALF
from louver.space.uniform import Uniform

CELLS = 0.18
FEWEST, MOST = 8, 50
_LEAST_SHARE = Fraction(1, 20)


class Cut(Uniform):
    """A regular grid of centred sums.

    >>> Cut(1, readings=50_000).levels
    (Price(counts=Fraction(1, 2), sums=Fraction(1, 2)),)
    """

    kind: ClassVar[str] = "cut"

    def __init__(
        self,
        epsilon: parameters.Number,
        *,
        readings: int | None = None,
        count_share: parameters.Number = HALF,
    ) -> None:
        super().__init__(epsilon, readings=readings, count_share=count_share, centred=True)

    def _side(self, readings: float, weight: float) -> float:
        del weight
        return min(max(CELLS * math.sqrt(readings * float(self.below)), FEWEST), MOST)


def count_share_for(threshold: parameters.Number, *, high: parameters.Number, low: parameters.Number = 0) -> Fraction:
    """The counts' share that is best for one threshold: var D = 2 (M/2)^2 / e_s^2 + 2 (T-C)^2 / e_n^2 is least.

    A share near 0 would leave counts useless for every other purpose, so it is at least 1/20.

    >>> float(count_share_for(80, high=100))
    0.416015625
    """
    bottom, top = parameters.fraction("The lowest value", low), parameters.fraction("The highest value", high)
    if bottom >= top:
        raise ParameterError("The highest value must be above the lowest value.")
    exact = parameters.within("The threshold", threshold, bottom, top)
    offset = abs(float(2 * (exact - bottom) / (top - bottom) - 1)) ** (2 / 3)
    return max(Fraction(round(1024 * offset / (offset + 1)), 1024), _LEAST_SHARE)
