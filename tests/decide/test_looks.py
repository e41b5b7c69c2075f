"""The table of a whole question: its prices are the plan's, and its means follow from those of its looks."""

from __future__ import annotations

from fractions import Fraction

import pytest

from louver.decide.choose import estimate
from louver.decide.looks import one_look, table_of
from louver.decide.progressive import Progressive
from louver.decide.shift import Shift
from louver.decide.spread import Margins, guessed
from louver.privacy import largest_total
from louver.question import nodes
from louver.question.nodes import All as Every
from tests.decide.asked import PERSON, SHAPES, TWENTIETH, A, B, Shape, is_, of

SEVERAL = ("and", "or", "or of four", "between", "disjoint and", "sum and count", "people in rooms", "average")


@pytest.mark.parametrize("name", SEVERAL)
def test_every_price_is_that_of_the_plan_with_so_many_levels(name: str) -> None:
    shape = SHAPES[name]
    candidates = table_of(shape.plan(Shift)).candidates
    assert candidates[0].worst == largest_total(shape.plan(Shift).worst).price == one_look(shape.plan(Progressive))
    for levels in (2, 3):
        assert candidates[levels - 1].worst == largest_total(shape.plan(Progressive, levels=levels).worst).price


def test_one_comparison_has_the_table_of_its_look() -> None:
    plan = SHAPES["leaf"].plan(Shift, 5)
    expected = estimate(guessed(5, 50), miss_rate=TWENTIETH, slack=10)
    assert table_of(plan).candidates == expected.candidates
    assert table_of(plan).source == "nothing known, so margins are taken to be uniform within 50 steps of the threshold"


def means(plan: Shift) -> list[list[float]]:
    """The mean prices of each look by itself."""
    return [
        [
            each.mean
            for each in estimate(
                guessed(5, 50 if number == 0 else 40), miss_rate=miss, slack=look.slack, false_alarm_rate=alarm
            ).candidates
        ]
        for number, (look, (miss, alarm)) in enumerate(zip(plan.program.looks, plan.rates, strict=True))
    ]


def test_looks_that_one_unit_can_be_in_add_up() -> None:
    plan = Shape(Every((A, B))).plan(Shift, 5)
    first, second = means(plan)
    for each, one, other in zip(table_of(plan).candidates, first, second, strict=True):
        assert each.mean == pytest.approx(one + other)


def test_looks_that_no_unit_shares_cost_the_larger_one() -> None:
    plan = SHAPES["disjoint and"].plan(Shift, 5)
    first, second = means(plan)
    for each, one, other in zip(table_of(plan).candidates[1:], first[1:], second[1:], strict=True):
        assert max(one, other) - 1e-9 <= each.mean < one + other


def test_what_is_known_is_about_the_dearest_look() -> None:
    plan = Shape(Every((A, B))).plan(Shift, 5)
    far, near = (table_of(plan, Margins({margin: 5})).candidates[6].mean for margin in (-5000, 0))
    assert far < table_of(plan).candidates[6].mean < near
    assert table_of(plan, Margins({-5000: 5})).source.startswith("margins as stated for its dearest look, and nothing")


def test_where_a_threshold_is_no_number_margins_reach_ten_slacks() -> None:
    plan = Shape(is_(of(nodes.AVG), ">", 3), slack=30).plan(Shift)
    assert f"uniform within {10 * plan.program.looks[0].steps} steps" in table_of(plan).source


def test_many_looks_are_joined_without_end_of_prices() -> None:
    plan = SHAPES["or of four"].plan(Shift, 100)
    table = table_of(plan)
    assert all(0 < each.mean <= float(each.worst) + 1e-9 for each in table.candidates)
    assert all(0 <= each.min_entropy <= 1 for each in table.candidates)
    assert {each.misses for each in table.candidates} == {None}


def test_keys_that_pay_together_do_so_in_every_look() -> None:
    apart, together = (
        table_of(Shape(Every((A, B)), unit=unit).plan(Shift, 50)).candidates[6] for unit in (Shape(A).unit, PERSON)
    )
    assert together.worst == apart.worst
    assert together.mean > apart.mean
    assert isinstance(together.worst, Fraction)
