"""One look: each leaf of each key gets one noisy yes or no, at the least price that keeps the promise.

Releases the keys that are flagged, and nothing else. Neighbours differ in all rows of one unit. A look costs
e = `one_shot(...).epsilon` per touch (see `touch`), on the scopes of its keys (see `payers`). The noise is that of Awan
and Slavkovic (2018): no other private test keeps the same promise of one leaf for less. It is the optimum of what the
papers call the threshold-shift Laplace mechanism (TSLM). What it does not promise: an answer for keys within the slack,
or that all keys are right at once; the rates are per key.

Why this is private. `discrete_laplace` adds noise of rate e to the aligned margin of each key of a look, independently,
and what follows are coins and comparisons. Leaves that share a look differ by a public number, so that they see the
same noisy value. Moving one aligned margin by d changes the probability of any outcome by a factor of at most
exp(e |d|), and `payers` adds up what one unit moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from louver.decide.decision import Decision
from louver.decide.program import Look
from louver.noise import Bits, bernoulli, discrete_laplace
from louver.privacy import OneShot, Outcome, one_shot
from louver.privacy.plan import registered
from louver.source.measures import View

_calibrated = lru_cache(maxsize=256)(one_shot)


@registered("shift")
@dataclass(frozen=True, slots=True, init=False)
class Shift(Decision):
    """The plan of one look at each key."""

    mechanism: ClassVar[str] = "shift"
    gradual: ClassVar[bool] = False

    def price_of(self, look: Look, miss_rate: Fraction, false_alarm_rate: Fraction) -> Fraction:
        return self._test(look, miss_rate, false_alarm_rate).epsilon

    def _test(self, look: Look, miss_rate: Fraction, false_alarm_rate: Fraction) -> OneShot:
        return _calibrated(miss_rate, look.slack, false_alarm_rate, look.touch.step)

    @property
    def tests(self) -> list[OneShot]:
        """The test of each look."""
        return [self._test(look, *rates) for look, rates in zip(self.program.looks, self.rates, strict=True)]

    def run(self, view: View, bits: Bits) -> Outcome:
        margins, tests = self.margins(view), self.tests
        noises = [
            discrete_laplace(test.epsilon, len(self.reading.keys[look.keys]), bits=bits)
            for look, test in zip(self.program.looks, tests, strict=True)
        ]
        decided = []
        for leaf, exact in zip(self.program.leaves, margins, strict=True):
            test = tests[leaf.look]
            seen = test.aligned(exact) + leaf.sense * noises[leaf.look]
            coins = bernoulli(test.coin, len(seen), bits=bits)
            decided.append(np.where(seen == test.boundary, coins, seen > test.boundary))
        return Outcome(self.answer(self.joined(decided)))
