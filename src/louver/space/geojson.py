"""A released map, or a heatmap drawn from it, as GeoJSON for GIS tools: polygons with properties.

GeoJSON means degrees of longitude and latitude; other bounds come out in their own unit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError
from louver.space.bounds import Bounds
from louver.space.released import Map


def leaves_geojson(released: Map) -> dict[str, Any]:
    """Every leaf with its estimated count and average, and the standard error of the count."""
    tree = released.tree
    errors = np.sqrt(tree.variances(released.noisy.count_variances))
    features = []
    for leaf in tree.leaves.tolist():
        count, excess = float(released.counts[leaf]), float(released.sums[leaf])
        properties = {
            "level": int(tree.levels[leaf]),
            "count": round(count, 3),
            "count_error": round(float(errors[leaf]), 3),
            "average": round(released.zero + released.step * excess / count, 6) if count > 0 else None,
        }
        features.append(_feature(released, released.rectangles[leaf].tolist(), properties))
    return {"type": "FeatureCollection", "features": features}


def heatmap_geojson(released: Map, flags: NDArray[np.bool_]) -> dict[str, Any]:
    """The flagged cells of a heatmap; neighbours in one row are one polygon."""
    if np.ndim(flags) != 2 or np.asarray(flags).dtype != np.bool_:
        raise ParameterError("A heatmap is rows and columns of yes and no.")
    rows, columns = flags.shape
    across, along = released.edges(columns, rows)
    features = []
    for row in range(rows):
        steps = np.diff(np.concatenate(([False], flags[row], [False])).astype(np.int8))
        for first, past in zip(np.flatnonzero(steps == 1), np.flatnonzero(steps == -1), strict=True):
            sides = [float(side) for side in (across[first], along[row], across[past], along[row + 1])]
            features.append(_feature(released, sides, {"flagged": True}))
    return {"type": "FeatureCollection", "features": features}


def _feature(released: Map, sides: Sequence[float], properties: dict[str, Any]) -> dict[str, Any]:
    west, south, east, north = sides
    bounds = released.bounds
    left, right = (_between(bounds.west, bounds.east, side / released.columns) for side in (west, east))
    low, high = (_between(bounds.south, bounds.north, side / released.rows) for side in (south, north))
    ring = [[left, low], [right, low], [right, high], [left, high], [left, low]]
    return {
        "type": "Feature",
        "geometry": {"type": "Polygon", "coordinates": [ring]},
        "properties": properties | _area(bounds, right - left, high - low),
    }


def _area(bounds: Bounds, width: float, height: float) -> dict[str, float]:
    """Square kilometres, where the bounds are degrees."""
    if not bounds.degrees:
        return {}
    across, along = width / (bounds.east - bounds.west), height / (bounds.north - bounds.south)
    return {"square_kilometres": round(bounds.width * across * bounds.height * along / 1e6, 6)}


def _between(start: float, end: float, part: float) -> float:
    return end if math.isclose(part, 1) else start + (end - start) * part
