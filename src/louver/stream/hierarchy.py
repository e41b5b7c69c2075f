"""Totals that add up: counts of places, of floors, of the building, each with its own noise, made consistent per tick.

Every node of a public tree of h levels is a region of one inner stream of epsilon/h. A unit is counted at its leaf and
at each node above it, h nodes at most, so it pays epsilon in all: h times the inner stream's price (`Hierarchy.price`).
Then, at each tick and from released values only, a node's value is joined with the sum of its children, each weighted
by one over its variance, and what is left over is shared among the children in proportion to their variances (Hay,
Rastogi, Miklau and Suciu 2010, with unequal variances). For independent noise of those variances it is the best linear
estimate: so with `inner="laplace"`. For smoothed values the variances are estimates; PeGaSus' leave out how much the
counts of a group differ, and where they differ much, joining can make totals worse. Children then sum to their parent.

Nodes are pruned by nobody: what is not worth releasing can be left out afterwards, at no cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from louver import parameters
from louver.errors import ParameterError
from louver.noise import Bits
from louver.noise.bits import SYSTEM
from louver.noise.grid import LARGEST_STEPS
from louver.privacy import Pure
from louver.stream.laplace import Laplace, scale_of, stated
from louver.stream.mechanism import LARGEST_REGIONS, Mechanism, Rows, alike
from louver.stream.pegasus import Pegasus
from louver.stream.segment import Segment
from louver.stream.smoothed import Floats, Smoothed

INNER: dict[str, Callable[..., Laplace | Smoothed]] = {"segment": Segment, "pegasus": Pegasus, "laplace": Laplace}
LARGEST_HEIGHT = 32


class Hierarchy(Mechanism):
    """Counts of the leaves go in; a value for every node comes out, and children sum to their parent.

    `parents[i]` is the parent of node i, None for a root, and comes before its children. Leaves are the nodes that are
    nobody's parent, in the order of their numbers.

    >>> floors = Hierarchy(epsilon=200, parents=[None, 0, 0])
    >>> [round(value) for value in floors.update([3, 4])]
    [7, 3, 4]
    """

    kind: ClassVar[str] = "hierarchy"

    def __init__(
        self,
        epsilon: parameters.Number | str,
        parents: Sequence[int | None],
        *,
        inner: str = "segment",
        sensitivity: int = 1,
        options: Mapping[str, Any] | None = None,
        bits: Bits = SYSTEM,
    ) -> None:
        self.parents, self.height = _checked(parents)
        self._children = children_of(self.parents)
        nodes = len(self.parents)
        self.leaves = [node for node in range(nodes) if node not in self._children]
        super().__init__(len(self.leaves), high=LARGEST_STEPS // len(self.leaves), bits=bits)
        if inner not in INNER:
            raise ParameterError(f"inner is one of {', '.join(INNER)}.")
        self.epsilon, self.inner = stated("epsilon", epsilon), inner
        self.options = dict(options or {})
        self._stream = INNER[inner](
            self.epsilon / self.height, nodes, sensitivity=sensitivity, bits=bits, **self.options
        )
        self.deviations = np.empty((0, nodes))
        """Of the nodes of the last call, before they are joined, which makes them no larger where noise is all."""

    @property
    def rate(self) -> Fraction:
        """Of the fresh noise on each node."""
        return self._stream.rate  # type: ignore[union-attr]

    @property
    def price(self) -> Pure:
        return Pure(self.epsilon)

    def _released(self, rows: Rows) -> Floats:
        counted = np.zeros((len(rows), len(self.parents)), dtype=np.int64)
        counted[:, self.leaves] = rows
        for parent, below in self._children.items():
            counted[:, parent] = counted[:, below].sum(axis=1)
        values, variances = self._measured(counted)
        self.deviations = np.sqrt(np.broadcast_to(variances, values.shape))
        return consistent(values, variances, self._children)

    def _nothing(self, rows: Rows) -> Floats:  # noqa: ARG002
        self.deviations = np.empty((0, len(self.parents)))
        return self.deviations.copy()

    def _measured(self, counted: Rows) -> tuple[Floats, Floats]:
        """Every node's own value at each tick, and how much it scatters: always the same where noise is fresh."""
        values = self._stream.run(counted)
        if isinstance(self._stream, Laplace):
            return values, self._stream.variances()
        trace = self._stream.trace
        if trace.variances is not None:
            return values, trace.variances
        return values, 2 * scale_of(self.rate) ** 2 / trace.lengths  # of PeGaSus, as its own `variances`

    def _parameters(self) -> dict[str, Any]:
        return {
            "epsilon": str(self.epsilon),
            "parents": list(self.parents),
            "inner": self.inner,
            "sensitivity": self._stream.sensitivity,
            "options": self.options,
        }

    def _state(self) -> dict[str, Any]:
        return self._stream.to_dict()

    def _restore(self, state: Mapping[str, Any]) -> None:
        restored = type(self._stream).from_dict(state, bits=self._bits)
        self._stream = alike(restored, self._stream, self.ticks)


def children_of(parents: Sequence[int | None]) -> dict[int, list[int]]:
    """The children of each node that has some, the lowest parents first."""
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        if parent is not None:
            children.setdefault(parent, []).append(node)
    return {parent: children[parent] for parent in sorted(children, reverse=True)}


def consistent(values: Floats, variances: Floats, children: dict[int, list[int]]) -> Floats:
    """Up: each node's value joined with its children's sum. Down: what a parent has more or less than its children.

    The last axis has the nodes; others, such as ticks, go along.
    """
    joined, uncertain = values.astype(np.float64), variances.astype(np.float64)
    for parent, below in children.items():
        total, spread = joined[..., below].sum(axis=-1), uncertain[..., below].sum(axis=-1)
        weight = spread / (spread + uncertain[..., parent])
        joined[..., parent] = weight * joined[..., parent] + (1 - weight) * total
        uncertain[..., parent] *= weight
    for parent, below in reversed(children.items()):
        left = joined[..., parent] - joined[..., below].sum(axis=-1)
        shares = uncertain[..., below] / uncertain[..., below].sum(axis=-1, keepdims=True)
        joined[..., below] += left[..., None] * shares
    return joined


def _checked(parents: object) -> tuple[tuple[int | None, ...], int]:
    """The tree, and how many levels it has."""
    if not isinstance(parents, list | tuple) or not 1 <= len(parents) <= LARGEST_REGIONS:
        raise ParameterError("parents must be a list with the parent of each node, None for a root.")
    depths: list[int] = []
    for node, parent in enumerate(parents):
        if parent is not None and (type(parent) is not int or not 0 <= parent < node):
            raise ParameterError("Each node's parent must be the number of a node before it, or None for a root.")
        depths.append(1 if parent is None else depths[parent] + 1)
    return tuple(parents), parameters.integer("The number of levels", max(depths), 1, LARGEST_HEIGHT)
