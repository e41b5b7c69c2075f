"""Noise nearly as good as Laplace noise that is a mixture of Gaussians: round at 0, straight beyond, with no long tail.

exp(-rate |x|) is a mixture of Gaussians whose variances follow an exponential law. Here variances are on a grid, from a
smallest one on, so that `louver.table.lattice_mixture` can draw it where totals overlap. What counts for privacy is how
fast ln p falls: by at most `rate` from each x to the next, for all |x| <= reach. It is computed for every x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError
from louver.table.lattice_mixture import Mixture

SMALLEST_RATE = Fraction(1, 2**10)
_STEP = 0.6  # of ln(variance), for small variances
_ROUNDING = 2.0**-30  # far above what floats lose in a slope
_HALVINGS = 7
_LARGEST_LOSS = 64


@dataclass(frozen=True)
class SmoothLaplace:
    """A mixture; how far its slope holds; and the sum of p(x) / p(0) from `reach - shift` on, on both sides."""

    mixture: Mixture
    reach: int
    beyond: float


def smooth_laplace(rate: Fraction, *, smallest: float, shift: int, beyond: float) -> SmoothLaplace:
    """The law whose slope is at most `rate` within reach; that of a Laplace law that falls a little less fast."""
    if rate < SMALLEST_RATE:
        raise ParameterError("epsilon over what moving records change must be at least 2**-10 for this noise.")
    low, high = float(rate) / 2, float(rate)
    found = None
    while found is None:
        if low < float(rate) / _LARGEST_LOSS:
            raise ParameterError("epsilon is too large here for noise on these invariants; pay less.")
        found = _made(low, float(rate), smallest, shift, beyond)
        low, high = (low, 2 * low) if found is not None else (low / 2, low)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        made = _made(middle, float(rate), smallest, shift, beyond)
        found, low, high = (found, low, middle) if made is None else (made, middle, high)
    return found


def _made(nominal: float, rate: float, smallest: float, shift: int, beyond: float) -> SmoothLaplace | None:
    """The mixture of a nominal rate, if its slope is at most the rate as far as its reach."""
    reach = shift + math.ceil((math.log(1 / beyond) + 4 + math.log(1 + 1 / nominal)) / nominal)
    variances, weights = _grid(nominal, smallest, 2 * reach / nominal)
    mixture = Mixture(tuple(variances), tuple(weights))
    heights = log_density(mixture, np.arange(2 * reach + 1))
    if (heights[:reach] - heights[1 : reach + 1]).max() + _ROUNDING > rate:
        return None
    outside = np.exp(heights[reach - shift :] - heights[0])
    # Beyond 2 reach, p falls from each x to the next at least by exp(-2 reach / largest variance).
    rest = float(outside[-1]) / -math.expm1(-2 * reach / variances[-1])
    tail = 2 * (float(outside.sum()) + rest) * (1 + _ROUNDING)
    return SmoothLaplace(mixture, reach, tail) if tail <= beyond else None


def _grid(nominal: float, smallest: float, largest: float) -> tuple[list[float], list[float]]:
    """Variances, and what the exponential law of variances weighs there, times sqrt(variance).

    What counts at x lies around x / nominal and is the narrower the further out, so steps become shorter.
    """
    variances, steps = [smallest], []
    while variances[-1] < largest:
        steps.append(_STEP / math.sqrt(1 + nominal**2 * variances[-1]))
        variances.append(variances[-1] * math.exp(steps[-1]))
    steps.append(steps[-1] if steps else 1.0)
    logs = [math.log(step * math.sqrt(v)) - nominal**2 * v / 2 for v, step in zip(variances, steps, strict=True)]
    return variances, [math.exp(each - max(logs)) for each in logs]


def log_density(mixture: Mixture, points: NDArray[np.int64]) -> NDArray[np.float64]:
    """ln p at each point."""
    squares = points.astype(np.float64) ** 2
    parts = [(math.log(w), 1 / (2 * v)) for v, w in zip(mixture.variances, mixture.weights, strict=True)]
    highest = np.full(len(points), -np.inf)
    for log_weight, factor in parts:
        np.maximum(highest, log_weight - factor * squares, out=highest)
    total = np.zeros(len(points))
    for log_weight, factor in parts:
        total += np.exp(log_weight - factor * squares - highest)
    return np.asarray(highest + np.log(total))
