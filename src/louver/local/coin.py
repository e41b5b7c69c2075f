"""The coin that decides whether the true one of k answers is told, and what one toss of it costs.

By price: the true answer has odds e^epsilon : 1 against each other one. By truth, as in Gao's talk (2023): the true
answer with a rational probability, else any of the k, each as likely; the true one then has the chance
truth + (1 - truth)/k, and the price is ln(1 + k truth/(1 - truth)), ln 3 for an even coin and two answers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise import Bits
from louver.noise.coins import enclosed_bernoulli
from louver.noise.enclosure import Enclosure, exp, ln
from louver.privacy import Pure

LEAST_EPSILON, LARGEST_EPSILON = Fraction(1, 2**20), 64
WORKING_BITS = 192


@dataclass(frozen=True, slots=True)
class TruthCoin:
    """True with the probability that the true answer is told, exactly."""

    name: Hashable
    chance: Callable[[int], Enclosure]
    choices: int
    price: Pure

    @classmethod
    def by_price(cls, epsilon: parameters.Number, choices: int = 2) -> TruthCoin:
        exact = local_epsilon(epsilon)
        others = choices - 1
        return cls(("odds", exact, others), odds_chance(exact, others), choices, Pure(exact))

    @classmethod
    def by_truth(cls, truth: parameters.Number, choices: int = 2) -> TruthCoin:
        told = parameters.fraction("truth", truth)
        if not 0 < told < 1:
            raise ParameterError("truth must be greater than 0 and less than 1; 1/2 is a fair coin.")
        chance = told + (1 - told) / choices
        price = log_above(1 + choices * told / (1 - told))
        if not LEAST_EPSILON <= price <= LARGEST_EPSILON:
            raise ParameterError("truth must be so far from 0 and from 1 that the price is a millionth to 64.")
        return cls(("rational", chance), lambda working: Enclosure.of(chance, working), choices, Pure(price))

    @property
    def truth(self) -> Fraction:
        """The probability of the true answer, to 2^-190."""
        return self.chance(WORKING_BITS).lower

    @property
    def other(self) -> Fraction:
        """The probability of each answer that is not the true one."""
        return (1 - self.truth) / (self.choices - 1)

    def toss(self, count: int, bits: Bits) -> NDArray[np.bool_]:
        return enclosed_bernoulli(self.name, self.chance, count, bits)

    def loss(self) -> Fraction:
        """The largest log ratio of the law itself, rounded up: at most the price, but for the rounding."""
        told = self.chance(WORKING_BITS)
        return log_above((told * (self.choices - 1) / (1 - told)).upper)


def odds_chance(epsilon: Fraction, others: int) -> Callable[[int], Enclosure]:
    """e^epsilon / (e^epsilon + others), enclosed to any precision."""
    return lambda working: 1 / (1 + exp(-epsilon, working) * others)


def log_above(value: Fraction) -> Fraction:
    """ln, rounded up to 60 binary places."""
    return Fraction((ln(value, WORKING_BITS).upper * 2**60).__ceil__(), 2**60)


def local_epsilon(epsilon: object) -> Fraction:
    return parameters.within("epsilon", parameters.positive("epsilon", epsilon), LEAST_EPSILON, LARGEST_EPSILON)
