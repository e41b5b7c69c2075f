"""Misses and false alarms of the adaptive strategy: over one key, over few, and over so many that it skips no level."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.decide.adaptive import next_level
from louver.decide.adaptive_plan import Adaptive
from louver.decide.decision import Decision
from louver.decide.progressive import Progressive
from louver.noise import Bits, bernoulli, levels
from louver.privacy import LevelGrid
from tests.decide import exactly
from tests.decide.asked import SHAPES, view
from tests.decide.promised import MANY, TRIALS, agrees, band, errors, worst_case


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Charges for 50,000 keys take seconds; trials of the promise do without them."""
    monkeypatch.setattr(Decision, "charges", lambda *_: ())


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("shape", "holds"),
    [("leaf", True), ("leaf", False), ("and", True), ("or", False), ("not (a and b)", True), ("a or (b and c)", False)],
)
def test_a_million_trials_over_many_keys_agree_with_the_law_of_every_level(shape: str, holds: bool) -> None:
    """Each level is expected to decide some of so many keys, so that none is skipped."""
    plan: Any = SHAPES[shape].plan(Adaptive, MANY)
    schedule = SHAPES[shape].plan(Progressive)
    case = worst_case(schedule, holds)
    rows, flags = view(plan, dict(case.values)), 0
    for _ in range(TRIALS // MANY):
        answer = plan.run(rows, Bits()).answer
        flags += len(answer["flagged"])
        for stopped in answer["levels"]:
            taken = np.unique(stopped)
            assert (np.diff(taken) == 1).all()
    assert agrees(TRIALS - flags if holds else flags, float(errors(schedule, case)[0]))


def test_with_one_key_the_law_follows_the_rule() -> None:
    for shape in ("leaf", "sum", "unequal"):
        for grid in SHAPES[shape].plan(Adaptive).grids:
            for level in range(len(grid.levels) - 1):
                shown = np.arange(grid.limits(level)[0] - 40, grid.limits(level)[1] + 40, 3)
                picked = [next_level(grid, level, shown[at : at + 1]) for at in range(len(shown))]
                assert exactly.by_prediction(grid, level, shown).tolist() == picked


@pytest.mark.parametrize("margin", [1, -10])
def test_a_million_keys_each_decided_alone_agree_with_the_computed_rate(margin: int) -> None:
    """On the real chains; that a plan of one key does the same with its chain is in `test_audit_adaptive`."""
    (grid,) = SHAPES["leaf"].plan(Adaptive).grids
    shown = margin + levels(grid.levels, TRIALS)
    level, flagged = np.zeros(TRIALS, dtype=np.int64), bernoulli(grid.last.coin, TRIALS)
    is_open = np.ones(TRIALS, dtype=np.bool_)
    for at in range(len(grid.levels)):
        here = np.flatnonzero(is_open & (level == at))
        eliminated, accepted = grid.limits(at)
        seen = shown[at, here]
        decided = (seen <= eliminated) | (seen >= accepted)
        flagged[here[decided]] = seen[decided] >= accepted
        is_open[here[decided]] = False
        level[here[~decided]] = exactly.by_prediction(grid, at, seen[~decided])
    yes = exactly.chain_law(grid, ((margin, 1),), exactly.by_prediction)[(True,)]
    schedule = exactly.chain_law(grid, ((margin, 1),))[(True,)]
    assert abs(schedule - yes) > 0.004, "the rule skips levels, and errs less"
    flags = int(flagged.sum())
    assert agrees(TRIALS - flags, 1 - yes) if margin > 0 else agrees(flags, yes)


class Contrary(Progressive):
    """Picks the next level by what it saw, so as to catch the chain at a bad moment."""

    def next_level(self, grid: LevelGrid, level: int, seen: NDArray[np.int64], *_: Any) -> int:
        if level < 0:
            return 0
        later = range(level + 1, len(grid.levels))
        return min(later, key=lambda each: abs(int(np.median(seen)) - grid.limits(each)[0]))


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("make", [Adaptive, Contrary])
def test_rules_that_follow_the_noise_keep_the_promise_over_few_keys(make: type[Progressive]) -> None:
    """20 keys just above their threshold, 1,000 times. A rate of 1 in 20 is exceeded by so much with
    probability 1e-6."""
    plan = SHAPES["leaf"].plan(make, 20)
    rows = view(plan, {0: 51})
    missed = sum(20 - len(plan.run(rows, Bits()).answer["flagged"]) for _ in range(1000))
    assert missed <= band(0.05, 20_000)[1]
