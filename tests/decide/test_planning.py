"""A question is planned over the domain that it means, about the keys that it means."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from louver.decide.cheaper import least_length
from louver.decide.met import asked_about
from louver.decide.planning import plan
from louver.errors import ParameterError
from louver.ledger import Cap, Ledger
from louver.privacy import Unit, largest_total
from louver.question import avg, col, count, question, values
from louver.source import Domain, Source, Table, days
from louver.source.filters import Compare, OneOf

ROOMS: dict[str, list[Any]] = {"room": ["hall", "lab"], "capacity": [180, 100]}
TABLE = Table("presence.csv", dataset="house", unit=Unit.row(), values={"celsius": (0, 40)})
BY_DAY = Domain.product(Domain(ROOMS, keys=["room"]), day=days("2026-03-01", "2026-03-07"))
CROWDED = count().by("room") > col("capacity")


def planned(asked: Any, domains: Any = BY_DAY, **changed: Any) -> Any:
    given = {"miss_rate": 0.05, "slack": 10, **changed}
    return plan(Source(TABLE, domains=domains), asked, **given)


def test_a_handed_in_domain_is_joined_by_its_own_name_or_by_any_if_it_has_none() -> None:
    joined = question(CROWDED, domain="rooms")
    for name in ("rooms", "ROOMS", None):
        assert planned(joined, None, domain=Domain(ROOMS, keys=["room"], name=name)).program.keys.columns == ("room",)
        assert planned(joined, Domain(ROOMS, keys=["room"], name=name)).program.keys.columns == ("room",)
    with pytest.raises(ParameterError, match="joins 'rooms', but the domain that was given is 'limits'"):
        planned(joined, None, domain=Domain(ROOMS, keys=["room"], name="limits"))
    with pytest.raises(ParameterError, match=r"joins 'room', and there is no such domain \(did you mean 'rooms'\?\)"):
        planned(question(CROWDED, domain="room"), {"rooms": Domain(ROOMS, keys=["room"])})


def test_a_name_changes_nothing_else_about_a_domain() -> None:
    named = Domain(ROOMS, keys=["room"], name="rooms")
    assert named == Domain(ROOMS, keys=["room"])
    assert hash(named) == hash(Domain(ROOMS, keys=["room"]))


def test_where_on_a_key_leaves_other_keys_out_of_every_kind_of_plan() -> None:
    where = col("day") == date(2026, 3, 4)
    for asked, promise in (
        (count().where(where).by("room", "day") > 50, {}),
        (count().where(where).by("room", "day") < 50, {"strategy": "progressive"}),
        (values(count().where(where).by("room", "day")), {"slack": None, "within": 10}),
    ):
        made = planned(asked, **promise)
        assert {key[1] for key in made.reading.keys[0].values} == {date(2026, 3, 4)}
        assert len(made.reading.keys[0]) == 2
        assert "2026-03-04 00:00 UTC <= day < 2026-03-05" in str(made.worst[0].scope)


def test_what_not_all_aggregates_ask_leaves_no_key_out() -> None:
    asked = (count().where(col("day") == date(2026, 3, 4)) > 50).by("room", "day") & (count().by("room", "day") > 5)
    assert len(planned(asked).reading.keys[0]) == 14


def test_where_on_a_column_that_is_no_key_of_the_question_leaves_no_key_out() -> None:
    """A building may have rows on a floor that the domain does not list for it."""
    floors = Domain({"building": ["a", "b"], "floor": [1, 2]}, keys=["building", "floor"])
    made = planned(count().where(col("floor") == 1).by("building") > 50, floors)
    assert made.reading.keys[0].values == (("a",), ("b",))


def test_thresholds_stay_with_their_keys_where_others_are_left_out() -> None:
    made = planned(count().where(col("room") == "lab").by("room") > col("capacity"), Domain(ROOMS, keys=["room"]))
    assert made.program.leaves[0].margin.offsets == (-100,)
    assert made.warnings == ()


def test_the_plan_that_the_steward_makes_anew_asks_about_the_same_keys() -> None:
    made = planned(count().where(col("room") != "lab").by("room", "day") > 50)
    again = type(made).from_parameters(made.parameters())
    assert again.reading == made.reading
    assert again.worst == made.worst


def test_the_domain_itself_stays_whole_where_no_key_would_be_left() -> None:
    rooms = Domain(ROOMS, keys=["room"])
    assert asked_about(rooms, ("room",), Compare("room", "=", "attic")) is rooms


def test_texts_are_of_the_kind_that_their_column_is_known_to_hold() -> None:
    rooms = Domain({"floor": [1, 2], "is_open": [True, False]}, keys=["floor", "is_open"])
    asked = count().where(col("floor").isin(["1", "02"]) & (col("is_open") == "True") & (col("celsius") > "20.5"))
    made = planned(asked.by("floor", "is_open") > 50, rooms)
    assert made.question.condition.left.where.parts == (
        OneOf("floor", (1, 2)),
        Compare("is_open", "=", value=True),
        Compare("celsius", ">", Fraction(41, 2)),
    )
    assert str(made.worst[0].scope) == "20 <= celsius, 1 <= floor < 2, is_open = True"


def test_a_text_that_is_no_value_of_its_column_is_refused() -> None:
    with pytest.raises(ParameterError, match="'floor' holds numbers, so it cannot be compared with the text 'x'"):
        planned(count().where(col("floor") == "x").by("floor") > 50, Domain({"floor": [1]}, keys=["floor"]))


def test_an_average_is_offered_a_wider_slack() -> None:
    made = planned(avg("celsius").by("room") > 23, slack=1)
    slack = made.cheaper(Fraction(1, 2))[-1]
    width = int(slack.removeprefix("a slack of ").replace(",", ""))
    assert largest_total(made.with_(slack=width).worst).price <= Fraction(1, 2)
    assert largest_total(made.with_(slack=width - 1).worst).price > Fraction(1, 2)


def test_slacks_of_comparisons_themselves_are_widened_too() -> None:
    asked = (count().by("room") > 500).slack(2) & (count().where(col("floor") == 1).by("room") > 400).slack(4)
    assert planned(asked, slack=0).cheaper(Fraction(1, 2))[-1].startswith("every slack ")


def test_numbers_are_offered_wider_distances_together() -> None:
    asked = values(count().by("room"), count().where(col("floor") == 1).by("room"))
    made = planned(asked, slack=None, within=[5, 10])
    said = made.cheaper(Fraction(1, 4))[-1].removeprefix("distances of ").split(", ")
    assert largest_total(made.with_(distance=[Fraction(each) for each in said]).worst).price <= Fraction(1, 4)


@pytest.mark.parametrize("enough", [4, 5, 63, 64, 1000])
def test_the_least_length_is_found_by_doubling(enough: int) -> None:
    assert least_length(Fraction(3), lambda length: length >= enough) == enough


def test_no_length_is_offered_where_none_suffices() -> None:
    assert least_length(Fraction(3), lambda _: False) is None


def test_a_ledger_proposes_all_that_would_fit_where_several_looks_are_paid(tmp_path: Path) -> None:
    made = planned((count().by("room") > 500) & (count().where(col("floor") == 1).by("room") > 400), slack=[2, 4])
    ledger, _ = Ledger.create(tmp_path / "house.ledger", dataset="house", unit=Unit.row(), caps=[Cap(epsilon=1)])
    with ledger:
        refusal = ledger.refusal(made)
        assert refusal is not None
        assert refusal.ways == made.cheaper(Fraction(1))
        assert len(list(ledger.entries())) == 1
        assert ledger.refusal(made.with_(slack=[200, 400])) is None
