"""Unary encoding: one yes or no for each possible answer, so that questions with many answers stay accurate.

Releases k bits for each person: the bit of the true answer is 1 with probability p, each other bit with q. Neighbours:
one person's answer is any other. Price: ln(p (1-q) / (q (1-p))), because two answers differ in two bits. Symmetric:
p = 1 - q = e^(epsilon/2) / (1 + e^(epsilon/2)). Optimised (Wang, Blocki, Li and Jha 2017): p = 1/2 and
q = 1 / (1 + e^epsilon), the least variance where each answer is rare.

Why this is private. `Unary.report` draws every bit of every person from an exact coin of its own. A changed answer
changes the law of two bits: 1 there is at most p/q, and 0 at most (1-q)/(1-p) times as likely.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.local.estimate import Estimate, estimated
from louver.local.randomized_response import (
    MOST_CHOICES,
    WORKING_BITS,
    chosen,
    local_epsilon,
    log_above,
    odds_chance,
)
from louver.noise import Bits
from louver.noise.bits import SYSTEM
from louver.noise.coins import enclosed_bernoulli
from louver.noise.enclosure import Enclosure
from louver.privacy import Pure

LARGEST_REPORTS = 2**28


class Unary:
    """A question with many answers, numbered from 0.

    >>> Unary(100, epsilon=1).report([7, 42]).shape
    (2, 100)
    """

    def __init__(
        self, choices: int, epsilon: parameters.Number, *, optimised: bool = True, bits: Bits = SYSTEM
    ) -> None:
        self.choices = parameters.integer("The number of choices", choices, 2, MOST_CHOICES)
        exact = local_epsilon(epsilon)
        self.price = Pure(exact)
        self.optimised = bool(optimised)
        self._odds = exact if optimised else exact / 2
        self._stays = odds_chance(self._odds, 1)  # the chance that a bit of 0 is reported as 0
        self._bits = bits

    @property
    def truth(self) -> Fraction:
        """p: how often the bit of the true answer is 1."""
        return Fraction(1, 2) if self.optimised else self._stays(WORKING_BITS).lower

    @property
    def other(self) -> Fraction:
        """q: how often any other bit is 1."""
        return 1 - self._stays(WORKING_BITS).lower

    def report(self, answers: Any) -> NDArray[np.bool_]:
        """The bits of each person, one row a person."""
        true = chosen(answers, self.choices)
        if len(true) * self.choices > LARGEST_REPORTS:
            raise ParameterError(f"One call makes at most {LARGEST_REPORTS} bits; report for fewer people at a time.")
        bits = ~self._coins(self._stays, len(true) * self.choices).reshape(len(true), self.choices)
        own = self._coins(lambda working: Enclosure.of(Fraction(1, 2), working), len(true), "even")
        bits[np.arange(len(true)), true] = own if self.optimised else self._coins(self._stays, len(true))
        return bits

    def estimate(self, reports: Any, level: parameters.Number = Fraction(19, 20)) -> list[Estimate]:
        """How many have each answer. Each interval holds with the level by itself, not all of them at once."""
        said = np.asarray(reports)
        if said.ndim != 2 or said.shape[1] != self.choices or said.dtype.kind != "b":
            raise ParameterError(f"Reports must be rows of {self.choices} times True or False.")
        return [estimated(int(count), len(said), self.truth, self.other, level) for count in said.sum(axis=0).tolist()]

    def law(self) -> tuple[float, float]:
        """(p, q)."""
        return float(self.truth), float(self.other)

    def loss(self) -> Fraction:
        """The largest log ratio of the law itself, rounded up."""
        stays = self._stays(WORKING_BITS)
        odds = stays / (1 - stays)
        return log_above(odds.upper if self.optimised else (odds * odds).upper)

    def _coins(self, chance: Any, count: int, name: str = "stays") -> NDArray[np.bool_]:
        return enclosed_bernoulli(("unary", name, self._odds), chance, count, self._bits)
