"""How many node values a prefix is made of: exact sums and maxima over the digits of the ticks.

A tick t is written in base k with digits from -centre to k - 1 - centre: the usual digits for centre 0, balanced ones
for centre (k - 1) / 2. Adding `centre` at every level turns both into the usual digits of t + offset, the `columns`
here. A prefix of t ticks has the variance of its columns' weights, added up over the levels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Digits:
    """`weights[level][column]` is what a digit adds to a prefix that has it.

    >>> binary = Digits(2, 0, [[0, 1]] * 4)
    >>> binary.at(13), binary.total(13), binary.largest(13)
    (3, 25, 3.0)
    """

    arity: int
    centre: int
    weights: Sequence[Sequence[float]]

    def offset(self, level: int) -> int:
        """What turns t into a number whose columns below this level are t's digits plus `centre`."""
        return self.centre * (int(self.arity**level) - 1) // (self.arity - 1)

    def columns(self, tick: int) -> list[int]:
        """The column of a tick at every level, the lowest first."""
        shifted = tick + self.offset(len(self.weights))
        found = []
        for _ in self.weights:
            shifted, column = divmod(shifted, self.arity)
            found.append(column)
        return found

    def at(self, tick: int) -> float:
        return sum(weights[column] for weights, column in zip(self.weights, self.columns(tick), strict=True))

    def total(self, ticks: int) -> float:
        """The sum of `at` over the ticks 1 to `ticks`."""
        return sum(self._total_below(level, ticks + 1) - self._total_below(level, 1) for level in self._levels)

    def largest(self, ticks: int) -> float:
        """The largest `at` of the ticks 1 to `ticks`: digit by digit from the top, inside both ends or along one."""
        low, high = self.columns(1), self.columns(ticks)
        best = {(True, True): 0.0}
        for level in reversed(self._levels):
            found: dict[tuple[bool, bool], float] = {}
            for (at_low, at_high), weight in best.items():
                first = low[level] if at_low else 0
                last = high[level] if at_high else self.arity - 1
                for column in range(first, last + 1):
                    tight = at_low and column == low[level], at_high and column == high[level]
                    reached = weight + self.weights[level][column]
                    found[tight] = max(found.get(tight, -math.inf), reached)
            best = found
        return max(best.values())

    @property
    def _levels(self) -> range:
        return range(len(self.weights))

    def _total_below(self, level: int, tick: int) -> float:
        """The weights of this level, added up over all shifted ticks below this one."""
        width = int(self.arity**level)
        blocks, rest = divmod(tick + self.offset(level + 1), width * self.arity)
        column, part = divmod(rest, width)
        weights = self.weights[level]
        return width * (blocks * sum(weights) + sum(weights[:column])) + part * weights[column]
