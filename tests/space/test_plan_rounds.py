"""A round of a map: its part of the price of a window, what the window costs, and what stops a further round."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from louver.errors import BudgetError
from louver.ledger import Ledger
from louver.privacy import Unit, plan_from_dict, plan_to_dict
from louver.source import Table
from louver.space import MapPlan, combined, map_plan, publish_map
from tests.space.test_plan import AREA, paying, stored

WINDOW: dict[str, Any] = {**AREA, "epsilon": 1, "rounds": 4, "readings": 500}
BY_DAY = {"columns": {"day": "day(time)"}}


def daily(table: Table, day: int, **changed: Any) -> MapPlan:
    return map_plan(table, **{**WINDOW, **changed}, begin=f"2026-03-0{day}", end=f"2026-03-0{day + 1}")


def promised(ledger: Ledger) -> list[str]:
    return [entry.body["plan"]["promise"] for entry in ledger.entries() if entry.act == "reserved"]


def test_the_price_of_the_window_is_said_wherever_the_price_of_a_round_is(tmp_path: Path) -> None:
    table = stored(tmp_path, Unit("person", "day"), **BY_DAY)
    plan = daily(table, 1)
    words = "4 rounds, at epsilon 0.25 each and 1 for somebody who is in all of them"
    assert f"This is one of {words}; they are charged apart." in plan.promise
    with paying(tmp_path, table) as ledger:
        made = publish_map(table, plan, ledger=ledger)
        assert made.map.about["window"] == words
        assert words in promised(ledger)[0]


def test_where_the_unit_tells_rounds_apart_it_is_said_that_nothing_stops_a_further_one(tmp_path: Path) -> None:
    table = stored(tmp_path, Unit("person", "day"), **BY_DAY)
    assert daily(table, 1).apart
    (warning,) = daily(table, 1, rows_per_unit=1).warnings
    assert "so nothing stops a round after the 4 that epsilon is for" in warning
    assert "with the unit (person) and a cap of 1 the ledger would." in warning


def test_rounds_within_one_day_of_the_unit_are_said_to_add_up_there(tmp_path: Path) -> None:
    """Four rounds of six hours, and a ledger that refuses the second where there is room for one."""
    table = stored(tmp_path, Unit("person", "day"), **BY_DAY)

    def quarter(hour: int) -> MapPlan:
        ends = f"2026-03-01T{hour + 6:02}:00" if hour < 18 else "2026-03-02"
        return map_plan(table, **WINDOW, rows_per_unit=1, begin=f"2026-03-01T{hour:02}:00", end=ends)

    assert not any(quarter(hour).apart for hour in (0, 6, 18))
    assert "added up by the ledger within one day or slot of the unit" in quarter(6).promise
    (warning,) = quarter(6).warnings
    assert "a cap must have room for all rounds of one" in warning
    with paying(tmp_path, table, cap=0.25) as ledger:
        publish_map(table, quarter(0), ledger=ledger)
        with pytest.raises(BudgetError):
            publish_map(table, quarter(6), ledger=ledger)


@pytest.mark.parametrize(("minutes", "apart"), [(360, True), (720, False)])
def test_slots_tell_rounds_apart_that_end_where_they_do(tmp_path: Path, minutes: int, apart: bool) -> None:
    table = stored(tmp_path, Unit("person", "slot"), columns={"slot": f"slot(time, {minutes})"})
    plan = map_plan(table, **WINDOW, begin="2026-03-01T06:00", end="2026-03-01T12:00")
    assert plan.apart == apart


def test_the_cap_of_a_window_stops_a_further_round_of_a_person(tmp_path: Path) -> None:
    table = stored(tmp_path, Unit("person"))
    assert "where a cap of 1 stops a further one" in daily(table, 1).promise
    assert daily(table, 1, rows_per_unit=1).warnings == ()
    with paying(tmp_path, table, cap=1) as ledger:
        for day in (1, 2, 3, 4):
            publish_map(table, daily(table, day), ledger=ledger)
        with pytest.raises(BudgetError):
            publish_map(table, daily(table, 5), ledger=ledger)


@pytest.mark.parametrize("rounds", [3, 9973])
def test_any_number_of_rounds_has_a_price_that_ledgers_add_up_and_that_is_not_above_its_part(
    tmp_path: Path, rounds: int
) -> None:
    table = stored(tmp_path)
    plan = daily(table, 1, rounds=rounds, epsilon=1000)
    assert 0 <= Fraction(1000, rounds) - plan.price.epsilon < Fraction(1, 2**64)
    with paying(tmp_path, table) as ledger:
        publish_map(table, plan, ledger=ledger)
        assert ledger.spent() == plan.price.epsilon


def test_one_map_says_nothing_of_rounds(tmp_path: Path) -> None:
    plan = map_plan(stored(tmp_path), **AREA, epsilon=Fraction(1, 3))
    assert plan.price.epsilon == Fraction(1, 3)
    assert "round" not in plan.promise
    assert "window" not in plan.about


def test_a_stored_round_is_the_same_round(tmp_path: Path) -> None:
    plan = daily(stored(tmp_path), 1)
    again = plan_from_dict(json.loads(json.dumps(plan_to_dict(plan))))
    assert again == plan
    assert isinstance(again, MapPlan)
    assert again.rounds == 4


def test_what_would_fit_is_said_as_the_price_of_the_window(tmp_path: Path) -> None:
    plan = daily(stored(tmp_path), 1)
    assert plan.cheaper(Fraction(1, 10)) == ("epsilon 0.4",)


def test_rounds_of_a_window_are_combined(tmp_path: Path) -> None:
    table = stored(tmp_path)
    with paying(tmp_path, table) as ledger:
        maps = [publish_map(table, daily(table, day), ledger=ledger).map for day in (1, 2, 3)]
    assert combined(maps).price.epsilon == Fraction(3, 4)


def test_after_all_rounds_an_average_is_less_wrong_and_the_promise_says_so(tmp_path: Path) -> None:
    plan = daily(stored(tmp_path), 1, epsilon=40)
    one, every = plan.expected().average_error, plan.expected(combined=True).average_error
    assert one is not None
    assert every is not None
    assert every < one
    assert f"is within {one:.3g} of the truth" in plan.promise
    assert f"after all 4 rounds, combined, it is within {every:.3g}" in plan.promise
