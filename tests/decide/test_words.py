"""The promise in words says what the numbers keep, and no more."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.decide import words
from louver.decide.shift import Shift
from louver.decide.values import ValueBounds
from louver.privacy import Unit
from louver.question import nodes
from louver.question.nodes import Against, Aggregate, Comparison, Flag, Threshold
from louver.question.nodes import All as Every
from louver.source.domain import Domain
from louver.source.filters import Both, Compare, Either, Missing, Not, OneOf
from louver.source.measures import Bound, View
from tests.decide.asked import PERSON, ROOM, ROW, TWENTIETH, A, B, Shape, count, is_, of, where


def promise(condition: nodes.Condition, **changed: Any) -> str:
    return Shape(condition).plan(Shift, **changed).promise


@pytest.mark.parametrize(
    ("sign", "said"),
    [
        (
            ">",
            "whose count is above 50 is missed in at most 1 of 20 cases. A room with a count 10 or more below that is",
        ),
        (
            ">=",
            "whose count is at least 50 is missed in at most 1 of 20 cases. A room with a count more than 10 below",
        ),
        (
            "<",
            "whose count is below 50 is missed in at most 1 of 20 cases. A room with a count 10 or more above that is",
        ),
        (
            "<=",
            "whose count is at most 50 is missed in at most 1 of 20 cases. A room with a count more than 10 above",
        ),
    ],
)
def test_a_comparison_says_where_it_errs_rarely(sign: str, said: str) -> None:
    found = promise(is_(count(), sign, 50))
    assert said in found
    assert found.endswith("is flagged in at most 1 of 20 cases; in between, either may happen.")


@given(
    st.sampled_from([">", ">=", "<", "<="]),
    st.fractions(-30, 30, max_denominator=4),
    st.fractions(0, 12, max_denominator=3),
)
def test_counts_as_far_off_as_the_words_say_are_within_the_promise(
    sign: str, threshold: Fraction, slack: Fraction
) -> None:
    """For each whole count: "s or more below", or "more than s below", means that false alarms are bounded there."""
    plan = Shape(is_(count(), sign, threshold)).plan(Shift, slack=slack)
    (leaf,) = plan.program.leaves
    shown = leaf.slack * leaf.margin.step
    assert shown <= slack
    for rows in range(-50, 51):
        short = threshold - rows if sign in (">", ">=") else rows - threshold
        margin = int(leaf.margin.of(plan.reading, View((np.array([rows]),)))[0])
        said = short >= shown if sign in (">", "<") else short > shown
        if said and (shown or short > 0 or sign in (">", "<")):
            assert margin <= -leaf.slack


@pytest.mark.parametrize("kind", [nodes.MAX, nodes.MIN, nodes.MEDIAN])
@pytest.mark.parametrize("sign", [">", ">=", "<", "<="])
def test_extremes_speak_of_rows_that_are_between(kind: str, sign: str) -> None:
    """One row moves such a margin by one; from -slack it takes more than the slack to get above 0."""
    found = promise(is_(of(kind), sign, 4), slack=3)
    assert "A room that is more than 3 rows away from that is flagged" in found


def test_averages_state_their_slack_as_a_sum() -> None:
    assert "A room whose rows are 30 or more below that in sum is" in promise(is_(of(nodes.AVG), ">", 3), slack=30)
    assert "A room whose rows are more than 30 above that in sum is" in promise(is_(of(nodes.AVG), "<=", 3), slack=30)


def test_a_slack_that_is_a_decimal_is_shown_as_one() -> None:
    halves = ValueBounds.of({"watts": (0, 8, Fraction(1, 2))})
    assert "a sum of watts 1.5 or more below" in promise(is_(of(nodes.SUM), ">", 100), slack=1.5, values=halves)


def test_without_slack_the_promise_is_about_all_others() -> None:
    found = promise(is_(count(), ">", 50), slack=0, miss_rate=Fraction(1, 10**9))
    assert found == (
        "A room whose count is above 50 is missed in at most 1 of 1,000,000,000 cases. "
        "A room of which that is not so is flagged in at most 1 of 1,000,000,000 cases."
    )


def test_a_tree_speaks_of_its_condition() -> None:
    assert promise(Every((A, B)), false_alarm_rate=Fraction(1, 3)) == (
        "A room that meets the condition is missed in at most 1 of 20 cases. "
        "A room that would not meet it even if each threshold were easier by its slack is flagged in at most 1 of 3 "
        "cases; in between, either may happen."
    )


def test_what_is_counted_and_what_bounds_leave_out_are_said() -> None:
    shape = Shape(is_(count(Both((where("a"), Compare("hour", "<", 12)))), ">", 50), unit=PERSON)
    said = shape.plan(Shift, bound=Bound(2)).promise
    assert "Counted are rows where a = true and hour < 12." in said
    assert "Of everything recorded about one person, at most 2 rows are counted." in said
    assert said.endswith("What these bounds leave out is not seen, and misses caused by that are not covered.")
    per_key = shape.plan(Shift, bound=Bound(1, keys=3)).promise
    assert "at most one row is counted under each of at most 3 keys." in per_key


def test_one_key_is_spoken_of_as_one() -> None:
    shape = Shape(is_(count(), ">", 50), unit=PERSON, bound=Bound(4, keys=1))
    assert "at most 4 rows are counted under one key." in shape.plan(Shift).promise


def test_large_numbers_are_grouped_everywhere_in_a_promise_and_years_are_not() -> None:
    said = promise(is_(count(Both((Compare("watts", ">", 20_000), Compare("year", "=", 2026)))), ">", 100_000))
    assert "above 100,000 is" in said
    assert "Counted are rows where watts > 20,000 and year = 2026." in said


def test_thresholds_are_named_as_they_were_given() -> None:
    domain = Domain({"room": ["a"], "capacity": [10]}, keys=["room"])

    def said(right: Threshold | Against) -> str:
        asked = Flag(Comparison(count(), ">", right), ROOM)
        return Shift(asked, domain, unit=ROW, miss_rate=TWENTIETH, slack=1).promise

    assert "above its capacity is" in said(Threshold(column="capacity"))
    assert "above 0.8 times its capacity plus 2 is" in said(Threshold(Fraction(2), "capacity", Fraction(4, 5)))
    assert "above 1/3 is" in said(Threshold(Fraction(1, 3)))
    assert "above 1.5 times the count it is compared with plus 3 is" in said(
        Against(count(where("a")), Fraction(3, 2), Fraction(3))
    )


@pytest.mark.parametrize(
    ("keys", "noun"),
    [
        (("room",), "A room"),
        (("area",), "An area"),
        (("building", "floor_id"), "A key (building, floor_id)"),
        ((), "A table"),
    ],
)
def test_a_key_is_called_by_its_columns(keys: tuple[str, ...], noun: str) -> None:
    assert words.one_key(keys) == noun


@pytest.mark.parametrize(
    ("filtered", "said"),
    [
        (Compare("hour", ">=", 9), "hour >= 9"),
        (OneOf("room", ("hall", "lab")), "room is one of hall, lab"),
        (OneOf("n", tuple(range(9))), "n is one of 0, 1, 2, 3, 4, others"),
        (Missing("left"), "left is missing"),
        (Not(Compare("day", "=", date(2024, 1, 2))), "not (day = 2024-01-02)"),
        (
            Both((where("a"), Either((where("b"), Compare("x", "<", Fraction(1, 2)))))),
            "a = true and (b = true or x < 0.5)",
        ),
    ],
)
def test_filters_are_put_in_words(filtered: Any, said: str) -> None:
    assert words.phrase(filtered) == said


@pytest.mark.parametrize(
    ("exact", "said", "plain"),
    [
        (Fraction(1234567), "1,234,567", 1234567),
        (Fraction(1, 4), "0.25", 0.25),
        (Fraction(-7, 2), "-3.5", -3.5),
        (Fraction(1, 3), "1/3", 1 / 3),
        (Fraction(2469135, 2), "1,234,567.5", 1234567.5),
        (Fraction(-1, 8), "-0.125", -0.125),
    ],
)
def test_numbers_read_as_people_write_them(exact: Fraction, said: str, plain: float) -> None:
    assert words.number(exact) == said
    assert words.number_plain(exact) == plain


def test_keys_are_plain_values_in_an_answer() -> None:
    assert words.plain_key(("hall",)) == "hall"
    assert words.plain_key(("hall", date(2024, 1, 2))) == ["hall", "2024-01-02"]
    assert words.plain_key(()) == []


def test_aggregates_have_names() -> None:
    for kind in nodes.KINDS:
        assert words.aggregate_phrase(Aggregate(kind, "watts")).endswith(" of watts")
    assert words.aggregate_phrase(count()) == "count"
    assert Unit.row().protected() == "one row, not one person"
