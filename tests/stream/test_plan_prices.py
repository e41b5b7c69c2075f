"""Who pays what for a stream: per unit, per window, by scope; and that no unit can move more than it pays for."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.errors import BudgetError, ParameterError
from louver.noise import Bits
from louver.privacy import Between, Pure, Scope, Unit
from louver.source import Bound, Domain, Source, Table, rows
from louver.source.measures import View
from louver.stream.plan import StreamPlan
from louver.stream.planning import stream
from louver.stream.ticks import Ticks
from tests.stream.published import FIVE, HOUR, NINE, ROOMS, SLOTTED, TICKS, house, planned, values_of
from tests.stream.smoothing import halve_noise, seeded

ROW = Unit.row()
DAILY, PERSON = Unit("person", "day(time)"), Unit("person")
IN_ROOM = Unit("person", "room", "slot(time, 5)")


@pytest.mark.parametrize(
    ("unit", "bound", "times", "step"),
    [
        (ROW, None, 1, 1),
        (SLOTTED, Bound(1), 1, 1),
        (SLOTTED, Bound(3), 3, 1),
        (SLOTTED, Bound(2, keys=3), 3, 2),
        (IN_ROOM, Bound(3), 1, 3),
        (DAILY, Bound(8), 8, 1),
        (PERSON, Bound(2, keys=5), 5, 2),
    ],
)
def test_one_unit_pays_epsilon_whatever_it_touches(unit: Unit, bound: Bound | None, times: int, step: int) -> None:
    plan = planned(unit, bound, epsilon=Fraction(3, 2))
    assert (plan.touch.times, plan.touch.step) == (times, step)
    assert plan.price == plan.worst[0].guarantee == Pure(Fraction(3, 2))
    assert plan.cell_price == Pure(Fraction(3, 2) / times)
    assert plan.made(Bits()).price == plan.cell_price
    assert plan.made(Bits()).sensitivity == step  # type: ignore[attr-defined]


def test_different_people_need_no_bound_where_each_is_in_one_cell() -> None:
    plan = planned(IN_ROOM, distinct="person")
    assert plan.reading is not None
    assert plan.reading.bound is None
    assert (plan.touch.times, plan.touch.step) == (1, 1)
    assert planned(SLOTTED, Bound(3), distinct="person").touch.step == 1


def test_a_sum_weighs_as_much_as_its_bounds_allow() -> None:
    assert planned(SLOTTED, Bound(3, keys=1), sum_of="watts").touch.step == 24
    assert planned(SLOTTED, Bound(3), sum_of="watts").touch.step == 8


def test_a_window_pays_for_all_its_units_together() -> None:
    plan = planned(SLOTTED, Bound(2), window="30m")
    assert plan.window == 6
    assert plan.cell_price == Pure(Fraction(1, 12))
    assert plan.price == Pure(1)
    assert "any 6 of these together" in plan.protected
    assert "30 minutes of whoever has one in each slot." in plan.promise
    assert "A stay of 30 minutes that begins within a slot is in 7 of them." in plan.promise


@pytest.mark.parametrize("unit", [PERSON, DAILY, Unit("person", "slot(time, 60)")])
def test_a_window_is_refused_where_a_unit_is_in_many_ticks_anyway(unit: Unit) -> None:
    with pytest.raises(ParameterError, match="A window is for units that are in one tick each"):
        planned(unit, Bound(4), window=3)


def test_a_distance_and_a_miss_rate_give_the_price() -> None:
    one = planned(ROW, mechanism="laplace", within=5, miss_rate=0.05)
    assert float(one.price.epsilon) == pytest.approx(0.5382, abs=1e-4)  # type: ignore[union-attr]
    assert one.noise_reach(Fraction(19, 20)) == 5
    four = planned(SLOTTED, Bound(4), mechanism="laplace", within=5, miss_rate=0.05)
    assert four.price == one.price.for_group(4)
    assert four.promise.startswith("Each count of a tick and room is within 5 of the truth, except in at most 1 of 20")
    watts = planned(ROW, mechanism="laplace", within=40, miss_rate=0.05, sum_of="watts")
    assert watts.price.epsilon == one.with_(within=40).price.epsilon * 8  # type: ignore[union-attr]


def test_a_cheaper_stream_is_proposed_that_fits() -> None:
    plan = planned(ROW, mechanism="laplace", within=5, miss_rate=0.05)
    (said,) = plan.cheaper(plan.price.epsilon / 3)  # type: ignore[union-attr]
    distance = int(said.removeprefix("a distance of "))
    assert plan.with_(within=distance).worst[0].price <= plan.worst[0].price / 3
    assert plan.with_(within=distance - 1).worst[0].price > plan.worst[0].price / 3
    assert planned(ROW, epsilon=1).cheaper(Fraction(74618219, 10**8)) == ("epsilon 0.7461",)


def ranges(unit: Unit, **asked: Any) -> dict[str, Any]:
    return dict(planned(unit, None if unit == ROW else Bound(2), **asked).scope.ranges)


def test_the_scope_is_the_narrowest_box_of_columns_that_the_unit_fixes() -> None:
    hour = Between(NINE, NINE + TICKS * FIVE)
    day = Between(NINE.replace(hour=0), NINE.replace(hour=0, day=2))
    assert set(ranges(ROW)) == {"room", "time", "slot(time, 5)", "day(time)"}
    assert ranges(SLOTTED) == {"slot(time, 5)": hour}
    assert ranges(Unit("person", "time")) == {"time": hour}
    assert ranges(IN_ROOM)["room"].values == frozenset(ROOMS)
    assert ranges(DAILY) == {"day(time)": day}
    assert ranges(Unit("person", "slot(time, 240)")) == {"slot(time, 240)": Between(NINE.replace(hour=8), hour.end)}
    assert ranges(PERSON) == ranges(Unit("person", "day(other)"), time="time") == {}


def test_streams_of_different_hours_pay_apart_and_of_one_hour_together(tmp_path: Path) -> None:
    later: dict[str, Any] = {"begin": "2018-02-01T10:00", "end": "2018-02-01T11:00"}
    with house(tmp_path, cap=2) as made:
        made.steward.run(planned())
        made.steward.run(planned(**later))
        assert made.ledger.spent() == 1
        made.steward.run(planned(mechanism="laplace"))
        assert made.ledger.spent() == 2
        with pytest.raises(BudgetError, match="What would fit"):
            made.steward.run(planned(begin="2018-02-01T08:00", epsilon=Fraction(1, 2)))
        assert made.ledger.remaining(Scope({"slot(time, 5)": Between(NINE + 12 * FIVE, NINE + 24 * FIVE)})) == 1


def test_a_person_pays_for_every_hour(tmp_path: Path) -> None:
    with house(tmp_path, PERSON, cap=2) as made:
        made.steward.run(planned(PERSON, Bound(3)))
        made.steward.run(planned(PERSON, Bound(3), begin="2018-02-01T10:00", end="2018-02-01T11:00"))
        assert made.ledger.spent() == 2


def invented(dice: random.Random) -> list[tuple[str, str, str, int]]:
    return [
        (
            f"p{dice.randrange(4)}",
            dice.choice([*ROOMS, "attic"]),
            f"{NINE + dice.randrange(-1, TICKS + 1) * FIVE + dice.random() * FIVE:%Y-%m-%dT%H:%M:%S}",
            dice.randrange(-3, 12),
        )
        for _ in range(40)
    ]


def true_numbers(folder: Path, plan: StreamPlan, given: list[tuple[str, str, str, int]]) -> NDArray[np.int64]:
    path = folder / "rows.csv"
    path.write_text("\n".join(["person,room,time,watts", *(",".join(map(str, row)) for row in given)]))
    assert plan.reading is not None
    return rows.read(Table(path, dataset="house", unit=plan.unit), plan.reading, b"secret").values[0]


@pytest.mark.parametrize(
    ("unit", "bound"),
    [
        (SLOTTED, Bound(2)),
        (SLOTTED, Bound(2, keys=1)),
        (IN_ROOM, Bound(2)),
        (DAILY, Bound(4)),
        (PERSON, Bound(2, keys=3)),
    ],
)
@pytest.mark.parametrize("asked", [{}, {"distinct": "person"}, {"sum_of": "watts"}], ids=["rows", "people", "sum"])
def test_no_unit_makes_more_changes_than_it_pays_for(
    tmp_path: Path, unit: Unit, bound: Bound, asked: dict[str, Any]
) -> None:
    plan = planned(unit, bound, **asked)
    dice = random.Random(1)
    most = 0
    for _ in range(2):
        every = invented(dice)
        whole = true_numbers(tmp_path, plan, every)
        for person, room, time, _ in every[:4]:
            left = [row for row in every if not is_of(row, unit, person, room, time)]
            moved = np.abs(whole - true_numbers(tmp_path, plan, left))
            changes = int((-(-moved // plan.touch.step)).sum())
            assert changes <= plan.touch.times
            most = max(most, changes)
    assert most >= 1


def is_of(row: tuple[str, str, str, int], unit: Unit, person: str, room: str, time: str) -> bool:
    """Whether a row is of the same unit as another one."""
    same = {
        "person": row[0] == person,
        "room": row[1] == room,
        "slot(time, 5)": row[2][:14] == time[:14] and int(row[2][14:16]) // 5 == int(time[14:16]) // 5,
        "day(time)": row[2][:10] == time[:10],
    }
    return all(same[column] for column in unit.columns)


def log_ratio(unit: Unit, rows_per_unit: int, window: int, trials: int = 20_000) -> float:
    """How much likelier an outcome is with somebody than without, who has one row in each of four cells.

    Cells are independent, so one stream of many rooms is many trials. The expectation is at most epsilon, 1. With
    20,000 trials each way it deviates by 0.044, so that 1.25 is passed with probability under 1e-6.
    """
    rooms = Domain({"room": list(range(4 * trials))}, keys=["room"])
    described = Source(Table("presence.csv", dataset="house", unit=unit), domains=rooms, bound=Bound(rows_per_unit))
    plan = stream(described, mechanism="laplace", epsilon=1, window=window, **{**HOUR, "every": "1h"})
    bits, seen = seeded(5), []
    for present in (1, 0):
        cells = np.full(4 * trials, present, dtype=np.int64)
        released = values_of(plan.run(View((cells,)), bits).answer).reshape(trials, 4)
        seen.append(int((released >= 1).all(axis=1).sum()))
    return float(np.log(seen[0] / seen[1]))


@pytest.mark.parametrize(("unit", "rows", "window"), [(PERSON, 4, 1), (SLOTTED, 1, 4), (SLOTTED, 2, 2)])
def test_an_audit_finds_no_more_than_the_price_and_much_more_with_half_the_noise(
    monkeypatch: pytest.MonkeyPatch, unit: Unit, rows: int, window: int
) -> None:
    assert 0.75 < log_ratio(unit, rows, window) < 1.25
    halve_noise(monkeypatch)
    assert log_ratio(unit, rows, window) > 1.25


def test_units_that_tell_the_tick_are_in_one() -> None:
    hour = Ticks("time", "2018-02-01T09:00", "2018-02-01T10:00", "15m")
    for one in (ROW, Unit("person", "time"), Unit("person", "slot(time, 5)"), Unit("person", "slot(time, 15)")):
        assert hour.in_one(one)
    for many in (
        PERSON,
        DAILY,
        Unit("person", "slot(time, 60)"),
        Unit("person", "slot(other, 5)"),
        Unit("person", "slot(time, 10)"),
    ):
        assert not hour.in_one(many)
