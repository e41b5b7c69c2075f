"""Every kind of place gives the numbers that plain Python finds row by row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from louver.errors import ParameterError
from louver.privacy import Unit
from louver.source import Table, rows
from louver.source.measures import Reading
from tests.engines import places
from tests.engines.cases import asked
from tests.engines.places import Place
from tests.engines.reference import Data, expected

SECRET = bytes(range(32))
# Cases are small as they come; making a failing one smaller would take minutes on a server.
SETTINGS = settings(
    phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], deadline=None
)
PLACES = ["parquet", "csv", "arrow", "pandas", "polars", "lazy polars", "duckdb", "ibis", "postgres", "zoned postgres"]


def place(name: str, request: pytest.FixtureRequest, folder: Path) -> Place:
    made: dict[str, Any] = {
        "parquet": lambda: places.in_parquet(folder),
        "csv": lambda: places.in_csv(folder),
        "arrow": lambda: places.in_arrow,
        "pandas": lambda: places.in_pandas,
        "polars": lambda: places.in_polars,
        "lazy polars": lambda: places.in_lazy_polars,
        "duckdb": lambda: places.in_duckdb(folder),
        "ibis": lambda: places.in_ibis(request.getfixturevalue("ibis_backend")),
        "postgres": lambda: places.in_postgres(request.getfixturevalue("database")),
        "zoned postgres": lambda: places.in_postgres(request.getfixturevalue("database"), places.ZONED),
        "spark": lambda: places.in_spark(request.getfixturevalue("spark")),
    }
    return made[name]()  # type: ignore[no-any-return]


def check(put: Place, data: Data, reading: Reading) -> None:
    location, stored = put(data)
    unit = Unit(*data.unit) if data.unit else Unit.row()
    table = Table(location, dataset="test", unit=unit)
    try:
        rows.check(table, reading)
    except ParameterError:  # a place without types refuses whole numbers that texts cannot be compared with exactly
        assume(False)
    view = rows.read(table, reading, SECRET)
    found = [[int(value) for value in each] for each in view.values]
    assert found == expected(stored, reading, SECRET)


@pytest.mark.parametrize("name", PLACES)
def test_a_place_gives_what_plain_python_gives(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    put = place(name, request, tmp_path)

    @settings(SETTINGS, max_examples=50)
    @given(asked())
    def same(case: tuple[Data, Reading]) -> None:
        check(put, *case)

    same()


def test_spark_gives_what_plain_python_gives(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    put = place("spark", request, tmp_path)

    @settings(SETTINGS, max_examples=12)
    @given(st.data())
    def same(data: st.DataObject) -> None:
        check(put, *data.draw(asked(rows=40)))

    same()
