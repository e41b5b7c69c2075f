"""Formats by their names, as a command line or a rules file gives them."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import Final, Protocol

from louver.errors import ParameterError
from louver.sense.events import Event, Rejected
from louver.sense.formats.compact import Compact
from louver.sense.formats.delimited import CSV
from louver.sense.formats.fields import GENERIC, METERS, PRESENCE, SENSORS, TAPS, WIFI, Fields
from louver.sense.formats.ndjson import NDJSON
from louver.sense.formats.radius import Radius
from louver.sense.formats.wifi_syslog import Syslog

FORMATS: Final = ("ndjson", "csv", "compact", "syslog", "radius")
KINDS: Final = {"wifi": WIFI, "taps": TAPS, "meters": METERS, "sensors": SENSORS, "generic": GENERIC}
_TABLES: Final = {"presence": "occupancy", "reading": "readings", "trip": "trips"}
_SEVERAL: Final = {"presence": "presence", "reading": "readings", "trip": "taps of trips"}


class Format(Protocol):
    """A message to its events. `received` (microseconds since 1970) places times that leave out their year."""

    @property
    def ending(self) -> bytes:
        """What stands between two records in a file."""

    @property
    def gives(self) -> str:
        """What a record tells: `presence`, a `reading`, or a tap of a `trip`."""

    def __call__(self, message: bytes | str, received: int | None = None) -> list[Event | Rejected]:
        """An event or the reason why there is none, for each record of the message; never an exception."""


def named(name: str, *, fields: Fields | str = WIFI, zone: str = "UTC") -> Format:
    """The format of this name: ndjson, csv, compact, syslog or radius.

    `fields` (or wifi, taps, meters, sensors, generic) says what is read from ndjson and csv, and `zone` where the
    clocks of syslog and radius are.
    """
    if isinstance(fields, str):
        fields = named_fields(fields)
    if fields.only is not None and name in ("compact", "syslog", "radius"):
        raise ParameterError(f"Messages in the format {name} have no field by which only some are taken.")
    if name in ("ndjson", "json"):
        return NDJSON(fields)
    if name == "csv":
        return CSV(fields)
    if name == "compact":
        return Compact(fields.clock if fields.clock != "iso" else "s", gives=fields.gives)
    if name == "syslog":
        return Syslog(zone)
    if name == "radius":
        return Radius(zone)
    raise ParameterError(f"There is no format named {_shown(name, FORMATS)}")


def named_fields(name: str) -> Fields:
    """The usual fields of this name: wifi, taps, meters, sensors or generic."""
    if name not in KINDS:
        raise ParameterError(f"There are no fields named {_shown(name, KINDS)}")
    return KINDS[name]


def of_places(fields: Fields | str) -> bool | None:
    """Whether what is read is of a place, and nobody's own; none where own names leave that open."""
    found = replace(named_fields(fields) if isinstance(fields, str) else fields, only=None)
    if found in (SENSORS, METERS):
        return found == SENSORS
    return None if found.device == found.place else False


def check_gives(given: object, wanted: str = PRESENCE) -> None:
    """Refuses a format, fields or a feed that gives something else: a meter would be counted as a person."""
    found = getattr(given, "gives", PRESENCE)
    if found != wanted:
        raise ParameterError(
            f"The feed gives {_SEVERAL[found]} and not {_SEVERAL[wanted]}, and one would be counted as the other; "
            f"name other fields, or make a table of it: louver sense --as {_TABLES[found]}."
        )


def _shown(name: str, known: object) -> str:
    names = list(known)  # type: ignore[call-overload]
    near = difflib.get_close_matches(name, names, 1)
    return f"{name[:40]!r}; " + (f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}.")
