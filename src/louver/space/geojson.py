"""A released map, or a heatmap drawn from it, as GeoJSON for GIS tools: polygons with properties.

GeoJSON means degrees of longitude and latitude; other bounds come out in their own unit, and files refuse them where
they name another system.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.space.bounds import Bounds
from louver.space.field import Floats
from louver.space.judged import MISS_RATE, Judged, Numbers
from louver.space.released import Map


def leaves_geojson(
    released: Map,
    threshold: parameters.Number | None = None,
    *,
    miss_rate: parameters.Number = MISS_RATE,
    false_alarm_rate: parameters.Number | None = None,
    sure: parameters.Number = 3,
) -> dict[str, Any]:
    """Every leaf with its estimated count and average, and their standard errors; of counts alone, the density.

    With a threshold also how probable it is that the average is above it, what that makes of the leaf (above, maybe,
    below, or unknown where readings are too few to tell), and whether it is flagged, which is clearly above.
    """
    numbers = Numbers.of_leaves(released, sure=sure)
    judged = None
    if threshold is not None:
        judged = numbers.judge(threshold, miss_rate=miss_rate, false_alarm_rate=false_alarm_rate)
    columns = _columns(numbers, judged)
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    features = [
        _feature(released, sides, row)
        for sides, row in zip(released.rectangles[released.tree.leaves].tolist(), rows, strict=True)
    ]
    asked = {} if judged is None else {"threshold": judged.threshold, "miss_rate": float(miss_rate)}
    return {"type": "FeatureCollection", "louver": _about(released) | asked, "features": features}


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
    return {"type": "FeatureCollection", "louver": _about(released), "features": features}


def _about(released: Map) -> dict[str, Any]:
    """What a file says about all of its polygons."""
    return {**released.about, "epsilon": str(released.price.epsilon), "paid": released.paid, "counts": released.counted}


def _columns(numbers: Numbers, judged: Judged | None) -> dict[str, list[Any]]:
    """The properties of all leaves, one list for each."""
    evidence, released = numbers.evidence, numbers.released
    squares = released.tree.variances(released.noisy.count_variances)[released.tree.leaves]
    name = "density" if released.alone else "average"
    columns: dict[str, list[Any]] = {
        "level": released.tree.levels[released.tree.leaves].tolist(),
        "count": np.round(numbers.counts, 3).tolist(),
        "count_error": np.round(np.sqrt(squares), 3).tolist(),
        name: _rounded(evidence.averages(numbers.quantity), 6),
        f"{name}_error": _rounded(evidence.errors(numbers.quantity), 6),
    }
    if judged is not None:
        columns["threshold"] = [judged.threshold] * len(judged.known)
        columns["probability"] = _rounded(np.where(judged.known, judged.probabilities, np.nan), 4)
        columns["shown"] = judged.words.tolist()
        columns["flagged"] = judged.above.tolist()
    return columns


def _rounded(values: Floats, places: int) -> list[float | None]:
    return [round(value, places) if math.isfinite(value) else None for value in values.tolist()]


def _feature(released: Map, sides: Sequence[float], properties: dict[str, Any]) -> dict[str, Any]:
    west, south, east, north = sides
    bounds = released.bounds
    left, right = (_between(bounds.west, bounds.east, side / released.columns) for side in (west, east))
    low, high = (_between(bounds.south, bounds.north, side / released.rows) for side in (south, north))
    ring = [[left, low], [right, low], [right, high], [left, high], [left, low]]
    return {
        "type": "Feature",
        "geometry": {"type": "Polygon", "coordinates": [ring]},
        "properties": properties | _area(bounds, left, low, right, high),
    }


def _area(bounds: Bounds, west: float, south: float, east: float, north: float) -> dict[str, float]:
    """Where the bounds are degrees."""
    if not bounds.degrees:
        return {}
    sides = (np.asarray(side) for side in (west, south, east, north))
    return {"square_kilometres": round(float(bounds.sizes(*sides)), 6)}


def _between(start: float, end: float, part: float) -> float:
    return end if math.isclose(part, 1) else start + (end - start) * part
