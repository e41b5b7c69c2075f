"""Questions written in Python."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from louver.errors import ParameterError
from louver.question import (
    avg,
    classes,
    col,
    count,
    count_distinct,
    max_,
    median,
    min_,
    question,
    sum_,
    values,
)
from louver.question import nodes as q
from louver.question.nodes import Against, Aggregate, Classes, Comparison, Flag, Threshold, Values
from louver.source import filters
from louver.source.filters import Both, Compare, Either, Missing, OneOf

ROOMS = Aggregate("count", keys=("room",))


def test_a_count_against_a_column_of_the_domain() -> None:
    assert question(count().by("room") > col("capacity")) == Flag(
        Comparison(ROOMS, ">", Threshold(column="capacity")), ("room",)
    )


@pytest.mark.parametrize(
    ("made", "node"),
    [
        (count(), Aggregate("count")),
        (count_distinct("person"), Aggregate("count_distinct", "person")),
        (sum_("watts", 0, 2.5), Aggregate("sum", "watts", Fraction(0), Fraction(5, 2))),
        (avg("watts"), Aggregate("avg", "watts")),
        (avg("watts", low=-1), Aggregate("avg", "watts", Fraction(-1))),
        (avg("watts", high=9), Aggregate("avg", "watts", None, Fraction(9))),
        (min_("watts"), Aggregate("min", "watts")),
        (max_("watts"), Aggregate("max", "watts")),
        (median("watts").by("room", "day"), Aggregate("median", "watts", keys=("room", "day"))),
        (count().where(col("floor") == 3), Aggregate("count", where=Compare("floor", "=", 3))),
        (
            count().where(col("floor") == 3).where(col("active") == True),  # noqa: E712
            Aggregate("count", where=Both((Compare("floor", "=", 3), Compare("active", "=", True)))),
        ),
    ],
)
def test_aggregates(made: object, node: Aggregate) -> None:
    assert made.node == node  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("made", "sign", "threshold"),
    [
        (count().by("room") > 5, ">", Threshold(Fraction(5))),
        (count().by("room") >= 5.5, ">=", Threshold(Fraction(11, 2))),
        (count().by("room") < Decimal("0.1"), "<", Threshold(Fraction(1, 10))),
        (count().by("room") <= Fraction(1, 3), "<=", Threshold(Fraction(1, 3))),
        (count().by("room") == np.int64(7), "=", Threshold(Fraction(7))),
        (count().by("room") != np.float32(0.1), "<>", Threshold(Fraction(1, 10))),
        (5 < count().by("room"), ">", Threshold(Fraction(5))),  # noqa: SIM300
        (np.float64(0.8) >= count().by("room"), "<=", Threshold(Fraction(4, 5))),
        (col("capacity") <= count().by("room"), ">=", Threshold(column="capacity")),
        (0.8 * col("capacity") < count().by("room"), ">", Threshold(Fraction(0), "capacity", Fraction(4, 5))),
        (count().by("room") > col("capacity") * 0.8 - 5, ">", Threshold(Fraction(-5), "capacity", Fraction(4, 5))),
        (count().by("room") > 10 - col("capacity") / 4, ">", Threshold(Fraction(10), "capacity", Fraction(-1, 4))),
        (2 * count().by("room") - 6 > col("capacity"), ">", Threshold(Fraction(3), "capacity", Fraction(1, 2))),
        (3 - count().by("room") > 1, "<", Threshold(Fraction(2))),
        (-count().by("room") >= col("capacity"), "<=", Threshold(Fraction(0), "capacity", Fraction(-1))),
        (count().by("room") > 0 * col("capacity") + 1, ">", Threshold(Fraction(1))),
    ],
)
def test_comparisons_with_thresholds_on_either_side(made: object, sign: str, threshold: Threshold) -> None:
    assert made.node == Comparison(ROOMS, sign, threshold)  # type: ignore[attr-defined]


def test_an_aggregate_against_another_with_factor_and_constant() -> None:
    now, before = count().where(col("quarter") == 2), count().where(col("quarter") == 1)
    made = (now > 1.5 * before + 10).by("room")
    left, right = now.by("room").node, before.by("room").node
    assert made.node == Comparison(left, ">", Against(right, Fraction(3, 2), Fraction(10)))
    assert (now - before > 10).by("room").node == Comparison(left, ">", Against(right, Fraction(1), Fraction(10)))


def test_conditions_are_joined_and_flat() -> None:
    a, b, c = (count().by("room") > number for number in (1, 2, 3))
    assert (a & b & c).node == q.All((a.node, b.node, c.node))
    assert (a & (b & c)).node == q.All((a.node, b.node, c.node))
    assert (a | (b & ~c)).node == q.Any((a.node, q.All((b.node, q.Not(c.node)))))
    assert (~~a).node == a.node


def test_by_on_a_condition_groups_what_has_no_keys_yet() -> None:
    made = ((count() > 5) & ~(count().by("building") > 0.5 * sum_("watts"))).by("room")
    asked = question(made)
    assert asked.keys == ("room", "building")
    assert [leaf.keys for leaf in (made.node.parts[0].left, made.node.parts[1].part.left)] == [  # type: ignore[union-attr]
        ("room",),
        ("building",),
    ]
    assert made.node.parts[1].part.right.aggregate.keys == ("room",)  # type: ignore[union-attr]


def test_keys_come_in_order_of_first_appearance_unless_given() -> None:
    made = (count().by("floor", "building") > 0.5 * count().by("building")) & (count().by("room") > 1)
    assert question(made).keys == ("floor", "building", "room")
    asked = question(made, keys=["building", "floor", "room"], table="presence", domain="rooms")
    assert (asked.keys, asked.table, asked.domain) == (("building", "floor", "room"), "presence", "rooms")
    assert asked.condition.parts[0].left.keys == ("building", "floor")  # type: ignore[union-attr]


def test_a_comparison_can_have_its_own_slack() -> None:
    assert (count() > 5).slack(0.5).node == Comparison(Aggregate("count"), ">", Threshold(Fraction(5)), Fraction(1, 2))
    assert question((count() > 5).slack(3).by("room")).condition.slack == 3  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("made", "node"),
    [
        (col("floor") == 3, Compare("floor", "=", 3)),
        (col("floor") != "x", Compare("floor", "<>", "x")),
        (3.0 < col("floor"), Compare("floor", ">", 3)),  # noqa: SIM300
        (col("watts") >= np.float32(0.1), Compare("watts", ">=", Fraction(1, 10))),
        (col("active") == np.True_, Compare("active", "=", True)),
        (col("floor").isin([3, 4]), OneOf("floor", (3, 4))),
        (col("floor").isin({3}), Compare("floor", "=", 3)),
        (col("floor").isin(np.array([3, 4])), OneOf("floor", (3, 4))),
        (col("floor").between(1, 2), Both((Compare("floor", ">=", 1), Compare("floor", "<=", 2)))),
        (~col("floor").is_missing(), filters.Not(Missing("floor"))),
        (col("day") == date(2026, 1, 2), Compare("day", "=", date(2026, 1, 2))),
        (col("day") == np.datetime64("2026-01-02"), Compare("day", "=", date(2026, 1, 2))),
        (col("time") < datetime(2026, 1, 2, 9), Compare("time", "<", datetime(2026, 1, 2, 9, tzinfo=UTC))),  # noqa: DTZ001
        (
            col("time") < datetime(2026, 1, 2, 9, tzinfo=timezone(timedelta(hours=1))),
            Compare("time", "<", datetime(2026, 1, 2, 8, tzinfo=UTC)),
        ),
        (col("time") < pd.Timestamp("2026-01-02 09:00"), Compare("time", "<", datetime(2026, 1, 2, 9, tzinfo=UTC))),
        (col("time") < np.datetime64("2026-01-02T09:00:00"), Compare("time", "<", datetime(2026, 1, 2, 9, tzinfo=UTC))),
        (
            (col("a") == 1) | (col("b") == 2) | ~((col("c") == 3) & (col("d") == 4)),
            Either(
                (
                    Compare("a", "=", 1),
                    Compare("b", "=", 2),
                    filters.Not(Both((Compare("c", "=", 3), Compare("d", "=", 4)))),
                )
            ),
        ),
    ],
)
def test_row_conditions(made: object, node: filters.Filter) -> None:
    assert repr(made.node) == repr(node)  # type: ignore[attr-defined]


def test_values_and_classes() -> None:
    watts = Aggregate("sum", "watts", Fraction(0), Fraction(9), keys=("room",))
    assert values(count().by("room"), sum_("watts", 0, 9).by("room")) == Values((ROOMS, watts), ("room",))
    cuts = [0.5 * col("capacity"), col("capacity")]
    half = Threshold(Fraction(0), "capacity", Fraction(1, 2))
    assert classes(count().by("room"), cuts, ["low", "normal", "high"]) == Classes(
        ROOMS, (half, Threshold(column="capacity")), ("low", "normal", "high"), ("room",)
    )
    assert classes(count(), [1, 2], ["a", "b", "c"]).cuts == (Threshold(Fraction(1)), Threshold(Fraction(2)))


def test_expressions_show_themselves_as_written() -> None:
    assert repr(count().by("room") > 0.8 * col("capacity")) == 'count().by("room") > 0.8 * col("capacity")'
    assert repr((col("a") == 1) & ~col("b").is_missing()) == '(col("a") == 1) & (~(col("b").is_missing()))'
    assert repr(col("a b")) == 'col("a b")'
    assert repr(sum_("watts", 0)) == 'sum_("watts", 0)'


TRUTH = r"not true or false by itself"
WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: not (count() > 5), TRUTH),
    (lambda: (count() > 5) and (count() > 6), TRUTH),
    (lambda: (count() > 5) or (count() > 6), TRUTH),
    (lambda: 1 < count() < 5, TRUTH),
    (lambda: 1 < col("floor") < 5, TRUTH),
    (lambda: bool(col("floor")), TRUTH),
    (lambda: count() in [sum_("watts")], TRUTH),
    (lambda: count() > 5 & count() < 6, r"in parentheses"),
    (lambda: (count() > 5) & count() > 6, r"in parentheses"),  # type: ignore[operator]
    (lambda: ~count(), r"in parentheses"),
    (lambda: True & (count() > 5), r"in parentheses"),
    (lambda: (count() > 5) & True, r"Conditions on keys are joined with conditions on keys"),
    (lambda: (count() > 5) | (col("floor") == 3), r"go into \.where\(\)"),
    (lambda: (col("floor") == 3) & (count() > 5), r"go into \.where\(\)"),
    (lambda: count() > True, r"must be a number"),
    (lambda: count() > np.False_, r"must be a number"),
    (lambda: count() > "5", r"must be a number"),
    (lambda: count() > None, r"must be a number"),
    (lambda: count() > float("nan"), r"finite"),
    (lambda: count() > Decimal("Infinity"), r"finite"),
    (lambda: count() > 10**5000, r"4096 bits"),
    (lambda: count() * 2**4000 * 2**4000 > 1, r"4096 bits"),
    (lambda: count() > (count() > 5), r"A condition cannot be compared"),
    (lambda: count() > count(), r"needs an aggregate"),
    (lambda: col("a") > col("b"), r"needs an aggregate"),
    (lambda: 0.8 * col("a") > 5, r"needs an aggregate"),
    (lambda: count() * count() > 5, r"Only a number can be a factor"),
    (lambda: count() / col("capacity") > 0.8, r"Only a number can divide"),
    (lambda: count() / 0 > 0.8, r"divided by 0"),
    (lambda: count() > col("a") + col("b"), r"one column of the domain, not 'a' and 'b'"),
    (lambda: count() + sum_("a") > avg("b"), r"at most two aggregates"),
    (lambda: count() > sum_("a") + col("b"), r"not with a column as well"),
    (lambda: count().by("room", "room"), r"'room' comes twice"),
    (lambda: count().by(3), r"must be a text"),  # type: ignore[arg-type]
    (lambda: count().by(*map(str, range(65))), r"at most 64"),
    (lambda: count().where(count() > 5), r"conditions on their columns"),  # type: ignore[arg-type]
    (lambda: count().where(True), r"conditions on their columns"),  # type: ignore[arg-type]
    (lambda: sum_(""), r"1 to 128 characters"),
    (lambda: sum_("watts", 5, 5), r"not from 5 to 5"),
    (lambda: median("watts", 0, 10), r"Bounds are for sum and avg"),
    (lambda: max_("watts", high=10), r"Bounds are for sum and avg"),
    (lambda: min_("watts", 0), r"Bounds are for sum and avg"),
    (lambda: sum_("watts", "0", 5), r"A bound must be a number"),
    (lambda: sum_("watts", True, 5), r"A bound must be a number"),
    (lambda: col(None), r"must be a text"),  # type: ignore[arg-type]
    (lambda: col("floor") == None, r"ask whether it is missing"),  # noqa: E711
    (lambda: col("floor") == [3], r"must be a number"),
    (lambda: col("floor") < True, r"neither is larger"),
    (lambda: col("floor") < float("nan"), r"finite"),
    (lambda: col("floor") == "x" * 2000, r"at most 1024 characters"),
    (lambda: col("floor") == 2**200, r"must be between"),
    (lambda: col("time") > datetime.max.replace(tzinfo=UTC), r"near the end of the calendar"),
    (lambda: col("time") > datetime.max.replace(tzinfo=timezone(timedelta(hours=-3))), r"near the end of the calendar"),
    (lambda: col("time") > date.max, r"near the end of the calendar"),
    (lambda: col("time") > np.datetime64("NaT"), r"cannot keep"),
    (lambda: col("time") > np.datetime64("2026-01-01T00:00:00.000000001"), r"cannot keep"),
    (lambda: col("time") > pd.Timestamp("2026-01-01 00:00:00.000000001"), r"finer than a microsecond"),
    (lambda: col("floor").isin("abc"), r"given as a list"),
    (lambda: col("floor").isin(3), r"given as a list"),  # type: ignore[arg-type]
    (lambda: col("floor").isin([]), r"at least one value"),
    (lambda: col("floor").isin([1, "a"]), r"of one kind"),
    (lambda: col("day(time)") == 15, r"day\(time\) is a day"),
    (lambda: col("weekday(time)").isin([0, 1]), r"1 for Monday to 7 for Sunday"),
    (lambda: (count() > 5).slack(-1), r"at least 0"),
    (lambda: (count() > 5).slack("1"), r"must be a number"),
    (lambda: ((count() > 5) & (count() < 9)).slack(1), r"belongs to one comparison"),
    (lambda: question(count()), r"needs a condition on keys"),  # type: ignore[arg-type]
    (lambda: question(col("floor") == 3), r"needs a condition on keys"),
    (lambda: question(count().by("room") > 5, keys=["floor"]), r"'room', which is not among the question's keys"),
    (lambda: question(count().by("room") > 5, keys="room"), r"as a list of column names"),
    (lambda: question(count() > 5, table=""), r"The name of a table"),
    (lambda: question(count() > 5, domain=3), r"The name of a domain"),  # type: ignore[arg-type]
    (lambda: values(), r"at least one aggregate"),
    (lambda: values(2 * count()), r"an aggregate by itself"),  # type: ignore[arg-type]
    (lambda: classes(count(), [1], ["a"]), r"one name more"),
    (lambda: classes(count(), [], ["a"]), r"at least one cut"),
    (lambda: classes(count(), 5, ["a", "b"]), r"cuts of classes are given as a list"),  # type: ignore[arg-type]
    (lambda: classes(count(), [1], "ab"), r"names of classes are given as a list"),
    (lambda: classes(count(), [1], ["a", "a"]), r"a name of its own"),
    (lambda: classes(count(), [1], ["a", "b"], name=" level"), r"must not begin or end with a blank"),
    (lambda: classes(count(), [1], ["a", 2]), r"The name of a class"),  # type: ignore[list-item]
    (lambda: classes(count(), [2, 1], ["a", "b", "c"]), r"must rise"),
    (lambda: classes(count(), [count()], ["a", "b"]), r"A threshold is public"),
]


@pytest.mark.parametrize(("attempt", "said"), WRONG)
def test_what_makes_no_question_is_refused_in_one_sentence(attempt: Callable[[], object], said: str) -> None:
    with pytest.raises(ParameterError, match=said) as caught:
        attempt()
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


def nested(part: Any, other: Callable[[int], Any]) -> None:
    for level in range(2_000):
        part = (part | other(level)) if level % 2 else (part & other(level))


def test_a_condition_nested_too_deeply_is_refused_in_one_sentence() -> None:
    with pytest.raises(ParameterError, match=r"16 levels deep"):
        nested(count() > 0, lambda level: count() > level)
    with pytest.raises(ParameterError, match=r"16 levels deep"):
        nested(col("floor") == 0, lambda level: col("floor") == level)
