"""Unary encoding: one yes or no for each possible answer, so that questions with many answers stay accurate.

Releases k bits for each person: the bit of the true answer is 1 with probability p, each other bit with q. Neighbours:
one person's answer is any other. Price: ln(p (1-q) / (q (1-p))), because two answers differ in two bits. Symmetric:
p = 1 - q = e^(epsilon/2) / (1 + e^(epsilon/2)). Optimised (Wang, Blocki, Li and Jha 2017): p = 1/2 and
q = 1 / (1 + e^epsilon), the least variance where each answer is rare.

Why this is private. `Unary.report` draws every bit of every person from an exact coin of its own. A changed answer
changes the law of two bits: 1 there is at most p/q, and 0 at most (1-q)/(1-p) times as likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.local.answers import Answers, unmasked
from louver.local.coin import WORKING_BITS, local_epsilon, log_above, odds_chance
from louver.local.estimate import USUAL_LEVEL, Estimate, estimates
from louver.noise import Bits, bernoulli
from louver.noise.bits import SYSTEM
from louver.noise.coins import enclosed_bernoulli
from louver.privacy import Pure

LARGEST_REPORTS = 2**28


class Unary:
    """A question with many answers: their names, or how many there are; then they are numbered from 0.

    >>> Unary(100, epsilon=1).report([7, 42]).shape
    (2, 100)
    """

    def __init__(
        self,
        choices: int | Sequence[str],
        epsilon: parameters.Number,
        *,
        optimised: bool = True,
        bits: Bits = SYSTEM,
    ) -> None:
        self.answers = Answers.of(choices)
        exact = local_epsilon(epsilon)
        self.price = Pure(exact)
        self.optimised = bool(optimised)
        self._odds = exact if optimised else exact / 2
        self._stays = odds_chance(self._odds, 1)  # the chance that a bit of 0 is reported as 0
        self._bits = bits

    @property
    def choices(self) -> int:
        return self.answers.count

    @property
    def truth(self) -> Fraction:
        """p: how often the bit of the true answer is 1."""
        return Fraction(1, 2) if self.optimised else self._stays(WORKING_BITS).lower

    @property
    def other(self) -> Fraction:
        """q: how often any other bit is 1."""
        return 1 - self._stays(WORKING_BITS).lower

    def report(self, answers: Any) -> NDArray[np.bool_]:
        """The bits of each person, one row a person, one column an answer."""
        true = self.answers.numbers("Answer", answers)
        if len(true) * self.choices > LARGEST_REPORTS:
            raise ParameterError(f"One call makes at most {LARGEST_REPORTS:,} bits; report for fewer people at a time.")
        bits = ~self._stay(len(true) * self.choices).reshape(len(true), self.choices)
        own = bernoulli(Fraction(1, 2), len(true), bits=self._bits) if self.optimised else self._stay(len(true))
        bits[np.arange(len(true)), true] = own
        return bits

    def estimate(self, reports: Any, level: parameters.Number = USUAL_LEVEL) -> dict[Any, Estimate]:
        """How many have each answer. Each interval holds with the level by itself, not all of them at once."""
        try:
            said = np.asarray(unmasked("Report", reports))
        except ValueError:
            said = np.empty(0)
        if said.ndim != 2 or said.shape[1] != self.choices or said.dtype.kind != "b":
            raise ParameterError(f"Reports must be rows of {self.choices:,} times True or False.")
        found = estimates(said.sum(axis=0), len(said), self.truth, self.other, level)
        return dict(zip(self.answers.labels, found, strict=True))

    def law(self) -> tuple[float, float]:
        """(p, q)."""
        return float(self.truth), float(self.other)

    def loss(self) -> Fraction:
        """The largest log ratio of the law itself, rounded up."""
        stays = self._stays(WORKING_BITS)
        odds = stays / (1 - stays)
        return log_above(odds.upper if self.optimised else (odds * odds).upper)

    def _stay(self, count: int) -> NDArray[np.bool_]:
        return enclosed_bernoulli(("unary", self._odds), self._stays, count, self._bits)
