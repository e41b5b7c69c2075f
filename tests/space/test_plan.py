"""The plan of a map: what it reads, what a unit pays, where it is charged, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from louver.errors import DataError, ParameterError
from louver.ledger import Cap, Ledger
from louver.privacy import Pure, Scope, Unit
from louver.source import Bound, Source, Table
from louver.space import Cut, MapPlan, map_plan, publish_map, region
from louver.space.field import Field
from louver.space.measure import rates
from louver.space.released import Map
from louver.space.ways import TREE, WAYS, sized_for_rounds
from louver.steward import Steward
from tests.space.fields import readings, seeded

X, Y, VALUE = readings(2000, seed=4)
# Outside, on the edges, no numbers, beyond the range of values: the rules of a Field are those of a plan.
ODD = [
    ("-0.1", "5", "50"),
    ("100.0001", "5", "50"),
    ("0", "0", "50"),
    ("100", "100", "50"),
    ("", "5", "50"),
    ("5", "5", ""),
    ("nan", "5", "50"),
    ("5", "x", "50"),
    ("5", "5", "1000000"),
    ("5", "5", "-3"),
    ("50", "50", "33.33"),
]
AREA: dict[str, Any] = {"x": "x", "y": "y", "value": "heat", "bounds": (0, 0, 100, 100), "low": -20, "high": 100}
# At this price there is no noise on counts but once in 10^40 draws.
LOUD = 2000


def stored(folder: Path, unit: Unit | None = None, **declared: Any) -> Table:
    path = folder / "readings.csv"
    lines = [f"{x!r},{y!r},{value!r}" for x, y, value in zip(X.tolist(), Y.tolist(), VALUE.tolist(), strict=True)]
    lines += [",".join(odd) for odd in ODD]
    people = [f"{line},p{number % 40},2026-03-{1 + number % 3:02}T09:00:00" for number, line in enumerate(lines)]
    path.write_text("\n".join(["x,y,heat,person,time", *people]) + "\n")
    return Table(path, dataset="town", unit=unit or Unit.row(), **declared)


def paying(folder: Path, table: Table, cap: float = 10**5) -> Ledger:
    caps = [Cap(epsilon=Fraction(cap))]
    return Ledger.create(folder / "l", dataset="town", unit=table.unit, caps=caps, key=folder / "key")[0]


def field(atoms: int) -> Field:
    x, y, value = (
        np.array([*known, *(float(odd[at]) if odd[at] not in ("", "x") else np.nan for odd in ODD)])
        for at, known in enumerate((X, Y, VALUE))
    )
    return Field.of(x, y, value, AREA["bounds"], low=-20, high=100, atoms=atoms)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("public", [True, False])
def test_on_stored_rows_a_plan_releases_what_its_structure_does_on_their_field(
    tmp_path: Path, way: str, public: bool
) -> None:
    table = stored(tmp_path)
    known: dict[str, Any] = {"readings": 2000} if public and way != TREE else {}
    plan = map_plan(table, **AREA, epsilon=1, way=way, atoms=64, **known)
    with paying(tmp_path, table) as ledger:
        released = Steward._with_bits(table, ledger, seeded(5)).run(plan).answer
    alone = plan.structure.release(field(64), bits=seeded(5))
    assert released == replace(alone, about=plan.about).to_dict()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bound", [Bound(1), Bound(3), Bound(2, keys=5)])
def test_what_all_readings_of_a_unit_pay_over_all_levels_is_the_price(tmp_path: Path, way: str, bound: Bound) -> None:
    plan = map_plan(Source(stored(tmp_path, Unit("person")), bound=bound), **AREA, epsilon=Fraction(1, 3), way=way)
    structure, empty = plan.structure, field(2)
    centre = structure.centre(empty)
    reach = max(centre, empty.span - centre)
    per_level = [rates(empty, price, centre) for price in structure.levels]
    together = sum(plan.times * (count + reach * total) for count, total in per_level)
    assert plan.times == bound.rows * (bound.keys or 1)
    assert together == Fraction(1, 3)
    assert plan.price == Pure(Fraction(1, 3))


@pytest.mark.parametrize(("bound", "most"), [(Bound(1), 1), (Bound(7), 7), (Bound(2, keys=3), 3)])
def test_so_many_rows_of_each_unit_are_read_and_no_more(tmp_path: Path, bound: Bound, most: int) -> None:
    """Two rows of one person are never in one atom here, so that three keys are three rows."""
    source = Source(stored(tmp_path, Unit("person")), bound=bound)
    with paying(tmp_path, source.table) as ledger:
        made = publish_map(source, ledger=ledger, **AREA, epsilon=LOUD * bound.rows * (bound.keys or 1), readings=2000)
    # Each of 40 has 50 rows with a number; some of those that count may be among the few that have none.
    assert 40 * most - len(ODD) <= region(made.map).count.value <= 40 * most + 1e-6


def test_maps_of_different_days_are_paid_for_apart_where_the_unit_names_its_day(tmp_path: Path) -> None:
    table = stored(tmp_path, Unit("person", "day"), columns={"day": "day(time)"})
    with paying(tmp_path, table, cap=1) as ledger:
        for day in (1, 2, 3):
            made = publish_map(
                table, ledger=ledger, **AREA, epsilon=1, begin=f"2026-03-0{day}", end=f"2026-03-0{day + 1}"
            )
            assert made.remaining == 0
        assert ledger.spent() == 1


def test_maps_of_different_days_add_up_for_a_person(tmp_path: Path) -> None:
    table = stored(tmp_path, Unit("person"))
    plan = map_plan(table, **AREA, epsilon=1, begin="2026-03-01", end="2026-03-02")
    assert plan.scope == Scope.everything()


def test_a_round_has_the_rows_of_its_time_only(tmp_path: Path) -> None:
    table = stored(tmp_path)
    with paying(tmp_path, table) as ledger:
        parts = [
            publish_map(table, ledger=ledger, **AREA, epsilon=LOUD, begin=f"2026-03-0{day}", end=f"2026-03-0{day + 1}")
            for day in (1, 2, 3)
        ]
        whole = publish_map(table, ledger=ledger, **AREA, epsilon=LOUD)
    counts = [region(each.map).count.value for each in (*parts, whole)]
    assert min(counts) > 600
    assert abs(sum(counts[:3]) - counts[3]) < 1e-6


def test_rounds_share_the_price_of_their_window_and_one_finer_grid(tmp_path: Path) -> None:
    plan = map_plan(stored(tmp_path), **AREA, epsilon=2, rounds=4, readings=5000)
    assert plan.price == Pure(Fraction(1, 2))
    assert plan.together == 2
    assert isinstance(plan.structure, Cut)
    assert plan.structure.readings == sized_for_rounds(5000, 4) == 10_000


def test_the_same_key_gives_the_same_map_for_nothing(tmp_path: Path) -> None:
    table = stored(tmp_path)
    with paying(tmp_path, table, cap=1) as ledger:
        first, again = (publish_map(table, ledger=ledger, key="march", **AREA, epsilon=1) for _ in range(2))
    assert again.release.again
    assert again.map.to_dict() == first.map.to_dict()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rows", ["", *("7,7,7,p,\n" * count for count in (1, 5000)), "700,7,7,p,\n" * 9])
def test_there_is_a_map_of_nothing_of_one_point_and_of_what_lies_outside(tmp_path: Path, way: str, rows: str) -> None:
    path = tmp_path / "readings.csv"
    path.write_text("x,y,heat,person,time\n" + rows)
    table = Table(path, dataset="town", unit=Unit.row())
    inside = 0 if rows.startswith("700") else rows.count("\n")
    with paying(tmp_path, table) as ledger:
        made = publish_map(table, ledger=ledger, **AREA, epsilon=LOUD, way=way)
    assert abs(region(made.map).count.value - inside) < 1e-6
    assert Map.from_dict(made.map.to_dict()).to_dict() == made.map.to_dict()


def test_declared_values_are_the_range_of_a_map(tmp_path: Path) -> None:
    table = stored(tmp_path, values={"heat": (0, 64, 1)})
    asked = {name: value for name, value in AREA.items() if name not in ("low", "high")}
    values = map_plan(table, **asked, epsilon=1).located.values
    assert [values.low, values.high, values.step] == [0, 64, 1]


def test_columns_called_longitude_and_latitude_are_degrees(tmp_path: Path) -> None:
    table = stored(tmp_path)
    asked = {**AREA, "bounds": (8, 47, 9, 48), "epsilon": 1}
    assert map_plan(table, **{**asked, "x": "lon", "y": "Lat"}).located.bounds.degrees
    assert not map_plan(table, **asked).located.bounds.degrees


def test_a_threshold_moves_the_price_to_where_it_helps(tmp_path: Path) -> None:
    middle = map_plan(stored(tmp_path), **AREA, epsilon=1, threshold=40)
    high = map_plan(stored(tmp_path), **AREA, epsilon=1, threshold=95)
    assert middle.count_share < high.count_share < Fraction(1, 2)


def test_a_cheaper_plan_costs_what_it_says(tmp_path: Path) -> None:
    plan = map_plan(stored(tmp_path), **AREA, epsilon=1)
    assert plan.cheaper(Fraction(1, 3)) == ("epsilon 0.3333",)
    assert plan.with_(epsilon=Fraction("0.3333")).worst[0].price <= Fraction(1, 3)
    assert plan.cheaper(Fraction(1, 10**9)) == ()


def test_the_promise_says_how_much_noise_there_is(tmp_path: Path) -> None:
    plan = map_plan(stored(tmp_path), **AREA, epsilon=1, readings=2000)
    released = plan.structure.release(field(16), bits=seeded(1)).noisy
    count = plan.expected().count_error
    assert count**2 == pytest.approx(released.count_variances[-1])
    assert f"a count is off by {count:.3g} (one standard error)" in plan.promise


def test_nobody_said_how_many_rows_count_so_there_is_a_warning(tmp_path: Path) -> None:
    plan = map_plan(stored(tmp_path, Unit("person")), **AREA, epsilon=1)
    assert plan.times == 1
    assert "rows_per_unit" in plan.warnings[0]
    assert plan.protected == "Protected: everything recorded about one person; one row of each counts."


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"bounds": (0, 0, 100)}, "Bounds are four numbers"),
        ({"bounds": (100, 0, 0, 100)}, "west bound must be below the east"),
        ({"bounds": (0, 0, 5e-324, 100)}, "Bands need"),
        ({"bounds": (0, 0, float("nan"), 100)}, "finite number"),
        ({"high": -20}, "highest value must be above"),
        ({"high": None}, "needs the range of its values"),
        ({"high": float("inf")}, "finite number"),
        ({"low": 2**40, "high": 2**40 + 1, "step": 1}, "none further than"),
        ({"threshold": 101}, "threshold must be between -20 and 100"),
        ({"x": "y"}, "one column for x and another one for y"),
        ({"x": ""}, "column name must have"),
        ({"way": "spiral"}, "one of these ways: cut"),
        ({"way": TREE, "readings": 5}, "not sized by a number of readings"),
        ({"atoms": 1}, "atoms must be between 2 and 1024"),
        ({"rows_per_unit": 3}, "the unit is the row itself"),
        ({"rounds": 3}, "give readings"),
        ({"rounds": 3, "readings": 9, "way": "adaptive"}, "by cut or uniform"),
        ({"rounds": 0, "readings": 9}, "rounds must be between 1 and 10000"),
        ({"depth": 2}, "how a decomposition is split, and no other way"),
        ({"way": TREE, "stop": "late"}, "stop is 'children' or 'count'"),
        ({"way": TREE, "depth": 17}, "depth must be between 0 and 16"),
        ({"way": TREE, "level_share": 1}, "level_share must be between 0 and 1"),
        ({"way": TREE, "least": -1}, "least must be between"),
        ({"outside": "fold"}, "outside is 'drop' or 'clamp'"),
        ({"value": None}, "counts alone has no values"),
        ({"begin": "2026-03-01"}, "give both"),
        ({"begin": "2026-03-02", "end": "2026-03-02"}, "must end after it begins"),
        ({"begin": "soon", "end": "2026-03-02"}, "is a time like"),
        ({"time": "at"}, "say where it begins and ends"),
        ({"epsilon": 0}, "epsilon must be greater than 0"),
        ({"epsilon": Fraction(1, 2**60)}, "price of the"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said) as caught:
        map_plan(stored(tmp_path), **{**AREA, "epsilon": 1, **changed})
    assert str(caught.value).endswith(".")
    assert len(str(caught.value)) < 250


def test_a_column_that_is_not_there_costs_nothing(tmp_path: Path) -> None:
    table = stored(tmp_path)
    with paying(tmp_path, table) as ledger:
        with pytest.raises(DataError, match="has no column 'cold'"):
            publish_map(table, ledger=ledger, **{**AREA, "value": "cold"}, epsilon=1)
        assert ledger.spent() == 0


def test_a_plan_or_what_it_is_made_of_but_not_both(tmp_path: Path) -> None:
    table = stored(tmp_path)
    with pytest.raises(ParameterError, match="not both"):
        publish_map(table, map_plan(table, **AREA, epsilon=1), epsilon=1)
    with pytest.raises(ParameterError, match="paid for by a ledger"):
        publish_map(table, **AREA, epsilon=1)
    assert isinstance(map_plan(Source(table), **AREA, epsilon=1), MapPlan)
