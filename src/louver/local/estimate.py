"""From reports to an estimate of how many people have an answer: unbiased, with an interval that holds.

Of n people, k have the answer; each of them shows a mark with probability p, and everybody else with probability q < p.
The marks have mean k p + (n-k) q, so (marks - n q) / (p - q) is unbiased; it may lie below 0 or above n, and is left
so. The interval is about k among those who reported, not about others whom they may stand for.

The interval holds every k whose two tails, by the exact law of the sum of two binomials, are above (1 - level)/2 each.
Each binomial is summed up over a window that leaves out next to nothing (Bernstein's inequality), and what it leaves
out is added to the tails: the interval is never too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError

USUAL_LEVEL = Fraction(19, 20)
_ROUNDING = 1e-6  # of a tail: more than floats are off in a sum of a million terms
_LEFT_OUT = 1e-9  # of a tail: what a window may leave out


@dataclass(frozen=True, slots=True)
class Estimate:
    """How many of `people` have the answer; `low` to `high` holds the true number with at least `level`.

    >>> print(Estimate(value=30.0, low=12, high=47, people=100, level=0.95, standard_error=8.66))
    30 of 100 (30.0%); 12 to 47 in at least 95% of surveys
    """

    value: float
    low: int
    high: int
    people: int
    level: float
    standard_error: float

    @property
    def share(self) -> float:
        return self.value / self.people

    def __str__(self) -> str:
        held = f"{self.low:,} to {self.high:,} in at least {100 * self.level:.15g}% of surveys"
        return f"{round(self.value):,} of {self.people:,} ({round(100 * self.share, 1) + 0.0:.1f}%); {held}"


def estimated(marks: int, people: int, often: Fraction, rarely: Fraction, level: parameters.Number) -> Estimate:
    """The estimate from a number of marks.

    >>> found = estimated(40, 100, Fraction(3, 4), Fraction(1, 4), 0.95)
    >>> found.value, found.low, found.high
    (30.0, 12, 47)
    """
    return estimates([marks], people, often, rarely, level)[0]


def estimates(marks: Any, people: int, often: Fraction, rarely: Fraction, level: parameters.Number) -> list[Estimate]:
    """The estimates of several answers from their numbers of marks; equal numbers are looked at once."""
    wanted = parameters.fraction("level", level)
    if not 0 < wanted <= 1 - parameters.SMALLEST_ERROR_RATE:
        raise ParameterError("level must be greater than 0 and less than 1; 0.95 is usual.")
    if people < 1:
        raise ParameterError("Nobody has reported, so there is nothing to estimate.")
    law = _Law.of(people, often, rarely, float(1 - wanted) / 2)
    different, where = np.unique(np.asarray(marks, dtype=np.int64), return_inverse=True)
    shift, scale = people * rarely, often - rarely
    made = [_estimate(law, each, float((each - shift) / scale), wanted) for each in different.tolist()]
    return [made[number] for number in where.tolist()]


def _estimate(law: _Law, marks: int, value: float, level: Fraction) -> Estimate:
    people = law.people
    error = law.standard_error(min(max(value, 0.0), float(people)))
    reach = -NormalDist().inv_cdf(law.tail) * error
    # More people with the answer make more marks likelier: each tail is monotone in k.
    low = _first(lambda k: law.tails(k, marks)[0] > law.tail, people, value - reach)
    high = people - _first(lambda k: law.tails(people - k, marks)[1] > law.tail, people, people - value - reach)
    return Estimate(value, low, max(low, high), people, float(level), error)


@dataclass(frozen=True, slots=True)
class _Law:
    """The law of marks. Complements are kept beside the chances: 1 - p is lost in a float where p is near 1."""

    people: int
    p: float
    not_p: float
    q: float
    not_q: float
    gap: float
    tail: float

    @classmethod
    def of(cls, people: int, often: Fraction, rarely: Fraction, tail: float) -> _Law:
        return cls(
            people, float(often), float(1 - often), float(rarely), float(1 - rarely), float(often - rarely), tail
        )

    def standard_error(self, k: float) -> float:
        return math.sqrt(k * self.p * self.not_p + (self.people - k) * self.q * self.not_q) / self.gap

    def tails(self, k: int, marks: int) -> tuple[float, float]:
        """P(at least so many marks) and P(at most), for k people with the answer: never below what they are."""
        left_out = self.tail * _LEFT_OUT
        first, theirs = binomial(k, self.p, self.not_p, left_out)
        start, others = binomial(self.people - k, self.q, self.not_q, left_out)
        upto = np.concatenate(([0.0], np.cumsum(others)))
        beyond = np.concatenate((np.cumsum(others[::-1])[::-1], [0.0]))
        needed = marks - first - start - np.arange(len(theirs))  # of the others, beside each number of theirs
        at_least = float(theirs @ beyond[np.clip(needed, 0, len(others))])
        at_most = float(theirs @ upto[np.clip(needed + 1, 0, len(others))])
        return at_least * (1 + _ROUNDING) + 2 * left_out, at_most * (1 + _ROUNDING) + 2 * left_out


def binomial(number: int, chance: float, complement: float, left_out: float) -> tuple[int, NDArray[np.float64]]:
    """The probabilities of a window of values, and its first: outside lies at most `left_out`."""
    middle, spread, width = number * chance, number * chance * complement, math.log(2 / left_out)
    reach = width / 3 + math.sqrt(width * width / 9 + 2 * width * spread)
    first, last = max(0, math.floor(middle - reach)), min(number, math.ceil(middle + reach))
    values = np.arange(first, last, dtype=np.float64)
    steps = np.log((number - values) / (values + 1)) + (math.log(chance) - math.log(complement))
    logs = np.concatenate(([0.0], np.cumsum(steps)))
    weights = np.exp(logs - logs.max())
    return first, weights / weights.sum()


def _first(holds: Callable[[int], bool], last: int, near: float) -> int:
    """The least k up to `last` from which on it holds, sought from `near` in growing steps; `last` if it never does."""
    guess = round(min(max(near, 0.0), float(last)))
    low, high, step = 0, last, 1
    if holds(guess):
        high = guess
        while high > low and holds(probe := max(low, high - step)):
            high, step = probe, 2 * step
        low = max(low, high - step + 1) if high > low else low
    else:
        low = min(guess + 1, last)
        while low < high and not holds(probe := min(low + step, high)):
            low, step = min(probe + 1, high), 2 * step
        high = min(low + step, high)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
