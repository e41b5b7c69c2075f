"""From reports to an estimate of how many people have an answer: unbiased, with an interval that holds.

Of n people, k have the answer; each of them shows a mark with probability p, and everybody else with probability q < p.
The marks have mean k p + (n-k) q, so (marks - n q) / (p - q) is unbiased; it may lie below 0 or above n, and is left
so. The interval is about k among those who reported, not about others whom they may stand for.

Up to `LARGEST_EXACT` people the interval holds every k whose two tails, by the exact law of the sum of two binomials,
are above (1 - level)/2 each. Beyond, tails are replaced by their bound exp(-n KL(x, mean)) (Hoeffding 1963, Theorem 1),
which is never below them: the interval is wider than need be and holds at least as often.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError

LARGEST_EXACT = 1024
_ROUNDING = 1e-9  # more than floats are off in a sum of a thousand terms


@dataclass(frozen=True, slots=True)
class Estimate:
    """How many of `people` have the answer; `low` to `high` holds the true number with at least `level`."""

    value: float
    low: int
    high: int
    people: int
    level: Fraction
    standard_error: float

    @property
    def share(self) -> float:
        return self.value / self.people


def estimated(marks: int, people: int, often: Fraction, rarely: Fraction, level: parameters.Number) -> Estimate:
    """The estimate from a number of marks.

    >>> found = estimated(40, 100, Fraction(3, 4), Fraction(1, 4), 0.95)
    >>> found.value, found.low, found.high
    (30.0, 12, 47)
    """
    wanted = parameters.fraction("level", level)
    if not 0 < wanted < 1:
        raise ParameterError("level must be greater than 0 and less than 1; 0.95 is usual.")
    if people < 1:
        raise ParameterError("Nobody has reported, so there is nothing to estimate.")
    p, q = float(often), float(rarely)
    value = float((marks - people * rarely) / (often - rarely))
    tail = float(1 - wanted) / 2
    tails = _exact_tails if people <= LARGEST_EXACT else _bounded_tails
    # More people with the answer make more marks likelier: each tail is monotone in k.
    low = _first(lambda k: tails(k, marks, people, p, q)[0] > tail, people)
    high = people - _first(lambda k: tails(people - k, marks, people, p, q)[1] > tail, people)
    inside = min(max(value, 0.0), float(people))
    error = math.sqrt(inside * p * (1 - p) + (people - inside) * q * (1 - q)) / (p - q)
    return Estimate(value, low, max(low, high), people, wanted, error)


def _first(holds: Callable[[int], bool], last: int) -> int:
    """The least k up to `last` from which on it holds; `last` if it never does."""
    low, high = 0, last
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _exact_tails(k: int, marks: int, people: int, p: float, q: float) -> tuple[float, float]:
    """P(at least so many marks) and P(at most), for k people with the answer."""
    law = np.convolve(_binomial(k, p), _binomial(people - k, q))
    return float(law[marks:].sum()) + _ROUNDING, float(law[: marks + 1].sum()) + _ROUNDING


def _binomial(number: int, chance: float) -> NDArray[np.float64]:
    ways = _log_factorials()
    x = np.arange(number + 1)
    logs = ways[number] - ways[x] - ways[number - x] + x * math.log(chance) + (number - x) * math.log1p(-chance)
    return np.asarray(np.exp(logs), dtype=np.float64)


@lru_cache(maxsize=1)
def _log_factorials() -> NDArray[np.float64]:
    return np.array([math.lgamma(number + 1) for number in range(LARGEST_EXACT + 1)])


def _bounded_tails(k: int, marks: int, people: int, p: float, q: float) -> tuple[float, float]:
    mean, seen = (k * p + (people - k) * q) / people, marks / people
    bound = math.exp(-people * _divergence(seen, mean)) * (1 + _ROUNDING)
    return (bound, 1.0) if seen > mean else (1.0, bound)


def _divergence(x: float, mean: float) -> float:
    """Kullback and Leibler's, of a coin of chance x from one of chance `mean`."""
    ends = (x * math.log(x / mean) if x > 0 else 0.0, (1 - x) * math.log((1 - x) / (1 - mean)) if x < 1 else 0.0)
    return max(0.0, sum(ends))
