"""Ways to lose more than is charged, or to answer something else, that were once open."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import louver
from louver.decide import Bands, Shift, Sparse
from louver.decide.values import ValueBounds
from louver.errors import ParameterError
from louver.ledger import Cap, Ledger
from louver.privacy import Unit
from louver.question import avg, classes, col, count, count_distinct, question, sum_
from louver.source import Bound, Domain, Reading, Source, Table, View
from louver.steward import Steward

ROOMS = Domain({"room": ["hall", "lab"]}, ["room"])
FLOORS = Domain({"building": ["A", "A", "B"], "floor": [1, 2, 1]}, ["building", "floor"])
DAYS = Domain({"day": ["mon", "tue"]}, ["day"])
ROW: dict[str, Any] = {"unit": Unit.row(), "miss_rate": 0.05}


def seen(plan: Shift, sums: int, rows: int) -> int:
    reading: Reading = plan.reading
    values = [np.array([sums if measure.kind == "sum" else rows] * 2) for measure in reading.measures]
    return int(plan.tests[0].aligned(plan.margins(View(tuple(values)))[0])[0])


@pytest.mark.parametrize("slack", [Fraction(1, 10**12), 1])
def test_one_row_moves_an_average_by_one_step_also_where_a_sum_is_cut(slack: Fraction) -> None:
    plan = Shift(question(avg("v", 1000, 1001).by("room") > 1000.25), ROOMS, **ROW, slack=slack)
    grid = next(measure.grid for measure in plan.reading.measures if measure.grid is not None)
    rows = 2**62 // grid.highest  # so many would be cut
    assert rows > 2**40
    each = grid.highest
    assert abs(seen(plan, each * (10**6 + 1), 10**6 + 1) - seen(plan, each * 10**6, 10**6)) <= 1


def test_an_average_on_too_fine_a_grid_is_refused() -> None:
    bounds = ValueBounds.of({"v": (1000, 1001, Fraction(1, 2**38))})
    for asked in (avg("v").by("room") > 1000, sum_("v").by("room") > count().by("room")):
        with pytest.raises(ParameterError, match="take a larger step"):
            Shift(question(asked), ROOMS, **ROW, slack=1, values=bounds)


def test_two_distinct_counts_of_one_person_weigh_two() -> None:
    """One person may be there in the morning and in the afternoon, although no row is in both."""
    morning = count_distinct("person").where(col("hour") < 12).by("day")
    afternoon = count_distinct("person").where(col("hour") >= 12).by("day")
    unit = Unit("person", "day")
    plan = Shift(question(morning > 2 - afternoon), DAYS, unit=unit, miss_rate=0.05, slack=3)
    assert plan.reading.bound is None
    assert plan.program.looks[0].touch.step == 2
    heavier = Shift(question(morning > 2 - 3 * afternoon), DAYS, unit=unit, miss_rate=0.05, slack=3)
    assert heavier.program.looks[0].touch.step == 4


def test_a_ledger_protects_what_a_column_is_made_of(tmp_path: Path) -> None:
    def source(made: str) -> Source:
        table = Table(tmp_path / "rows.csv", dataset="house", unit=Unit("person", "day"), columns={"day": made})
        return Source(table, domains=ROOMS)

    (tmp_path / "rows.csv").write_text("person,room,time\nann,hall,2026-01-01 09:00\n")
    first, second = source("day(time)"), source("slot(time, 1)")
    ledger, _ = Ledger.create(tmp_path / "ledger", dataset="house", unit=first.table.unit, caps=[Cap(epsilon=9)])
    with ledger:
        louver.ask(first, count().by("room") > 100, miss_rate=0.05, slack=10, ledger=ledger)
        with pytest.raises(ParameterError, match=r"unit is \(person, slot\(time, 1\)\)"):
            Steward(second.table, ledger)


def test_two_columns_under_one_name_pay_twice(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("arrived,left\n2026-01-01 09:00,2026-01-01 17:00\n")
    hours = Domain({"hour": [9]}, ["hour"])
    ledger, _ = Ledger.create(tmp_path / "ledger", dataset="house", unit=Unit.row(), caps=[Cap(epsilon=0.5)])
    with ledger:
        for made, pays in (("hour(arrived)", True), ("hour(left)", False)):
            table = Table(tmp_path / "rows.csv", dataset="house", unit=Unit.row(), columns={"hour": made})
            asked: dict[str, Any] = {"miss_rate": 0.05, "slack": 10, "domain": hours, "ledger": ledger}
            if pays:
                louver.ask(table, count().by("hour") > 100, **asked)
            else:
                with pytest.raises(louver.BudgetError):
                    louver.ask(table, count().by("hour") > 100, **asked)


def test_sparse_and_bands_answer_for_the_questions_own_keys() -> None:
    rolled_up = question(count().by("building") > 0, keys=["building", "floor"])
    with pytest.raises(ParameterError, match="group by all"):
        Sparse(rolled_up, FLOORS, **ROW, slack=3)
    banded = classes(count().by("building"), [3], ["low", "high"])
    banded = type(banded)(banded.aggregate, banded.cuts, banded.names, ("building", "floor"))
    with pytest.raises(ParameterError, match="grouped by all"):
        Bands(banded, FLOORS, **ROW, slack=3)


def test_classes_have_one_slack() -> None:
    banded = classes(sum_("x", 0, 10).by("room"), [80, 500], ["low", "mid", "high"])
    with pytest.raises(ParameterError, match="one slack"):
        Bands(banded, ROOMS, **ROW, slack=[64, 1])
    assert Bands(banded, ROOMS, **ROW, slack=[64, 64]).worst == Bands(banded, ROOMS, **ROW, slack=64).worst


def test_a_bound_still_limits_the_weight_where_it_is_needed() -> None:
    plan = Shift(question(count().by("room") > 9), ROOMS, unit=Unit("person"), miss_rate=0.05, slack=3, bound=Bound(2))
    assert plan.program.looks[0].touch.times == 2


def test_a_question_without_keys_joins_no_list_of_keys() -> None:
    table = Table("rows.csv", dataset="house", unit=Unit.row())
    joined = "SELECT count(*) FROM rows CROSS JOIN rooms"
    with pytest.raises(ParameterError, match="count each row 2 times"):
        louver.plan(Source(table, domains={"rooms": ROOMS}), joined, miss_rate=0.05, within=10)
