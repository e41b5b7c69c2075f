"""What a map is made of, as a source has it: the columns of the position and of the value, and their public ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from louver import parameters
from louver.errors import ParameterError
from louver.noise.grid import Grid
from louver.privacy.unit import column_name
from louver.source.bands import Band
from louver.source.crossed import Crossed
from louver.source.measures import COUNT, SUM, Keys, Measure
from louver.space.bounds import Bounds
from louver.space.field import ALONE, MOST_STEPS, checked_outside, scale
from louver.space.written import exact

LARGEST_ATOMS = 1024  # along a side: as many keys as one reading can have
LARGEST_STEP = 1 << 26  # sums of 2^36 rows in one atom are exact
_STORED = {"x", "y", "value", "bounds", "values", "outside"}


@dataclass(frozen=True, slots=True)
class Located:
    """Readings at (x, y) with a value. Those outside the bounds, or without a number in one of the three, are left out.

    Values are clamped to their range and rounded to a step of it. Without a value readings are positions alone. With
    `outside="clamp"` those outside the bounds count at the nearest edge.
    """

    x: str
    y: str
    value: str | None
    bounds: Bounds
    values: Grid
    outside: str = "drop"

    def __post_init__(self) -> None:
        for name in self.columns:
            column_name(name)
        checked_outside(self.outside)
        if self.x == self.y:
            raise ParameterError("A map needs one column for x and another one for y.")
        given: tuple[object, object] = self.bounds, self.values
        if not (isinstance(given[0], Bounds) and isinstance(given[1], Grid)):
            raise ParameterError("A map needs public Bounds of its area, and a Grid of its values.")
        if not 1 <= self.span <= MOST_STEPS or max(abs(self.values.lowest), abs(self.values.highest)) > LARGEST_STEP:
            raise ParameterError("The values of a map must have 1 to 2**24 steps, none further than 2**26 from 0.")
        if self.value is None and self.values != ALONE:
            raise ParameterError("A map without a column of values has no range of them.")

    @classmethod
    def of(
        cls,
        x: str,
        y: str,
        value: str,
        bounds: Bounds,
        *,
        high: parameters.Number,
        low: parameters.Number = 0,
        step: parameters.Number | None = None,
        outside: str = "drop",
    ) -> Self:
        return cls(x, y, value, bounds, scale(low, high, step), outside)

    @classmethod
    def alone(cls, x: str, y: str, bounds: Bounds, *, outside: str = "drop") -> Self:
        """Positions without a value: where there are how many."""
        return cls(x, y, None, bounds, ALONE, outside)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.x, self.y) if self.value is None else (self.x, self.y, self.value)

    @property
    def span(self) -> int:
        """The most that one reading adds to a sum, in steps above the lowest value."""
        return self.values.highest - self.values.lowest

    def bands(self, atoms: int) -> tuple[Band, Band]:
        along, across = self.bounds.bands(self.y, self.x, atoms)
        if self.outside == "drop":
            return along, across
        return replace(along, clamped=True), replace(across, clamped=True)

    def keys(self, atoms: int) -> Keys:
        """Every atom, rows from south to north."""
        along, across = self.bands(atoms)
        return Keys((str(along), str(across)), Crossed(tuple((row,) for row in range(atoms)), tuple(range(atoms))))

    @property
    def measures(self) -> tuple[Measure, ...]:
        """How many readings have a value, and the sum of these; of positions alone, how many there are."""
        if self.value is None:
            return (Measure(COUNT),)
        return Measure(COUNT, column=self.value), Measure(SUM, column=self.value, grid=self.values)

    def to_dict(self) -> dict[str, Any]:
        values = [str(each) for each in (self.values.low, self.values.high, self.values.step)]
        return {
            "x": self.x,
            "y": self.y,
            "value": self.value,
            "bounds": self.bounds.to_dict(),
            "values": values,
            "outside": self.outside,
        }

    @classmethod
    def from_dict(cls, plain: object) -> Self:
        try:
            given: Any = plain
            if not isinstance(given, Mapping) or set(given) != _STORED:
                raise ValueError
            if len(given["values"]) != 3:
                raise ValueError
            bounds, values = Bounds.from_dict(given["bounds"]), Grid(*map(exact, given["values"]))
            return cls(given["x"], given["y"], given["value"], bounds, values, given["outside"])
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            raise ParameterError("A stored map's plan needs its columns, bounds and range of values.") from None
