"""Randomized response: each person adds noise to the own answer before anybody sees it.

Releases one report for each person. Neighbours: one person's answer is any other; nobody has to be trusted with the
true one. Price: ln of the largest ratio of a report's probabilities under two answers, pure, for each question that a
person answers; later questions add up. Not promised: that answers of friends, who often answer alike, do not tell on a
person. After Warner (1965); the coin of Gao's talk (2023) has the price ln 3.

Why this is private. `YesNo.report` and `Choice.report` draw, for each person, a report whose law depends on that
person's answer only, from exact coins. `loss` is the largest log ratio of that very law, rounded up.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.local.answers import Answers, yes_or_no
from louver.local.coin import TruthCoin
from louver.local.estimate import USUAL_LEVEL, Estimate, estimated, estimates
from louver.noise import Bits
from louver.noise.bits import SYSTEM
from louver.privacy import Pure

LARGEST_LAW = 4096


class YesNo:
    """A yes-or-no question: the true answer with probability e^epsilon / (1 + e^epsilon), else the other one.

    >>> coin = YesNo.coin()
    >>> coin.price.sentence().split(",")[0]
    'An even-odds guess whether one unit is in the data can go from 50% to at most 75.1%'
    >>> len(coin.report([True, False, True]))
    3
    """

    def __init__(self, epsilon: parameters.Number, *, bits: Bits = SYSTEM) -> None:
        self._coin, self._bits = TruthCoin.by_price(epsilon), bits

    @classmethod
    def coin(cls, truth: parameters.Number = Fraction(1, 2), *, bits: Bits = SYSTEM) -> YesNo:
        """The coin of the talk: with probability `truth` the true answer, else yes or no by an even coin.

        The price is ln((1 + truth) / (1 - truth)), rounded up: ln 3 for an even coin.
        """
        made = cls.__new__(cls)
        made._coin, made._bits = TruthCoin.by_truth(truth), bits
        return made

    @property
    def price(self) -> Pure:
        return self._coin.price

    @property
    def truth(self) -> Fraction:
        """The probability of the true answer, to 2^-190."""
        return self._coin.truth

    def report(self, answers: Any) -> NDArray[np.bool_]:
        """What each person says in public."""
        true = yes_or_no("Answer", answers)
        return true ^ ~self._coin.toss(len(true), self._bits)

    def estimate(self, reports: Any, level: parameters.Number = USUAL_LEVEL) -> Estimate:
        """How many of those who reported have the answer yes: unbiased, with an interval."""
        said = yes_or_no("Report", reports)
        return estimated(int(said.sum()), len(said), self.truth, self._coin.other, level)

    def law(self) -> NDArray[np.float64]:
        """P(report | answer): a row for each answer (no, yes), a column for each report."""
        return _law(self._coin)

    def loss(self) -> Fraction:
        """The largest log ratio of the law itself, rounded up: at most the price, but for the rounding."""
        return self._coin.loss()


class Choice:
    """A question with several answers: the true one with odds e^epsilon : 1 against each other one.

    `choices` are their names, or how many there are; then they are numbered from 0.

    >>> Choice(["walk", "bus", "car"], epsilon=2).report(["bus", "bus"]).shape
    (2,)
    """

    def __init__(self, choices: int | Sequence[str], epsilon: parameters.Number, *, bits: Bits = SYSTEM) -> None:
        self.answers = Answers.of(choices)
        self._coin, self._bits = TruthCoin.by_price(epsilon, self.answers.count), bits

    @classmethod
    def coin(
        cls, choices: int | Sequence[str], truth: parameters.Number = Fraction(1, 2), *, bits: Bits = SYSTEM
    ) -> Choice:
        """With probability `truth` the true answer, else any of them, each as likely.

        The price is ln(1 + k truth / (1 - truth)), rounded up.
        """
        made = cls.__new__(cls)
        made.answers = Answers.of(choices)
        made._coin, made._bits = TruthCoin.by_truth(truth, made.answers.count), bits
        return made

    @property
    def choices(self) -> int:
        return self.answers.count

    @property
    def price(self) -> Pure:
        return self._coin.price

    @property
    def truth(self) -> Fraction:
        """The probability of the true answer, to 2^-190."""
        return self._coin.truth

    @property
    def other(self) -> Fraction:
        """The probability of each answer that is not the true one."""
        return self._coin.other

    def report(self, answers: Any) -> NDArray[Any]:
        """What each person says in public: names, or numbers where answers have none."""
        true = self.answers.numbers("Answer", answers)
        away = 1 + self._bits.below(np.full(len(true), self.choices - 1, dtype=np.int64))
        kept = self._coin.toss(len(true), self._bits)
        return self.answers.named(np.where(kept, true, (true + away) % self.choices))

    def estimate(self, reports: Any, level: parameters.Number = USUAL_LEVEL) -> dict[Any, Estimate]:
        """How many have each answer. Each interval holds with the level by itself, not all of them at once."""
        said = self.answers.numbers("Report", reports)
        counts = np.bincount(said, minlength=self.choices)
        return dict(zip(self.answers.labels, estimates(counts, len(said), self.truth, self.other, level), strict=True))

    def law(self) -> NDArray[np.float64]:
        """P(report | answer): a row for each answer, a column for each report."""
        return _law(self._coin)

    def loss(self) -> Fraction:
        """The largest log ratio of the law itself, rounded up: at most the price, but for the rounding."""
        return self._coin.loss()


def _law(coin: TruthCoin) -> NDArray[np.float64]:
    if coin.choices > LARGEST_LAW:
        raise ParameterError(f"A law of more than {LARGEST_LAW:,} answers is not written out; see truth and other.")
    table = np.full((coin.choices, coin.choices), float(coin.other))
    np.fill_diagonal(table, float(coin.truth))
    return table
