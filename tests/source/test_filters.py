"""Filters as values: which of them are the same one."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, date, datetime
from fractions import Fraction

import pytest

from louver.source.filters import Both, Compare, Either, Filter, Not, OneOf, both

NUMBER, TRUTH = Compare("x", "=", 1), Compare("x", "=", True)
NUMBERS, TRUTHS = OneOf("x", (1, 0)), OneOf("x", (True, False))


@pytest.mark.parametrize(("one", "other"), [(NUMBER, TRUTH), (NUMBERS, TRUTHS)])
def test_a_number_and_a_truth_value_are_different_filters(one: Filter, other: Filter) -> None:
    assert one != other
    assert len({one, other}) == 2
    assert both([one, other]) == Both((one, other))
    assert Not(one) != Not(other)
    assert Either((one, other)) != Either((one, one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (NUMBER, Compare("x", "=", Fraction(1))),
        (TRUTH, Compare("x", "=", True)),
        (NUMBERS, OneOf("x", (Fraction(1), 0))),
        (TRUTHS, OneOf("x", (True, False))),
        (NUMBER, replace(Compare("y", "=", 1), column="x")),
        (TRUTHS, pickle.loads(pickle.dumps(TRUTHS))),  # noqa: S301
    ],
)
def test_filters_that_say_the_same_are_one(one: Filter, other: Filter) -> None:
    assert one == other
    assert hash(one) == hash(other)


@pytest.mark.parametrize(
    "other",
    [
        Compare("y", "=", 1),
        Compare("x", "<>", 1),
        Compare("x", "=", 2),
        Compare("x", "=", "1"),
        OneOf("x", (1,)),
        ("x", "=", 1, False),
        None,
    ],
)
def test_filters_that_say_something_else_are_others(other: object) -> None:
    assert other != NUMBER


def test_a_day_and_its_midnight_are_different_filters() -> None:
    assert Compare("x", "<", date(2026, 1, 31)) != Compare("x", "<", datetime(2026, 1, 31, tzinfo=UTC))


def test_filters_show_what_they_are_made_of_and_stay_so() -> None:
    assert repr(NUMBER) == "Compare(column='x', sign='=', value=1)"
    assert repr(TRUTHS) == "OneOf(column='x', values=(True, False))"
    with pytest.raises(FrozenInstanceError):
        NUMBER.value = 2  # type: ignore[misc]
