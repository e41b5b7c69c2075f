"""Maps as files: JSON, which holds everything and can be read again, and GeoJSON or GeoParquet for GIS tools."""

from __future__ import annotations

import json
import os
import struct
import tempfile
from pathlib import Path
from typing import Any

from louver.errors import DataError, LouverError, ParameterError
from louver.space.geojson import leaves_geojson
from louver.space.released import Map

KINDS = (".json", ".geojson", ".parquet")
_POLYGON = struct.Struct("<BIII")  # little-endian, a polygon, one ring, so many corners


def read_map(path: str | Path) -> Map:
    """The map in a JSON file."""
    place = Path(path)
    try:
        plain = json.loads(place.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"There is no file {place}.") from None
    except (OSError, ValueError, RecursionError):
        raise DataError(f"{place} cannot be read as a map in JSON.") from None
    return Map.from_dict(plain)


def write_map(released: Map, path: str | Path) -> None:
    """A map as a file, whole or not at all: .json to be read again, .geojson or .parquet with its leaves."""
    kind = kind_of(path)
    if kind == ".parquet":
        written = _geoparquet(released)
    else:
        plain = released.to_dict() if kind == ".json" else leaves_geojson(released)
        written = json.dumps(plain, separators=(",", ":")).encode()
    write_whole(Path(path), written)


def kind_of(path: str | Path) -> str:
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        raise ParameterError(f"A map is written to a file .json, .geojson or .parquet, not to {str(path)[:60]!r}.")
    return kind


def write_whole(path: Path, content: bytes) -> None:
    """Beside its place first, so that a reader never finds half a file."""
    try:
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(beside).chmod(0o644)
            Path(beside).replace(path)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
    except OSError as fault:
        raise DataError(f"{path} cannot be written: {fault.strerror}.") from None


def _geoparquet(released: Map) -> bytes:
    """GeoParquet 1.1: the leaves as polygons in WKB. Without degrees their coordinates belong to no known system."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise LouverError("GeoParquet needs pyarrow: pip install 'louver[maps]'.") from None
    features = leaves_geojson(released)["features"]
    bounds = released.bounds
    column: dict[str, Any] = {
        "encoding": "WKB",
        "geometry_types": ["Polygon"],
        "orientation": "counterclockwise",
        "bbox": [bounds.west, bounds.south, bounds.east, bounds.north],
        **({} if bounds.degrees else {"crs": None}),
    }
    geo = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}}
    columns = {name: [each["properties"][name] for each in features] for name in features[0]["properties"]}
    kept = {"geometry": arrow.array([_wkb(each["geometry"]["coordinates"][0]) for each in features], arrow.binary())}
    kept |= {
        name: arrow.array(values, arrow.int64() if name == "level" else arrow.float64())
        for name, values in columns.items()
    }
    table = arrow.table(kept).replace_schema_metadata({"geo": json.dumps(geo)})
    sink = arrow.BufferOutputStream()
    parquet.write_table(table, sink)
    return bytes(sink.getvalue().to_pybytes())


def _wkb(ring: list[list[float]]) -> bytes:
    corners = b"".join(struct.pack("<dd", *corner) for corner in ring)
    return _POLYGON.pack(1, 3, 1, len(ring)) + corners
