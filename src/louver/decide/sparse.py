"""Sparse vector: many comparisons that almost never fire, at a price that does not grow with their number.

Releases, in a public order, which comparisons are over, until c of them were; then it stops and says how many it
answered. It is for standing questions in which one unit can touch many comparisons (a person in every hour, in every
room): other strategies then pay for each touch, this one for alarms only. Where each unit touches one key, one look is
far cheaper. Neighbours differ in one unit, which moves any number of aligned margins by at most 1 each. The price is
p + 2 c q, or p + c q where counts are monotone: all margins that a unit moves, it moves the same way, as with counts
compared in one direction. Of it, p + 2 j q (or p + j q) is charged after j alarms. Rates p, q come from `sparse_rates`.

What it does not promise: anything about comparisons after the last alarm, which are not answered at all; that errors
are independent, for all comparisons share the threshold's noise; more than the stated rate for each comparison.

Why this is private. `SparseState.ask` flags a margin m iff m + ν + U >= cut + ρ: ρ discrete Laplace of rate p, drawn
once; ν of rate q and U uniform, drawn anew. Let o be an outcome with j flags, and m, m' the margins of neighbours.
Given ρ comparisons are independent, so P(o) = Σ_ρ P(ρ) Π P(each outcome | ρ). Compare the term of ρ for m with that of
ρ + 1 for m'. The weight of ρ changes by exp(p) at most. A margin that was not flagged is at most 1 higher, as is its
cut: it is no less likely not to be flagged. A flagged margin may be 1 lower while its cut is 1 higher, a shift of 2, at
most exp(2q). In all exp(p + 2 j q), whatever the number of comparisons. Monotone: if m' >= m, the flagged margins are
not lower and the shift is 1: exp(p + j q). If m' <= m, compare with the term of the same ρ: what was not flagged is no
less likely not to be, and a flag costs exp(q): exp(j q). Stopping after c flags is a rule on the outcome. (Dwork et al.
2009; the accounting of several alarms after Lyu, Su and Li 2017.)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.decide import sparse_rates
from louver.errors import ParameterError
from louver.noise import Bits, discrete_laplace, reaches
from louver.noise.bits import SYSTEM
from louver.noise.laplace import LARGEST_RATE, SMALLEST_RATE
from louver.privacy.calibrate.oneshot import LARGEST_SLACK, aligned

MOST_ALARMS = 10**6


@dataclass(frozen=True, slots=True)
class SparseTest:
    """Flag iff aligned(margin) + DL(query_rate) + Uniform(-1/2, 1/2) >= cut + DL(threshold_rate), `alarms` times."""

    threshold_rate: Fraction
    query_rate: Fraction
    cut: Fraction
    sensitivity: int
    steps: int
    alarms: int
    monotone: bool

    @property
    def epsilon(self) -> Fraction:
        """The worst price: all alarms are raised."""
        return self.charge(self.alarms)

    def charge(self, raised: int) -> Fraction:
        """The price after so many alarms."""
        return self.threshold_rate + raised * self.query_rate * (1 if self.monotone else 2)

    def aligned(self, margins: NDArray[np.int64]) -> NDArray[np.int64]:
        return aligned(margins, self.sensitivity)

    def begin(self, bits: Bits = SYSTEM) -> SparseState:
        """Draw the threshold's noise, once for all comparisons to come."""
        return SparseState(self, int(discrete_laplace(self.threshold_rate, 1, bits=bits)[0]), 0)


@dataclass(frozen=True, slots=True)
class SparseAnswer:
    """Which comparisons fired, of the first `answered` ones; the rest were not asked."""

    flagged: NDArray[np.bool_]
    answered: int

    @property
    def raised(self) -> int:
        return int(self.flagged.sum())


@dataclass(slots=True, repr=False)
class SparseState:
    """What must be kept between ticks. As secret as the data: whoever knows the noise undoes it."""

    test: SparseTest
    noise: int
    raised: int

    @property
    def finished(self) -> bool:
        return self.raised == self.test.alarms

    @property
    def charge(self) -> Fraction:
        return self.test.charge(self.raised)

    def ask(self, margins: NDArray[np.int64], bits: Bits = SYSTEM) -> SparseAnswer:
        """Compare private aligned margins, in their order, until the last alarm."""
        values = parameters.integers("The margins", margins)
        # Noise on the margins' side: subtracting it from each is raising the cut by it.
        over = reaches(values - self.noise, self.test.query_rate, self.test.cut, bits=bits)
        left = self.test.alarms - self.raised
        fired = np.flatnonzero(over)
        # Without an alarm left nothing is answered; with some, everything up to the last of them.
        answered = 0 if not left else int(fired[left - 1]) + 1 if len(fired) >= left else len(over)
        self.raised += int(over[:answered].sum())
        return SparseAnswer(over[:answered], answered)

    def __repr__(self) -> str:
        return f"SparseState({self.raised} of {self.test.alarms} alarms raised)"


def sparse_test(
    miss_rate: parameters.Number,
    slack: int,
    false_alarm_rate: parameters.Number | None = None,
    sensitivity: int = 1,
    *,
    alarms: int = 1,
    monotone: bool = False,
) -> SparseTest:
    """The cheapest test whose comparisons each keep the promise while the test still answers.

    >>> [round(float(sparse_test(0.05, 21, alarms=c, monotone=True).epsilon), 3) for c in (1, 5)]
    [0.594, 1.625]
    """
    miss = parameters.error_rate("miss_rate", miss_rate)
    alarm = miss if false_alarm_rate is None else parameters.error_rate("false_alarm_rate", false_alarm_rate)
    width = parameters.integer("sensitivity", sensitivity, 1, LARGEST_SLACK)
    steps = aligned(parameters.integer("slack", slack, 0, LARGEST_SLACK) + 1, width)
    most = parameters.integer("alarms", alarms, 1, MOST_ALARMS)
    if not isinstance(monotone, bool):
        raise ParameterError("monotone must be True, if each unit moves all its margins the same way, or False.")
    p, q, cut = _calibrated(miss, alarm, steps, most if monotone else 2 * most)
    if q < SMALLEST_RATE or p > LARGEST_RATE:
        raise ParameterError("slack and error rates ask for noise that cannot be drawn exactly; change the slack.")
    return SparseTest(p, q, cut, width, steps, most, monotone)


@lru_cache(maxsize=256)
def _calibrated(miss: Fraction, alarm: Fraction, steps: int, weight: int) -> tuple[Fraction, Fraction, Fraction]:
    p, q = sparse_rates.split(miss, alarm, steps, weight)
    return p, q, sparse_rates.cut(p, q, miss, alarm, steps)


def sparse_flags(margins: NDArray[np.int64], test: SparseTest, bits: Bits = SYSTEM) -> SparseAnswer:
    """One run from beginning to end over private aligned margins.

    >>> answer = sparse_flags(np.array([-900, 900, -900, 900]), sparse_test(0.05, 21))
    >>> answer.flagged.tolist(), answer.answered
    ([False, True], 2)
    """
    return test.begin(bits).ask(margins, bits)
