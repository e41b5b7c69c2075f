"""Exact coins: True with a rational probability, or with any probability that can be enclosed."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.noise.bits import SYSTEM, Bits
from louver.noise.enclosure import Enclosure, exp
from louver.noise.tables import TABLES


def bernoulli(probability: parameters.Number, count: int, *, bits: Bits = SYSTEM) -> NDArray[np.bool_]:
    """`count` independent coins that are True with this rational probability.

    >>> bool(bernoulli(1, 3).all())
    True
    """
    chance = parameters.probability("The probability", probability)
    count = parameters.count("The number of draws", count)
    if chance in (0, 1):
        return np.full(count, chance == 1)
    return enclosed_bernoulli(("rational", chance), lambda working: Enclosure.of(chance, working), count, bits)


def bernoulli_exp(exponent: parameters.Number, count: int, *, bits: Bits = SYSTEM) -> NDArray[np.bool_]:
    """`count` independent coins that are True with probability exp(-exponent), exponent >= 0 rational."""
    exact = parameters.within("The exponent", exponent, 0, LARGEST_EXPONENT)
    count = parameters.count("The number of draws", count)
    if exact == 0:
        return np.ones(count, dtype=np.bool_)
    return enclosed_bernoulli(("exp", exact), lambda working: exp(-exact, working), count, bits)


def enclosed_bernoulli(
    name: Hashable, probability: Callable[[int], Enclosure], count: int, bits: Bits
) -> NDArray[np.bool_]:
    """Coins for a probability strictly between 0 and 1 given by its enclosures; `name` identifies it in the cache."""
    table = TABLES.get(("bernoulli", name), lambda working: iter((probability(working),)))
    return np.equal(table.draw(count, bits), 0)


LARGEST_EXPONENT = Fraction(2**12)
