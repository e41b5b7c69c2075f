"""How often something happens at least and at most, from how often it was seen: Clopper and Pearson (1934).

Both bounds are exact: whatever the true probability, each is wrong in at most a share `level` of cases. The binomial
tail is an incomplete beta function, here by its continued fraction, so that no other library is needed.
"""

from __future__ import annotations

import math

_HALVINGS = 60
_SMALLEST = 1e-300
_CLOSE = 1e-15


def at_least(times: int, trials: int, level: float) -> float:
    """A probability that the true one is below in at most a share `level` of cases.

    >>> round(at_least(90, 100, 0.025), 4), at_least(0, 100, 0.025)
    (0.8238, 0.0)
    """
    low, high = 0.0, times / trials
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if reaches(times, trials, middle) < level else (low, middle)
    return low


def at_most(times: int, trials: int, level: float) -> float:
    """A probability that the true one is above in at most a share `level` of cases.

    >>> round(at_most(90, 100, 0.025), 4), at_most(100, 100, 0.025)
    (0.951, 1.0)
    """
    return 1 - at_least(trials - times, trials, level)


def reaches(times: int, trials: int, chance: float) -> float:
    """P(X >= times) for a binomial X: the regularised incomplete beta function I_chance(times, trials - times + 1)."""
    if times <= 0:
        return 1.0
    if chance <= 0 or chance >= 1:
        return float(chance >= 1)
    a, b = float(times), float(trials - times + 1)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(chance) + b * math.log1p(-chance)
    if chance < (a + 1) / (a + b + 2):
        return math.exp(scale) * _fraction(a, b, chance) / a
    return 1 - math.exp(scale) * _fraction(b, a, 1 - chance) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz' way."""
    c, d = 1.0, _inverse(1 - (a + b) * x / (a + 1))
    total = d
    for step in range(1, 100_000):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        for term in (even, odd):
            d, c = _inverse(1 + term * d), _away_from_zero(1 + term / c)
            total *= c * d
        if abs(c * d - 1) < _CLOSE:
            break
    return total


def _inverse(value: float) -> float:
    return 1 / _away_from_zero(value)


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _SMALLEST else _SMALLEST
