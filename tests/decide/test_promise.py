"""Misses and false alarms of every strategy and every shape of tree: computed from the noise law, and counted.

In a million trials the count leaves its band with probability 1e-6 if the computed rate is right (an exact binomial
test, `FALSE_ALARM`), and stays in it with probability below 1e-6 if the rate is 10% off; `agrees` checks that, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from louver.decide.adaptive_plan import Adaptive
from louver.decide.bands import Bands
from louver.decide.decision import Decision
from louver.decide.progressive import Progressive
from louver.decide.shift import Shift
from louver.decide.sparse import SparseState
from louver.decide.sparse_plan import Sparse
from louver.decide.within import Within
from louver.noise import Bits, discrete_laplace
from louver.privacy import LevelGrid
from louver.question import nodes
from louver.question.nodes import Classes, Threshold, Values
from louver.source.measures import Bound, View
from tests.decide import exactly
from tests.decide.asked import PERSON, ROOM, ROW, SHAPES, TWENTIETH, Shape, count, of, rooms, view
from tests.decide.exactly import CHAIN_ERROR, Case

FALSE_ALARM = 1e-6
TRIALS = 1_000_000
MANY = 50_000
HUNDREDTH = Fraction(1, 100)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Charges for 50,000 keys take seconds; trials of the promise do without them."""
    monkeypatch.setattr(Decision, "charges", lambda *_: ())


def agrees(wrong: int, rate: float, trials: int = TRIALS) -> bool:
    """Whether so many errors go with the rate."""
    low, high = _band(rate, trials)
    for off in (0.9 * rate, 1.1 * rate):
        kept = binom.cdf(high, trials, off) - binom.cdf(low - 1, trials, off)
        assert kept < FALSE_ALARM, "too few trials to tell a rate that is 10% off"
    return low <= wrong <= high


def _band(rate: float, trials: int) -> tuple[float, float]:
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


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rates", [(TWENTIETH, TWENTIETH), (HUNDREDTH, TWENTIETH), (Fraction(1, 5), Fraction(1, 1000))])
def test_one_look_keeps_its_promise_in_every_worst_case(shape: str, rates: tuple[Fraction, Fraction]) -> None:
    plan = SHAPES[shape].plan(Shift, miss_rate=rates[0], false_alarm_rate=rates[1])
    for case in bound_cases(plan):
        found, promised = errors(plan, case)
        assert found <= exactly.decimals(promised)


@pytest.mark.parametrize("shape", SHAPES)
def test_levels_keep_their_promise_in_every_worst_case_under_every_rule(shape: str) -> None:
    """The schedule's own errors, and a bound for whatever rule: so for the adaptive one, which has the same levels."""
    plan = SHAPES[shape].plan(Progressive)
    assert SHAPES[shape].plan(Adaptive).grids == plan.grids
    for case in bound_cases(plan):
        found, promised = errors(plan, case)
        worst = exactly.any_rule(plan, case)
        assert float(found) <= worst + CHAIN_ERROR
        assert worst <= float(promised) + CHAIN_ERROR


@pytest.mark.parametrize("shape", ["leaf", "a or (b and c)", "between", "sum and count"])
def test_levels_keep_a_promise_with_two_different_rates(shape: str) -> None:
    plan = SHAPES[shape].plan(Progressive, miss_rate=HUNDREDTH, false_alarm_rate=Fraction(1, 10), levels=4)
    for case in bound_cases(plan):
        assert exactly.any_rule(plan, case) <= float(errors(plan, case)[1]) + CHAIN_ERROR


@pytest.mark.parametrize("shape", ["equal", "unequal", "between"])
@pytest.mark.parametrize("make", [Shift, Progressive])
def test_leaves_that_share_a_look_keep_the_promise_at_every_count(shape: str, make: type[Decision]) -> None:
    """Their margins move together, so that the worst case might lie between the usual ones."""
    plan = SHAPES[shape].plan(make)
    bound = 0
    for rows in (*range(20, 85, 5), 29, 30, 31, 39, 40, 41, 49, 50, 51, 59, 60, 61, 69, 70, 71):
        case = exactly.case(plan, {0: rows})
        if case.holds or not case.nearly_holds:
            found, promised = errors(plan, case)
            assert float(found) <= float(promised) + CHAIN_ERROR
            bound += 1
    assert bound > 10


def test_one_look_at_one_leaf_uses_all_of_its_promise() -> None:
    """The computed rates are not merely below the promise: a rate a millionth lower would be exceeded."""
    for shape in ("leaf", "sum", "average", "median", "people in rooms"):
        plan = SHAPES[shape].plan(Shift)
        for holds in (True, False):
            assert errors(plan, worst_case(plan, holds))[0] > Decimal("0.04999995")


@pytest.mark.parametrize("slack", [10, 3, 40])
def test_the_worst_rule_of_all_keeps_the_promise(slack: int) -> None:
    """An adversary who knows that the count is just above picks each next level so as to miss it."""
    for alarm in (TWENTIETH, HUNDREDTH):
        plan = SHAPES["leaf"].plan(Progressive, slack=slack, false_alarm_rate=alarm)
        (grid,) = plan.grids
        for margin, promised in ((1, TWENTIETH), (-slack, alarm)):
            schedule = float(errors(plan, exactly.case(plan, {0: 50 + margin}))[0])
            worst, every = exactly.worst_rule(grid, margin), exactly.any_level_fails(grid, margin)
            assert schedule <= worst + CHAIN_ERROR
            assert worst <= every + CHAIN_ERROR
            assert every <= float(promised) + CHAIN_ERROR


def test_the_adversary_would_find_levels_that_were_calibrated_for_the_schedule_only() -> None:
    """Limits three steps tighter than calibrated break the promise under his rule."""
    plan = SHAPES["leaf"].plan(Progressive)
    (grid,) = plan.grids
    careless = LevelGrid(
        grid.levels, tuple(each - 3 for each in grid.eliminate), grid.accept, grid.last, grid.miss, grid.false_alarm
    )
    assert exactly.worst_rule(careless, 1) > 0.05


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_million_trials_of_one_look_agree_with_the_computed_rate(shape: str) -> None:
    assert_trials_agree(SHAPES[shape], Shift)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("shape", ["leaf", "a or (b and c)", "between", "a repeated leaf", "sum"])
def test_a_million_trials_of_levels_agree_with_the_computed_rate(shape: str) -> None:
    assert_trials_agree(SHAPES[shape], Progressive)


def assert_trials_agree(shape: Shape, make: type[Decision]) -> None:
    """At the case in which errors are most frequent, of misses or of false alarms."""
    small: Decision = shape.plan(make)
    large: Any = shape.plan(make, MANY)
    case = max(bound_cases(small), key=lambda case: errors(small, case)[0])
    rate = float(exactly.flagged(small, case))
    rows = view(large, dict(case.values))
    flags = sum(len(large.run(rows, Bits()).answer["flagged"]) for _ in range(TRIALS // MANY))
    assert agrees(min(flags, TRIALS - flags), min(rate, 1 - rate))


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("margin", [1, -10])
def test_a_million_trials_of_the_adaptive_rule_agree_with_the_levels_it_took(margin: int) -> None:
    """Over so many keys, which levels are taken is as good as certain, and the law is that of these levels."""
    plan = SHAPES["leaf"].plan(Adaptive, MANY)
    (grid,) = plan.grids
    taken: set[tuple[int, ...]] = set()
    wrong = 0
    for _ in range(TRIALS // MANY):
        answer = plan.run(view(plan, {0: 50 + margin}), Bits()).answer
        flags = len(answer["flagged"])
        wrong += MANY - flags if margin > 0 else flags
        taken.add(tuple(np.unique(answer["levels"][0]).tolist()))
    (kept,) = taken
    fewer = replace(
        grid,
        levels=tuple(grid.levels[level] for level in kept),
        eliminate=tuple(grid.eliminate[level] for level in kept),
        accept=tuple(grid.accept[level] for level in kept),
    )
    yes = exactly.chain_law(fewer, ((margin, 1),))[(True,)]
    assert agrees(wrong, 1 - yes if margin > 0 else yes)


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
    assert missed <= _band(0.05, 20_000)[1]


CLASSES = {
    "counts": Classes(
        count(), (Threshold(Fraction(20)), Threshold(Fraction(35)), Threshold(Fraction(90))), tuple("abcd"), ROOM
    ),
    "sums": Classes(of(nodes.SUM), (Threshold(Fraction(100)), Threshold(Fraction(149))), tuple("abc"), ROOM),
}


def bands(which: str, size: int = 1, **changed: Any) -> Bands:
    given = {"unit": ROW, "miss_rate": TWENTIETH, "slack": 12 if which == "counts" else 45, **changed}
    return Bands(CLASSES[which], rooms(size), values=SHAPES["sum"].values, **given)


@pytest.mark.parametrize("which", CLASSES)
@pytest.mark.parametrize("alarm", [TWENTIETH, HUNDREDTH])
def test_classes_keep_their_promise_at_every_aggregate(which: str, alarm: Fraction) -> None:
    plan = bands(which, false_alarm_rate=alarm)
    slack = int(plan.slack[0])
    tight = Decimal(0)
    for cut, threshold in enumerate(plan.classes.cuts):
        for aggregate in range(-20, 220):
            beyond = exactly.beyond_cut(plan, cut, aggregate)
            if aggregate > threshold.constant:
                assert 1 - beyond <= exactly.decimals(TWENTIETH)
                tight = max(tight, 1 - beyond)
            if aggregate <= threshold.constant - slack:
                assert beyond <= exactly.decimals(alarm)
    assert tight > Decimal("0.045")


@pytest.mark.parametrize("which", CLASSES)
def test_a_million_trials_of_classes_agree_with_the_computed_rates(which: str) -> None:
    plan, cut = bands(which, MANY), 1
    threshold = int(plan.classes.cuts[cut].constant)
    aggregate = threshold + 1 if which == "counts" else threshold - int(plan.slack[0])
    rate = float(exactly.beyond_cut(plan, cut, aggregate))
    rows, above = view(plan, {0: aggregate}), 0
    for _ in range(TRIALS // MANY):
        found = plan.run(rows, Bits()).answer["classes"]
        above += sum(found.count(name) for name in plan.classes.names[cut + 1 :])
    assert agrees(min(above, TRIALS - above), min(rate, 1 - rate))


def within(size: int = 1, **changed: Any) -> Within:
    question = Values((count(), of(nodes.SUM)), ROOM)
    given = {"unit": PERSON, "bound": Bound(rows=2), "miss_rate": TWENTIETH, "distance": (15, 90), **changed}
    return Within(question, rooms(size), values=SHAPES["sum"].values, **given)


@pytest.mark.parametrize("miss", [TWENTIETH, HUNDREDTH, Fraction(2, 5)])
def test_numbers_are_within_their_distance_as_promised(miss: Fraction) -> None:
    plan = within(miss_rate=miss)
    for each in plan.wanted:
        outside = exactly.outside(plan.rate(each), each.distance)
        assert exactly.decimals(miss) * Decimal("0.99999999") < outside <= exactly.decimals(miss)


def test_a_million_numbers_are_off_as_often_as_computed() -> None:
    plan = Within(Values((count(),), ROOM), rooms(MANY), unit=ROW, miss_rate=TWENTIETH, distance=15)
    rows, off = View((np.full(MANY, 70),)), 0
    for _ in range(TRIALS // MANY):
        found = np.array(plan.run(rows, Bits()).answer["values"][0])
        off += int((np.abs(found - 70) > 15).sum())
    assert agrees(off, float(exactly.outside(plan.rate(plan.wanted[0]), 15)))


def alone(plan: Sparse, aligned: int) -> float:
    """The probability that one comparison fires, its threshold's noise being its own: a sum over that noise."""
    test = plan.test
    reach = int(60 / min(test.threshold_rate, test.query_rate))
    places = np.arange(-reach, reach + 1)
    a = np.exp(-float(test.threshold_rate))
    law = (1 - a) / (1 + a) * a ** np.abs(places)
    b = np.exp(-float(test.query_rate))
    # aligned + noise + U >= cut + place: all of it above the boundary, a part of it there.
    over = float(test.cut) + places - aligned
    boundary = np.floor(over + 0.5)

    def reaches(least: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(
            np.where(least > 0, b ** np.maximum(least, 0) / (1 + b), 1 - b ** np.maximum(1 - least, 0) / (1 + b))
        )

    part = boundary + 0.5 - over
    return float(law @ (part * reaches(boundary) + (1 - part) * reaches(boundary + 1)))


@pytest.mark.parametrize("shape", ["leaf", "sum", "people in rooms", "median"])
def test_the_sparse_strategy_keeps_its_promise_for_each_comparison(shape: str) -> None:
    for alarms in (1, 4):
        plan = SHAPES[shape].plan(Sparse, alarms=alarms, false_alarm_rate=HUNDREDTH)
        (leaf,) = plan.program.leaves
        true, false = plan.test.aligned(np.array([1, -leaf.slack])).tolist()
        miss, alarm = 1 - alone(plan, true), alone(plan, false)
        assert 0.045 < miss <= 0.05 + CHAIN_ERROR
        assert 0.008 < alarm <= 0.01 + CHAIN_ERROR


def test_a_million_sparse_comparisons_agree_with_the_computed_rate() -> None:
    """Each with a threshold noise of its own, as if it were the first of its run."""
    plan = SHAPES["leaf"].plan(Sparse)
    test = replace(plan.test, alarms=TRIALS + 1)
    noise = discrete_laplace(test.threshold_rate, TRIALS)
    raised = SparseState(test, noise, 0).ask(np.ones(TRIALS, dtype=np.int64)).raised  # type: ignore[arg-type]
    assert agrees(TRIALS - raised, 1 - alone(plan, 1))
