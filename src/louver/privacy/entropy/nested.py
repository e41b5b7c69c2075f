"""The search under a uniform prior, where intervals nest.

l u = g² for all keys, so the keys cheaper than the pivot are all at the lower or all at the upper end. Lifting a key by
x costs at least D(x), the cost of lifting the interval of width x around g all the way. D is concave, so by
majorization a given mass costs least when it lifts the widest keys all the way while they fit, and one key of just the
width that remains. The bound is off only in that no such key may exist; `Nested._last_lift` allows for that.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from louver.privacy.entropy.beliefs import TINY, Floats, Intervals, running_sums
from louver.privacy.entropy.search import Branch, Found, Free, join, search, single


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
            branches.append(single(narrow, 0, left, cost))
        return self._best_pivot(join(stages, beyond)), join(*branches)

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


def search_nested(beliefs: Intervals, limit: int) -> Found:
    low = np.maximum.accumulate(beliefs.low)
    case = Nested(replace(beliefs, low=low, high=np.maximum(np.minimum.accumulate(beliefs.high), low)))
    root = single(0, 0, beliefs.slack, beliefs.floor)
    best, branches = case.expand(root)
    bound, doubt = float(case.bound(root)[0]), case.free.doubt(beliefs)
    if bound >= best - doubt or not limit:
        return Found(best, bound, doubt, 1)
    return search(iter([(case, branches)]), best, doubt, limit)
