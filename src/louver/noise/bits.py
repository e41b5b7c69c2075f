"""Random bits from the operating system's generator, and nowhere else.

There is no seed. Each call reads what it needs in one request and keeps nothing back, so that no bit can be used twice
after a fork, in two threads, or from a copied process; samplers ask for thousands of words at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray


class Bits:
    """A stream of independent, uniform bits."""

    __slots__ = ("_source",)

    def __init__(self) -> None:
        self._source: Callable[[int], bytes] = os.urandom

    @classmethod
    def _from(cls, source: Callable[[int], bytes]) -> Bits:
        """The private door for tests: `source(n)` returns n bytes. Releases made through it are not private."""
        bits = cls()
        bits._source = source
        return bits

    def words16(self, count: int) -> NDArray[np.uint16]:
        return np.frombuffer(self._source(2 * count), dtype="<u2")

    def words64(self, count: int) -> NDArray[np.uint64]:
        return np.frombuffer(self._source(8 * count), dtype="<u8")

    def integer(self, bits: int) -> int:
        """One uniform integer below 2**bits; bits is a multiple of 8."""
        return int.from_bytes(self._source(bits // 8), "little")

    def below(self, bounds: NDArray[np.int64]) -> NDArray[np.int64]:
        """One uniform integer in [0, bound) for each positive bound: masked to a power of two, redrawn while over."""
        masks = _next_power_of_two(bounds) - np.uint64(1)
        drawn = (self.words64(len(bounds)) & masks).astype(np.int64)
        over = np.flatnonzero(drawn >= bounds)
        while len(over):
            drawn[over] = (self.words64(len(over)) & masks[over]).astype(np.int64)
            over = over[drawn[over] >= bounds[over]]
        return drawn


def _next_power_of_two(bounds: NDArray[np.int64]) -> NDArray[np.uint64]:
    powers = bounds.astype(np.uint64) - np.uint64(1)
    for shift in (1, 2, 4, 8, 16, 32):
        powers |= powers >> np.uint64(shift)
    return powers + np.uint64(1)


SYSTEM = Bits()
