from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone
from enum import Enum
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from louver.errors import ParameterError
from louver.privacy.ranges import LARGEST_INTEGER, Among, Between, Range, Value
from louver.privacy.scope import Point, Scope
from louver.privacy.unit import Unit
from tests.misuse import assert_made_or_refused

START = datetime(2026, 1, 1, tzinfo=UTC)
TICKS = [START + timedelta(hours=hour) for hour in range(-1, 5)]
COLUMNS: dict[str, list[Value | None]] = {
    "room": ["a", "b", "c", None],
    "open": [True, False, None],
    "hour": [-1, 0, 1, 2, 3, None],
    "at": [*TICKS, None],
}
POINTS: list[Point] = [dict(zip(COLUMNS, values, strict=True)) for values in product(*COLUMNS.values())]


def intervals(edges: list[Any]) -> st.SearchStrategy[Range]:
    pairs = st.tuples(st.sampled_from([None, *edges]), st.sampled_from([None, *edges]))
    return pairs.filter(lambda ends: None in ends or ends[0] < ends[1]).map(lambda ends: Between(*ends))


RANGES: dict[str, st.SearchStrategy[Range]] = {
    "room": st.sets(st.sampled_from(["a", "b", "c"]), min_size=1).map(Among),
    "open": st.sets(st.booleans(), min_size=1).map(Among),
    "hour": intervals([0, 1, 2, 3]),
    "at": intervals(TICKS[1:-1]),
}
SCOPES = st.fixed_dictionaries({}, optional=RANGES).map(Scope)
# Any scope at all, for what has to hold whatever the columns are.
FREE_RANGES = st.one_of(
    st.sets(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), min_size=1, max_size=4).map(Among),
    st.sets(st.integers(-LARGEST_INTEGER, LARGEST_INTEGER), min_size=1, max_size=4).map(Among),
    st.booleans().map(Among),
    intervals([-LARGEST_INTEGER, -(2**63), -1, 0, 7, 2**63, LARGEST_INTEGER]),
    st.lists(st.datetimes(timezones=st.timezones()), min_size=2, max_size=2, unique=True)
    .map(sorted)
    .filter(lambda ends: datetime(2, 1, 1, tzinfo=UTC) < ends[0] < ends[1] < datetime(9998, 1, 1, tzinfo=UTC))
    .map(lambda ends: Between(*ends)),
)
FREE_SCOPES = st.dictionaries(
    st.text(min_size=1, max_size=6).filter(lambda name: name.isprintable() and name == name.strip()),
    FREE_RANGES,
    max_size=4,
).map(Scope)


def inside(scope: Scope) -> set[int]:
    return {number for number, point in enumerate(POINTS) if scope.contains(point)}


@settings(deadline=None)
@given(SCOPES, SCOPES)
def test_an_intersection_holds_the_points_in_both_and_is_none_if_there_are_none(one: Scope, other: Scope) -> None:
    both = one.intersection(other)

    assert (set() if both is None else inside(both)) == inside(one) & inside(other)
    assert one.overlaps(other) == (both is not None) == (not one.disjoint(other))
    assert both == other.intersection(one)


@settings(deadline=None)
@given(SCOPES)
def test_no_scope_is_empty(scope: Scope) -> None:
    assert inside(scope)
    assert scope.overlaps(scope)
    assert scope.intersection(scope) == scope


@settings(deadline=None)
@given(SCOPES, SCOPES)
def test_a_scope_covers_another_if_every_point_of_it_is_inside(one: Scope, other: Scope) -> None:
    assert one.covers(other) == (inside(other) <= inside(one))


@settings(deadline=None)
@given(st.lists(SCOPES, min_size=1, max_size=4))
def test_the_covering_scope_is_the_smallest_box_around_all(scopes: list[Scope]) -> None:
    cover = Scope.covering(scopes)

    assert all(cover.covers(scope) for scope in scopes)
    assert cover == Scope.covering(reversed(scopes))
    assert cover == reduce(Scope.hull, scopes)
    for column, kept in cover.ranges:
        held = {POINTS[number][column] for scope in scopes for number in inside(scope)}
        allowed = [value for value in COLUMNS[column] if value is not None and kept.holds(value)]
        assert {allowed[0], allowed[-1]} <= held
        assert isinstance(kept, Between) or kept.values == held


@settings(deadline=None)
@given(SCOPES, SCOPES)
def test_a_scope_without_another_is_cut_into_disjoint_boxes(one: Scope, other: Scope) -> None:
    named = {column for column, _ in one.ranges}
    categories = {column for column, kept in other.ranges if isinstance(kept, Among)}
    assume(one.disjoint(other) or categories <= named)
    pieces = one.without(other)

    given_everywhere = {
        number
        for number in inside(one)
        if one.disjoint(other) or all(POINTS[number][column] is not None for column, _ in other.ranges)
    }
    held = [inside(piece) for piece in pieces]
    assert set().union(*held) & given_everywhere == given_everywhere - inside(other)
    assert sum(map(len, held)) == len(set().union(*held))


def test_all_categories_but_some_are_refused_as_a_scope() -> None:
    with pytest.raises(ParameterError, match="list the categories"):
        Scope.everything().without(Scope({"room": "a"}))


@settings(max_examples=1000, deadline=None)
@given(FREE_SCOPES)
def test_a_scope_survives_json(scope: Scope) -> None:
    text = json.dumps(scope.to_dict(), sort_keys=True)

    again = Scope.from_dict(json.loads(text))
    assert again == scope
    assert hash(again) == hash(scope)
    assert json.dumps(again.to_dict(), sort_keys=True) == text


@settings(deadline=None)
@given(st.lists(FREE_SCOPES, max_size=6), st.randoms())
def test_scopes_have_one_order_however_they_come(scopes: list[Scope], chance: Any) -> None:
    shuffled = list(scopes)
    chance.shuffle(shuffled)

    assert sorted(shuffled) == sorted(scopes)
    for one, other in zip(sorted(scopes), sorted(scopes)[1:], strict=False):
        assert one <= other
        assert (one == other) == (one.order() == other.order())


def test_the_order_of_numbers_is_that_of_numbers() -> None:
    hours = [Scope({"hour": Between(start, None)}) for start in (9, 10, 100)]

    assert sorted([hours[2], hours[0], hours[1]]) == hours
    assert Scope({"hour": Between(None, 5)}) < hours[0]


def test_equal_scopes_need_not_be_written_alike() -> None:
    assert Scope({"room": "a", "hour": Between(9, 10)}) == Scope({"hour": Between(9, 10), "room": Among(["a", "a"])})
    assert Scope({"hour": Between(None, None)}) == Scope.everything() == Scope({})
    numbers: Any = {"n": np.int64(3), "open": np.bool_(True)}
    assert Scope(numbers) == Scope({"n": 3, "open": True})


def test_one_and_true_are_different_categories() -> None:
    assert Scope({"open": 1}) != Scope({"open": True})
    with pytest.raises(ParameterError, match="'open' is a set of whole numbers in one scope and a set of true and fal"):
        Scope({"open": 1}).overlaps(Scope({"open": True}))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Among("9"), Between(9, 10)),
        (Among(9), Between(9, 10)),
        (Among(9), Among("9")),
        (Between(9, 10), Between(START, None)),
    ],
)
def test_two_kinds_of_range_in_one_column_are_refused(one: Range, other: Range) -> None:
    first, second = Scope({"hour": one}), Scope({"hour": other, "room": "a"})

    for compare in (first.intersection, first.overlaps, first.disjoint, first.covers, first.hull, first.without):
        with pytest.raises(ParameterError, match="use one kind throughout"):
            compare(second)
    with pytest.raises(ParameterError, match="use one kind throughout"):
        Scope.covering([first, second])


def test_a_kind_that_differs_is_noticed_even_where_another_column_is_disjoint() -> None:
    with pytest.raises(ParameterError, match="use one kind throughout"):
        Scope({"a": 1, "z": 1}).intersection(Scope({"a": 2, "z": "1"}))


def test_a_time_without_a_zone_is_refused() -> None:
    naive = datetime(2026, 1, 1)  # noqa: DTZ001
    for attempt in (
        lambda: Between(naive, None),
        lambda: Between(START, naive),
        lambda: Scope({"at": Between(START, None)}).contains({"at": naive}),
        lambda: Scope.from_dict({"at": {"from": "2026-01-01T00:00:00", "to": None}}),
    ):
        with pytest.raises(ParameterError, match="needs a zone"):
            attempt()


def test_a_time_in_another_zone_is_the_same_moment_in_utc() -> None:
    berlin = timezone(timedelta(hours=1))
    there = Scope({"at": Between(datetime(2026, 1, 1, 1, tzinfo=berlin), None)})

    assert there == Scope({"at": Between(START, None)})
    assert there.to_dict() == {"at": {"from": "2026-01-01T00:00:00+00:00", "to": None}}


def test_a_time_finer_than_a_microsecond_is_refused() -> None:
    class Stamp(datetime):
        nanosecond = 1

    with pytest.raises(ParameterError, match="microsecond"):
        Between(Stamp(2026, 1, 1, tzinfo=UTC), None)


def test_a_time_outside_the_calendar_in_utc_is_refused() -> None:
    with pytest.raises(ParameterError, match="calendar"):
        Between(datetime.min.replace(tzinfo=timezone(timedelta(hours=1))), None)


def test_ranges_hold_their_start_and_not_their_end() -> None:
    scope = Scope({"hour": Between(9, 10)})

    assert scope.contains({"hour": 9, "room": "ignored"})
    assert not scope.contains({"hour": 10})
    assert not scope.overlaps(Scope({"hour": Between(10, 11)}))


def test_a_missing_value_is_in_no_range_but_in_every_scope_that_leaves_the_column_open() -> None:
    assert not Scope({"room": "a"}).contains({"room": None})
    assert not Scope({"hour": Between(None, 3)}).contains({"hour": None})
    assert Scope.everything().contains({"room": None})


@pytest.mark.parametrize(
    "point", [{}, {"room": 3}, {"room": True}, {"room": b"a"}, {"room": START}, None, 7, "room", [("room", "a")]]
)
def test_a_point_that_cannot_be_compared_is_refused(point: Any) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        Scope({"room": "a"}).contains(point)


def test_a_number_is_not_a_time_and_a_truth_is_not_a_number() -> None:
    for value in (START, True, 3.0, "3"):
        with pytest.raises(ParameterError, match=r"\.$"):
            Scope({"hour": Between(0, 9)}).contains({"hour": value})  # type: ignore[dict-item]
    with pytest.raises(ParameterError, match="a period of time"):
        Scope({"at": Between(START, None)}).contains({"at": 3})


def test_a_unit_keeps_only_the_columns_that_it_fixes() -> None:
    scope = Scope({"room": "a", "day": Between(1, 2), "person": "p"})

    assert scope.for_unit(Unit.row()) == scope
    assert scope.for_unit(Unit("person", "day")) == Scope({"day": Between(1, 2), "person": "p"})
    assert scope.for_unit(Unit("device")) == Scope.everything()


@settings(deadline=None)
@given(SCOPES, st.sets(st.sampled_from([*COLUMNS, "person"]), min_size=1))
def test_the_scope_for_a_unit_is_the_smallest_cover_over_its_columns(scope: Scope, columns: set[str]) -> None:
    adapted = scope.for_unit(Unit(*columns))

    assert adapted.covers(scope)
    assert {column for column, _ in adapted.ranges} <= columns
    for column in columns & set(COLUMNS):
        held = {POINTS[number][column] for number in inside(scope)}
        assert {POINTS[number][column] for number in inside(adapted)} == held


@pytest.mark.parametrize(
    ("scope", "text"),
    [
        (Scope.everything(), "everything"),
        (Scope({"room": "a", "hour": Between(9, 10)}), "9 <= hour < 10, room = a"),
        (Scope({"hour": Between(9, None)}), "9 <= hour"),
        (Scope({"hour": Between(None, 10)}), "hour < 10"),
        (Scope({"room": {"b", "a"}}), "room in {a, b}"),
        (Scope({"room": Among(range(9))}), "room in {0, 1, 2, 3, 4, 4 more}"),
        (Scope({"at": Between(START, None)}), "2026-01-01 00:00 UTC <= at"),
        (Scope({"at": Between(None, START.replace(second=5))}), "at < 2026-01-01 00:00:05 UTC"),
    ],
)
def test_a_scope_can_be_read(scope: Scope, text: str) -> None:
    assert str(scope) == text


def test_a_category_of_an_enumeration_is_its_value() -> None:
    class Room(str, Enum):  # noqa: UP042
        ATRIUM = "atrium"

    scope = Scope({"room": Room.ATRIUM})
    assert str(scope) == "room = atrium"
    assert scope == Scope({"room": "atrium"})


@pytest.mark.parametrize(
    "ranges",
    [
        {"room": []},
        {"room": set()},
        {"room": None},
        {"room": 1.5},
        {"room": b"a"},
        {"room": {"a", 1}},
        {"room": {True, 0}},
        {"room": {"a": 1}},
        {"room": START},
        {"room": date(2026, 1, 1)},
        {"room": (9, 10)},
        {"room": "x" * 1025},
        {"room": "\ud800"},
        {"room": LARGEST_INTEGER + 1},
        {"": "a"},
        {3: "a"},
        {" room": "a"},
        ["room"],
        None,
        "room",
    ],
)
def test_what_is_no_scope_is_refused_with_a_sentence(ranges: Any) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        Scope(ranges)


@pytest.mark.parametrize(
    ("start", "end"),
    [(3, 3), (4, 3), (START, START), (1, START), (True, 3), (0.5, 3), ("1", "2"), (float("nan"), 1), (2**200, None)],
)
def test_a_range_without_values_or_of_two_kinds_is_refused(start: Any, end: Any) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        Between(start, end)


def test_a_scope_is_compared_with_a_scope_only() -> None:
    scope: Any = Scope({"room": "a"})
    for attempt in (
        lambda: scope.intersection(None),
        lambda: scope.covers("room"),
        lambda: Scope.covering([]),
        lambda: Scope.covering([scope, 3]),  # type: ignore[list-item]
        lambda: Scope.covering(None),  # type: ignore[arg-type]
        lambda: scope.for_unit("row"),
    ):
        with pytest.raises(ParameterError, match=r"\.$"):
            attempt()
    with pytest.raises(TypeError):
        assert scope < 3


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30) | st.just("2026-01-01T00:00:00Z"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
        | st.fixed_dictionaries({"among": inner})
        | st.fixed_dictionaries({"from": inner, "to": inner})
    ),
    max_leaves=8,
)


@settings(max_examples=4000, deadline=None)
@given(JSON, JSON)
def test_any_stored_value_reads_as_a_scope_or_gets_one_sentence(stored: Any, value: Any) -> None:
    for attempt in (
        lambda: Scope.from_dict(stored),
        lambda: Scope.from_dict({"room": stored}),
        lambda: Scope({"room": stored}),
        lambda: Among(stored),
        lambda: Between(stored, value),
        lambda: Scope({"room": "a", "hour": Between(1, 2)}).contains({"room": stored, "hour": value}),
    ):
        assert_made_or_refused(attempt)
