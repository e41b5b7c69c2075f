"""Randomized response: each person adds noise to the own answer before anybody sees it.

Releases one report for each person. Neighbours: one person's answer is any other; nobody has to be trusted with the
true one. Price: ln of the largest ratio of a report's probabilities under two answers, pure, for each question that a
person answers; later questions add up. Not promised: that answers of friends, who often answer alike, do not tell on a
person. After Warner (1965); the coin of Gao's talk (2023) has the price ln 3.

Why this is private. `YesNo.report` and `Choice.report` draw, for each person, a report whose law depends on that
person's answer only, from exact coins. `loss` is the largest log ratio of that very law, rounded up.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.local.estimate import Estimate, estimated
from louver.noise import Bits, bernoulli
from louver.noise.bits import SYSTEM
from louver.noise.coins import enclosed_bernoulli
from louver.noise.enclosure import Enclosure, exp, ln
from louver.privacy import Pure

LARGEST_EPSILON = 64
MOST_CHOICES = 2**20
WORKING_BITS = 192
Coin = Callable[[int, Bits], NDArray[np.bool_]]


class YesNo:
    """A yes-or-no question: the true answer with probability e^epsilon / (1 + e^epsilon), else the other one.

    >>> coin = YesNo.coin()
    >>> coin.price.sentence().split(",")[0]
    'An even-odds guess whether one unit is in the data can go from 50% to at most 75.1%'
    >>> len(coin.report([True, False, True]))
    3
    """

    def __init__(self, epsilon: parameters.Number, *, bits: Bits = SYSTEM) -> None:
        exact = local_epsilon(epsilon)
        self.price = Pure(exact)
        self._truth = odds_chance(exact, 1)
        self._bits = bits
        self._coin: Coin = lambda count, source: enclosed_bernoulli(("odds", exact, 1), self._truth, count, source)

    @classmethod
    def coin(cls, truth: parameters.Number = Fraction(1, 2), *, bits: Bits = SYSTEM) -> YesNo:
        """The coin of the talk: with probability `truth` the true answer, else yes or no by an even coin.

        The price is ln((1 + truth) / (1 - truth)), rounded up: ln 3 for an even coin.
        """
        told = parameters.fraction("truth", truth)
        if not 0 < told < 1:
            raise ParameterError("truth must be greater than 0 and less than 1.")
        made = cls.__new__(cls)
        chance = (1 + told) / 2
        made.price = Pure(log_above(chance / (1 - chance)))
        made._truth = lambda working: Enclosure.of(chance, working)
        made._bits = bits
        made._coin = lambda count, source: bernoulli(chance, count, bits=source)
        return made

    @property
    def truth(self) -> Fraction:
        """The probability of the true answer, to 2^-190."""
        return self._truth(WORKING_BITS).lower

    def report(self, answers: Any) -> NDArray[np.bool_]:
        """What each person says in public."""
        true = yes_or_no(answers)
        return true ^ ~self._coin(len(true), self._bits)

    def estimate(self, reports: Any, level: parameters.Number = Fraction(19, 20)) -> Estimate:
        """How many of those who reported have the answer yes: unbiased, with an interval."""
        said = yes_or_no(reports)
        return estimated(int(said.sum()), len(said), self.truth, 1 - self.truth, level)

    def law(self) -> NDArray[np.float64]:
        """P(report | answer): a row for each answer (no, yes), a column for each report."""
        truth = float(self.truth)
        return np.array([[truth, 1 - truth], [1 - truth, truth]])

    def loss(self) -> Fraction:
        """The largest log ratio of the law itself, rounded up: at most the price, but for the rounding."""
        return worst_ratio(self._truth, lambda working: 1 - self._truth(working))


class Choice:
    """A question with k answers, numbered from 0: the true one with odds e^epsilon : 1 against each other one.

    >>> Choice(4, epsilon=2).report([0, 3, 2]).shape
    (3,)
    """

    def __init__(self, choices: int, epsilon: parameters.Number, *, bits: Bits = SYSTEM) -> None:
        self.choices = parameters.integer("The number of choices", choices, 2, MOST_CHOICES)
        exact = local_epsilon(epsilon)
        self.price = Pure(exact)
        self._name = ("odds", exact, self.choices - 1)
        self._truth = odds_chance(exact, self.choices - 1)
        self._bits = bits

    @property
    def truth(self) -> Fraction:
        return self._truth(WORKING_BITS).lower

    @property
    def other(self) -> Fraction:
        """The probability of each answer that is not the true one."""
        return (1 - self.truth) / (self.choices - 1)

    def report(self, answers: Any) -> NDArray[np.int64]:
        true = chosen(answers, self.choices)
        away = 1 + self._bits.below(np.full(len(true), self.choices - 1, dtype=np.int64))
        kept = enclosed_bernoulli(self._name, self._truth, len(true), self._bits)
        return np.where(kept, true, (true + away) % self.choices)

    def estimate(self, reports: Any, level: parameters.Number = Fraction(19, 20)) -> list[Estimate]:
        """How many have each answer. Each interval holds with the level by itself, not all of them at once."""
        said = chosen(reports, self.choices)
        counts = np.bincount(said, minlength=self.choices)
        return [estimated(int(count), len(said), self.truth, self.other, level) for count in counts]

    def law(self) -> NDArray[np.float64]:
        table = np.full((self.choices, self.choices), float(self.other))
        np.fill_diagonal(table, float(self.truth))
        return table

    def loss(self) -> Fraction:
        return worst_ratio(self._truth, lambda working: (1 - self._truth(working)) / (self.choices - 1))


def odds_chance(epsilon: Fraction, others: int) -> Callable[[int], Enclosure]:
    """e^epsilon / (e^epsilon + others), enclosed to any precision."""
    return lambda working: 1 / (1 + exp(-epsilon, working) * others)


def worst_ratio(often: Callable[[int], Enclosure], rarely: Callable[[int], Enclosure]) -> Fraction:
    return log_above((often(WORKING_BITS) / rarely(WORKING_BITS)).upper)


def log_above(value: Fraction) -> Fraction:
    """ln, rounded up to 60 binary places."""
    return Fraction((ln(value, WORKING_BITS).upper * 2**60).__ceil__(), 2**60)


def local_epsilon(epsilon: object) -> Fraction:
    return parameters.within("epsilon", parameters.positive("epsilon", epsilon), Fraction(1, 2**20), LARGEST_EPSILON)


def yes_or_no(answers: Any) -> NDArray[np.bool_]:
    try:
        array = np.asarray(answers)
    except ValueError:
        array = np.empty((0, 0))
    if array.ndim != 1 or (array.size and array.dtype.kind != "b"):
        raise ParameterError("Answers must be one list of True and False.")
    return array.astype(np.bool_)


def chosen(answers: Any, choices: int) -> NDArray[np.int64]:
    """Numbers of answers; one that there is not counts as the nearest, for an error would tell on somebody."""
    return np.clip(parameters.integers("Answers", answers), 0, choices - 1)
