"""What is promised about a key in each case, and whether a million trials agree with what is computed.

In a million trials the count leaves its band with probability 1e-6 if the computed rate is right (an exact binomial
test, `FALSE_ALARM`), and stays in it with probability below 1e-6 if the rate is 10% off; `agrees` checks that, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from scipy.stats import binom

from louver.decide.decision import Decision
from louver.noise import Bits
from tests.decide import exactly
from tests.decide.asked import Shape, view
from tests.decide.exactly import Case

FALSE_ALARM = 1e-6
TRIALS = 1_000_000
MANY = 50_000


def agrees(wrong: int, rate: float, trials: int = TRIALS) -> bool:
    """Whether so many errors go with the rate."""
    low, high = band(rate, trials)
    for off in (0.9 * rate, 1.1 * rate):
        kept = binom.cdf(high, trials, off) - binom.cdf(low - 1, trials, off)
        assert kept < FALSE_ALARM, "too few trials to tell a rate that is 10% off"
    return low <= wrong <= high


def band(rate: float, trials: int) -> tuple[float, float]:
    return float(binom.ppf(FALSE_ALARM / 2, trials, rate)), float(binom.isf(FALSE_ALARM / 2, trials, rate))


def errors(plan: Decision, case: Case) -> tuple[Decimal, Fraction]:
    """How often the key of this case is decided wrongly, and how often it may be."""
    yes = exactly.flagged(plan, case)
    return (1 - yes, plan.miss_rate) if case.holds else (yes, plan.false_alarm_rate)


def bound_cases(plan: Decision) -> Iterator[Case]:
    """The worst cases about which something is promised."""
    return (case for case in exactly.cases(plan) if case.holds or not case.nearly_holds)


def worst_case(plan: Decision, holds: bool) -> Case:
    return max((case for case in bound_cases(plan) if case.holds == holds), key=lambda case: errors(plan, case)[0])


def assert_trials_agree(shape: Shape, make: type[Decision], holds: bool, **changed: Any) -> None:
    """At the case in which misses are most frequent, or else false alarms."""
    small: Decision = shape.plan(make, **changed)
    large: Any = shape.plan(make, MANY, **changed)
    case = worst_case(small, holds)
    yes = exactly.flagged(small, case)
    rows, flags = view(large, dict(case.values)), 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Decision, "charges", lambda *_: ())  # for so many keys they take seconds
        for _ in range(TRIALS // MANY):
            flags += len(large.run(rows, Bits()).answer["flagged"])
    assert agrees(TRIALS - flags, float(1 - yes)) if holds else agrees(flags, float(yes))
