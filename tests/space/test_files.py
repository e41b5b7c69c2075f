"""Maps as files: what is written can be read again, and GIS tools find polygons with the numbers of the leaves."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.parquet as parquet
import pytest

from louver.errors import DataError, ParameterError
from louver.space import Bounds, Cut, Decomposition, Field, Map, leaves_geojson, read_map, write_map
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
