"""Maps of counts alone: where people are, without a value; all of the price goes to counts."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from louver.errors import ParameterError
from louver.noise.laplace import LARGEST_RATE
from louver.privacy import Pure, Unit, plan_from_dict, plan_to_dict
from louver.source import Bound, Source
from louver.space import Uniform, map_plan, publish_map, region
from louver.space.field import Field
from louver.space.measure import variance
from louver.space.released import Map
from louver.space.ways import CUT, TREE, WAYS
from louver.steward import Steward
from tests.space.fields import SQUARE, halve_noise, seeded, watch_looks
from tests.space.test_plan import LOUD, ODD, X, Y, paying, stored

ALONE = [way for way in WAYS if way != CUT]
AREA: dict[str, Any] = {"x": "x", "y": "y", "bounds": SQUARE}
EPSILON = Fraction(1, 2)


def people(atoms: int) -> Field:
    """Every row with a position, also those without a value."""
    odd = [(float(x), float(y)) for x, y, _ in ODD if "x" not in (x, y) and "" not in (x, y)]
    x, y = (np.array([*known, *each]) for known, each in zip((X, Y), zip(*odd, strict=True), strict=True))
    return Field.of(x, y, None, SQUARE, atoms=atoms)


@pytest.mark.parametrize("way", ALONE)
def test_on_stored_rows_a_plan_releases_what_its_structure_does_on_their_field(tmp_path: Path, way: str) -> None:
    table = stored(tmp_path)
    plan = map_plan(table, **AREA, epsilon=1, way=way, atoms=64)
    with paying(tmp_path, table) as ledger:
        released = Steward._with_bits(table, ledger, seeded(5)).run(plan).answer
    alone = plan.structure.release(people(64), bits=seeded(5))
    assert released == replace(alone, about=plan.about).to_dict()


@pytest.mark.parametrize("way", ALONE)
def test_all_of_the_price_goes_to_counts_whatever_path_a_reading_takes(way: str) -> None:
    field = Field.of([7.0] * 40, [7.0] * 40, None, SQUARE, atoms=16)
    structure = WAYS[way](EPSILON, count_share=1)
    with pytest.MonkeyPatch.context() as patch:
        looks = watch_looks(patch)
        structure.release(field, bits=seeded(2))
    paid = np.full((16, 16), Fraction(0))
    for rectangles, price in looks:
        assert price.sums == 0
        for west, south, east, north in rectangles.tolist():
            paid[south:north, west:east] += price.counts
    assert (paid == EPSILON).all()


def test_what_stands_as_sums_are_the_counts_with_the_same_noise() -> None:
    made = Uniform(EPSILON, readings=500, count_share=1).release(people(64), bits=seeded(1))
    assert np.array_equal(made.noisy.counts, made.noisy.sums)
    assert made.noisy.count_variances.tolist() == [variance(EPSILON)] * len(made.parents)
    assert Map.from_dict(json.loads(json.dumps(made.to_dict()))).to_dict() == made.to_dict()


@pytest.mark.parametrize(("halved", "fits"), [(False, True), (True, False)])
def test_the_noise_of_counts_scatters_as_the_whole_price_says(
    monkeypatch: pytest.MonkeyPatch, halved: bool, fits: bool
) -> None:
    """40,000 draws: the mean of squares is off by 5% once in 10^6 runs or less (kurtosis 6, 4.5 standard errors)."""
    if halved:
        halve_noise(monkeypatch)
    field = Field.of([], [], None, SQUARE, atoms=200)
    made = Uniform(EPSILON, readings=10**9, count_share=1).release(field, bits=seeded(7))
    assert len(made.noisy.counts) == 40_000
    assert (abs((made.noisy.counts**2).mean() / variance(EPSILON) - 1) < 0.05) == fits


@pytest.mark.parametrize("bound", [None, Bound(3), Bound(2, keys=5)])
def test_a_unit_pays_what_all_its_readings_do(tmp_path: Path, bound: Bound | None) -> None:
    unit = Unit.row() if bound is None else Unit("person")
    plan = map_plan(Source(stored(tmp_path, unit), bound=bound), **AREA, epsilon=1)
    assert plan.price == Pure(1)
    assert [sum(price) * plan.times for price in plan.structure.levels] == [Fraction(1, 20), Fraction(19, 20)]
    assert plan.sensitivity == plan.times


def test_rows_without_a_value_count_too(tmp_path: Path) -> None:
    table = stored(tmp_path)
    with paying(tmp_path, table) as ledger:
        made = publish_map(table, ledger=ledger, **AREA, epsilon=LOUD)
    assert region(made.map).count.value == pytest.approx(int(people(8).counts.sum()), abs=1e-6)
    assert "value" not in made.map.about


def test_a_grid_for_counts_is_sized_as_qardaji_yang_and_li_say() -> None:
    made = Uniform(1, readings=40_000, count_share=1).release(Field.of([], [], None, SQUARE, atoms=256))
    assert len(made.parents) == round(math.sqrt(40_000 / 10)) ** 2


def test_the_promise_is_about_counts_alone(tmp_path: Path) -> None:
    plan = map_plan(stored(tmp_path), **AREA, epsilon=1)
    assert plan.way == "uniform"
    assert "average" not in plan.promise
    assert "clamped" not in plan.promise
    assert "without a number in x or y, are left out" in plan.promise
    assert f"a count is off by {plan.expected().count_error:.3g}" in plan.promise


def test_a_stored_plan_is_the_same_plan(tmp_path: Path) -> None:
    plan = map_plan(stored(tmp_path), **AREA, epsilon=1, way=TREE)
    assert plan_from_dict(json.loads(json.dumps(plan_to_dict(plan)))) == plan


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"way": "cut"}, "takes another way, such as uniform"),
        ({"high": 100}, "counts alone has no values"),
        ({"threshold": 3}, "counts alone has no values"),
        ({"x": "y"}, "one column for x"),
        ({"epsilon": LARGEST_RATE + 1}, "epsilon must be between"),
    ],
)
def test_what_does_not_fit_is_said_in_one_sentence(tmp_path: Path, asked: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said) as caught:
        map_plan(stored(tmp_path), **{**AREA, "epsilon": 1, **asked})
    assert str(caught.value).endswith(".")


def test_a_field_with_values_cannot_spend_all_on_counts() -> None:
    field = Field.of([1.0], [1.0], [5.0], SQUARE, high=100)
    with pytest.raises(ParameterError, match="a field without values"):
        Uniform(1, count_share=1).release(field)
    with pytest.raises(ParameterError, match="or neither"):
        Field.of([1.0], [1.0], [5.0], SQUARE)
    with pytest.raises(ParameterError, match="or neither"):
        Field.of([1.0], [1.0], None, SQUARE, high=3)
