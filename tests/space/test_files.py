"""Maps as files: what is written can be read again, and GIS tools find polygons with the numbers of the leaves."""

from __future__ import annotations

import json
import math
import struct
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as parquet
import pytest

from louver.errors import DataError, ParameterError
from louver.space import Bounds, Cut, Decomposition, Field, Map, leaves_geojson, read_map, write_map
from louver.space.files import write_leaves
from louver.space.judged import Numbers
from tests.space.fields import bump, readings, seeded


@pytest.fixture
def released() -> Map:
    return Cut(1, readings=2000).release(bump(2000), bits=seeded(2))


def test_a_map_in_json_is_read_again(released: Map, tmp_path: Path) -> None:
    write_map(released, tmp_path / "map.json")
    assert read_map(tmp_path / "map.json").to_dict() == released.to_dict()
    assert [path.name for path in tmp_path.iterdir()] == ["map.json"]


def test_geojson_has_the_leaves(released: Map, tmp_path: Path) -> None:
    write_map(released, tmp_path / "map.geojson")
    assert json.loads((tmp_path / "map.geojson").read_text()) == leaves_geojson(released)


@pytest.mark.parametrize("degrees", [False, True])
def test_geoparquet_has_the_leaves_and_says_what_its_coordinates_are(tmp_path: Path, degrees: bool) -> None:
    x, y, value = readings(2000)
    field = Field.of(x / 10, y / 10, value, Bounds(0, 0, 10, 10, degrees=degrees), high=100, atoms=64)
    released = Decomposition(1, centred=True).release(field, bits=seeded(2))
    write_map(released, tmp_path / "map.parquet")
    table = parquet.read_table(tmp_path / "map.parquet")
    about = json.loads(table.schema.metadata[b"geo"])
    column = about["columns"][about["primary_column"]]
    assert (column["encoding"], column["bbox"]) == ("WKB", [0.0, 0.0, 10.0, 10.0])
    assert ("crs" in column) is not degrees  # without one it is longitude and latitude
    features = leaves_geojson(released)["features"]
    for feature, stored in zip(features, table.to_pylist(), strict=True):
        assert {name: stored[name] for name in feature["properties"]} == feature["properties"]
        order, kind, rings, corners = struct.unpack_from("<BIII", stored["geometry"])
        ring = np.frombuffer(stored["geometry"], dtype="<f8", offset=13).reshape(corners, 2)
        assert (order, kind, rings) == (1, 3, 1)
        assert ring.tolist() == feature["geometry"]["coordinates"][0]


METRES = Bounds(390_000, 5_810_000, 400_000, 5_820_000, crs="EPSG:25833")


def in_metres(crs: str = "EPSG:25833") -> Map:
    x, y, value = readings(2000)
    bounds = replace(METRES, crs=crs)
    field = Field.of(390_000 + 100 * x, 5_810_000 + 100 * y, value, bounds, high=100, atoms=64)
    return Cut(1, readings=2000).release(field, bits=seeded(2))


def test_a_map_keeps_the_name_of_its_coordinate_system(tmp_path: Path) -> None:
    write_map(in_metres(), tmp_path / "map.json")
    assert read_map(tmp_path / "map.json").bounds == METRES
    assert METRES.crs == "EPSG:25833"
    assert "crs" not in Bounds(0, 0, 1, 1).to_dict()


def test_geojson_of_another_system_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"this map is in EPSG:25833; write \.parquet"):
        write_map(in_metres(), tmp_path / "map.geojson")
    assert not list(tmp_path.iterdir())


def test_geoparquet_spells_a_system_out(tmp_path: Path) -> None:
    write_map(in_metres(), tmp_path / "map.parquet")
    metadata = parquet.read_schema(tmp_path / "map.parquet").metadata
    spelled = json.loads(metadata[b"geo"])["columns"]["geometry"]["crs"]
    assert (spelled["type"], spelled["name"]) == ("ProjectedCRS", "ETRS89 / UTM zone 33N")
    assert json.loads(metadata[b"louver"])["crs"] == "EPSG:25833"


def test_without_pyproj_geoparquet_names_the_system_and_does_not_spell_it_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyproj", None)
    write_map(in_metres(), tmp_path / "map.parquet")
    metadata = parquet.read_schema(tmp_path / "map.parquet").metadata
    assert json.loads(metadata[b"geo"])["columns"]["geometry"]["crs"] is None
    assert json.loads(metadata[b"louver"])["crs"] == "EPSG:25833"


def test_a_system_that_nobody_knows_is_refused_by_geoparquet(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="No coordinate system is called EPSG:999999"):
        write_map(in_metres("EPSG:999999"), tmp_path / "map.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("crs", ["EPSG:4326", "OGC:CRS84"])
def test_the_system_of_geojson_is_degrees(crs: str) -> None:
    assert Bounds(8, 47, 9, 48, crs=crs).is_wgs84
    with pytest.raises(ParameterError, match="degrees must lie between"):
        Bounds(390_000, 0, 400_000, 1, crs=crs)


@pytest.mark.parametrize("crs", ["", "25833", "EPSG", "EPSG:", "EPSG:25833 ", "<b>:1", 25833, "E" * 99 + ":1"])
def test_a_system_without_a_name_is_refused(crs: Any) -> None:
    with pytest.raises(ParameterError, match="named by who keeps its number, like EPSG:25833"):
        Bounds(0, 0, 1, 1, crs=crs)


def test_cells_for_gis_tools_have_errors_and_with_a_threshold_what_they_are(released: Map, tmp_path: Path) -> None:
    plain = leaves_geojson(released)["features"][0]["properties"]
    assert list(plain) == ["level", "count", "count_error", "average", "average_error"]
    collection = leaves_geojson(released, 60)
    judged = Numbers.of_leaves(released).judge(60)
    for place, feature in enumerate(collection["features"]):
        told = feature["properties"]
        assert told["shown"] == judged.words[place]
        assert told["flagged"] == (told["shown"] == "above")
        assert (told["probability"] is None) == (told["shown"] == "unknown")
        assert (told["average"] is None) == (told["average_error"] is None)
        assert told["average"] is None or 0 <= told["average"] <= 100
    assert {each["properties"]["shown"] for each in collection["features"]} >= {"above", "below"}
    about = collection["louver"]
    assert (about["epsilon"], about["threshold"], about["miss_rate"]) == ("1", 60, 0.05)
    write_leaves(collection, released, tmp_path / "cells.parquet")
    table = parquet.read_table(tmp_path / "cells.parquet")
    assert table["shown"].to_pylist() == judged.words.tolist()
    assert table["flagged"].to_pylist() == judged.above.tolist()
    assert json.loads(table.schema.metadata[b"louver"])["epsilon"] == "1"


def test_areas_are_those_of_the_sphere() -> None:
    """From the equator to 60 degrees north lies sqrt(3)/2 of a half sphere's slice."""
    x, y, value = readings(500)
    world = Bounds(0, 0, 60, 60, degrees=True)
    released = Cut(1, readings=500).release(Field.of(0.6 * x, 0.6 * y, value, world, high=100, atoms=64))
    areas = [each["properties"]["square_kilometres"] for each in leaves_geojson(released)["features"]]
    assert sum(areas) == pytest.approx(6371.0088**2 * math.radians(60) * math.sqrt(3) / 2)
    assert max(areas) > 1.5 * min(areas)


def test_other_tools_read_the_columns(released: Map, tmp_path: Path) -> None:
    write_map(released, tmp_path / "map.parquet")
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT sum(count) FROM read_parquet('{tmp_path}/map.parquet')").fetchone()
    assert found is not None
    assert abs(found[0] - released.counts[released.tree.leaves].sum()) < 1


def test_other_kinds_of_files_are_refused(released: Map, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"\.json, \.geojson or \.parquet"):
        write_map(released, tmp_path / "map.tiff")
    with pytest.raises(DataError, match="cannot be written"):
        write_map(released, tmp_path / "nowhere" / "map.json")


@pytest.mark.parametrize("text", ["", "[1", "\x00", '{"format": 1', "[" * 100_000])
def test_a_file_that_is_no_json_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "map.json").write_text(text)
    with pytest.raises(DataError, match="cannot be read as a map in JSON"):
        read_map(tmp_path / "map.json")


def test_a_missing_or_changed_file_is_refused(released: Map, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no file"):
        read_map(tmp_path / "map.json")
    (tmp_path / "map.json").write_text(json.dumps(leaves_geojson(released)))
    with pytest.raises(ParameterError, match=r"This is GeoJSON, for GIS tools; a map is read from the \.json"):
        read_map(tmp_path / "map.json")
    wrong: list[dict[str, object]] = [{"format": 2}, {"about": 3}, {"about": [1]}, {"counts": []}]
    for changed in wrong:
        (tmp_path / "map.json").write_text(json.dumps({**released.to_dict(), **changed}))
        with pytest.raises(ParameterError, match="build it again"):
            read_map(tmp_path / "map.json")


def test_words_about_a_map_come_back_and_are_cut_where_they_are_long(released: Map) -> None:
    plain = {**released.to_dict(), "about": {"value": "pm25", "protected": "x" * 10**5}}
    about = Map.from_dict(plain).about
    assert about["value"] == "pm25"
    assert len(about["protected"]) == 1000
