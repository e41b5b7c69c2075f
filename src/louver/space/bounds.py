"""The public rectangle that a map is about: plain coordinates, or degrees of longitude and latitude.

Degrees need no projection to be cut into cells: a cell between two meridians and two parallels is a rectangle. Only
lengths and areas do. They come from the local equirectangular projection, x = R cos(middle latitude) longitude,
y = R latitude, which for a city is right to one part in a thousand, and for a country is not.

Plain coordinates may name their system, like EPSG:25833. Nothing is converted: the word goes into every file, so that
GIS tools put the map where it belongs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.source.bands import Band

Floats = NDArray[np.float64]
EARTH_RADIUS = 6_371_008.8  # metres, the mean radius
WGS84 = ("OGC:CRS84", "EPSG:4326")
_SIDES = ("west", "south", "east", "north")
_CRS = re.compile(r"[A-Z][A-Z0-9]{1,15}:[A-Za-z0-9._-]{1,24}")


@dataclass(frozen=True, slots=True, init=False)
class Bounds:
    """From west to east and from south to north; `degrees=True` for longitude and latitude, `crs` for another system.

    >>> zurich = Bounds(8.44, 47.32, 8.63, 47.44, degrees=True)
    >>> round(zurich.width), round(zurich.height)
    (14306, 13343)
    """

    west: float
    south: float
    east: float
    north: float
    degrees: bool
    crs: str | None

    def __init__(
        self,
        west: parameters.Number,
        south: parameters.Number,
        east: parameters.Number,
        north: parameters.Number,
        *,
        degrees: bool = False,
        crs: object = None,
    ) -> None:
        for name, side in zip(_SIDES, (west, south, east, north), strict=True):
            object.__setattr__(self, name, _number(f"The {name} bound", side))
        if crs is not None and not (isinstance(crs, str) and _CRS.fullmatch(crs)):
            raise ParameterError("A coordinate system is named by who keeps its number, like EPSG:25833.")
        degrees = bool(degrees) or crs in WGS84
        object.__setattr__(self, "degrees", degrees)
        object.__setattr__(self, "crs", crs)
        if not (self.west < self.east and self.south < self.north):
            raise ParameterError("The west bound must be below the east bound, and the south bound below the north.")
        if degrees and not (self.west >= -180 and self.east <= 180 and self.south >= -90 and self.north <= 90):
            raise ParameterError("Bounds in degrees must lie between -180 and 180 east and between -90 and 90 north.")
        if not math.isfinite(self.east - self.west) or not math.isfinite(self.north - self.south):
            raise ParameterError("The bounds are too far apart to be measured.")

    @classmethod
    def of(cls, bounds: Bounds | Sequence[parameters.Number]) -> Bounds:
        """Bounds as they are, or made of four numbers: west, south, east, north."""
        if isinstance(bounds, Bounds):
            return bounds
        sides: object = bounds
        if not isinstance(sides, Sequence) or len(sides) != 4:
            raise ParameterError("Bounds are four numbers: west, south, east and north.")
        return cls(*sides)

    @property
    def width(self) -> float:
        """From west to east: in metres where the bounds are degrees, else in their own unit."""
        return self._metres(self.east - self.west) * (self._shrink if self.degrees else 1.0)

    @property
    def height(self) -> float:
        return self._metres(self.north - self.south)

    @property
    def aspect(self) -> float:
        return self.width / self.height

    @property
    def is_wgs84(self) -> bool:
        """Whether positions are longitude and latitude as GeoJSON has them."""
        return self.degrees and self.crs in (None, *WGS84)

    @property
    def _shrink(self) -> float:
        return max(math.cos(math.radians((self.south + self.north) / 2)), 1e-6)

    def _metres(self, length: float) -> float:
        return EARTH_RADIUS * math.radians(length) if self.degrees else length

    def sizes(self, west: Floats, south: Floats, east: Floats, north: Floats) -> Floats:
        """The areas of rectangles: of degrees square kilometres, exactly on a sphere; else millions of square units."""
        if not self.degrees:
            return np.asarray((east - west) * (north - south) / 1e6)
        rise = np.sin(np.radians(north)) - np.sin(np.radians(south))
        return np.asarray(EARTH_RADIUS**2 * np.radians(east - west) * rise / 1e6)

    def cells(self, across: Floats, along: Floats) -> Floats:
        """The areas of the cells between lines, which are given as parts of the way from west to east, south to north.

        Rows go from south to north.
        """
        x, y = self.west + across * (self.east - self.west), self.south + along * (self.north - self.south)
        return self.sizes(x[:-1], y[:-1, None], x[1:], y[1:, None])

    def metres(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Positions as distances from the south-west corner, in metres where the bounds are degrees."""
        return (x - self.west) / (self.east - self.west) * self.width, (y - self.south) / (
            self.north - self.south
        ) * self.height

    def bands(self, y: str, x: str, side: int) -> tuple[Band, Band]:
        """The atoms as bands of two columns, from south to north and from west to east."""
        return Band(y, self.south, self.north, side), Band(x, self.west, self.east, side)

    def to_dict(self) -> dict[str, float | bool | str]:
        sides = {name: getattr(self, name) for name in _SIDES}
        return {**sides, "degrees": self.degrees, **({} if self.crs is None else {"crs": self.crs})}

    @classmethod
    def from_dict(cls, plain: object) -> Bounds:
        """Bounds again; a KeyError, TypeError or ValueError where they are not complete."""
        given: Any = plain
        sides = dict(given)
        degrees, crs = sides.pop("degrees"), sides.pop("crs", None)
        if type(degrees) is not bool or set(sides) != set(_SIDES):
            raise ValueError("not bounds")
        return cls(**sides, degrees=degrees, crs=crs)


def _number(name: str, value: object) -> float:
    try:
        return float(parameters.fraction(name, value))
    except OverflowError:
        raise ParameterError(f"{name} is too large.") from None
