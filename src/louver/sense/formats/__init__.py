"""Messages to events: each format is a small pure function of a message, `format(message, received) -> list`.

It gives an `Event` or a `Rejected` for each record, in their order, and raises nothing whatever the message is. `named`
finds a format by its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from louver.lazy import lazily

if TYPE_CHECKING:
    from louver.sense.formats.compact import Compact, pack
    from louver.sense.formats.delimited import CSV
    from louver.sense.formats.fields import GENERIC, METERS, SENSORS, TAPS, WIFI, Cells, Fields, crowd
    from louver.sense.formats.names import Format, check_gives, named, named_fields
    from louver.sense.formats.ndjson import NDJSON
    from louver.sense.formats.radius import Radius
    from louver.sense.formats.trips import Trip, Trips
    from louver.sense.formats.wifi_syslog import Syslog

__all__ = [
    "CSV",
    "GENERIC",
    "METERS",
    "NDJSON",
    "SENSORS",
    "TAPS",
    "WIFI",
    "Cells",
    "Compact",
    "Fields",
    "Format",
    "Radius",
    "Syslog",
    "Trip",
    "Trips",
    "check_gives",
    "crowd",
    "named",
    "named_fields",
    "pack",
]
_HOMES = {
    "CSV": "delimited",
    "Compact": "compact",
    "Format": "names",
    "NDJSON": "ndjson",
    "Radius": "radius",
    "Syslog": "wifi_syslog",
    "Trip": "trips",
    "Trips": "trips",
    "check_gives": "names",
    "named": "names",
    "named_fields": "names",
    "pack": "compact",
} | dict.fromkeys(("GENERIC", "METERS", "SENSORS", "TAPS", "WIFI", "Cells", "Fields", "crowd"), "fields")
__getattr__ = lazily("louver.sense.formats", _HOMES)


def __dir__() -> list[str]:
    return __all__
