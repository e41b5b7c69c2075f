"""Is the tail light enough to stretch a quantile? A private look before a factor above 1 is used.

If values had an exponential tail, P(X > r q) would be P(X > q)^r. Perrier, Asghar and Kaafar (2019) call a tail light
that leaves no more than that, and stretch a quantile q of a light tail to r q, which then leaves a share p^r where q
left p. `look_at_tail` finds a private q that leaves about a tenth, counts the values between q and r q and those
beyond, with noise, and compares. What it says is about the values it saw, at this q and this r: "light" or "heavy" is
wrong with at most the stated probability, "unclear" is always an allowed answer. Values drawn from an exponential tail
itself are on the edge: the more of them and of epsilon, the more chance decides. A light tail at a tenth is no proof
for rarer quantiles.

How many values there are is taken for public, and is released: give one for each tick of a public range. A missing one
stays in, as None, NaN or 0; who left missing values out would show how many are there.

Price: epsilon, half for q and half for the two counts. Sensitivity: a value that is there or missing is in one count or
in none, so with "presence" the counts cost the rate of their noise; a changed value may leave one and enter the other,
so with "replace" twice that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from louver import parameters
from louver.noise import discrete_laplace
from louver.noise.bits import SYSTEM, Bits
from louver.noise.grid import Grid
from louver.noise.laplace import noise_rate
from louver.privacy import Pure
from louver.stream.laplace import reach
from louver.stream.present import PRESENCE, REPLACE, checked_neighbours
from louver.stream.quantiles import above, ladder_to, quantile

LIGHT, HEAVY, UNCLEAR = "light", "heavy", "unclear"
SHARE_ABOVE = Fraction(1, 10)
MISTAKEN = Fraction(1, 20)


@dataclass(frozen=True)
class Tail:
    """What was released: of `size` values, a public number, `near` lie between q and r q and `far` beyond, each give
    or take `reach`."""

    quantile: int
    factor: Fraction
    size: int
    near: int
    far: int
    reach: int
    price: Pure

    @property
    def verdict(self) -> str:
        """Light or heavy if every pair of true counts within reach agrees, else unclear."""
        least, most = max(self.far - self.reach, 0), self.far + self.reach
        if self._rises(self.near - self.reach, most) and self._leaves(self.near - self.reach, most):
            return LIGHT
        # What is left beyond first rises with the values far out and then falls: it is least at one of the ends.
        if not any(self._leaves(self.near + self.reach, far) for far in (least, most)):
            return HEAVY
        return UNCLEAR

    @property
    def stretch(self) -> Fraction:
        """The factor that this tail allows: the one looked at if it is light, else 1."""
        return self.factor if self.verdict == LIGHT else Fraction(1)

    def _leaves(self, near: int, far: int) -> bool:
        """Whether these counts leave no more beyond r q than an exponential tail would."""
        return far / self.size <= math.pow(self._share(near, far), self.factor)

    def _rises(self, near: int, far: int) -> bool:
        """Whether more values far out make the tail heavier; from some share on they make it look lighter."""
        return self.factor * math.pow(self._share(near, far), self.factor - 1) < 1

    def _share(self, near: int, far: int) -> float:
        return max(near + far, 0) / self.size


def look_at_tail(
    values: ArrayLike,
    high: int,
    epsilon: parameters.Number,
    *,
    factor: parameters.Number = 2,
    mistaken: parameters.Number = MISTAKEN,
    neighbours: str = REPLACE,
    bits: Bits = SYSTEM,
) -> Tail:
    """Looks at values from 0 to `high`, one for each tick, 0 where it is missing.

    A verdict is wrong because of noise with probability at most `mistaken`.

    >>> look_at_tail(np.arange(100_000), 10**9, 1).verdict
    'light'
    """
    half, rate = parameters.positive("epsilon", epsilon) / 2, _rate(epsilon, neighbours)
    stretched, within = factor_of(factor), reach_of(epsilon, mistaken=mistaken, neighbours=neighbours)
    bounded = Grid(0, high, 1).quantise(values)
    found = quantile(bounded, SHARE_ABOVE, ladder_to(high), half, bits=bits)
    beyond = above(bounded, np.array([found, int(stretched * found)]))
    near, far = np.array([beyond[0] - beyond[1], beyond[1]]) + discrete_laplace(rate, 2, bits=bits)
    return Tail(found, stretched, len(bounded), int(near), int(far), within, Pure(2 * half))


def factor_of(given: parameters.Number) -> Fraction:
    """The factor that is looked at: one so near to 1 that nothing is gained by it is none."""
    return parameters.within("The factor", given, Fraction(9, 8), 4)


def reach_of(epsilon: parameters.Number, *, mistaken: parameters.Number = MISTAKEN, neighbours: str = REPLACE) -> int:
    """How far the noise on each of the two counts reaches, so that a verdict is wrong in no more cases."""
    return reach(_rate(epsilon, neighbours), parameters.error_rate("mistaken", mistaken) / 4)


def _rate(epsilon: parameters.Number, neighbours: str) -> Fraction:
    """The rate of the noise on the counts; one that the samplers do not take is refused before anything is drawn."""
    half = parameters.positive("epsilon", epsilon) / 2
    is_presence = checked_neighbours(neighbours) == PRESENCE
    return noise_rate(f"{'Half' if is_presence else 'A quarter'} of epsilon", half if is_presence else half / 2)
