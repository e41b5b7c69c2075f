"""Averaging: the same question again and again, until the noise is gone.

The attacker takes the median of the answers, which is the likeliest count under Laplace noise, and rounds it. With
fresh noise at each answer he knows the count after a few times 1/epsilon^2 answers. A steward gives the same answer
again where the same key is used, so that nothing is learned from asking twice; with new keys every answer is paid for,
and the ledger refuses before there are enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import BudgetError, ParameterError
from louver.noise import discrete_laplace
from louver.noise.bits import SYSTEM, Bits

Floats: TypeAlias = "NDArray[np.float64]"
CERTAIN = 0.95
GROWTH = 1.05  # from one number of answers that is looked at to the next


@dataclass(frozen=True, slots=True)
class Averaged:
    """The share of attackers who have the count right, after each of some numbers of answers.

    `needed` is the first of these numbers from which on at least a share `certain` of them is right; None where there
    is no such number.
    """

    answers: tuple[int, ...]
    right: tuple[float, ...]
    certain: float

    @property
    def needed(self) -> int | None:
        unsure = [place for place, share in enumerate(self.right) if share < self.certain]
        first = unsure[-1] + 1 if unsure else 0
        return self.answers[first] if first < len(self.answers) else None

    def __str__(self) -> str:
        if self.needed is None:
            return f"{_times(self.answers[-1])} are not enough: {self.right[-1]:.0%} of attackers know the count."
        return f"{_times(self.needed)} are enough for {self.certain:.0%} of attackers to know the count."


def averaged(answers: Floats, truth: int, certain: float = CERTAIN) -> Averaged:
    """What attackers make of answers, one row for each of them; refused answers are NaN, and come last."""
    if answers.ndim != 2 or not answers.size:
        raise ParameterError("Answers must be an array with one row for each attacker and at least one answer.")
    got = int((~np.isnan(answers)).all(axis=0).sum())
    if not got:
        raise ParameterError("Some attacker has no answer.")
    numbers = sorted(
        {got, *(min(got, math.ceil(GROWTH**step)) for step in range(math.ceil(math.log(got, GROWTH)) + 1))}
    )
    right = [(np.floor(np.median(answers[:, :number], axis=1) + 0.5) == truth).mean() for number in numbers]
    return Averaged(tuple(numbers), tuple(map(float, right)), certain)


def _times(number: int) -> str:
    return f"{number:,} answers"


def asked(ask: Callable[[int, int], float], attackers: int, most: int) -> Floats:
    """The answers of each attacker to the same question, `ask(attacker, time)`, until the ledger refuses."""
    answers = np.full(
        (parameters.count("attackers", attackers, 1), parameters.count("The number of answers", most, 1)), np.nan
    )
    for attacker in range(attackers):
        for time in range(most):
            try:
                answers[attacker, time] = ask(attacker, time)
            except BudgetError:
                break
    return answers


def fresh(rate: parameters.Number, truth: int, attackers: int, most: int, *, bits: Bits = SYSTEM) -> Floats:
    """Answers as they would be with fresh discrete Laplace noise for each and no ledger."""
    noise = discrete_laplace(rate, attackers * most, bits=bits).reshape(attackers, most)
    return (truth + noise).astype(np.float64)
