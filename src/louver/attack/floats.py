"""Which floats are possible: the attack on noise that is drawn in floating point (Mironov 2012).

A sampler that turns a uniform float into noise has only so many values, and what is left of them after adding a count
differs from count to count. So some releases are possible for one count and impossible for its neighbour, and give it
away for certain, however small epsilon is. Whether a release is possible is found by turning it back: from release less
count to the uniform float behind it, and forward again from the few floats around that one.

Whole-number noise has no such holes: every whole number is possible for every count, and nothing else is. So where
noise should be whole, one number that is not tells that it was drawn otherwise, whatever the count and the sampler:
`all_whole`. It does not see float noise that was rounded afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver.attack.membership import Draw
from louver.attack.scores import Floats, Learn, Rows, known
from louver.errors import ParameterError
from louver.noise.bits import Bits

Booleans: TypeAlias = "NDArray[np.bool_]"
UNIFORM_STEP = 2.0**-53
AROUND = 24  # uniform floats to try on either side, for what rounding may have moved


@dataclass(frozen=True, slots=True)
class InverseLaplace:
    """The textbook sampler: noise = -sign ln(1 - u) / rate from a uniform float u, a multiple of 2^-53 below 1.

    It is as published in many places, and private in none of them. `release` adds it to a count in floating point.
    """

    rate: float

    def release(self, count: float) -> Draw:
        def draw(size: int, bits: Bits) -> Rows:
            words = bits.words64(size)
            sign = np.where(words & np.uint64(1), 1.0, -1.0)
            return np.asarray(count + sign * self.noise((words >> np.uint64(11)).astype(np.float64) * UNIFORM_STEP))

        return draw

    def noise(self, uniform: Floats) -> Floats:
        return np.asarray(-np.log1p(-uniform) / self.rate)

    def behind(self, noise: Floats) -> Floats:
        """The uniform float that gives about this noise."""
        return np.asarray(-np.expm1(-noise * self.rate))


def possible(sampler: InverseLaplace, released: Floats, count: float) -> Booleans:
    """Whether each release could have come from this count."""
    if not np.isfinite(released).all():
        raise ParameterError("Releases must be finite numbers.")
    size = np.abs(released - count)
    sign = np.where(released < count, -1.0, 1.0)
    nearest = np.round(sampler.behind(size) / UNIFORM_STEP)
    found = np.zeros(len(released), dtype=np.bool_)
    for step in range(-AROUND, AROUND + 1):
        uniform = np.clip((nearest + step) * UNIFORM_STEP, 0.0, 1.0 - UNIFORM_STEP)
        noise = sampler.noise(uniform)
        found |= (count + sign * noise == released) | (count - sign * noise == released)
    return found


def all_whole(released: Rows) -> bool:
    """
    >>> all_whole(np.array([3.0, -1.0])), all_whole(np.array([3.0, 1e-9]))
    (True, False)
    """
    return bool((released == np.rint(released)).all())


def by_possibility(sampler: InverseLaplace, without: float, having: float) -> Learn:
    """A score for `membership.measure`: 1 where only the count with the unit is possible, -1 where only the other."""

    def score(rows: Rows) -> Floats:
        released = rows[:, 0].astype(np.float64)
        return possible(sampler, released, having).astype(np.float64) - possible(sampler, released, without)

    return known(score)
