"""Plans whose price covers several units, or several cells of one: what one change is charged, and what is said."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from louver.noise.bits import SYSTEM
from louver.privacy import Pure, Unit, ZeroConcentrated
from louver.source import Bound
from tests.stream.published import SLOTTED, planned

FRESH = ("gaussian", "segment")
ROW, TIMED, FINER = Unit.row(), Unit("person", "time"), Unit("person", "slot(time, 1)")


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


@pytest.mark.parametrize("unit", [ROW, TIMED, FINER])
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
