"""The adaptive strategy tells no more about one unit than it charges, also by the levels that it skips.

With half the noise it would. The law of (answer, stop levels) of its only key is exact; for several keys see
`test_audit_coupled`.
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import pytest

from louver.decide.adaptive_plan import Adaptive
from tests.decide import adapted, exactly
from tests.decide.audited import TO_SPARE, charged, every_row, moved, near_thresholds, shape_of
from tests.decide.outcomes import losses

# From four levels on some are skipped, also by a single key.
LEVELS = {"leaf": 6, "sum": 4, "between": 3, "and": 3, "or": 3}


@lru_cache(maxsize=1000)
def laws(name: str, values: tuple[tuple[int, int], ...]) -> adapted.Laws:
    return adapted.laws(plan_of(name), dict(values))


def plan_of(name: str) -> Adaptive:
    return shape_of(name).plan(Adaptive, levels=LEVELS[name])


@pytest.mark.parametrize("name", LEVELS)
def test_what_a_key_shows_and_skips_loses_at_most_its_charge(name: str) -> None:
    plan = plan_of(name)
    excess, part = [-math.inf, -math.inf], 0.0
    some = itertools.islice(near_thresholds(plan), 1 if len(plan.program.looks) > 1 else 2)
    for values, (row, adds) in itertools.product(list(some), list(every_row(plan))[-2:]):
        both = laws(name, moved(values, dict.fromkeys(adds, 0))), laws(name, moved(values, adds))
        for (one, other), halved in itertools.product((both, both[::-1]), (0, 1)):
            for outcome, loss in losses(one[halved], other[halved]):
                paid = float(charged(plan, [outcome], row))
                excess[halved] = max(excess[halved], loss - paid)
                part = max(part, loss / paid if paid and not halved else 0.0)
    assert excess[0] <= TO_SPARE
    assert excess[1] > 0.1
    assert part > 0.7, "an audit that comes nowhere near the charge would not notice if it were too low"


@pytest.mark.parametrize("name", LEVELS)
def test_the_law_of_the_code_is_that_of_the_reference(name: str) -> None:
    """Of which misses and false alarms are computed; levels are skipped, and leave other stops than the schedule."""
    plan = plan_of(name)
    values = next(near_thresholds(plan))
    found = laws(name, tuple(sorted(values.items())))[0]
    flags = sum(chance for outcome, chance in found.items() if outcome[0])
    assert flags == pytest.approx(float(exactly.flagged(plan, exactly.case(plan, values))), abs=1e-9)
