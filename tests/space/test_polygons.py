"""Polygons: exact shares of rectangles, GeoJSON as people write it, and what a map says about a region."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import DataError, ParameterError
from louver.space import Cut, Decomposition, Polygons, read_regions, region
from tests.space.fields import bump, seeded

SQUARE = [[10, 10], [60, 10], [60, 60], [10, 60], [10, 10]]
HOLE = [[20, 20], [20, 40], [40, 40], [40, 20], [20, 20]]


def polygon(*rings: Any) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": list(rings)}


def cells(side: int) -> tuple[Any, ...]:
    south, west = (each.ravel() for each in np.mgrid[0 : 100 : 100 / side, 0 : 100 : 100 / side])
    return west, south, west + 100 / side, south + 100 / side


def test_a_rectangle_as_a_polygon_is_the_rectangle() -> None:
    for structure in (Cut(1, readings=5000), Decomposition(1, centred=True)):
        released = structure.release(bump(5000), bits=seeded(1))
        drawn, box = region(released, Polygons.of(polygon(SQUARE))), region(released, (10, 10, 60, 60))
        for one, other in ((drawn.count, box.count), (drawn.total, box.total), (drawn.average, box.average)):
            assert one == pytest.approx(other)


def test_a_polygon_around_the_map_is_everything() -> None:
    released = Cut(1, readings=5000).release(bump(5000), bits=seeded(1))
    around = Polygons.of(polygon([[-50, -50], [150, -50], [150, 150], [-50, 150]]))
    assert region(released, around).count == pytest.approx(region(released).count)


def test_regions_that_share_a_border_add_up() -> None:
    released = Cut(1, readings=5000).release(bump(5000), bits=seeded(1))
    corners = [[0, 0], [100, 0], [100, 100], [0, 100]]
    parts = [[corners[at], corners[(at + 1) % 4], [37, 61]] for at in range(4)]
    counts = [region(released, Polygons.of(polygon(part))).count.value for part in parts]
    assert sum(counts) == pytest.approx(region(released).count.value)


def test_a_hole_and_either_direction_of_a_ring() -> None:
    for rings in ((SQUARE, HOLE), (SQUARE[::-1], HOLE), (SQUARE, HOLE[::-1])):
        made = Polygons.of(polygon(*rings))
        assert made.area == pytest.approx(2500 - 400)
        assert (made.shares(*cells(10)) * 100).sum() == pytest.approx(2100)


def test_several_polygons_are_one_region() -> None:
    several = {"type": "MultiPolygon", "coordinates": [[SQUARE], [[[70, 70], [80, 70], [80, 80]]]]}
    assert Polygons.of(several).area == pytest.approx(2550)


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), min_size=3, max_size=3), st.integers(1, 12))
def test_shares_of_all_cells_are_the_area_of_a_triangle(corners: list[tuple[int, int]], side: int) -> None:
    made = Polygons.of(polygon(corners))
    (a, b), (c, d), (e, f) = corners
    area = abs((c - a) * (f - b) - (e - a) * (d - b)) / 2
    shares = made.shares(*cells(side))
    assert (shares * (100 / side) ** 2).sum() == pytest.approx(area, abs=1e-6)


def test_shares_are_those_of_many_points() -> None:
    """Half a million points, so that each of 16 shares is within 6 standard errors, 0.017, but once in 10^7 times."""
    made = Polygons.of(polygon([[5, 5], [95, 30], [40, 90], [45, 50]]))
    x, y = np.random.default_rng(2).uniform(0, 100, (2, 500_000))
    inside = np.zeros(len(x), dtype=bool)
    for u0, v0, u1, v1 in made.edges:
        crosses = (v0 > y) != (v1 > y)
        if v0 != v1:
            inside ^= crosses & (x < u0 + (y - v0) * (u1 - u0) / (v1 - v0))
    counted = np.histogram2d(y[inside], x[inside], [np.linspace(0, 100, 5)] * 2)[0].ravel() / (len(x) / 16)
    assert np.abs(made.shares(*cells(4)) - counted).max() < 0.017


def test_regions_are_named_by_their_property_their_id_or_a_number(tmp_path: Path) -> None:
    features: list[dict[str, Any]] = [
        {"type": "Feature", "properties": {"name": "old town"}, "geometry": polygon(SQUARE)},
        {"type": "Feature", "id": 7, "properties": None, "geometry": polygon(HOLE)},
        {"type": "Feature", "properties": {}, "geometry": polygon(HOLE)},
    ]
    path = tmp_path / "regions.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    assert list(read_regions(path)) == ["old town", "7", "3"]
    assert list(read_regions(features[0])) == ["old town"]
    assert list(read_regions(polygon(SQUARE))) == ["1"]
    with pytest.raises(ParameterError, match="Two regions are called 'old town'"):
        read_regions({"type": "FeatureCollection", "features": [features[0]] * 2})


@pytest.mark.parametrize(
    "geometry",
    [
        None,
        3,
        {},
        {"type": "Point", "coordinates": [1, 2]},
        polygon(),
        polygon([]),
        polygon([[0, 0], [1, 1]]),
        polygon([[0, 0], [1, None], [1, 1]]),
        polygon([[0, 0], [1], [1, 1]]),
        polygon([[0, 0], [float("nan"), 1], [1, 1]]),
        polygon("abcd"),
        polygon([[0, 0], [10**400, 1], [1, 1]]),
        {"type": "Polygon", "coordinates": 5},
        {"type": ["Polygon"], "coordinates": [SQUARE]},
    ],
)
def test_what_is_no_polygon_is_refused(geometry: Any) -> None:
    with pytest.raises(ParameterError, match="Polygon or MultiPolygon"):
        Polygons.of(geometry)


def test_files_without_regions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "regions.geojson"
    with pytest.raises(DataError, match="There is no file"):
        read_regions(path)
    for text in ("", "[]", "3", "[" * 100_000):
        path.write_text(text)
        with pytest.raises(DataError, match="cannot be read as GeoJSON"):
            read_regions(path)
    for empty in ({"type": "FeatureCollection"}, {"type": "FeatureCollection", "features": []}):
        with pytest.raises(ParameterError, match="no region"):
            read_regions(empty)


def test_a_region_elsewhere_is_refused() -> None:
    released = Cut(1, readings=5000).release(bump(5000), bits=seeded(1))
    with pytest.raises(ParameterError, match="outside the map's bounds"):
        region(released, Polygons.of(polygon([[200, 200], [300, 200], [300, 300]])))


def named(**properties: Any) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": polygon(SQUARE)}


def test_the_name_of_a_region_is_the_property_that_is_asked_for() -> None:
    features = {"type": "FeatureCollection", "features": [named(GEN="Mitte", id=3), named(GEN="Wedding", id=4)]}
    assert list(read_regions(features, name="GEN")) == ["Mitte", "Wedding"]
    assert list(read_regions(features, name="id")) == ["3", "4"]
    assert list(read_regions(features)) == ["1", "2"]
    with pytest.raises(ParameterError, match="Region 1 has no property 'name'"):
        read_regions(features, name="name")


def test_a_name_in_capital_letters_is_a_name() -> None:
    assert list(read_regions(named(NAME="Mitte"))) == ["Mitte"]


@pytest.mark.parametrize(
    "geometry",
    [
        polygon([[10, 10], [60, 60], [60, 10], [10, 60]]),
        {"type": "MultiPolygon", "coordinates": [[SQUARE], [SQUARE]]},
    ],
    ids=["crossed", "twice"],
)
def test_a_region_that_is_not_counted_once_is_refused(geometry: Any) -> None:
    released = Cut(1, readings=5000).release(bump(5000), bits=seeded(1))
    with pytest.raises(ParameterError, match="crosses itself, or its parts overlap"):
        region(released, Polygons.of(geometry))


def test_cells_far_from_the_origin_are_still_whole() -> None:
    """Metres from the equator: areas there have sixteen digits, and a cell has the last of them."""
    far = np.array([[x + 390_000, y + 5_810_000] for x, y in SQUARE])
    west, south, east, north = cells(10)
    shares = Polygons.of(polygon(far.tolist())).shares(
        west + 390_000, south + 5_810_000, east + 390_000, north + 5_810_000
    )
    assert set(np.round(shares, 12).tolist()) == {0.0, 1.0}
