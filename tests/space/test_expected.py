"""What a plan says beforehand about cells and errors holds of readings that are spread evenly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from louver.privacy import Unit
from louver.space.bounds import Bounds
from louver.space.evidence import of_leaves
from louver.space.field import Field
from louver.space.located import Located
from louver.space.plan import MapPlan
from louver.space.ways import TREE, WAYS
from tests.space.fields import SQUARE, seeded

SIDE = 128
# Of all cells of some maps, 1 in 20 may be further off; so many more than that come once in 10^6 tries.
SURELY = 4.9


def plan(way: str = "cut", epsilon: float = 1, readings: int | None = 20_000, atoms: int = SIDE) -> MapPlan:
    located = Located.of("x", "y", "heat", Bounds(*SQUARE), high=100)
    known = None if way == TREE else readings
    return MapPlan(located, unit=Unit.row(), epsilon=epsilon, way=way, readings=known, atoms=atoms)


def even(held: int, value: float, side: int = SIDE) -> Field:
    """So many readings of one value in each atom."""
    counts = np.full((side, side), held, dtype=np.int64)
    located = Located.of("x", "y", "heat", Bounds(*SQUARE), high=100)
    steps = int(located.values.quantise([value])[0]) - located.values.lowest
    return Field(counts, steps * counts, SQUARE, located.values)


@pytest.mark.parametrize("way", WAYS)
def test_a_map_of_an_even_spread_has_about_as_many_cells_as_expected(way: str) -> None:
    planned = plan(way, epsilon=3, readings=100 * 100, atoms=100)
    expected = planned.expected()
    made = planned.structure.release(even(1, 50, side=100), bits=seeded(3))
    assert made.depth or expected.grid is not None
    assert len(made.tree.leaves) == pytest.approx(expected.cells, rel=0.5)


@pytest.mark.parametrize("epsilon", [0.2, 0.5, 2])
@pytest.mark.parametrize("value", [0, 50, 100])
@pytest.mark.parametrize("way", ["cut", "two-level"])
def test_averages_are_as_near_as_promised_in_19_of_20_cells(way: str, epsilon: float, value: float) -> None:
    readings = 2 * SIDE**2
    planned = plan(way, epsilon=epsilon, readings=readings)
    promised = planned.expected().average_error
    assert promised is not None
    field, wrong, cells = even(2, value), 0, 0
    for run in range(8):
        made = planned.structure.release(field, bits=seeded(run))
        found = of_leaves(made)
        with np.errstate(all="ignore"):
            plain = made.zero + made.step * np.where(found.counts > 0, found.sums / found.counts, np.inf)
        wrong += int((np.abs(plain - value) > promised).sum())
        cells += len(plain)
    assert wrong <= cells / 20 + SURELY * math.sqrt(cells / 20 * 19 / 20)
    if value != 50:  # the promise is that of the ends of the range
        assert wrong >= cells / 100


def test_where_the_count_may_be_0_an_average_tells_nothing() -> None:
    planned = plan(epsilon=0.01, readings=1000)
    assert planned.expected().average_error is None
    assert "an average of heat tells nothing there" in planned.promise


def test_in_cells_of_one_size_more_readings_or_a_higher_price_tell_more() -> None:
    """Up to 1,900 readings at epsilon 1 there are 8 x 8 cells, and from 80,000 on 50 x 50."""

    def wrong(**changed: Any) -> float:
        found = plan(**changed).expected().average_error
        assert found is not None
        return found

    assert wrong(epsilon=1.5, readings=1200) < wrong(epsilon=1, readings=1200)
    assert wrong(readings=200_000) < wrong(readings=100_000)


def test_the_promise_says_how_many_cells_of_what_size_there_are() -> None:
    degrees = Bounds(8.44, 47.32, 8.63, 47.44, degrees=True)
    located = Located.of("lon", "lat", "pm25", degrees, high=150)
    planned = MapPlan(located, unit=Unit.row(), epsilon=1, readings=40_000)
    expected = planned.expected()
    assert expected.grid is not None
    across, along = expected.grid
    assert f"With 40,000 readings, spread evenly, there are about {across} x {along} cells of " in planned.promise
    assert expected.width * across == pytest.approx(degrees.width, rel=0.05)
    assert expected.held * across * along == pytest.approx(40_000, rel=0.1)
    assert f"{expected.width:.0f} x {expected.height:.0f} m" in planned.promise


def test_without_a_public_number_the_promise_supposes_one() -> None:
    assert plan(readings=None).promise.startswith("With 10,000 readings, spread evenly, there would be about ")


def test_expecting_draws_no_noise_and_is_the_same_each_time() -> None:
    assert plan("adaptive").expected() == plan("adaptive").expected()
