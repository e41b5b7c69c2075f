"""Bands of a number: the same band by arrays and by an engine, for every float that somebody could send."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import DataError, ParameterError
from louver.privacy import Unit
from louver.source import Table, rows
from louver.source.bands import MOST_BANDS, Band, parse
from louver.source.measures import COUNT, Keys, Measure, Reading

RANGES = [
    (0.0, 1.0, 7),
    (-180.0, 180.0, 256),
    (8.44, 8.63, 1000),
    (0.1, 0.3, 3),
    (-1e-300, 1e300, 64),
    (0.0, 1e-290, 5),
]


def edges(band: Band) -> list[float]:
    """Each line between two bands with its neighbours among floats, and what lies far off."""
    lines = [band.start + (band.end - band.start) * number / band.count for number in range(band.count + 1)]
    near = [each for line in lines for each in (np.nextafter(line, -np.inf), line, np.nextafter(line, np.inf))]
    return [*map(float, near), 5e-324, -5e-324, 0.0, -0.0, 1e308, -1e308, math.inf, -math.inf, math.nan]


def read(table: Table, band: Band) -> list[int]:
    keys = Keys((str(band),), tuple((number,) for number in range(band.count)))
    return [int(each) for each in rows.read(table, Reading((keys,), (Measure(COUNT),)), b"").values[0]]


def counted(band: Band, values: list[float]) -> list[int]:
    inside = np.array([value for value in values if band.start <= value <= band.end])
    return [int(each) for each in np.bincount(band.positions(inside), minlength=band.count)]


@pytest.mark.parametrize("given", RANGES)
def test_an_engine_and_an_array_put_every_number_into_the_same_band(given: tuple[float, float, int]) -> None:
    band = Band("lon", *given)
    values = edges(band)
    table = Table({"lon": np.array(values)}, dataset="d", unit=Unit.row())
    assert read(table, band) == counted(band, values)


@pytest.mark.parametrize("given", RANGES)
def test_clamped_bands_put_what_lies_outside_into_the_nearest(given: tuple[float, float, int]) -> None:
    band = Band("lon", *given, clamped=True)
    values = edges(band)
    known = np.array([value for value in values if not math.isnan(value)])
    table = Table({"lon": np.array(values)}, dataset="d", unit=Unit.row())
    assert read(table, band) == np.bincount(band.positions(known), minlength=band.count).tolist()


def test_texts_of_a_file_are_read_as_numbers_and_others_are_in_no_band(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("lon\n0.5\n1.5\n2\nx\n\n-1\n")
    table = Table(tmp_path / "rows.csv", dataset="d", unit=Unit.row())
    assert read(table, Band("lon", 0.0, 2.0, 2)) == [1, 2]


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("lat\n0.5\n")
    with pytest.raises(DataError, match="has no column 'lon'"):
        read(Table(tmp_path / "rows.csv", dataset="d", unit=Unit.row()), Band("lon", 0.0, 2.0, 2))


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(1, MOST_BANDS))
def test_a_name_says_its_bands_exactly(start: float, width: float, count: int) -> None:
    band = Band("a, column (of sorts)", start, start + width, count)
    assert parse(str(band)) == band


@pytest.mark.parametrize(
    "given", [(1.0, 1.0, 4), (0.0, 5e-324, 4), (0.0, 1.0, 0), (-1e308, 1.7e308, 4), (0.0, math.nan, 4)]
)
def test_bands_that_cannot_be_told_apart_are_refused(given: tuple[float, float, int]) -> None:
    with pytest.raises(ParameterError, match="Bands need"):
        Band("lon", *given)


@pytest.mark.parametrize("name", ["lon", "band(lon)", "band(lon, a, b, 3)", "day(time)"])
def test_other_names_are_no_bands(name: str) -> None:
    assert parse(name) is None
