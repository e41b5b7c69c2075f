"""Several rounds of reporting made into one map: what is released in each round is filtered, at no further price.

Each round is a map of its own, on the same grid. A cell's count and sum are taken to wander from round to round by a
public standard deviation, the drift, and the estimate after the last round is that of the Kalman filter: the best
linear one for such a walk. Without drift it is the mean of all rounds, and scatters as one map of 1/R of the variance.

Counts and sums are those of one round, not of all of them together.

Price: a unit that reports in every round pays the sum of all rounds' prices; one that reports in some pays for those.
Nothing here looks at data, so nothing is added. What it does not promise: that the drift is right. Too small a drift
makes the map late, too large a drift makes it noisy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

import numpy as np

from louver import parameters
from louver.errors import ParameterError
from louver.privacy.guarantee import compose
from louver.space.field import Floats
from louver.space.measure import Measured
from louver.space.released import MARK, Map

LARGEST_DRIFT = 10**15


def combined(rounds: Sequence[Map], *, count_drift: parameters.Number = 0, sum_drift: parameters.Number = 0) -> Map:
    """The map after the last of these rounds, oldest first.

    `count_drift` is how much a cell's number of readings changes from round to round, `sum_drift` how much the sum of
    their values above the middle of the range does, both as standard deviations.
    """
    every = list(rounds)
    if not every or not all(isinstance(each, Map) for each in every):
        raise ParameterError("Rounds are combined from a list of one map or more.")
    first = every[0]
    for number, each in enumerate(every, 1):
        if each.depth:
            raise ParameterError(
                f"Rounds are combined on one grid, and map {number} has cells within cells; build each round as a "
                "uniform or cut map with a public number of readings."
            )
        if not _alike(first, each):
            raise ParameterError(
                f"Rounds are combined on one grid that stays the same, and map {number} differs from the first; build "
                "each round of the same columns, with the same bounds, values, epsilon and number of readings."
            )
    marks = [mark for each in every for mark in each.marks or (_mark(each),)]
    if len(set(marks)) < len(marks):
        raise ParameterError("Rounds are combined once each, and one of these is there twice.")
    if first.alone and sum_drift:
        raise ParameterError("A map of counts alone has no sums that drift; leave sum_drift out.")
    wander = float(parameters.within("count_drift", count_drift, 0, LARGEST_DRIFT)) ** 2
    wander_of_sums = (float(parameters.within("sum_drift", sum_drift, 0, LARGEST_DRIFT)) / first.step) ** 2
    counts, count_variances = _filtered([(each.noisy.counts, each.noisy.count_variances) for each in every], wander)
    sums, sum_variances = counts, count_variances
    if not first.alone:
        sums, sum_variances = _filtered([(each.noisy.sums, each.noisy.sum_variances) for each in every], wander_of_sums)
    noisy = Measured(np.round(counts, 6), np.round(sums, 6), count_variances, sum_variances)
    prices = [price for each in every for price in each.rounds or (each.price,)]
    if len(prices) == 1:
        return replace(first, noisy=noisy)
    return replace(first, price=compose(*prices), noisy=noisy, rounds=tuple(prices), marks=tuple(marks))


def _filtered(rounds: Sequence[tuple[Floats, Floats]], wander: float) -> tuple[Floats, Floats]:
    """The estimates after the last round, and their variances."""
    (estimates, variances), *later = rounds
    for values, noise in later:
        before = variances + wander
        gain = before / (before + noise)
        estimates = estimates + gain * (values - estimates)
        variances = before * (1 - gain)
    return estimates, variances


def _mark(released: Map) -> str:
    """The same for the same noisy numbers, and for no others."""
    numbers = (each + 0.0 for each in (released.noisy.counts, released.noisy.sums))  # -0.0 is 0
    return sha256(b"".join(each.tobytes() for each in numbers)).hexdigest()[:MARK]


def _alike(one: Map, other: Map) -> bool:
    return (
        (one.bounds, one.columns, one.rows, one.values, one.centre, one.about)
        == (other.bounds, other.columns, other.rows, other.values, other.centre, other.about)
        and np.array_equal(one.rectangles, other.rectangles)
        and np.array_equal(one.parents, other.parents)
    )
