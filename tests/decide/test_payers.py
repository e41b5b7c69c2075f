"""Who pays: every key's scope at exactly its price, whatever the boxes are joined to."""

from __future__ import annotations

import itertools
import random
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.decide import payers
from louver.decide.payers import charges
from louver.decide.touch import Touch
from louver.privacy import Between, Charge, ExPost, Scope, Unit, total_at
from louver.source.filters import Compare, OneOf, point_range, scope
from louver.source.measures import Keys

PRICES = [Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(1)]
FIRST_DAY = date(2024, 1, 1)
FIRST_TIME = datetime(2024, 1, 1, 9, tzinfo=UTC)
COLUMNS: dict[str, list[Any]] = {
    "room": ["hall", "lab", "attic"],
    "hour": [8, 9, 10, 12],
    "open": [True, False],
    "day": [FIRST_DAY + timedelta(days) for days in (0, 1, 2, 5)],
    "time": [FIRST_TIME + timedelta(hours=hours) for hours in (0, 1)],
}


@st.composite
def looked_at(draw: st.DrawFn) -> tuple[Keys, Unit, list[int]]:
    columns = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=3, unique=True))
    every = list(itertools.product(*(COLUMNS[name] for name in columns)))
    kept = draw(st.lists(st.sampled_from(every), min_size=1, max_size=20, unique=True))
    fixed = draw(st.sets(st.sampled_from([*columns, "person"]), min_size=1))
    unit = draw(st.sampled_from([Unit.row(), Unit(*fixed)]))
    levels = draw(st.lists(st.integers(-1, len(PRICES) - 1), min_size=len(kept), max_size=len(kept)))
    return Keys(tuple(columns), tuple(kept)), unit, levels


def point(keys: Keys, values: tuple[Any, ...]) -> dict[str, Any]:
    """A unit's place; where a range begins is in it."""
    found = {}
    for column, value in zip(keys.columns, values, strict=True):
        place = point_range(value)
        found[column] = place.start if isinstance(place, Between) else value
    return found


def due(keys: Keys, unit: Unit, levels: list[int], values: tuple[Any, ...], times: int) -> Fraction:
    """The largest price among the keys that a unit with these fixed values may touch, for each touch."""
    fixed = [at for at, column in enumerate(keys.columns) if unit.fixes(column)]
    reached = [
        level
        for key, level in zip(keys.values, levels, strict=True)
        if all(key[at] == values[at] for at in fixed) and level >= 0
    ]
    return times * PRICES[max(reached)] if reached else Fraction(0)


@settings(max_examples=300)
@given(looked_at(), st.integers(1, 3))
def test_every_point_pays_exactly_what_its_keys_cost(looked: tuple[Keys, Unit, list[int]], times: int) -> None:
    """At each combination of values, of keys that are there and of some that are not."""
    keys, unit, levels = looked
    made = charges(keys, Scope.everything(), Touch(1, times), unit, levels, PRICES)
    for values in itertools.product(*(COLUMNS[column] for column in keys.columns)):
        assert total_at(made, point(keys, values)) == due(keys, unit, levels, values, times)


@settings(max_examples=200)
@given(looked_at())
def test_boxes_of_one_look_never_overlap(looked: tuple[Keys, Unit, list[int]]) -> None:
    keys, unit, levels = looked
    made = charges(keys, Scope.everything(), Touch(1, 1), unit, levels, PRICES)
    assert all(one.scope.disjoint(two.scope) for one, two in itertools.combinations(made, 2))
    assert all(each.scope == each.scope.for_unit(unit) for each in made)


@settings(max_examples=200)
@given(looked_at())
def test_what_is_charged_is_never_more_than_what_was_reserved(looked: tuple[Keys, Unit, list[int]]) -> None:
    keys, unit, levels = looked
    worst = charges(keys, Scope.everything(), Touch(1, 2), unit, [len(PRICES) - 1] * len(keys), PRICES)
    ExPost(worst, charges(keys, Scope.everything(), Touch(1, 2), unit, levels, PRICES))


@settings(max_examples=200)
@given(looked_at())
def test_too_many_boxes_are_replaced_by_fewer_that_charge_no_less_and_fit_the_reservation(
    looked: tuple[Keys, Unit, list[int]],
) -> None:
    keys, unit, levels = looked
    exact = charges(keys, Scope.everything(), Touch(1, 1), unit, levels, PRICES)
    full = [len(PRICES) - 1] * len(keys)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(payers, "MOST_SCOPES", 3)
        worst = charges(keys, Scope.everything(), Touch(1, 1), unit, full, PRICES)
        coarse = charges(keys, Scope.everything(), Touch(1, 1), unit, levels, PRICES)
    assert len(coarse) <= 3
    for values in itertools.product(*(COLUMNS[column] for column in keys.columns)):
        assert total_at(coarse, point(keys, values)) >= total_at(exact, point(keys, values))
    ExPost(worst, coarse)


def test_keys_that_are_no_product_can_be_charged_in_many_pieces() -> None:
    """Rooms that are open on different days: pieces of every length, more than are kept apart."""
    keys = Keys(
        ("room", "day"),
        tuple((f"room {room}", FIRST_DAY + timedelta(200 * room + day)) for room in range(120) for day in range(100)),
    )
    dice = random.Random(5)
    levels = [dice.randrange(len(PRICES)) for _ in keys.values]
    worst = charges(keys, Scope.everything(), Touch(1, 1), Unit.row(), [len(PRICES) - 1] * len(keys), PRICES)
    made = charges(keys, Scope.everything(), Touch(1, 1), Unit.row(), levels, PRICES)
    assert len(worst) == 120
    assert len(made) <= payers.MOST_SCOPES
    ExPost(worst, made)
    for at in range(0, len(keys), 997):
        assert total_at(made, point(keys, keys.values[at])) >= PRICES[levels[at]]


def test_a_filter_narrows_the_box_along_fixed_columns_only() -> None:
    keys = Keys(("room",), (("hall",), ("lab",)))
    morning = scope(Compare("hour", "<", 12))
    assert morning is not None
    for unit, shown in (
        (Unit.row(), "hour < 12, room in {hall, lab}"),
        (Unit("person", "hour"), "hour < 12"),
        (Unit("person", "room"), "room in {hall, lab}"),
        (Unit("person"), "everything"),
    ):
        (charge,) = charges(keys, morning, Touch(1, 1), unit, [0, 0], PRICES)
        assert str(charge.scope) == shown


def test_keys_that_a_filter_shuts_out_are_not_charged() -> None:
    keys = Keys(("room",), (("hall",), ("lab",), ("attic",)))
    some = scope(OneOf("room", ("hall", "den")))
    assert some is not None
    assert charges(keys, some, Touch(1, 1), Unit.row(), [0, 1, 2], PRICES) == (
        Charge(Scope({"room": "hall"}), PRICES[0]),
    )


def test_what_was_never_looked_at_is_not_charged() -> None:
    keys = Keys(("room",), (("hall",), ("lab",)))
    assert charges(keys, Scope.everything(), Touch(1, 1), Unit.row(), [-1, -1], PRICES) == ()
    assert charges(keys, Scope.everything(), Touch(1, 1), Unit("person"), [-1, -1], PRICES) == ()
