"""Private quantiles of whole numbers, pure and exact: the candidate that leaves nearly the right number above it.

Releases one of a public list of candidates, and nothing else. A candidate stands for all values from just above the one
before it. Its loss is 0 where the wanted number of values lies at or above those it stands for, and no more than that
above it; otherwise the number of values that are in the way. So values that are all the same are no trouble. One
changed value, or one value more or less, moves each loss by at most 1, in either direction. Price: epsilon, for `pick`
at half that rate (see `picking`). What it does not promise: quantiles so far out that fewer than about 10/epsilon
values lie beyond them; there `PenalisedThreshold` is the tool.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise.bits import SYSTEM, Bits
from louver.stream.picking import pick

NORMAL_QUARTILES = 1.3489795003921634  # the interquartile range of a normal distribution of standard deviation 1
MOST_CANDIDATES = 2**16
_STEP_UP = 1.05


def evenly(high: int) -> NDArray[np.int64]:
    """Candidates from 0 to `high`, evenly spaced: for quantiles in the bulk."""
    return np.unique(np.linspace(0, high, min(high + 1, MOST_CANDIDATES)).astype(np.int64))


def ladder_to(high: int) -> NDArray[np.int64]:
    """Candidates from 1 to `high`, each about a twentieth above the last: for thresholds, however loose `high` is."""
    rungs = int(np.log(high) / np.log(_STEP_UP)) + 1
    return np.unique(np.maximum(np.rint(high * _STEP_UP ** -np.arange(rungs, dtype=np.float64)), 1).astype(np.int64))


def above(values: NDArray[np.int64], candidates: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of the values lie above each candidate. Private."""
    whole = parameters.integers("The values", values)
    if not len(whole):
        raise ParameterError("There must be values to look at.")
    return len(whole) - np.searchsorted(np.sort(whole), candidates, side="right").astype(np.int64)


def quantile(
    values: NDArray[np.int64],
    share: parameters.Number,
    candidates: NDArray[np.int64],
    epsilon: parameters.Number,
    *,
    bits: Bits = SYSTEM,
) -> int:
    """The first of rising candidates that about this share of the values lies above.

    >>> quantile(np.arange(100_000), 0.3, np.arange(0, 100_001, 25_000), 1)
    75000
    """
    wanted = round(parameters.probability("The share above", share) * len(values))
    beyond = above(values, candidates)
    from_here = np.append(len(values), beyond[:-1])
    losses = np.maximum(np.maximum(beyond - wanted, wanted - from_here), 0)
    return int(candidates[pick(losses, parameters.positive("epsilon", epsilon) / 2, bits=bits)])


def interquartile_range(
    values: NDArray[np.int64], high: int, epsilon: parameters.Number, *, bits: Bits = SYSTEM
) -> int:
    """The distance between two private quartiles of values from 0 to `high`, half of epsilon each.

    For values that are roughly normal, divide by `NORMAL_QUARTILES` for their standard deviation.
    """
    each = parameters.positive("epsilon", epsilon) / 2
    bounded = np.clip(parameters.integers("The values", values), 0, high)
    candidates = evenly(high)
    lower, upper = (quantile(bounded, share, candidates, each, bits=bits) for share in (Fraction(3, 4), Fraction(1, 4)))
    return max(upper - lower, 0)
