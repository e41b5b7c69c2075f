from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import ParameterError
from louver.source.domain import Domain
from louver.source.domain_ranges import days, hours, slots
from louver.source.measures import MOST_KEYS, Keys
from tests.misuse import Thing, anything, assert_made_or_refused

ROOMS: dict[str, list[object]] = {"room": ["hall", "lab"], "capacity": [180, 24]}


def test_a_domain_knows_its_keys_and_its_columns() -> None:
    rooms = Domain(ROOMS, keys=["room"])
    assert (rooms.keys, rooms.columns, len(rooms)) == (("room",), ("room", "capacity"), 2)
    assert (rooms.column("room"), rooms.key(1)) == (("hall", "lab"), ("lab",))
    assert (rooms.kind("room"), rooms.kind("capacity")) == ("text", "number")


def test_a_domain_cannot_be_changed() -> None:
    listed = ["hall", "lab"]
    rooms = Domain({"room": listed}, keys=["room"])
    listed.append("attic")
    assert len(rooms) == 2
    with pytest.raises(AttributeError):
        rooms.keys = ("lab",)  # type: ignore[misc]


def test_thresholds_are_exact_numbers_as_they_are_written() -> None:
    domain = Domain(
        {"k": ["a", "b", "c", "d", "e"], "limit": [0.1, Decimal("0.1"), Fraction(1, 3), -5, np.float32(0.1)]}, ["k"]
    )
    tenth = Fraction(1, 10)
    assert domain.numbers("limit") == (tenth, tenth, Fraction(1, 3), Fraction(-5), tenth)
    assert all(type(value) is Fraction for value in domain.numbers("limit"))


@pytest.mark.parametrize(
    ("values", "said"),
    [([3, None], "for room = lab it is missing"), ([3, math.nan], "for room = lab it is missing"),
     (["x", "many"], "for room = hall it is 'x'"), ([None, None], "for room = hall it is missing"),
     ([True, False], "for room = hall it is True")],
)  # fmt: skip
def test_a_threshold_that_is_no_number_is_refused_with_its_key(values: list[object], said: str) -> None:
    domain = Domain({"room": ["hall", "lab"], "limit": values}, keys=["room"])
    with pytest.raises(ParameterError, match=said):
        domain.numbers("limit")


@pytest.mark.parametrize("value", [math.inf, -math.inf, Decimal("Infinity"), Decimal("sNaN"), Fraction(1, 3**3000)])
def test_a_threshold_must_be_finite(value: object) -> None:
    with pytest.raises(
        ParameterError, match="'limit' of a domain needs a finite number for each key, unlike for room = lab"
    ):
        Domain({"room": ["hall", "lab"], "limit": [1, value]}, keys=["room"])


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ([], "The domain is empty; it needs at least one key"),
        (["a", "b", "a"], "Each key of a domain comes once, but room = a comes twice"),
        (["a", None], "Every key needs a value, but column 'room' has none"),
        (["a", ""], "Every key needs a value"),
        ([1, math.nan], "Every key needs a value"),
        ([1.5, 2.5], "must be whole; a float is not, even 3.0"),
        ([3.0], "must be whole"),
        ([Decimal(3)], "must be whole"),
        (["a", 1], "must be of one kind, but it holds numbers and texts"),
        ([True, 1], "must be of one kind, but it holds numbers and true and false"),
        ([date(2014, 1, 1), datetime(2014, 1, 1, tzinfo=UTC)], "must be of one kind, but it holds days and times"),
        (["x" * 1025], "at most 1024 characters"),
        (["\ud800"], "half of a character"),
        ([2**63], "between -2\\*\\*63 and 2\\*\\*63"),
        ([Thing()], "not a Thing"),
        ([b"a"], "not a bytes"),
        ("ab", "must be a list of values"),
        (3, "must be a list of values"),
        (None, "must be a list of values"),
    ],
)
def test_keys_that_cannot_be_used_are_refused_in_one_sentence(keys: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Domain({"room": keys}, keys=["room"])


def test_more_keys_than_there_may_be_are_refused() -> None:
    with pytest.raises(ParameterError, match="at most 1,048,576 keys"):
        Domain({"k": range(MOST_KEYS + 1)}, keys=["k"])
    with pytest.raises(ParameterError, match="at most 1,048,576 keys"):
        Domain.product(a=range(2048), b=range(2048))


def test_an_endless_list_of_keys_is_refused_and_not_read_to_its_end() -> None:
    with pytest.raises(ParameterError, match="at most"):
        Domain({"k": iter(int, 1)}, keys=["k"])


@pytest.mark.parametrize(
    ("columns", "keys", "said"),
    [
        (ROOMS, ["rom"], r"has no column 'rom' \(did you mean 'room'\?\)"),
        (ROOMS, [], "at least one key column"),
        (ROOMS, ["room", "room"], "different from each other"),
        (ROOMS, "room", "a list of names"),
        (ROOMS, [3], "A column name must be a text"),
        ({"room": ["a", "b"], "capacity": [1]}, ["room"], "'room' has 2 values and 'capacity' has 1"),
        ({" room": ["a"]}, [" room"], "must not begin or end with a blank"),
        ([("room", ["a"])], ["room"], "named lists, not a list"),
        ({}, ["room"], "has no column 'room'"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns: Any, keys: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Domain(columns, keys)


def test_an_unknown_column_gets_a_suggestion() -> None:
    rooms = Domain(ROOMS, keys=["room"])
    looks: list[Callable[[str], object]] = [rooms.column, rooms.numbers, rooms.kind]
    for look in looks:
        with pytest.raises(ParameterError, match=r"has no column 'Capcity' \(did you mean 'capacity'\?\)\.$"):
            look("Capcity")
    with pytest.raises(ParameterError, match=r"has no column 'x' \(there are room, capacity\)\.$"):
        rooms.column("x")


def test_a_key_that_a_terminal_cannot_show_is_shown_on_one_line() -> None:
    with pytest.raises(ParameterError, match=r"room = a\\nb comes twice"):
        Domain({"room": ["a\nb", "a\nb"]}, keys=["room"])


def test_times_are_in_utc_and_days_are_days() -> None:
    berlin = timezone(timedelta(hours=1))
    domain = Domain({"at": [datetime(2014, 1, 1, 9), datetime(2014, 1, 1, 11, tzinfo=berlin)]}, keys=["at"])  # noqa: DTZ001
    assert domain.column("at") == (datetime(2014, 1, 1, 9, tzinfo=UTC), datetime(2014, 1, 1, 10, tzinfo=UTC))
    assert Domain({"day": [date(2014, 1, 1)]}, keys=["day"]).key(0) == (date(2014, 1, 1),)


def test_the_same_time_in_two_zones_is_one_key() -> None:
    berlin = timezone(timedelta(hours=1))
    with pytest.raises(ParameterError, match="comes twice"):
        Domain({"at": [datetime(2014, 1, 1, 9, tzinfo=UTC), datetime(2014, 1, 1, 10, tzinfo=berlin)]}, keys=["at"])


def test_arrays_become_plain_values() -> None:
    domain = Domain(
        {"n": np.arange(2), "on": np.array([True, False]), "at": np.array(["2014", "2015"], "M8[ns]")}, ["n"]
    )
    assert [type(value) for value in (*domain.key(0), domain.column("on")[0])] == [int, bool]
    assert domain.column("at") == (datetime(2014, 1, 1, tzinfo=UTC), datetime(2015, 1, 1, tzinfo=UTC))


def test_true_and_one_are_different_keys() -> None:
    assert Domain({"k": [True, False]}, keys=["k"]) != Domain({"k": [1, 0]}, keys=["k"])


def test_a_product_has_every_combination_and_the_last_changes_fastest() -> None:
    domain = Domain.product(room=["a", "b"], hour=[9, 10, 11])
    assert [domain.key(number) for number in range(6)] == [(room, hour) for room in "ab" for hour in (9, 10, 11)]
    assert domain == Domain({"room": list("aaabbb"), "hour": [9, 10, 11] * 2}, keys=["room", "hour"])


def test_a_product_keeps_what_is_known_of_its_parts() -> None:
    domain = Domain.product(Domain(ROOMS, keys=["room"]), hour=[9, 10])
    assert domain.keys == ("room", "hour")
    assert domain.column("capacity") == (180, 180, 24, 24)


@pytest.mark.parametrize(
    ("parts", "lists", "said"),
    [((), {}, "at least one"), (("rooms",), {}, "made of domains"), ((), {"a": []}, "The domain is empty"),
     ((Domain(ROOMS, ["room"]),), {"capacity": [1]}, "Two parts of a product have a column 'capacity'")],
)  # fmt: skip
def test_a_product_of_something_else_is_refused(parts: Any, lists: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Domain.product(*parts, **lists)


def test_floors_roll_up_to_buildings() -> None:
    floors = Domain({"building": ["b", "a", "b"], "floor": [0, 0, 1]}, keys=["building", "floor"])
    listed, places = floors.listed(["building"])
    assert listed == Keys(("building",), (("b",), ("a",)))
    assert places.tolist() == [0, 1, 0]
    assert places.dtype == np.int64


def test_all_keys_roll_up_to_one_where_no_column_is_named() -> None:
    listed, places = Domain(ROOMS, keys=["room"]).listed([])
    assert (listed, places.tolist()) == (Keys((), ((),)), [0, 0])


def test_the_columns_of_a_list_come_in_the_order_asked_for() -> None:
    listed, places = Domain.product(room=["a", "b"], hour=[9]).listed(["hour", "room"])
    assert (listed.values, places.tolist()) == (((9, "a"), (9, "b")), [0, 1])


def test_only_key_columns_are_listed() -> None:
    """The advice names what is grouped by, and the old keys as well only where that does not tell all keys apart."""
    with pytest.raises(ParameterError, match=r"not one of its keys \(room\); make it one with keys = \[\"capacity\"\]"):
        Domain(ROOMS, keys=["room"]).listed(["capacity"])
    floors = Domain({"room": ["a", "b"], "floor": [1, 1]}, keys=["room"])
    with pytest.raises(ParameterError, match=r"make it one with keys = \[\"floor\", \"room\"\]"):
        floors.listed(["floor"])


@given(
    st.lists(
        st.text(min_size=1, max_size=3).filter(lambda text: text.isprintable()), min_size=1, max_size=5, unique=True
    ),
    st.lists(st.integers(-3, 3), min_size=1, max_size=4, unique=True),
    st.data(),
)
def test_listed_values_are_those_of_each_key(rooms: list[str], numbers: list[int], data: st.DataObject) -> None:
    pairs = [(room, number) for room in rooms for number in numbers]
    kept = data.draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    domain = Domain({"room": [room for room, _ in kept], "n": [number for _, number in kept]}, keys=["room", "n"])
    for chosen in (["room"], ["n"], ["n", "room"], []):
        listed, places = domain.listed(chosen)
        assert len(set(listed.values)) == len(listed)
        for number, place in enumerate(places):
            assert listed.values[place] == tuple(domain.column(name)[number] for name in chosen)


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
    "number": st.integers() | st.fractions(),
    "truth": st.booleans(),
    "day": st.dates(),
    "time": st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
}


@given(st.data())
def test_a_domain_comes_back_from_json_as_it_was(data: st.DataObject) -> None:
    rooms = data.draw(st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=6, unique=True))
    public = {
        kind: data.draw(st.lists(st.none() | values, min_size=len(rooms), max_size=len(rooms)))
        for kind, values in VALUES.items()
    }
    domain = Domain({"room": rooms, **public}, keys=["room"])
    if data.draw(st.booleans()):
        domain = Domain.product(domain, hour=range(data.draw(st.integers(1, 4))))
    again = Domain.from_dict(json.loads(json.dumps(domain.to_dict())))
    assert again == domain
    assert [again.kind(name) for name in again.columns] == [domain.kind(name) for name in domain.columns]


def test_a_domain_whose_columns_stand_in_another_order_is_the_same() -> None:
    domain = Domain({"room": ["hall", "lab"], "capacity": [180, 24]}, keys=["room"])
    again = Domain.from_dict(json.loads(json.dumps(domain.to_dict(), sort_keys=True)))
    assert again.columns != domain.columns
    assert (again, hash(again)) == (domain, hash(domain))
    assert domain != Domain({"room": ["hall", "lab"], "capacity": [180, 25]}, keys=["room"])
    two = {"a": [1, 2], "b": [3, 4]}
    assert Domain(two, keys=["a", "b"]) != Domain(two, keys=["b", "a"])
    assert domain != "domain"


def test_a_product_is_stored_by_its_parts() -> None:
    regions = Domain({"region": [f"region {number}" for number in range(34)], "limit": [5] * 17 + [7] * 17}, ["region"])
    domain = Domain.product(regions, day=days("2014-01-01", "2014-01-31"))
    stored = domain.to_dict()
    assert len(domain) == 1054
    assert sum(len(column["values"]) for column in stored["columns"].values()) == 34 + 31 + 2
    assert Domain.from_dict(stored) == domain


@pytest.mark.parametrize(
    "spoil",
    [
        lambda plain: plain.pop("count"),
        lambda plain: plain.update(count=3),
        lambda plain: plain.update(count=2**40),
        lambda plain: plain.update(count=True),
        lambda plain: plain.update(keys="room"),
        lambda plain: plain.update(keys=[]),
        lambda plain: plain.update(columns=[]),
        lambda plain: plain["columns"]["room"].update(each=0),
        lambda plain: plain["columns"]["room"].update(kind="number"),
        lambda plain: plain["columns"]["room"].update(kind=[]),
        lambda plain: plain["columns"]["room"].update(values=["a"]),
        lambda plain: plain["columns"]["room"].update(values="ab"),
        lambda plain: plain["columns"]["room"].update(values=["a", "a"]),
        lambda plain: plain["columns"]["capacity"].update(values=["1", 2]),
        lambda plain: plain["columns"]["capacity"].update(values=["1e999999999", "2"]),
        lambda plain: plain["columns"]["capacity"].update(values=["1/0", "2"]),
    ],
)
def test_a_stored_domain_that_was_changed_is_refused(spoil: Callable[[Any], object]) -> None:
    plain = json.loads(json.dumps(Domain(ROOMS, keys=["room"]).to_dict()))
    plain["columns"]["room"]["each"] = 1
    spoil(plain)
    with pytest.raises(ParameterError) as refusal:
        Domain.from_dict(plain)
    assert str(refusal.value).endswith(".")


@given(anything, anything)
def test_any_columns_and_keys_make_a_domain_or_one_sentence(columns: Any, keys: Any) -> None:
    assert_made_or_refused(lambda: Domain(columns, keys))
    assert_made_or_refused(lambda: Domain({"k": columns}, ["k"]))
    assert_made_or_refused(lambda: Domain({"k": ["a"], "limit": [columns]}, ["k"]))
    assert_made_or_refused(lambda: Domain.from_dict(columns))


def test_days_are_counted_through_leap_years() -> None:
    assert len(days("2024-01-01", date(2024, 12, 31))) == 366
    assert days("2014-01-31", "2014-01-31") == (date(2014, 1, 31),)


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [("2014-01-02", "2014-01-01", "must not be before the first"), ("2014-02-30", "2014-03-01", "written like"),
     (3, "2014-01-01", "must be a date"), (datetime(2014, 1, 1, tzinfo=UTC), "2014-01-02", "must be a date"),
     ("0001-01-01", "9999-12-31", "at most")],
)  # fmt: skip
def test_days_that_are_none_are_refused(first: Any, last: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        days(first, last)


def test_a_day_has_24_hours() -> None:
    assert hours() == tuple(range(24))


def test_slots_follow_each_other() -> None:
    found = slots("2014-01-01T00:00", datetime(2014, 1, 2, tzinfo=UTC), 15)
    assert len(found) == 97
    assert {after - before for before, after in pairwise(found)} == {timedelta(minutes=15)}


@pytest.mark.parametrize(
    ("first", "last", "minutes", "said"),
    [("2014-01-02", "2014-01-01", 15, "before the first"), ("noon", "2014-01-01", 15, "written like"),
     (3, "2014-01-01", 15, "must be a datetime"), ("2014-01-01", "2014-01-02", 0, "minutes of a slot"),
     ("0002-01-01", "9998-01-01", 1, "at most")],
)  # fmt: skip
def test_slots_that_are_none_are_refused(first: Any, last: Any, minutes: int, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        slots(first, last, minutes)


def test_a_domain_says_what_it_is_and_not_all_of_its_keys() -> None:
    assert repr(Domain(ROOMS, keys=["room"])) == "Domain(2 keys of room, with capacity)"
    assert repr(Domain.product(a=range(100), b=range(100))) == "Domain(10,000 keys of a, b)"
    assert repr(Domain({"a": [1]}, keys=["a"])) == "Domain(1 key of a)"
