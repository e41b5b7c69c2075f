"""Min-entropy of predicate-wise prices: how unsure an attacker must remain about which key a record belongs to.

The price ε_i of key i and the attacker's prior weight q_i keep the attacker's belief p_i between
q_i exp(-ε_i)/Σ q exp(ε) and q_i exp(ε_i)/Σ q exp(-ε) (MIDE lemma A.1). The metric is the least Σ -p ln p over such
beliefs with Σ p = 1 (MIDE definition 5.4). It ranks sets of prices; what is promised is the prices themselves.

The sum is concave, so an optimum is a vertex: each belief at an end of its interval, except at most one, the pivot.
At some optimum no exchange of mass between the pivot, at p in [l, u], and a key with interval [a, b] helps. Hence
  if a > l and b > u, the key is at its upper end; if a < l and b < u, at its lower end;
  if [a, b] is inside [l, u], it is at its lower end only if p >= b, and at its upper end only if p <= a;
  if [a, b] is around [l, u], it may be at either end.
So a vertex is a pivot, a gap between the intervals inside the pivot's, and an end for each key around the pivot.
The search branches on those ends, best bound first; keys with the same interval form one group.

Uniform prior (`Nested`): l u = g² for all keys, so intervals nest, and the keys cheaper than the pivot are all at the
lower or all at the upper end. Lifting a key by x costs at least D(x), the cost of lifting the interval of width x
around g all the way. D is concave, so by majorization a given mass costs least when it lifts the widest keys all the
way while they fit, and one key of just the width that remains. The bound is off only in that no such key may exist;
`Nested._last_lift` allows for that.

Other priors (`Pivot`): one search per pivot and gap. The bound takes the secant of the pivot's entropy over the part
of the gap within reach, and may cut one of the keys around the pivot: a fractional knapsack.

Arithmetic is in floats. `Intervals.doubt` bounds what rounding can do; the result is widened by it on both sides.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from louver import parameters
from louver.privacy.entropy_published import (
    ROUNDING,
    TINY,
    Floats,
    Intervals,
    Whole,
    intervals,
    read_prices,
    read_prior,
    running_sums,
)

LARGEST_NODE_LIMIT = 10**8
# Listing the pivots of a prior costs the square of the number of groups; beyond this the relaxation has to do.
MOST_PIVOTS = 2000


@dataclass(frozen=True, slots=True)
class MinEntropy:
    """The least entropy, in nats, that the attacker's belief over the keys can have.

    lower <= true minimum <= value, rounding included. Where exact, rounding alone separates the two; otherwise value
    is the best vertex found before the search gave up.
    """

    value: float
    lower: float
    exact: bool
    keys: int
    nodes: int

    @property
    def normalised(self) -> float:
        """The share of the largest uncertainty, ln(keys), that is left; 0 for one key, where nothing is uncertain."""
        return min(self.value / math.log(self.keys) * (1 + 4 * ROUNDING), 1.0) if self.keys > 1 else 0.0

    @property
    def lower_normalised(self) -> float:
        return self.lower / math.log(self.keys) * (1 - 4 * ROUNDING) if self.keys > 1 else 0.0


def min_entropy(prices: object, prior: object = None, node_limit: object = 2_000) -> MinEntropy:
    """Min-entropy of one price per key, under a uniform prior or one positive weight per key.

    The search gives up after bounding `node_limit` branches, in about a second, with what it has proved so far; 0 asks
    for the first bound only.

    >>> found = min_entropy([0.1, 0.5, 1])
    >>> round(found.value, 9), found.exact
    (0.682224786, True)
    """
    limit = parameters.integer("node_limit", node_limit, 0, LARGEST_NODE_LIMIT)
    price = read_prices(prices)
    weight = read_prior(prior, price.size)
    if price.size == 1:
        return MinEntropy(0.0, 0.0, True, 1, 0)
    search = _search_nested if weight.min() == weight.max() else _search_pivots
    found = search(intervals(price, weight), limit)
    return MinEntropy(
        value=min(found.best + found.doubt, math.nextafter(math.log(price.size), math.inf)),
        lower=max(min(found.best, found.bound) - found.doubt, 0.0),
        exact=found.bound >= found.best - found.doubt,
        keys=price.size,
        nodes=found.nodes,
    )


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


def _search(roots: Iterator[tuple[Case, Branch]], best: float, doubt: float, limit: int) -> Found:
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


class Nested:
    """All vertices under a uniform prior, but for pivots wider than all the slack: expanding the root sees to those."""

    def __init__(self, beliefs: Intervals) -> None:
        self.beliefs, self.width = beliefs, beliefs.high - beliefs.low
        self.gain = beliefs.lift(slice(None), self.width)
        # A key wider than all the slack can be the pivot but never be lifted all the way.
        usable = self.width <= beliefs.slack
        self.free = Free(self.width * usable, self.gain * usable, beliefs.count)
        self.later_width = running_sums((beliefs.count * self.width)[::-1])[-2::-1]
        self.later_gain = running_sums((beliefs.count * self.gain)[::-1])[-2::-1]
        self.blur = beliefs.blur(float(self.free.start[-1]))
        # With l = g exp(-t) and u = g exp(t), the slope of D at the width u - l is -(1 + ln g + t tanh t).
        t = np.log(np.maximum(beliefs.high, TINY)) - beliefs.log_centre
        self.slope = -(1 + beliefs.log_centre + t * self.width / np.maximum(beliefs.high + beliefs.low, TINY))

    def bound(self, branch: Branch) -> Floats:
        fill = self.free.fill(branch, branch.rest)
        fits = (branch.rest >= -self.blur) & (self.free.at(branch) + branch.rest <= self.free.start[-1] + self.blur)
        return np.where(fits, fill.cost + self._last_lift(np.maximum(fill.left, 0.0)), np.inf)

    def _last_lift(self, mass: Floats) -> Floats:
        """D, raised where no key has that width, as far as it stays concave and below every lift there is.

        Between two neighbouring widths: the least of the tangents of D at both and the lift of the wider key.
        """
        wider = np.maximum(np.searchsorted(-self.width, -mass, "right") - 1, 0)
        narrower = np.minimum(wider + 1, self.width.size - 1)
        cost = self.beliefs.lift(wider, mass)
        for key, known in ((wider, self.free.width[wider] > 0), (narrower, narrower > wider)):
            tangent = self.gain[key] + self.slope[key] * (mass - self.width[key])
            cost = np.where(known, np.minimum(cost, tangent), cost)
        return cost

    def expand(self, branch: Branch) -> tuple[float, Branch]:
        fill = self.free.fill(branch, branch.rest)
        cut, left, cost = int(fill.cut[0]), float(fill.left[0]), float(fill.cost[0])
        stages = self.free.stages(branch, cut)
        narrow = max(int(np.searchsorted(-self.width, -(left + self.blur))), cut + 1)
        wide = np.arange(cut + 1, narrow)
        beyond = Branch(wide, np.zeros_like(wide), np.full(wide.size, left), np.full(wide.size, cost))
        branches = [self.free.skips(stages)]
        if fill.taken[0]:
            fewer = self.beliefs.count[cut] - int(fill.taken[0]) + 1
            branches.append(stages.one(cut - int(branch.group[0]))._replace(seen=np.array([fewer])))
        if narrow < self.width.size:
            branches.append(_branch(narrow, 0, left, cost))
        return self._best_pivot(_join(stages, beyond)), _join(*branches)

    def _best_pivot(self, at: Branch) -> float:
        """The best vertex with a pivot in the group where a beginning stops, and later keys all low or all high."""
        group, width, unseen = at.group, self.width[at.group], self.beliefs.count[at.group] - at.seen
        best = math.inf
        for rest, cost in ((at.rest, at.cost), (at.rest - self.later_width[group], at.cost + self.later_gain[group])):
            taken = np.clip(np.floor(rest / np.maximum(width, TINY)), 0, np.maximum(unseen - 1, 0))
            mass = rest - taken * width
            fits = (unseen > 0) & (mass >= -self.blur) & (mass <= width + self.blur)
            found = cost + taken * self.gain[group] + self.beliefs.lift(group, np.maximum(mass, 0.0))
            best = min(best, float(np.min(found, where=fits, initial=math.inf)))
        return best


class Pivot:
    """All vertices with one pivot in one gap: it rises by `least` to `most`, and only the keys around it are free."""

    def __init__(self, beliefs: Intervals, pivot: int, free: Free, least: float, most: float, blur: float) -> None:
        self.beliefs, self.pivot, self.free = beliefs, np.array([pivot]), free
        self.least, self.most, self.blur = least, most, blur
        self.width = float(beliefs.high[pivot] - beliefs.low[pivot])

    def bound(self, branch: Branch) -> Floats:
        return self._relax(branch)[0]

    def expand(self, branch: Branch) -> tuple[float, Branch]:
        free = self.free
        fill = free.fill(branch, self._relax(branch)[1])
        cut, taken = int(fill.cut[0]), int(fill.taken[0])
        stages = free.stages(branch, cut)
        group, seen, rest, cost = stages.one(stages.group.size - 1)
        unseen = int(free.count[cut] - seen[0])
        branches = [free.skips(stages)]
        if unseen:
            more = min(taken + 1, unseen)
            lifted = Branch(group, seen + more, rest - more * free.width[cut], cost + more * free.gain[cut])
            branches += [lifted, Branch(group, seen + unseen - more + 1, rest, cost)]
        elif cut + 1 < free.width.size:
            branches.append(Branch(group + 1, np.zeros_like(seen), rest, cost))
        lifts = np.arange(taken, min(taken + 1, unseen) + 1)
        mass = rest - lifts * free.width[cut]
        fits = (mass >= -self.blur) & (mass <= self.width + self.blur)
        found = cost + lifts * free.gain[cut] + self.beliefs.lift(self.pivot, np.maximum(mass, 0.0))
        return float(np.min(found, where=fits, initial=math.inf)), _join(*branches)

    def _relax(self, branch: Branch) -> tuple[Floats, Floats]:
        """The knapsack's bound, and the mass it gives to the free keys."""
        free, at = self.free, self.free.at(branch)
        least = np.maximum(self.least, branch.rest - (free.start[-1] - at))
        most = np.minimum(self.most, branch.rest)
        fits = least <= most + 2 * self.blur
        least, most = np.maximum(least, 0.0), np.maximum(np.maximum(least, most), 0.0)
        lift = self.beliefs.lift(self.pivot, least)
        slope = (self.beliefs.lift(self.pivot, most) - lift) / np.maximum(most - least, TINY)
        better = free.start[np.searchsorted(free.slope, slope)]
        mass = np.clip(branch.rest - (better - at), least, most)
        fill = free.fill(branch, branch.rest - mass)
        bound = fill.cost + fill.left * free.slope[fill.cut] + lift + slope * (mass - least)
        return np.where(fits, bound, np.inf), branch.rest - mass


def _pivots(beliefs: Intervals, blur: float) -> Iterator[tuple[Case, Branch]]:
    """Every pivot with every gap that the mass can reach."""
    by_low = np.argsort(beliefs.low, kind="stable")
    low, high, count = beliefs.low[by_low], beliefs.high[by_low], beliefs.count[by_low]
    sorted_beliefs = replace(beliefs, low=low, high=high, count=count)
    width = high - low
    gain = sorted_beliefs.lift(slice(None), width)
    by_slope = np.argsort(gain / np.maximum(width, TINY), kind="stable")
    for pivot in range(low.size):
        around = (low <= low[pivot]) & (high >= high[pivot])
        inside = np.flatnonzero((low >= low[pivot]) & (high <= high[pivot]) & ~around)
        above = (low > low[pivot]) & (high > high[pivot])
        lifted, paid = (float(np.sum((count * part)[above])) for part in (width, gain))
        rest = beliefs.slack - lifted - running_sums((count * width)[inside][::-1])[::-1]
        cost = beliefs.floor + paid + running_sums((count * gain)[inside][::-1])[::-1]
        least = np.append(low[pivot], np.maximum.accumulate(high[inside])) - low[pivot]
        most = np.append(low[inside], high[pivot]) - low[pivot]
        chosen = by_slope[around[by_slope]]
        chosen = chosen[width[chosen] <= rest[-1] + blur]
        others = count[chosen] - (chosen == pivot)
        free = Free(np.append(width[chosen], 0.0), np.append(gain[chosen], 0.0), np.append(others, 0))
        free.slope[-1] = free.slope[max(chosen.size - 1, 0)]
        fits = (least <= most) & (rest >= least - 2 * blur) & (rest - free.start[-1] <= most + 2 * blur)
        for gap in np.flatnonzero(fits):
            case = Pivot(sorted_beliefs, pivot, free, float(least[gap]), float(most[gap]), blur)
            yield case, _branch(0, 0, float(rest[gap]), float(cost[gap]))


def _search_nested(beliefs: Intervals, limit: int) -> Found:
    low = np.maximum.accumulate(beliefs.low)
    case = Nested(replace(beliefs, low=low, high=np.maximum(np.minimum.accumulate(beliefs.high), low)))
    root = _branch(0, 0, beliefs.slack, beliefs.floor)
    best, branches = case.expand(root)
    bound, doubt = float(case.bound(root)[0]), case.free.doubt(beliefs)
    if bound >= best - doubt or not limit:
        return Found(best, bound, doubt, 1)
    return _search(iter([(case, branches)]), best, doubt, limit)


def _search_pivots(beliefs: Intervals, limit: int) -> Found:
    best, bound, free = _relaxation(beliefs)
    doubt = free.doubt(beliefs)
    if bound >= best - doubt or not limit or beliefs.low.size > MOST_PIVOTS:
        return Found(best, bound, doubt, 1)
    found = _search(_pivots(beliefs, beliefs.blur(float(free.start[-1]))), best, doubt, limit)
    return found._replace(bound=max(bound, found.bound))


def _relaxation(beliefs: Intervals) -> tuple[float, float, Free]:
    """The entropy of the vertex that a fractional knapsack over all keys rounds to, the knapsack's bound, its keys.

    No key can rise by more than the slack, so the secants end there.
    """
    width = np.minimum(beliefs.high - beliefs.low, beliefs.slack)
    gain = beliefs.lift(slice(None), width)
    order = np.argsort(gain / np.maximum(width, TINY), kind="stable")
    free = Free(width[order], gain[order], beliefs.count[order])
    root = _branch(0, 0, beliefs.slack, beliefs.floor)
    fill = free.fill(root, root.rest)
    best = fill.cost + beliefs.lift(order[fill.cut], np.maximum(fill.left, 0.0))
    return float(best[0]), float((fill.cost + fill.left * free.slope[fill.cut])[0]), free


def _branch(group: int, seen: int, rest: float, cost: float) -> Branch:
    return Branch(np.array([group]), np.array([seen]), np.array([rest]), np.array([cost]))


def _join(*branches: Branch) -> Branch:
    return Branch(*(np.concatenate(parts) for parts in zip(*branches, strict=True)))
