"""Plans whose price covers several units, or several cells of one: what one change is charged, and what is said."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from louver.errors import ParameterError
from louver.noise.bits import SYSTEM
from louver.privacy import Pure, Unit, ZeroConcentrated
from louver.source import Bound
from louver.stream.session import check_live
from tests.stream.published import SLOTTED, planned

FRESH = ("gaussian", "segment")
ROW, TIMED, FINER = Unit.row(), Unit("person", "time"), Unit("person", "slot(time, 1)")
IN_ROOMS = Unit("person", "room", "slot(time, 5)")  # somebody may be in two rooms of a tick


@pytest.mark.parametrize("name", FRESH)
def test_units_in_different_ticks_add_up_their_prices(name: str) -> None:
    plan = planned(mechanism=name, rho=1, window="1h")
    assert plan.window == 12
    assert plan.cell_price == ZeroConcentrated(Fraction(1, 12))
    assert plan.price == plan.worst[0].guarantee == ZeroConcentrated(1)
    assert planned(SLOTTED, Bound(2), mechanism=name, rho=1, window=12).cell_price == ZeroConcentrated(Fraction(1, 48))


@pytest.mark.parametrize("name", ["tree", "kary", "signed", "toeplitz", "buffered"])
def test_running_sums_charge_what_their_ticks_move_together(name: str) -> None:
    plan = planned(mechanism=name, rho=1, window=6)
    stated: Any = plan.made(SYSTEM).price_of(6)
    assert Fraction(999, 1000) < stated.rho <= 1
    assert Fraction(1, 36) < plan.cell_price.rho < Fraction(1, 6)  # type: ignore[union-attr]


@pytest.mark.parametrize("unit", [ROW, TIMED, FINER, IN_ROOMS, Unit("device", "person", "slot(time, 5)")])
def test_units_that_may_share_a_tick_pay_as_a_group(unit: Unit) -> None:
    bound = None if unit is ROW else Bound(1)
    plan = planned(unit, bound, mechanism="gaussian", rho=1, window=12)
    assert plan.cell_price == ZeroConcentrated(Fraction(1, 144))
    assert "together" in plan.protected


@pytest.mark.parametrize(
    ("unit", "window", "cell"), [(Unit("person"), 1, Fraction(1, 5)), (SLOTTED, 4, Fraction(1, 20))]
)
def test_a_unit_in_so_many_cells_pays_for_each_once(unit: Unit, window: int, cell: Fraction) -> None:
    plan = planned(unit, Bound(2, keys=5), mechanism="gaussian", rho=1, window=window)
    assert plan.touch.step == 2
    assert plan.cell_price == ZeroConcentrated(cell)


def test_rows_in_whatever_cells_may_all_be_in_one() -> None:
    assert planned(Unit("person"), Bound(5), mechanism="gaussian", rho=1).cell_price == ZeroConcentrated(
        Fraction(1, 25)
    )


@pytest.mark.parametrize(("minutes", "units"), [(5, 24), (15, 8), (60, 2)])
def test_a_length_of_time_has_the_units_of_all_its_slots(minutes: int, units: int) -> None:
    plan = planned(Unit("person", f"slot(time, {minutes})"), Bound(1), every="1h", window="2h")
    assert plan.window == units
    assert plan.cell_price == Pure(Fraction(1, units))
    assert "2 hours of whoever has one in each slot" in plan.promise


def test_slots_of_several_lengths_are_as_fine_as_all_of_them_together() -> None:
    unit = Unit("person", "slot(time, 15)", "slot(time, 10)")
    assert planned(unit, Bound(1), every="15m", window="15m").window == 3
    assert planned(unit, Bound(1), every="15m", mechanism="gaussian", rho=1, window=2).ticks_apart is False


@pytest.mark.parametrize("unit", [ROW, TIMED])
def test_a_length_of_time_is_refused_where_nobody_knows_how_many_units_it_has(unit: Unit) -> None:
    bound = None if unit is ROW else Bound(1)
    with pytest.raises(ParameterError, match="Give the window as a number of units, such as 6, or protect slots"):
        planned(unit, bound, window="30m")
    assert "whenever they are" in planned(unit, bound, window=6).promise


def test_different_people_are_one_in_a_tick_however_many_units_they_have() -> None:
    assert planned(TIMED, Bound(1), by=(), distinct="person", window="30m").window == 6
    with pytest.raises(ParameterError, match="number of units"):
        planned(TIMED, Bound(1), distinct="person", window="30m")  # who may be in several rooms of a tick


def test_who_is_one_in_each_of_several_rooms_is_not_one_in_a_tick() -> None:
    moving = Unit("person", "room", "time")
    with pytest.raises(ParameterError, match="somebody may have any number of them in a tick"):
        planned(moving, Bound(1), distinct="person", window="30m")
    assert planned(moving, Bound(1), by=(), distinct="person", window="30m").window == 6
    assert planned(Unit("room", "time"), Bound(1), distinct="room", window="30m").window == 6


def test_a_day_is_the_tick_of_a_stream_by_days() -> None:
    days: dict[str, Any] = {"every": "1d", "begin": "2018-02-01", "end": "2018-02-11"}
    daily = Unit("person", "day(time)")
    plan = planned(daily, Bound(1), window="3d", **days)
    assert plan.window == 3
    assert plan.cell_price == Pure(Fraction(1, 3))
    assert planned(daily, Bound(1), mechanism="gaussian", rho=1, window=3, **days).ticks_apart
    check_live(plan, "days")


def test_pure_prices_are_for_any_units_at_no_more() -> None:
    plan = planned(window=12)
    assert plan.cell_price == Pure(Fraction(1, 12))
    assert plan.protected.endswith("and any 12 of these together.")
    assert "any 12 of these units together, which is 1 hour" in plan.promise


def test_what_a_window_of_gaussian_noise_covers_is_said() -> None:
    plan = planned(mechanism="gaussian", rho=1, window=12)
    assert plan.protected.endswith("and any 12 of these in different ticks.")
    assert "any 12 of these units that are in different ticks, which is 1 hour" in plan.promise


def test_rho_is_told_as_epsilon_and_delta_by_the_law_of_the_noise() -> None:
    """Normal noise of 4.2247 deviations is 1 at a millionth; of discrete noise a little more is said."""
    said = planned(mechanism="toeplitz", rho=Fraction(28, 1000)).promise
    assert "By itself this stream has a price of epsilon 1.000 with a delta of 1 in 1,000,000." in said
    assert "with a delta" not in planned(mechanism="laplace", epsilon=1).promise


@pytest.mark.parametrize("name", FRESH)
def test_the_reach_of_the_noise_is_promised(name: str) -> None:
    plan = planned(mechanism=name, rho=Fraction(1, 8))
    assert plan.noise_reach(Fraction(19, 20)) == 4
    assert "is within 4 of the truth, except in at most 1 of 20 cases" in plan.promise


@pytest.mark.parametrize(
    ("asked", "band", "fresh"),
    [
        ({"epsilon": 1}, "their band is an estimate", ["the mechanism laplace releases them so"]),
        ({"rho": Fraction(1, 8)}, "their band is an estimate", ["the mechanism gaussian releases them so"]),
        ({"mechanism": "pegasus"}, "how far off they are is not known", []),
    ],
)
def test_of_smoothed_numbers_it_is_said_first_that_no_error_is_promised(
    asked: dict[str, Any], band: str, fresh: list[str]
) -> None:
    first, second = planned(**asked).promise.split(". ")[:2]
    assert first.startswith("No error of these numbers is promised: they are smoothed")
    assert first.endswith(band)
    assert second.startswith("Before they are smoothed, each count of a tick and room is within")
    assert second.split("; ")[1:] == fresh
