"""Rows outside the bounds: left out, or at the nearest edge, in an engine as in an array."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from louver.privacy import Unit
from louver.source import Source, Table
from louver.source.bands import Band, parse
from louver.space import map_plan, publish_map, region
from louver.space.field import Field
from louver.steward import Steward
from tests.space.fields import SQUARE, seeded
from tests.space.test_plan import LOUD, paying

PLACES = [
    (-1e308, 5.0),
    (-0.1, 50.0),
    (0.0, 0.0),
    (5e-324, 99.9),
    (100.0, 100.0),
    (100.0001, 5.0),
    (1e308, -1e308),
    (float("inf"), float("-inf")),
    (float("nan"), 5.0),
    (33.0, 1e300),
]
INSIDE = sum(0 <= x <= 100 and 0 <= y <= 100 for x, y in PLACES)
AREA: dict[str, Any] = {"x": "x", "y": "y", "value": "heat", "bounds": SQUARE, "low": 0, "high": 100, "epsilon": LOUD}


def stored(folder: Path, kind: str) -> Table:
    """As floats of a Parquet file, which may be infinite, or as texts, of which those are no numbers."""
    x, y = (np.array(each) for each in zip(*PLACES, strict=True))
    path = folder / f"readings.{kind}"
    columns = {"x": x, "y": y, "heat": np.full(len(x), 50.0)}
    with duckdb.connect() as connection:
        connection.register("given", columns)
        connection.execute(f"COPY (FROM given) TO '{path}'")
    return Table(path, dataset="town", unit=Unit.row())


def field(kind: str, outside: str) -> Field:
    x, y = (np.array(each) for each in zip(*PLACES, strict=True))
    if kind == "csv":  # where a text with an exponent is no number
        x, y = (np.where((each == 0) | ((abs(each) > 1e-99) & (abs(each) < 1e99)), each, np.nan) for each in (x, y))
    return Field.of(x, y, np.full(len(x), 50.0), SQUARE, high=100, atoms=8, outside=outside)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("outside", ["drop", "clamp"])
def test_an_engine_puts_every_row_where_an_array_does(tmp_path: Path, kind: str, outside: str) -> None:
    table = stored(tmp_path, kind)
    plan = map_plan(table, **AREA, atoms=8, outside=outside)
    with paying(tmp_path, table) as ledger:
        released = Steward._with_bits(table, ledger, seeded(5)).run(plan).answer
    alone = plan.structure.release(field(kind, outside), bits=seeded(5))
    assert released == replace(alone, about=plan.about).to_dict()


def test_with_clamp_nobody_outside_is_left_out_and_the_promise_says_so(tmp_path: Path) -> None:
    table = stored(tmp_path, "parquet")
    counts = {}
    with paying(tmp_path, table) as ledger:
        for outside in ("drop", "clamp"):
            made = publish_map(table, ledger=ledger, **AREA, outside=outside)
            counts[outside] = round(region(made.map).count.value)
            assert ("Rows outside the area count at its nearest edge" in made.plan.promise) == (outside == "clamp")
            assert made.map.about.get("outside") == (None if outside == "drop" else "counted at the nearest edge")
    assert counts == {"drop": INSIDE, "clamp": len(PLACES) - 1}


def test_bands_say_in_their_name_that_they_are_clamped() -> None:
    band = Band("lon", 0.0, 8.0, 4, clamped=True)
    assert parse(str(band)) == band
    assert parse("band(lon, 0.0, 8.0, 4)") == Band("lon", 0.0, 8.0, 4)


@pytest.mark.parametrize("column", ["x", "value"])
def test_a_column_that_a_schema_says_holds_no_numbers_costs_nothing(tmp_path: Path, column: str) -> None:
    path = tmp_path / "readings.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 'a' AS word, 1.5 AS x, 2.5 AS y, 3.5 AS heat) TO '{path}'")
    source = Source(Table(path, dataset="town", unit=Unit.row()))
    with paying(tmp_path, source.table) as ledger:
        with pytest.raises(Exception, match="'word' holds texts") as caught:
            publish_map(source, ledger=ledger, **{**AREA, column: "word"})
        assert str(caught.value).endswith(".")
        assert ledger.spent() == 0
