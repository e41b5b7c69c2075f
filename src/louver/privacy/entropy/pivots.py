"""The search under any other prior: one search per pivot and gap.

The bound takes the secant of the pivot's entropy over the part of the gap within reach, and may cut one of the keys
around the pivot: a fractional knapsack.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from louver.privacy.entropy.beliefs import TINY, Floats, Intervals, running_sums
from louver.privacy.entropy.search import Branch, Case, Found, Free, join, search, single

# Listing the pivots of a prior costs the square of the number of groups; beyond this the relaxation has to do.
MOST_PIVOTS = 2000


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
        return float(np.min(found, where=fits, initial=math.inf)), join(*branches)

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
            yield case, single(0, 0, float(rest[gap]), float(cost[gap]))


def search_pivots(beliefs: Intervals, limit: int) -> Found:
    best, bound, free = _relaxation(beliefs)
    doubt = free.doubt(beliefs)
    if bound >= best - doubt or not limit or beliefs.low.size > MOST_PIVOTS:
        return Found(best, bound, doubt, 1)
    found = search(_pivots(beliefs, beliefs.blur(float(free.start[-1]))), best, doubt, limit)
    return found._replace(bound=max(bound, found.bound))


def _relaxation(beliefs: Intervals) -> tuple[float, float, Free]:
    """The entropy of the vertex that a fractional knapsack over all keys rounds to, the knapsack's bound, its keys.

    No key can rise by more than the slack, so the secants end there.
    """
    width = np.minimum(beliefs.high - beliefs.low, beliefs.slack)
    gain = beliefs.lift(slice(None), width)
    order = np.argsort(gain / np.maximum(width, TINY), kind="stable")
    free = Free(width[order], gain[order], beliefs.count[order])
    root = single(0, 0, beliefs.slack, beliefs.floor)
    fill = free.fill(root, root.rest)
    best = fill.cost + beliefs.lift(order[fill.cut], np.maximum(fill.left, 0.0))
    return float(best[0]), float((fill.cost + fill.left * free.slope[fill.cut])[0]), free
