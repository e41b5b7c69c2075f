"""A release of exact fractions: each answer is whole + numerator/denominator, and the invariants hold in it exactly.

The fraction is written in one way only, 0 <= numerator < denominator, so that the release is a function of the values
and of nothing else that went into them. `floats` rounds them, and is for pictures: sums of floats need not be exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Released:
    """Answers, one behind the other, as exact fractions.

    >>> release = Released.of(np.array([5, 7]), np.array([-3, 3]), np.array([2, 2]), 1)
    >>> release.exact()
    [Fraction(7, 2), Fraction(17, 2)]
    """

    whole: NDArray[np.int64]
    numerators: NDArray[Any]
    denominators: NDArray[Any]
    scale: int

    @classmethod
    def of(cls, whole: NDArray[np.int64], above: NDArray[Any], below: NDArray[Any], scale: int) -> Released:
        """whole + above/below, all of it over `scale`."""
        carried, kept = above // below, above % below
        return cls(whole + carried.astype(np.int64), kept, np.broadcast_to(below, kept.shape), scale)

    def exact(self) -> list[Fraction]:
        return [
            (whole + Fraction(int(above), int(below))) / self.scale
            for whole, above, below in zip(
                self.whole.tolist(), self.numerators.tolist(), self.denominators.tolist(), strict=True
            )
        ]

    def floats(self) -> NDArray[np.float64]:
        """The nearest floats, or next to them."""
        if self.numerators.dtype == object:
            return np.array([float(value) for value in self.exact()])
        return np.asarray((self.whole + self.numerators / self.denominators) / self.scale, dtype=np.float64)
