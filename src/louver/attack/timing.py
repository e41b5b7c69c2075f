"""Timing: does the time of an answer depend on the secret?

Two secrets are answered in random order, as often each, and the times are put in order of size. If time does not depend
on the secret, every way to deal the ranks out to the two is as likely as any other, whatever the machine does in the
meantime. So the sum of one secret's ranks has a known law (Mann and Whitney 1947), here counted over all permutations
and not sampled; the two-sided probability of a sum as far out as the one that was found is the p-value, and whoever
accuses at p <= level is wrong in at most that share of cases.

What is not accused may still differ by less than so many answers show, and somebody on the same machine can time more
closely than the clock here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.attack.scores import Floats

ANSWERS = 100
MOST_ANSWERS = 400
LEVEL = 1e-6


@dataclass(frozen=True, slots=True)
class Timed:
    """`later` is the share of pairs in which the second secret took longer: 1/2 where time tells nothing."""

    later: float
    p_value: float
    answers: int
    level: float

    @property
    def leaks(self) -> bool:
        """Whether time depends on the secret; wrong with probability `level` at most."""
        return self.p_value <= self.level

    def __str__(self) -> str:
        verdict = "depends on the secret" if self.leaks else "shows nothing of the secret"
        return (
            f"The time of an answer {verdict}: the second takes longer in {self.later:.1%} of pairs, p = "
            f"{self.p_value:.2g} by {self.answers} answers each; accused from {self.level:.0e} down."
        )


def timed(
    first: Callable[[], object],
    second: Callable[[], object],
    *,
    seed: int,
    answers: int = ANSWERS,
    level: float = LEVEL,
    clock: Callable[[], int] = time.perf_counter_ns,
) -> Timed:
    """Times answers to two secrets, in an order that `seed` shuffles."""
    number = parameters.integer("answers", answers, 8, MOST_ANSWERS)
    dice = np.random.default_rng(seed)
    order = dice.permutation(np.repeat([0, 1], number))
    both = first, second
    for ask in both:  # what is only slow the first time tells nothing
        ask()
    taken = np.empty(2 * number, dtype=np.int64)
    for place, which in enumerate(order.tolist()):
        ask, start = both[which], clock()
        ask()
        taken[place] = clock() - start
    return compared(taken[order == 0], taken[order == 1], seed=seed, level=level)


def compared(first: NDArray[np.int64], second: NDArray[np.int64], *, seed: int, level: float = LEVEL) -> Timed:
    """The test of times that were taken in random order; equal times are put in an order that `seed` shuffles."""
    together = np.concatenate((first, second))
    shuffled = np.random.default_rng((seed, 1)).random(len(together))
    ranks = np.empty(len(together), dtype=np.int64)
    ranks[np.lexsort((shuffled, together))] = np.arange(len(together))
    size = len(second)
    pairs = int(ranks[len(first) :].sum()) - size * (size - 1) // 2
    law = pairs_law(len(first), size)
    p_value = min(1.0, 2 * min(float(law[: pairs + 1].sum()), float(law[pairs:].sum())))
    return Timed(pairs / (len(first) * size), p_value, min(len(first), size), level)


@lru_cache(maxsize=8)
def pairs_law(first: int, second: int) -> Floats:
    """P(so many of all pairs have the second one larger) if all orders are as likely, from no pairs to all of them.

    f(m, n, u) = n/(m+n) f(m, n-1, u-m) + m/(m+n) f(m-1, n, u): the largest of all is one of the n and beats all m of
    the others, or it is one of the m and beats none.

    >>> (pairs_law(2, 2) * 6).round(9).tolist()
    [1.0, 1.0, 2.0, 1.0, 1.0]
    """
    rows = [np.ones(1) for _ in range(first + 1)]  # f(m, 0) for each m
    for n in range(1, second + 1):
        fresh = [np.ones(1)]
        for m in range(1, first + 1):
            law = np.zeros(m * n + 1)
            law[m:] += n / (m + n) * rows[m]
            law[: (m - 1) * n + 1] += m / (m + n) * fresh[-1]
            fresh.append(law)
        rows = fresh
    return rows[first]
