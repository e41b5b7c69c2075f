"""Which fields of a record say who, where, when and how much.

The same for JSON, CSV and compact payloads. `WIFI`, `TAPS`, `METERS`, `SENSORS` and `GENERIC` are the usual ones; give
your own names with `Fields(device="client.mac", place="ap", clock="ms")`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from louver.errors import ParameterError
from louver.parameters import integer
from louver.sense.events import Event, Rejected
from louver.sense.formats.limits import (
    NO_DEVICE,
    NO_PLACE,
    NO_VALUE,
    UNKNOWN_MESSAGE,
    WRONG_TYPE,
    name,
    number,
)
from louver.sense.formats.times import Clock, checked_clock, instant

UNKNOWN_PLACE: Final = Rejected("unknown place")
# What a record tells: that somebody is somewhere, what was measured, or that somebody gets on or off.
PRESENCE, READING, TRIP = "presence", "reading", "trip"


@dataclass(frozen=True)
class Cells:
    """Places from positions: a grid of equal cells from west to east and from south to north.

    A cell's name is its row and column, counted from 0 in the south-west: `"r2c7"`. What lies outside is an unknown
    place. Positions are degrees or metres; the grid is public, the positions are not.
    """

    west: float
    south: float
    east: float
    north: float
    columns: int
    rows: int

    def __post_init__(self) -> None:
        if not (self.west < self.east and self.south < self.north):
            raise ParameterError("A grid of cells needs west below east and south below north.")
        integer("columns", self.columns, 1, 10_000)
        integer("rows", self.rows, 1, 10_000)

    def place(self, x: float, y: float) -> str | Rejected:
        if not (self.west <= x < self.east and self.south <= y < self.north):
            return UNKNOWN_PLACE
        column = min(int((x - self.west) / (self.east - self.west) * self.columns), self.columns - 1)
        row = min(int((y - self.south) / (self.north - self.south) * self.rows), self.rows - 1)
        return f"r{row}c{column}"

    def names(self) -> list[str]:
        """Every cell: the public list to ask about."""
        return [f"r{row}c{column}" for row in range(self.rows) for column in range(self.columns)]

    def centres(self) -> list[tuple[float, float]]:
        """The middle of every cell, in the order of the names."""
        wide, high = (self.east - self.west) / self.columns, (self.north - self.south) / self.rows
        return [
            (self.west + (column + 0.5) * wide, self.south + (row + 0.5) * high)
            for row in range(self.rows)
            for column in range(self.columns)
        ]


@dataclass(frozen=True)
class Fields:
    """The names of the fields of a record; a dot goes one object deeper, as in `client.mac`.

    `place` is one field, or with `cells` the two fields of a position: x and y, or longitude and latitude. `clock` says
    how times are written. With `value`, a record without that number is rejected; `words` gives texts their numbers.
    With `only=("kind", "power")` records of another kind are left out, as messages about something else.
    """

    device: str = "device"
    place: str | tuple[str, str] = "place"
    time: str = "time"
    value: str | None = None
    clock: Clock = "iso"
    cells: Cells | None = None
    words: Mapping[str, float] | None = field(default=None, hash=False)
    only: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        checked_clock(self.clock)
        if isinstance(self.place, str) != (self.cells is None):
            raise ParameterError("A position is two fields, place=(x, y), together with cells=Cells(...).")
        if self.words is not None and self.value is None:
            raise ParameterError("words need the field that they are in: value=...")

    @property
    def gives(self) -> str:
        """What a record tells: with a value it is a reading, with words for the value a tap of a trip."""
        return PRESENCE if self.value is None else READING if self.words is None else TRIP

    def names(self) -> tuple[str, ...]:
        """The fields that a record must have."""
        places = (self.place,) if isinstance(self.place, str) else self.place
        more = (() if self.value is None else (self.value,)) + (() if self.only is None else self.only[:1])
        return (self.device, *places, self.time, *more)

    def read(self, record: Mapping[str, Any]) -> Event | Rejected:
        if self.only is not None and _found(record, self.only[0]) != self.only[1]:
            return UNKNOWN_MESSAGE
        device = name(_found(record, self.device), NO_DEVICE)
        if type(device) is not str:
            return device  # type: ignore[return-value]
        place = self._place(record)
        if type(place) is not str:
            return place  # type: ignore[return-value]
        time = instant(_found(record, self.time), self.clock)
        if type(time) is not int:
            return time  # type: ignore[return-value]
        if self.value is None:
            return Event(device, place, time)
        value = self._value(_found(record, self.value))
        if type(value) is not float:
            return value  # type: ignore[return-value]
        return Event(device, place, time, value, self._position(record))  # type: ignore[arg-type]

    def _place(self, record: Mapping[str, Any]) -> str | Rejected:
        if self.cells is None:
            return name(_found(record, self.place), NO_PLACE)  # type: ignore[arg-type]
        position = self._position(record) or ()
        for part in position:
            if isinstance(part, Rejected):
                return NO_PLACE if part is NO_VALUE else part
        return self.cells.place(*position)  # type: ignore[arg-type]

    def _position(self, record: Mapping[str, Any]) -> tuple[float | Rejected, ...] | None:
        return None if self.cells is None else tuple(number(_found(record, part)) for part in self.place)

    def _value(self, value: object) -> float | Rejected:
        if self.words is None:
            return number(value)
        if value is None:
            return NO_VALUE
        if type(value) is str:
            known = self.words.get(value.strip().lower())
            return NO_VALUE if known is None else float(known)
        return WRONG_TYPE


def _found(record: Mapping[str, Any], path: str) -> object:
    found = record.get(path)
    if found is None and "." in path:
        found = record
        for part in path.split("."):
            found = found.get(part) if isinstance(found, dict) else None
    return found


ON, OFF = 1.0, 0.0
WIFI: Final = Fields()
GENERIC: Final = Fields("unit", "place", "time", "value")
METERS: Final = Fields("meter", "meter", "time", "reading")
SENSORS: Final = Fields("place", "place", "time", "value")
TAPS: Final = Fields(
    "card", "stop", "time", "tap", words={"on": ON, "in": ON, "entry": ON, "off": OFF, "out": OFF, "exit": OFF}
)


def crowd(cells: Cells, *, position: tuple[str, str] = ("lon", "lat"), clock: Clock = "iso") -> Fields:
    """Crowd-sensed readings: who, a position that becomes a cell, when, and a value."""
    return Fields("unit", position, "time", "value", clock, cells)
