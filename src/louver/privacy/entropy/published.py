"""Min-entropy as MIDE publishes it: the recursion of Algorithm 5 with Algorithm 8, for comparison only.

As printed it keeps the higher of two entropies, where the least is wanted; and even with the lower one it is right for
a uniform prior only, because it assumes that the interval with the larger upper end lies around the others.
"""

from __future__ import annotations

import numpy as np

from louver import parameters
from louver.errors import ParameterError
from louver.privacy.entropy.beliefs import Floats, entropy, interval_ends, read_prices, read_prior

LARGEST_RECURSION_KEYS = 10_000
LARGEST_RECURSION = 2_000_000


def published_min_entropy(prices: object, prior: object = None, *, keep: object, decimals: object = None) -> float:
    """The entropy, in nats, at which MIDE Algorithm 5 arrives; only with keep="lower" and no prior is it the least.

    `keep` says which entropy survives each comparison: "higher" as printed, "lower" as the definition needs.
    `decimals` rounds slack and intervals, as the thesis does to 3: a smaller recursion and a rougher result.

    >>> round(published_min_entropy([0.1, 0.5, 1], keep="higher"), 4)
    0.8608
    >>> round(published_min_entropy([0.1, 0.5, 1], keep="lower"), 4)
    0.6822
    """
    survivor = {"higher": np.maximum, "lower": np.minimum}.get(keep if isinstance(keep, str) else "")
    if survivor is None:
        raise ParameterError('keep must be "higher" (as printed) or "lower" (as corrected).')
    places = None if decimals is None else parameters.integer("decimals", decimals, 1, 15)
    price = read_prices(prices)
    weight = read_prior(prior, price.size)
    if price.size > LARGEST_RECURSION_KEYS:
        raise ParameterError(
            f"The published recursion takes at most {LARGEST_RECURSION_KEYS} keys, not {price.size}; use min_entropy."
        )
    order = np.argsort(np.log(weight) + price, kind="stable")
    beliefs = interval_ends(price[order], weight[order], np.ones_like(order))
    low, high = _rounded(beliefs.low, places), _rounded(beliefs.high, places)
    slack = _rounded(np.array([max(1.0 - float(np.sum(low)), 0.0)]), places)
    return _recursion(low, high, slack, survivor, places)


def _recursion(low: Floats, high: Floats, slack: Floats, keep: np.ufunc, places: int | None) -> float:
    """All subproblems of one size at a time: slacks down from the largest size, entropies up from the smallest."""
    width = high - low
    room = _rounded(np.append(0.0, np.cumsum(width)), places)
    all_low, all_high = (np.append(0.0, np.cumsum(entropy(end))) for end in (low, high))
    slacks, subproblems = [slack], 1
    for last in range(low.size - 1, 0, -1):
        passed_on = np.concatenate([rest for _, rest in _options(slacks[-1], width[last], room[last], places)])
        # Algorithm 8: nothing to hand out, or just enough for all, needs no recursion.
        slacks.append(np.unique(passed_on[(passed_on > 0) & (passed_on != room[last])]))
        subproblems += slacks[-1].size
        if subproblems > LARGEST_RECURSION:
            raise ParameterError(
                f"The published recursion needs more than {LARGEST_RECURSION} subproblems for these prices; "
                "pass decimals=3 to round as the thesis does, or use min_entropy."
            )
    below = entropy(low[0] + slacks[-1])
    for last in range(1, low.size):
        solved, wanted = slacks[-last], slacks[-last - 1]
        found = []
        for given, rest in _options(wanted, width[last], room[last], places):
            inner = np.where(rest > 0, all_high[last], all_low[last])
            looked_up = (rest > 0) & (rest != room[last])
            inner[looked_up] = below[np.searchsorted(solved, rest[looked_up])]
            found.append(inner + entropy(low[last] + given))
        below = keep(*found)
    return float(below[0])


def _options(slack: Floats, width: float, room: float, places: int | None) -> list[tuple[Floats, Floats]]:
    """What the last key is given and what the others share: as much as it holds, or what the others cannot hold."""
    most, least = np.minimum(slack, width), slack - np.minimum(slack, room)
    return [(most, _rounded(slack - most, places)), (least, np.minimum(slack, room))]


def _rounded(values: Floats, places: int | None) -> Floats:
    return values if places is None else np.round(values, places)
