"""Best-bound-first search over vertices: keys that may be at either end of their interval, and branches of choices."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from louver.privacy.entropy.beliefs import TINY, Floats, Intervals, Whole, running_sums


class Found(NamedTuple):
    """The best vertex's entropy, a bound on every vertex's, what rounding may do to both, and the branches bounded."""

    best: float
    bound: float
    doubt: float
    nodes: int


class Branch(NamedTuple):
    """Vertices with the same beginning: settled up to `seen` keys of `group`, with `rest` mass still to hand out."""

    group: Whole
    seen: Whole
    rest: Floats
    cost: Floats

    def one(self, index: int) -> Branch:
        at = slice(index, index + 1)
        return Branch(self.group[at], self.seen[at], self.rest[at], self.cost[at])


class Fill(NamedTuple):
    """Mass handed out key after key: the group it ends in, keys lifted there, what is left for one more, the cost."""

    cut: Whole
    taken: Whole
    left: Floats
    cost: Floats


class Free:
    """Keys that may be at either end, by group, in the order in which they are lifted."""

    def __init__(self, width: Floats, gain: Floats, count: Whole) -> None:
        self.width, self.gain, self.count = width, gain, count
        self.slope = gain / np.maximum(width, TINY)
        self.start, self.cost = running_sums(count * width), running_sums(count * gain)

    def doubt(self, beliefs: Intervals) -> float:
        return beliefs.doubt(float(self.start[-1]), float(np.sum(self.count * np.abs(self.gain))))

    def at(self, branch: Branch) -> Floats:
        return np.asarray(self.start[branch.group] + branch.seen * self.width[branch.group])

    def fill(self, branch: Branch, mass: Floats) -> Fill:
        at = self.at(branch)
        end = at + mass
        cut = np.clip(np.searchsorted(self.start, end, "right") - 1, branch.group, self.width.size - 1)
        same = cut == branch.group
        begin = np.where(same, at, self.start[cut])
        unseen = self.count[cut] - np.where(same, branch.seen, 0)
        taken = np.clip(np.floor((end - begin) / np.maximum(self.width[cut], TINY)), 0, unseen).astype(np.int64)
        before = np.where(same, 0.0, self.cost[cut] - self.cost[branch.group] - branch.seen * self.gain[branch.group])
        return Fill(cut, taken, end - begin - taken * self.width[cut], branch.cost + before + taken * self.gain[cut])

    def stages(self, branch: Branch, cut: int) -> Branch:
        """The beginnings that lift all that is unseen before one of the groups up to the cut."""
        group = np.arange(int(branch.group[0]), cut + 1)
        here = group == branch.group
        rest = branch.rest - np.where(here, 0.0, self.start[group] - self.at(branch))
        before = self.cost[group] - self.cost[branch.group] - branch.seen * self.gain[branch.group]
        return Branch(group, np.where(here, branch.seen, 0), rest, branch.cost + np.where(here, 0.0, before))

    def skips(self, stages: Branch) -> Branch:
        """For each group before the cut, the vertices that do not lift all of it: one more key stays low."""
        group, seen = stages.group[:-1], stages.seen[:-1]
        some = np.flatnonzero((seen < self.count[group]) & (self.width[group] > 0))
        return Branch(group[some], seen[some] + 1, stages.rest[some], stages.cost[some])


class Case(Protocol):
    def bound(self, branch: Branch) -> Floats:
        """No vertex of the branch has a lower entropy."""

    def expand(self, branch: Branch) -> tuple[float, Branch]:
        """The entropy of one or more vertices of a single branch, and branches with all its other vertices."""


def search(roots: Iterator[tuple[Case, Branch]], best: float, doubt: float, limit: int) -> Found:
    """Best bound first; what is dropped cannot beat the best vertex by more than rounding."""
    heap: list[tuple[float, int, Case, Branch]] = []
    order, nodes = itertools.count(), 0

    def push(case: Case, branches: Branch) -> None:
        bounds = case.bound(branches)
        for index in np.flatnonzero(bounds < best - doubt):
            heapq.heappush(heap, (float(bounds[index]), next(order), case, branches.one(int(index))))

    for case, root in roots:
        push(case, root)
        nodes += root.group.size
    while heap and heap[0][0] < best - doubt and nodes < limit:
        _, _, case, branch = heapq.heappop(heap)
        entropy_found, branches = case.expand(branch)
        best = min(best, entropy_found)
        push(case, branches)
        nodes += branches.group.size
    return Found(best, min(heap[0][0], best - doubt) if heap else best - doubt, doubt, nodes)


def single(group: int, seen: int, rest: float, cost: float) -> Branch:
    return Branch(np.array([group]), np.array([seen]), np.array([rest]), np.array([cost]))


def join(*branches: Branch) -> Branch:
    return Branch(*(np.concatenate(parts) for parts in zip(*branches, strict=True)))
