"""From events to presence to occupancy: the trusted side, where raw events come in and rows to ask about go out.

Each name is loaded when it is first used: reading a feed needs no engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from louver.lazy import lazily

if TYPE_CHECKING:
    from louver.sense.admitted import Admitted
    from louver.sense.batch import Batch
    from louver.sense.building import Building, Floor, Region, Room
    from louver.sense.events import FAULTS, OUTCOMES, Event, Rejected, Tally, instant, microseconds
    from louver.sense.heat import Heat, heat_class
    from louver.sense.occupancy import Occupancy
    from louver.sense.places import Places
    from louver.sense.presence import Presence, Rule
    from louver.sense.presences import Presences
    from louver.sense.pseudonyms import Door
    from louver.sense.retention import Retention
    from louver.sense.rotating import Rotating
    from louver.sense.rows import Rows, Slots
    from louver.sense.store import Appended, Forgotten, Store

_HOMES = {
    "Admitted": "admitted",
    "Appended": "store",
    "Batch": "batch",
    "Building": "building",
    "Door": "pseudonyms",
    "Event": "events",
    "FAULTS": "events",
    "Floor": "building",
    "Forgotten": "store",
    "Heat": "heat",
    "OUTCOMES": "events",
    "Occupancy": "occupancy",
    "Places": "places",
    "Presence": "presence",
    "Presences": "presences",
    "Region": "building",
    "Rejected": "events",
    "Retention": "retention",
    "Room": "building",
    "Rotating": "rotating",
    "Rows": "rows",
    "Rule": "presence",
    "Slots": "rows",
    "Store": "store",
    "Tally": "events",
    "heat_class": "heat",
    "instant": "events",
    "microseconds": "events",
}
__all__ = [
    "FAULTS",
    "OUTCOMES",
    "Admitted",
    "Appended",
    "Batch",
    "Building",
    "Door",
    "Event",
    "Floor",
    "Forgotten",
    "Heat",
    "Occupancy",
    "Places",
    "Presence",
    "Presences",
    "Region",
    "Rejected",
    "Retention",
    "Room",
    "Rotating",
    "Rows",
    "Rule",
    "Slots",
    "Store",
    "Tally",
    "heat_class",
    "instant",
    "microseconds",
]
__getattr__ = lazily("louver.sense", _HOMES)


def __dir__() -> list[str]:
    return __all__
