"""Noisy numbers of a tree made consistent: every node's estimate becomes the sum of its children's.

Two passes (Maruseac et al., Eq. 6-8; Hay et al. 2010). Upwards, a node's own number and the sum of its children's are
averaged by inverse variance. Downwards, what is left between a parent and its children is handed to the children in
proportion to their variances, which need not be equal, because children may differ in depth. Together this is weighted
least squares: no unbiased linear estimate of any region scatters less. It is post-processing and costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from louver.space.field import Floats, Integers


@dataclass(frozen=True)
class _Layer:
    """The nodes of one level that have parents, grouped by them."""

    children: slice
    parents: Integers  # one for each group
    starts: Integers  # where each group begins, counted from the layer's first node
    group: Integers  # the group of each child


class Tree:
    """Which node is whose child. Nodes are numbered level by level, and the children of one node stand together."""

    def __init__(self, parents: Integers) -> None:
        self.parents = parents
        self.levels = _levels(parents)
        self.leaves = np.setdiff1d(np.arange(len(parents)), parents)
        self._layers = [self._layer(level) for level in range(1, int(self.levels.max(initial=0)) + 1)]

    def _layer(self, level: int) -> _Layer:
        first, past = np.searchsorted(self.levels, [level, level + 1])
        owners, starts, group = np.unique(self.parents[first:past], return_index=True, return_inverse=True)
        return _Layer(slice(int(first), int(past)), owners, starts, group)

    def consistent(self, values: Floats, variances: Floats) -> Floats:
        """The estimate of each node, from its noisy value and those of all others; columns are worked on alike."""
        estimates = values.astype(np.float64)
        spread, below = self._spread(variances)
        column = (-1, *(1 for _ in values.shape[1:]))
        for layer in reversed(self._layers):
            sums = np.add.reduceat(estimates[layer.children], layer.starts)
            # own / (own + below), the weight of the children, is the combined variance over that of the children
            weight = (spread[layer.parents] / below[layer.parents]).reshape(column)
            estimates[layer.parents] += weight * (sums - estimates[layer.parents])
        for layer in self._layers:
            residual = estimates[layer.parents] - np.add.reduceat(estimates[layer.children], layer.starts)
            estimates[layer.children] += self._shares(layer, spread, below).reshape(column) * residual[layer.group]
        return estimates

    def variances(self, variances: Floats) -> Floats:
        """How much each node's estimate scatters, which is at most as much as its noisy value."""
        spread, below = self._spread(variances)
        found = spread.copy()
        for layer in self._layers:
            shares = self._shares(layer, spread, below)
            from_above = found[layer.parents] - below[layer.parents]
            found[layer.children] = spread[layer.children] + shares**2 * from_above[layer.group]
        return found

    def influence(self, weights: Floats, variances: Floats) -> Floats:
        """How much each node's noise adds to the variance of weighted sums of the leaves' estimates.

        Each column of `weights` has one for every leaf, and each column of the result adds up to a variance. Least
        squares solves H x = A' (z / v) for noisy z of variances v, so that w' x = (A H^-1 w)' (z / v). With z = v w at
        the leaves and 0 elsewhere the right side is w, and the same two passes give A H^-1 w.
        """
        loaded = np.zeros((len(self.parents), weights.shape[1]))
        loaded[self.leaves] = weights * variances[self.leaves, None]
        return np.asarray(self.consistent(loaded, variances) ** 2 / variances[:, None])

    def fourths(self, variances: Floats) -> Floats:
        """For each node, the sum over all noise in its estimate of the square of what it adds to the variance.

        Upwards a node's best from below is z = a own + (1 - a) sum of its children's z. Downwards an estimate is A z
        and noise from elsewhere: of a child with the share s, A is 1 + s k with k = A (1 - a) - 1 of its parent, and
        the rest is s times what the parent's own number, the other children and the parent's rest bring.
        """
        spread, below = self._spread(variances)
        own = variances.astype(np.float64) ** 2
        up, among = own.copy(), np.zeros(len(self.parents))
        weight = np.ones(len(self.parents))  # a
        for layer in reversed(self._layers):
            under = np.add.reduceat(up[layer.children], layer.starts)
            children = spread[layer.parents] / below[layer.parents]  # 1 - a
            weight[layer.parents], among[layer.parents] = 1 - children, under
            up[layer.parents] = (1 - children) ** 4 * own[layer.parents] + children**4 * under
        kept, rest = np.ones(len(self.parents)), np.zeros(len(self.parents))
        for layer in self._layers:
            above = layer.parents
            passed = kept[above] * (1 - weight[above]) - 1  # k
            brought = (kept[above] * weight[above]) ** 4 * own[above] + passed**4 * among[above] + rest[above]
            shares, group = self._shares(layer, spread, below), layer.group
            kept[layer.children] = 1 + shares * passed[group]
            rest[layer.children] = shares**4 * (brought[group] - passed[group] ** 4 * up[layer.children])
        return np.asarray(kept**4 * up + rest)

    def _spread(self, variances: Floats) -> tuple[Floats, Floats]:
        """For each node, the variance of all that is known at and below it, and that of its children's sum."""
        spread, below = variances.astype(np.float64), np.zeros(len(self.parents))
        for layer in reversed(self._layers):
            under = np.add.reduceat(spread[layer.children], layer.starts)
            own = spread[layer.parents]
            below[layer.parents] = under
            spread[layer.parents] = own * under / (own + under)
        return spread, below

    def _shares(self, layer: _Layer, spread: Floats, below: Floats) -> Floats:
        """Each child's part of what its parent's children scatter together."""
        return np.asarray(spread[layer.children] / below[layer.parents][layer.group])


def _levels(parents: Integers) -> Integers:
    """The level of each node, that of a node without a parent being 0."""
    levels = np.zeros(len(parents), dtype=np.int64)
    first, past = 0, int(np.count_nonzero(parents < 0))
    level = 0
    while past < len(parents):
        level += 1
        first, past = past, past + int(np.count_nonzero((parents[past:] >= first) & (parents[past:] < past)))
        levels[first:past] = level
        if first == past:
            raise ValueError("nodes must be numbered level by level")
    return levels
