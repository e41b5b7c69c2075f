"""The discrete chain by other means: convolution in long decimals, and simulation."""

from __future__ import annotations

import decimal
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

LONG = decimal.Context(prec=60)
# What lies beyond the window weighs less than exp(-100).
NEPERS_KEPT = 100


def convolved_failures(levels: Sequence[Fraction], thresholds: Sequence[int]) -> list[Decimal]:
    """Per level, noisy to clear, the probability that it is the first to fail counted from the clearest."""
    reach = int(NEPERS_KEPT / levels[0]) + 1
    positions = range(-reach, reach + 1)
    failures: list[Decimal] = []
    with decimal.localcontext(LONG):
        decays = [(Decimal(-level.numerator) / level.denominator).exp() for level in levels]
        alive = [(1 - decays[-1]) / (1 + decays[-1]) * decays[-1] ** abs(x) for x in positions]
        for g in reversed(range(len(levels))):
            a = decays[g]
            if g + 1 < len(levels):
                b = decays[g + 1]
                stay = b / a * ((1 - a) / (1 - b)) ** 2
                alive = [stay * x + (1 - stay) * y for x, y in zip(alive, _convolved(alive, a), strict=True)]
            failures.append(sum((alive[i] for i in range(reach - thresholds[g] + 1)), Decimal(0)))
            alive = [Decimal(0) if x <= -thresholds[g] else value for x, value in zip(positions, alive, strict=True)]
    return failures[::-1]


def _convolved(values: Sequence[Decimal], a: Decimal) -> list[Decimal]:
    """The convolution with the discrete Laplace law of decay a, as two running sums."""
    from_left, from_right = [Decimal(0)], [Decimal(0)]
    for value in values:
        from_left.append(from_left[-1] * a + value)
    for value in reversed(values):
        from_right.append((from_right[-1] + value) * a)
    scale = (1 - a) / (1 + a)
    return [scale * (x + y) for x, y in zip(from_left[1:], from_right[-2::-1], strict=True)]


def simulated_chain(levels: Sequence[float], count: int, dice: np.random.Generator) -> NDArray[np.int64]:
    """One row of noise per level, noisy to clear."""
    noise = [discrete_laplace(levels[-1], count, dice)]
    for g in reversed(range(len(levels) - 1)):
        a, b = np.exp(-levels[g]), np.exp(-levels[g + 1])
        moves = dice.random(count) >= b / a * ((1 - a) / (1 - b)) ** 2
        noise.append(noise[-1] + moves * discrete_laplace(levels[g], count, dice))
    return np.array(noise[::-1])


def discrete_laplace(rate: float, count: int, dice: np.random.Generator) -> NDArray[np.int64]:
    success = -np.expm1(-rate)
    return dice.geometric(success, count) - dice.geometric(success, count)
