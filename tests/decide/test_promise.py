"""Misses and false alarms of every strategy and every shape of tree: computed from the noise law, and counted.

`agrees` is a test of a million trials that is wrong with probability 1e-6, and rejects a rate that is 10% off.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.decide.adaptive_plan import Adaptive
from louver.decide.bands import Bands
from louver.decide.decision import Decision
from louver.decide.naive import Naive
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
from tests.decide import adversary, exactly
from tests.decide.asked import PERSON, ROOM, ROW, SHAPES, TWENTIETH, count, of, rooms, view
from tests.decide.exactly import CHAIN_ERROR
from tests.decide.promised import MANY, TRIALS, agrees, assert_trials_agree, bound_cases, errors, worst_case

HUNDREDTH = Fraction(1, 100)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rates", [(TWENTIETH, TWENTIETH), (HUNDREDTH, TWENTIETH), (Fraction(1, 5), Fraction(1, 1000))])
def test_one_look_keeps_its_promise_in_every_worst_case(shape: str, rates: tuple[Fraction, Fraction]) -> None:
    plan = SHAPES[shape].plan(Shift, miss_rate=rates[0], false_alarm_rate=rates[1])
    for case in bound_cases(plan):
        found, promised = errors(plan, case)
        assert found <= exactly.decimals(promised)


@pytest.mark.parametrize("shape", SHAPES)
def test_levels_keep_their_promise_in_every_worst_case_under_every_rule(shape: str) -> None:
    """The errors of the schedule, those of the adaptive strategy at its only key, and a bound for whatever rule: so for
    the adaptive one at any number of keys, which has the same levels."""
    plan, adaptive = SHAPES[shape].plan(Progressive), SHAPES[shape].plan(Adaptive)
    assert adaptive.grids == plan.grids
    largest = 0.0
    for case in bound_cases(plan):
        (found, promised), (adapted, _) = errors(plan, case), errors(adaptive, case)
        worst = adversary.any_rule(plan, case)
        assert float(max(found, adapted)) <= worst + CHAIN_ERROR
        assert worst <= float(promised) + CHAIN_ERROR
        largest = max(largest, float(adapted))
    assert largest > 0.04, "the worst cases are not among those that were computed"


@pytest.mark.parametrize("shape", ["leaf", "a or (b and c)", "between", "sum and count"])
def test_levels_keep_a_promise_with_two_different_rates(shape: str) -> None:
    plan = SHAPES[shape].plan(Progressive, miss_rate=HUNDREDTH, false_alarm_rate=Fraction(1, 10), levels=4)
    for case in bound_cases(plan):
        assert adversary.any_rule(plan, case) <= float(errors(plan, case)[1]) + CHAIN_ERROR


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
            worst, every = adversary.worst_rule(grid, margin), adversary.any_level_fails(grid, margin)
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
    assert adversary.worst_rule(careless, 1) > 0.05


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_million_trials_of_one_look_agree_with_the_computed_rate(shape: str, holds: bool) -> None:
    assert_trials_agree(SHAPES[shape], Shift, holds)


@pytest.mark.parametrize(
    ("shape", "holds"),
    [
        ("leaf", True),
        ("leaf", False),
        ("and", True),
        ("or", False),
        ("not (a and b)", True),
        ("a or (b and c)", True),
        ("(a or b) and c", False),
        ("between", False),
        ("a repeated leaf", True),
        ("sum", False),
    ],
)
def test_a_million_trials_of_levels_agree_with_the_computed_rate(shape: str, holds: bool) -> None:
    assert_trials_agree(SHAPES[shape], Progressive, holds)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 2), Fraction(2)])
def test_the_naive_strategy_misses_as_often_as_it_says(epsilon: Fraction) -> None:
    """It promises nothing, and says how often a count just above is missed; farther ones are missed less often, and
    those at the threshold or below are flagged as often as those so far above are missed."""
    plan = SHAPES["leaf"].plan(Naive, epsilon=epsilon)
    said = exactly.decimals(plan.just_missed)
    missed = [1 - exactly.flagged(plan, exactly.case(plan, {0: 50 + more})) for more in (1, 2, 10)]
    alarms = [exactly.flagged(plan, exactly.case(plan, {0: 50 - fewer})) for fewer in (0, 1, 9)]
    assert missed == sorted(missed, reverse=True)
    assert said * Decimal("0.99999999") < missed[0] <= said
    assert alarms == pytest.approx(missed)


@pytest.mark.parametrize(
    ("shape", "holds"), [("leaf", True), ("leaf", False), ("and", True), ("or", False), ("a or (b and c)", True)]
)
def test_a_million_trials_of_the_naive_strategy_agree_with_the_computed_rate(shape: str, holds: bool) -> None:
    assert_trials_agree(SHAPES[shape], Naive, holds, epsilon=Fraction(1, 2))


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
