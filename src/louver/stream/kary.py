"""Trees with more than two children, plain and signed: the least noise of all pure continual sums here.

Releases the sum of all ticks so far. Node m of level l has the ticks m k^l + 1 to (m + 1) k^l. With t written in base
k, a prefix of t ticks is made of digit many nodes of each level. With balanced digits, from -c to c with c = (k - 1)/2,
it is made of nodes that are added and nodes that are taken away again, and half as many (Andersson, Pagh, Steiner and
Torkamani 2025). Every node has noise of its own, and a prefix the noises of its nodes, with their signs. So the noise
of one level walks: k - 1 independent steps through the columns of a parent, 0 at the first column (plain) or at the
middle one (signed), then a new walk.

Price: a tick lies in one node of each of h levels, so `NodeNoise` with h levels is the noise of a node. Plain trees
have h = the number of digits of the horizon n, signed ones the smallest h with (k^h - 1)/2 >= n.

Why this is private. The whole noise vector z belongs to the vector of node sums y, and what `_estimates` gives, and
`_estimate` for one tick, the true prefix plus the signed noises of its nodes, is a fixed whole-number combination of
y + z. Everything is integer.
Plain trees use only nodes that are complete, and draw their noise then, so streams may react to what was released.
Signed trees use the noise of nodes that are not yet complete. For a stream fixed beforehand that changes nothing. But
if later ticks react to earlier releases, they depend on noise that is still to hide them, and the proof is gone. So
signed trees must be told that the stream is not adaptive.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.privacy import Pure
from louver.stream.digits import Digits
from louver.stream.mechanism import Rows, packed, unpacked
from louver.stream.nodes import NodeSpread, NodeSums

LARGEST_ARITY = 129


class KAry(NodeSums):
    """Sums of a stream by a tree of some arity, or of the best one; memory grows with the logarithm of the ticks.

    `signed=True` needs `adaptive=False`: the stream must not react to what is released.

    >>> tree = KAry(horizon=1000, epsilon=1000, signed=True, adaptive=False)
    >>> [tree.update(value) for value in (3, 0, 4)]
    [3, 3, 7]
    >>> print(f"{KAry(100_000, epsilon=1).rms_error():.1f}")
    32.7
    >>> print(f"{KAry(100_000, epsilon=1, signed=True, adaptive=False).rms_error():.1f}")
    26.0
    """

    kind: ClassVar[str] = "kary"

    def __init__(
        self,
        horizon: int | None = None,
        *,
        arity: int | None = None,
        signed: bool = False,
        adaptive: bool = True,
        **shared: Any,
    ) -> None:
        if signed and adaptive:
            raise ParameterError(
                "A signed tree is private only for streams that do not react to what is released, because it uses "
                "noise of sums that are still open; say adaptive=False if that is so, or leave signed=False."
            )
        self.signed, self.adaptive = bool(signed), bool(adaptive)
        self.arity = None if arity is None else parameters.integer("arity", arity, 2 + self.signed, LARGEST_ARITY)
        if self.arity is not None and self.signed and self.arity % 2 == 0:
            raise ParameterError("The arity of a signed tree must be odd, so that its digits are balanced.")
        super().__init__(horizon, **shared)

    def children(self, ticks: int) -> int:
        """How many children a node has in an epoch of so many ticks."""
        return self._shape(ticks).arity

    def _rounded(self, length: int) -> int:
        """A length with one digit other than 0: its last tick, which is carried over, has few nodes."""
        shape = self._shape(length)
        top = int(shape.arity ** (len(shape.weights) - 1))
        return -(-length // top) * top

    def _shape(self, length: int) -> Digits:
        if self.arity is not None:
            return shape(self.arity, length, self.signed)
        return best_shape(length, self.signed, isinstance(self._price, Pure))

    def _widths(self, length: int) -> list[int]:
        nodes = self._shape(length)
        return [nodes.arity**level for level in range(len(nodes.weights))]

    def _spread(self, length: int) -> NodeSpread:
        nodes = self._shape(length)
        return NodeSpread(self._noise_of(len(nodes.weights)).variance, nodes)

    def _begin(self, length: int) -> None:
        self._digits = self._shape(length)
        levels, arity = len(self._digits.weights), self._digits.arity
        self._noise = self._noise_of(levels)
        self._total = np.zeros(self._width, dtype=np.int64)
        # The steps of each level's walk through the columns of the parent it is in; those to come are 0.
        self._steps = np.zeros((levels, arity, self._width), dtype=np.int64)
        self._standing = np.zeros((levels, self._width), dtype=np.int64)
        self._offsets = [self._digits.offset(level + 1) for level in range(levels)]

    def _estimates(self, rows: Rows) -> NDArray[np.int64]:
        """Noise is drawn as late as can be: a plain walk's step when its node is complete, a signed walk's steps to
        the middle when the walk begins, because where it begins depends on them, and each later one in its turn."""
        arity, centre = self._digits.arity, self._digits.centre
        ways = self._ways(len(rows))
        drawn = [self._to_draw(first, last) for first, last in ways]
        counts = [0, *accumulate(len(each) for each in drawn)]
        fresh = self._noise.draw((counts[-1], self._width), self._bits)
        noise = self._standing[len(ways) :].sum(axis=0, keepdims=True)
        for level in reversed(range(len(ways))):
            first, last = ways[level]
            parents = last // arity - first // arity + 1
            steps = np.zeros((parents, arity, self._width), dtype=np.int64)
            steps[0] = self._steps[level]
            steps.reshape(-1, self._width)[drawn[level]] = fresh[counts[level] : counts[level + 1]]
            self._steps[level] = steps[-1]
            walks = steps.cumsum(axis=1)
            if centre:
                walks -= walks[:, centre : centre + 1]
            self._standing[level] = walks[-1, last % arity]
            walks += noise[:, None]  # one row for each parent: the noise of all levels above
            begin = first % arity
            noise = walks.reshape(-1, self._width)[begin : begin + last - first + 1]
        sums = self._total + rows.cumsum(axis=0)
        self._total = sums[-1]
        released: NDArray[np.int64] = sums + noise[1:]
        return released

    def _estimate(self, row: Rows) -> NDArray[np.int64]:
        """A level goes on by one column where the levels below come round, and draws no more than that."""
        arity, centre = self._digits.arity, self._digits.centre
        for level, offset in enumerate(self._offsets):
            column, within = divmod(self._passed + 1 + offset, arity**level)
            if within:
                break
            steps, place = self._steps[level], column % arity
            if place > centre:
                steps[place] = self._noise.draw((1, self._width), self._bits)
            if place:
                self._standing[level] += steps[place]
                continue
            steps[:] = 0
            if centre:
                steps[1 : centre + 1] = self._noise.draw((centre, self._width), self._bits)
            self._standing[level] = -steps[: centre + 1].sum(axis=0)
        self._total = self._total + row[0]
        released: NDArray[np.int64] = self._total + self._standing.sum(axis=0)
        return released

    def _ways(self, ticks: int) -> list[tuple[int, int]]:
        """From which column to which each level goes, as far up as any moves."""
        ways = []
        for level in range(len(self._steps)):
            shifted, width = self._passed + self._offsets[level], self._digits.arity**level
            first, last = shifted // width, (shifted + ticks) // width
            if first == last:
                break
            ways.append((first, last))
        return ways

    def _to_draw(self, first: int, last: int) -> NDArray[np.intp]:
        """Which steps to draw on the way from one column to another, counted from the first column's parent."""
        arity, centre = self._digits.arity, self._digits.centre
        start = first // arity * arity
        reached, needed = (max(column, column // arity * arity + centre) - start for column in (first, last))
        steps = np.arange(reached + 1, needed + 1)
        return np.asarray(steps[steps % arity != 0])

    def _parameters(self) -> dict[str, Any]:
        return {**super()._parameters(), "arity": self.arity, "signed": self.signed, "adaptive": self.adaptive}

    def _epoch_state(self) -> dict[str, Any]:
        return {"total": packed(self._total), "steps": packed(self._steps), "standing": packed(self._standing)}

    def _restore_epoch(self, state: Mapping[str, Any]) -> None:
        self._total = unpacked(state["total"], self._total.shape, np.int64)
        self._steps = unpacked(state["steps"], self._steps.shape, np.int64)
        self._standing = unpacked(state["standing"], self._standing.shape, np.int64)


def shape(arity: int, ticks: int, signed: bool) -> Digits:
    """The levels of a tree over so many ticks, and how many nodes each digit stands for."""
    centre = (arity - 1) // 2 if signed else 0
    levels = 1
    while (arity**levels - 1) // (2 if signed else 1) < ticks:
        levels += 1
    return Digits(arity, centre, ((tuple(abs(column - centre) for column in range(arity))),) * levels)


@lru_cache(maxsize=1024)
def best_shape(ticks: int, signed: bool, pure: bool) -> Digits:
    """The tree with the least mean squared error: nodes of a prefix, times the variance of one, which grows with the
    square of the levels where prices are pure and with the levels themselves where they are zero-concentrated."""
    shapes = [shape(arity, ticks, signed) for arity in range(3 if signed else 2, LARGEST_ARITY + 1, 2 if signed else 1)]
    return min(shapes, key=lambda each: each.total(ticks) * len(each.weights) ** (2 if pure else 1))
