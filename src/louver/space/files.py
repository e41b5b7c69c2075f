"""Maps as files: JSON, which holds everything and can be read again, and GeoJSON or GeoParquet for GIS tools."""

from __future__ import annotations

import json
import os
import struct
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from louver.errors import DataError, LouverError, ParameterError
from louver.space.bounds import Bounds
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
    if kind_of(path, released.bounds) == ".json":
        write_whole(Path(path), as_json(released.to_dict()))
    else:
        write_leaves(leaves_geojson(released), released, path)


def write_leaves(leaves: dict[str, Any], released: Map, path: str | Path) -> None:
    """What `leaves_geojson` gives, as .geojson or .parquet."""
    geoparquet = kind_of(path, released.bounds) == ".parquet"
    write_whole(Path(path), _geoparquet(leaves, released.bounds) if geoparquet else as_json(leaves))


def kind_of(path: str | Path, bounds: Bounds | None = None) -> str:
    """The ending of a file; refused where no map is written to such a file, or not one of these bounds."""
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        raise ParameterError(f"A map is written to a file .json, .geojson or .parquet, not to {str(path)[:60]!r}.")
    if kind == ".geojson" and bounds is not None:
        check_geojson(bounds)
    if kind == ".parquet" and bounds is not None:
        _arrow()
        _projjson(bounds.crs)
    return kind


def check_geojson(bounds: Bounds) -> None:
    """GeoJSON is WGS 84 (RFC 7946, section 4), so a map in another system would be drawn somewhere else."""
    if bounds.crs is not None and not bounds.is_wgs84:
        raise ParameterError(
            f"GeoJSON has degrees of longitude and latitude, and this map is in {bounds.crs}; write .parquet, which "
            "says so."
        )


def as_json(plain: dict[str, Any]) -> bytes:
    return json.dumps(plain, separators=(",", ":")).encode()


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


def _geoparquet(leaves: dict[str, Any], bounds: Bounds) -> bytes:
    """GeoParquet 1.1: the leaves as polygons in WKB."""
    arrow, parquet = _arrow()
    features = leaves["features"]
    column: dict[str, Any] = {
        "encoding": "WKB",
        "geometry_types": ["Polygon"],
        "orientation": "counterclockwise",
        "bbox": [bounds.west, bounds.south, bounds.east, bounds.north],
        **({} if bounds.is_wgs84 else {"crs": _projjson(bounds.crs)}),
    }
    geo = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}}
    kinds = {"level": arrow.int64(), "shown": arrow.string(), "flagged": arrow.bool_()}
    kept = {"geometry": arrow.array([_wkb(each["geometry"]["coordinates"][0]) for each in features], arrow.binary())}
    kept |= {
        name: arrow.array([each["properties"][name] for each in features], kinds.get(name, arrow.float64()))
        for name in features[0]["properties"]
    }
    about = leaves["louver"] | ({} if bounds.crs is None else {"crs": bounds.crs})
    table = arrow.table(kept).replace_schema_metadata({"geo": json.dumps(geo), "louver": json.dumps(about)})
    sink = arrow.BufferOutputStream()
    parquet.write_table(table, sink)
    return bytes(sink.getvalue().to_pybytes())


def _arrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise LouverError("GeoParquet needs pyarrow: pip install 'louver[maps]'.") from None


def spells_out(crs: str | None) -> bool:
    """Whether GeoParquet could say what this system is."""
    return crs is not None and find_spec("pyproj") is not None


def _projjson(crs: str | None) -> dict[str, Any] | None:
    """A system spelled out, which GeoParquet asks for and only pyproj knows; without either, an unknown one."""
    if crs is None:
        return None
    try:
        pyproj = import_module("pyproj")
    except ImportError:
        return None
    try:
        return dict(pyproj.CRS.from_user_input(crs).to_json_dict())
    except pyproj.exceptions.CRSError:
        raise ParameterError(f"No coordinate system is called {crs}.") from None


def _wkb(ring: list[list[float]]) -> bytes:
    corners = b"".join(struct.pack("<dd", *corner) for corner in ring)
    return _POLYGON.pack(1, 3, 1, len(ring)) + corners
