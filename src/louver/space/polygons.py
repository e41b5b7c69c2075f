"""Regions as polygons, from GeoJSON, and which part of each rectangle lies in one: exact areas, by Green's theorem.

The area of a polygon south-west of a corner (x, y) is the integral of min(u, x) dv along those parts of its border that
lie below y; a rectangle's share is that of four corners. Longitude and latitude are taken as plain coordinates, as all
cells of a map are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver.errors import DataError, ParameterError

Floats = NDArray[np.float64]
MOST_CORNERS = 1 << 18
_CROSSED = 1e-5  # of a rectangle that lies inside less than not at all, or more than once
_AT_ONCE = 1 << 21  # numbers in one intermediate array


@dataclass(frozen=True, eq=False, repr=False)
class Polygons:
    """One or more polygons, which may have holes: edges (u0, v0, u1, v1), what they enclose on their left."""

    edges: Floats

    @classmethod
    def of(cls, geometry: object) -> Polygons:
        """From a GeoJSON Polygon or MultiPolygon."""
        try:
            given: Any = geometry
            kind, coordinates = given["type"], given["coordinates"]
            parts = {"Polygon": [coordinates], "MultiPolygon": coordinates}[kind]
            rings = [_edges(ring, hole=number > 0) for part in parts for number, ring in enumerate(part)]
            edges = np.concatenate(rings)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError):
            raise ParameterError(
                "A region must be a GeoJSON Polygon or MultiPolygon whose rings have three corners or more."
            ) from None
        if len(edges) > MOST_CORNERS:
            raise ParameterError(f"A region can have at most {MOST_CORNERS:,} corners; simplify it.")
        return cls(edges)

    @property
    def area(self) -> float:
        u0, v0, u1, v1 = (self.edges - np.tile(self.edges[0, :2], 2)).T
        return float(((u0 + u1) / 2 * (v1 - v0)).sum())

    def shares(self, west: Floats, south: Floats, east: Floats, north: Floats) -> Floats:
        """The part of each rectangle that lies inside."""
        # Seen from near: differences of areas as large as metres from the equator make them would lose their digits.
        x, y = float(west.min()), float(south.min())
        near = Polygons(self.edges - np.array([x, y, x, y]))
        west, east, south, north = west - x, east - x, south - y, north - y
        inside = (
            near._south_west(east, north)
            - near._south_west(west, north)
            - near._south_west(east, south)
            + near._south_west(west, south)
        )
        shares = inside / ((east - west) * (north - south))
        if not (shares.min() > -_CROSSED and shares.max() < 1 + _CROSSED):
            raise ParameterError(
                "The border of a region crosses itself, or its parts overlap; mend its polygons first."
            )
        return np.clip(shares, 0.0, 1.0)

    def _south_west(self, x: Floats, y: Floats) -> Floats:
        total = np.zeros(len(x))
        chunk = max(1, _AT_ONCE // max(len(x), 1))
        for start in range(0, len(self.edges), chunk):
            u0, v0, u1, v1 = self.edges[start : start + chunk, :, None].transpose(1, 0, 2)
            rise = np.where(v1 == v0, 1.0, v1 - v0)
            below0, below1 = np.minimum(v0, y), np.minimum(v1, y)
            first, last = (u0 + (u1 - u0) * (below - v0) / rise for below in (below0, below1))
            low, high = np.minimum(first, last), np.maximum(first, last)
            reached = np.clip(x, low, high)
            # The mean of min(u, x) while u goes from low to high.
            span = np.where(high > low, high - low, 1.0)
            mean = np.where(high > low, ((reached**2 - low**2) / 2 + x * (high - reached)) / span, np.minimum(low, x))
            total += (mean * (below1 - below0)).sum(axis=0)
        return total


def read_regions(given: str | Path | Mapping[str, Any], *, name: str | None = None) -> dict[str, Polygons]:
    """The regions of a GeoJSON file or object by their names: the property that is called `name`.

    Unless one is given, that is the property name, in small or capital letters, else the id, else a number.
    """
    if isinstance(given, str | Path):
        given = _loaded(Path(given))
    found: dict[str, Polygons] = {}
    for number, (named, geometry) in enumerate(_features(given, name), 1):
        if named is None and name is not None:
            raise ParameterError(f"Region {number} has no property {name[:40]!r}; take one that every region has.")
        chosen = str(number) if named is None else str(named)[:100]
        if chosen in found:
            raise ParameterError(f"Two regions are called {chosen!r}; give each a name of its own.")
        found[chosen] = Polygons.of(geometry)
    if not found:
        raise ParameterError("The GeoJSON has no region in it.")
    return found


def _loaded(path: Path) -> Mapping[str, Any]:
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"There is no file {path}.") from None
    except (OSError, ValueError, RecursionError):
        raise DataError(f"{path} cannot be read as GeoJSON.") from None
    if not isinstance(loaded, dict):
        raise DataError(f"{path} cannot be read as GeoJSON.")
    return loaded


def _features(given: Mapping[str, Any], name: str | None) -> Iterator[tuple[object, object]]:
    kind = given.get("type")
    if kind == "FeatureCollection":
        features = given.get("features")
        for each in features if isinstance(features, list) else []:
            yield from _features(each if isinstance(each, Mapping) else {}, name)
    elif kind == "Feature":
        properties = given.get("properties")
        yield _name(properties if isinstance(properties, Mapping) else {}, given.get("id"), name), given.get("geometry")
    else:
        yield None, given


def _name(properties: Mapping[str, Any], identity: object, chosen: str | None) -> object:
    if chosen is not None:
        return properties.get(chosen)
    named = (properties[each] for each in ("name", "NAME", "Name") if properties.get(each) is not None)
    return next(named, identity)


def _edges(ring: Any, *, hole: bool) -> Floats:
    """A ring's edges, turned so that it adds area, or takes it away where it is a hole."""
    corners = np.array([[float(corner[0]), float(corner[1])] for corner in ring])
    if len(corners) < 3 or not all(map(math.isfinite, corners.ravel().tolist())):
        raise ValueError("no ring")
    edges = np.concatenate((corners, np.roll(corners, -1, axis=0)), axis=1)
    return edges if (Polygons(edges).area >= 0) != hole else edges[:, [2, 3, 0, 1]]
