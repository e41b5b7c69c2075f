"""Coins whose chance is known between two floats, decided by as few random bits as it takes, and exactly.

A coin is True where a uniform U lies below its chance. 53 bits of U and the two floats nearly always settle that. Where
they do not, the chance is enclosed ever more tightly in whole numbers, and U prolonged, until they do: no coin is
decided by a rounded number.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from louver.noise import Bits
from louver.noise.enclosure import GUARD_BITS, Enclosure

_FLOAT_BITS = 53
_WORD_BITS = 64
_LEAST = 2.0**-1022

Chance = Callable[[int], Enclosure]
"""chance(working_bits) encloses a probability."""


def sure_coins(
    low: NDArray[np.float64], high: NDArray[np.float64], exact: Callable[[int], Chance], bits: Bits
) -> NDArray[np.bool_]:
    """One coin for each chance between low and high; `exact(position)` gives the chance itself where it is needed."""
    words = bits.words64(len(low))
    steps = (words >> np.uint64(_WORD_BITS - _FLOAT_BITS)).astype(np.float64)
    true = steps + 1 <= np.ldexp(low, _FLOAT_BITS)
    # Floats below e^-745 are 0, and the chance is not.
    unsure = np.flatnonzero(~true & (steps < np.ldexp(np.maximum(high, _LEAST), _FLOAT_BITS)))
    for position in unsure.tolist():
        true[position] = _settle(int(words[position]), exact(position), bits)
    return np.asarray(true)


def _settle(prefix: int, chance: Chance, bits: Bits) -> bool:
    length = _WORD_BITS
    while True:
        enclosed = chance(length + GUARD_BITS)
        beyond = enclosed.bits - length
        if (prefix + 1) << beyond <= enclosed.low:
            return True
        if prefix << beyond >= enclosed.high:
            return False
        prefix = (prefix << _WORD_BITS) | bits.integer(_WORD_BITS)
        length += _WORD_BITS
