"""The binary tree, with each node's estimate from itself and everything below it.

Releases the sum of all ticks so far. The ticks of an epoch are the leaves of a binary tree; each node's sum is released
once, when its last tick has come, with fresh noise. A tick lies in one node of each level, and a tree over n ticks has
as many levels as n has binary digits, so `NodeNoise` with that many levels is the noise of a node.

A node's children are noisy versions of the same sum, so the two are averaged with weights of inverse variance, level by
level from below (Honaker 2015). That halves the variance of high nodes. Node variances, in units of the noise: v_0 = 1,
v_l = 2 v_(l-1) / (1 + 2 v_(l-1)). A prefix is the sum of the nodes of t's binary digits.

Why this is private. `_estimates`, and `_estimate` for one tick, add noise of `NodeNoise` to whole node sums; all floats
come after that, from the noisy nodes and from nothing else. Noise is drawn when a node is complete, so streams may
react to what was released.
After Dwork, Naor, Pitassi and Rothblum (2010), Chan, Shi and Song (2011).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from louver.stream.digits import Digits
from louver.stream.mechanism import Rows, packed, unpacked
from louver.stream.nodes import NodeSpread, NodeSums


class Tree(NodeSums):
    """Sums of a stream by a binary tree with estimates from below; memory grows with the logarithm of the ticks.

    >>> tree = Tree(horizon=1000, epsilon=1000)
    >>> [round(tree.update(value)) for value in (3, 0, 4)]
    [3, 3, 7]
    >>> print(f"{Tree(horizon=100_000, epsilon=1).rms_error():.1f}")
    50.9
    """

    kind: ClassVar[str] = "tree"
    dtype: ClassVar[type[np.float64]] = np.float64

    def _rounded(self, length: int) -> int:
        """A power of two: its last tick, which is carried over, is one node."""
        return 1 << (length - 1).bit_length()

    def _widths(self, length: int) -> list[int]:
        return [2**level for level in range(length.bit_length())]

    def _spread(self, length: int) -> NodeSpread:
        levels = length.bit_length()
        return NodeSpread(
            self._noise_of(levels).variance, Digits(2, 0, [[0, each] for each in _node_variances(levels)])
        )

    def _begin(self, length: int) -> None:
        levels = length.bit_length()
        self._noise = self._noise_of(levels)
        # A node's own noise counts by the variance of its children's sum, 2 v, against its own, which is 1.
        below = [0.0, *(2 * each for each in _node_variances(levels - 1))]
        self._own_weights = [each / (1 + each) for each in below]
        self._open = np.zeros((levels, self._width), dtype=np.int64)
        self._left = np.zeros((levels, self._width))

    def _estimates(self, rows: Rows) -> NDArray[np.float64]:
        """The ticks of an epoch count from 1, so a node of level l ends at each multiple of 2^l.

        From tick to tick stay, for each level, the sum of its open node, and the estimate of the last whole node where
        that is a left child, which is where the binary digit of the ticks passed is 1.
        """
        start, end = self._passed, self._passed + len(rows)
        prefix = np.concatenate((np.zeros((1, self._width), dtype=np.int64), rows.cumsum(axis=0)))
        ended = [(end >> level) - (start >> level) for level in range(len(self._open))]
        drawn = [0, *accumulate(ended)]
        noise = self._noise.draw((drawn[-1], self._width), self._bits)
        before = self._left.copy()
        nodes: list[NDArray[np.float64]] = []
        for level, weight in enumerate(self._own_weights):
            if not ended[level]:
                self._open[level:] += prefix[-1]
                break
            at_ends = prefix[(((start >> level) + 1) << level) - start :: 1 << level]
            sums = np.diff(at_ends, axis=0, prepend=0)
            sums[0] += self._open[level]
            self._open[level] = prefix[-1] - at_ends[-1]
            estimates = (sums + noise[drawn[level] : drawn[level + 1]]).astype(np.float64)
            if level:
                missing_left = before[level - 1 : level] if start >> (level - 1) & 1 else before[:0]
                children = np.concatenate((missing_left, nodes[-1]))[: 2 * ended[level]]
                estimates = weight * estimates + (1 - weight) * (children[::2] + children[1::2])
            nodes.append(estimates)
            if end >> level & 1:
                self._left[level] = estimates[-1]
        return _prefixes(nodes, before, start, len(rows))

    def _estimate(self, row: Rows) -> NDArray[np.float64]:
        """The nodes that end at this tick, each from itself, its left child and the one before it here."""
        tick = self._passed + 1
        ended = (tick & -tick).bit_length()
        self._open += row
        sums = self._open[:ended] + self._noise.draw((ended, self._width), self._bits)
        self._open[:ended] = 0
        estimate = sums[0].astype(np.float64)
        for level in range(1, ended):
            weight = self._own_weights[level]
            estimate = weight * sums[level] + (1 - weight) * (self._left[level - 1] + estimate)
        self._left[ended - 1] = estimate
        digits = [level for level in range(ended - 1, len(self._left)) if tick >> level & 1]
        prefix: NDArray[np.float64] = self._left[digits].sum(axis=0)
        return prefix

    def _epoch_state(self) -> dict[str, Any]:
        return {"open": packed(self._open), "left": packed(self._left)}

    def _restore_epoch(self, state: Mapping[str, Any]) -> None:
        self._open = unpacked(state["open"], self._open.shape, np.int64)
        self._left = unpacked(state["left"], self._left.shape, np.float64)


def _prefixes(
    nodes: list[NDArray[np.float64]], before: NDArray[np.float64], start: int, ticks: int
) -> NDArray[np.float64]:
    """At each tick, the node that ends there and begins first, on top of the prefix before that node."""
    prefixes = np.empty((ticks + 1, before.shape[1]))
    known = before[[level for level in range(len(nodes), len(before)) if start >> level & 1]].sum(axis=0)
    for level in reversed(range(len(nodes))):
        first = (start >> level) + 1
        skipped = (first + 1) % 2  # the right children: their parents end there too, and begin before
        at = ((first + skipped) << level) - start
        lefts = prefixes[at :: 2 << level]
        if len(lefts):
            lefts[:] = nodes[level][skipped::2]
            lefts[0] += known if at <= 1 << level else prefixes[at - (1 << level)]
            lefts[1:] += prefixes[at + (1 << level) :: 2 << level][: len(lefts) - 1]
        if start >> level & 1:
            known = known + before[level]
    return prefixes[1:]


def _node_variances(levels: int) -> list[float]:
    """Of the estimates of each level, in units of the noise: 2^l / (2^(l+1) - 1)."""
    return [2**level / (2 ** (level + 1) - 1) for level in range(levels)]
