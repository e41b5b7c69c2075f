"""One look: each key gets one noisy yes or no, at the least price that keeps the promise.

Releases the keys that are flagged, and nothing else. Neighbours differ in all rows of one unit. The price is
e = `one_shot(...).epsilon` for each key where the unit fixes the key column, else m e on all keys together, with m the
rows that count of one unit (see `counts`). The noise is that of Awan and Slavkovic (2018): no other private test keeps
the same promise for less. What it does not promise: an answer for keys within the slack, or that all keys are right
at once; the rates are per key.

Why this is private. `louver.noise.reaches` adds discrete Laplace noise of rate e to the aligned margin of each key,
independently, and what follows is a coin and a comparison. Moving one aligned margin by d changes the probability of
any outcome by a factor of at most exp(e |d|) (see `louver.noise.laplace`), and `counts` adds up what one unit moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from louver.decide.counts import ThresholdCounts
from louver.noise import Bits, reaches
from louver.privacy import OneShot, Outcome, one_shot
from louver.privacy.plan import registered
from louver.source import View

_calibrated = lru_cache(maxsize=256)(one_shot)


@registered("one-shot counts")
@dataclass(frozen=True, slots=True, init=False)
class OneShotCounts(ThresholdCounts):
    """The plan of one look at each key.

    >>> from louver.privacy import Unit
    >>> plan = OneShotCounts("room", {"hall": 180, "lab": 40}, unit=Unit.row(), miss_rate=0.05, slack=10)
    >>> print(plan.promise)
    A room with more counted rows than its threshold is missed in at most 1 of 20 cases. \
A room 10 or more below its threshold is flagged in at most 1 of 20 cases; in between, either may happen.
    >>> [(str(charge.scope), round(float(charge.price), 4)) for charge in plan.worst]
    [('room = hall', 0.4148), ('room = lab', 0.4148)]
    """

    mechanism: ClassVar[str] = "one-shot counts"
    gradual: ClassVar[bool] = False

    @property
    def test(self) -> OneShot:
        return self._test(self.miss_rate, self.slack, self.false_alarm_rate)

    def price_of(self, miss_rate: Fraction, slack: int, false_alarm_rate: Fraction) -> Fraction:
        return self._test(miss_rate, slack, false_alarm_rate).epsilon

    def _test(self, miss_rate: Fraction, slack: int, false_alarm_rate: Fraction) -> OneShot:
        return _calibrated(miss_rate, slack, false_alarm_rate, self.step)

    def run(self, view: View, bits: Bits) -> Outcome:
        test = self.test
        flagged = reaches(test.aligned(self.margins(view)), test.epsilon, test.cut, bits=bits)
        return Outcome(self.answer(flagged))
