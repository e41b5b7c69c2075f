"""Rows of sense as the columns of a table to ask about, with the unit that is protected and what a unit can add.

Presence that lasts over midnight is a row for each day. A trip is of the day on which it began.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.privacy import Unit
from louver.sense.events import instant
from louver.sense.presence import MICROSECOND, MINUTE, Presence, Whole
from louver.sense.presence_table import by_day
from louver.sense.readings_rows import Combining, ReadingRows
from louver.sense.rows import Rows
from louver.sense.table_file import Column, Named
from louver.sense.trips import TripRows
from louver.source.derived import Derived

PERSON, UNIT, REGION, SLOT, DAY, VALUE, MINUTES = "person", "unit", "region", "slot", "day", "value", "minutes"
OCCUPANCY, PRESENCE, READINGS, TRIPS = KINDS = ("occupancy", "presence", "readings", "trips")
# What may be protected, the usual first.
UNITS = {
    OCCUPANCY: (Unit(PERSON, SLOT), Unit(PERSON, DAY), Unit(PERSON)),
    PRESENCE: (Unit(PERSON, DAY), Unit(PERSON)),
    READINGS: (Unit(UNIT, SLOT), Unit(UNIT, DAY), Unit(UNIT), Unit(REGION, SLOT), Unit(REGION, DAY)),
    TRIPS: (Unit(PERSON, DAY), Unit(PERSON)),
}
# Of one person's day: more stays or trips than these are left out.
_USUAL_ROWS = {PRESENCE: 16, TRIPS: 4}
LONGEST_DAY = timedelta(hours=25) // MICROSECOND  # the one on which summer ends
_QUARTER = timedelta(minutes=15) // MICROSECOND  # clocks change at whole quarters of an hour


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tabled:
    """Columns by name; the bounds of its value columns; and the columns that a public list has keys for."""

    kind: str
    columns: dict[str, Column]
    values: dict[str, tuple[float, float]]
    keys: tuple[str, ...] = (REGION,)


def protected(kind: str, unit: Unit | None) -> Unit:
    """The unit, if it is one that rows of this kind can be of."""
    if unit is None:
        return UNITS[kind][0]
    if unit not in UNITS[kind]:
        listed = ", ".join(map(str, UNITS[kind]))
        raise ParameterError(f"The unit of {kind} is one of {listed}, not {unit}.")
    return unit


def slots_of_day(slot: int) -> int:
    """How many slots the longest day has."""
    return -(-LONGEST_DAY // slot)


def slot_column(slot: int) -> str:
    """The column of slots, by a name that says how long they are; its bare name where they are not whole minutes.

    >>> slot_column(5 * MINUTE)
    'slot(slot, 5)'
    """
    return SLOT if slot % MINUTE else str(Derived(SLOT, SLOT, slot // MINUTE))


def rows_per_unit(kind: str, unit: Unit, slot: int, during: int | None, stated: int | None) -> int:
    """How many rows of one unit count: as stated, or as many as there can be, or the usual number."""
    if stated is not None:
        return parameters.integer("rows_per_unit", stated, 1, 2**20)
    if unit.fixes(SLOT):
        return during or 1
    if not unit.fixes(DAY):
        raise ParameterError(f"Say how many rows of {unit} count in all, with --rows-per-unit.")
    return _USUAL_ROWS.get(kind) or slots_of_day(slot) * (during or 1)


def of_occupancy(rows: Rows, zone: ZoneInfo) -> Tabled:
    return Tabled(OCCUPANCY, {PERSON: rows.person, REGION: Named(rows.regions, rows.region), **_slots(rows, zone)}, {})


def of_readings(rows: ReadingRows, zone: ZoneInfo, combining: Combining) -> Tabled:
    """Where a region is the unit, it has no other id; x and y are there where the feed has positions."""
    own: dict[str, Column] = {} if combining.by_region else {UNIT: rows.person}
    columns = {**own, REGION: Named(rows.regions, rows.region), **_slots(rows, zone), VALUE: rows.value}
    if rows.position is not None:
        columns |= {"x": rows.position[:, 0].copy(), "y": rows.position[:, 1].copy()}
    return Tabled(READINGS, columns, {VALUE: (combining.lower, combining.upper)})


def of_presence(found: Presence, timezone: str) -> Tabled:
    source, start, end, day = by_day(found, timezone)
    columns: dict[str, Column] = {
        PERSON: found.person[source],
        REGION: Named(found.regions, found.region[source]),
        "start": _times(start),
        "end": _times(end),
        DAY: day,
        MINUTES: (end - start) / MINUTE,
    }
    return Tabled(PRESENCE, columns, {MINUTES: (0, LONGEST_DAY // MINUTE)})


def of_trips(trips: TripRows, zone: ZoneInfo, longest: int) -> Tabled:
    columns: dict[str, Column] = {
        PERSON: trips.person,
        "origin": Named(trips.regions, trips.origin),
        "destination": Named(trips.regions, trips.destination),
        "start": _times(trips.start),
        "end": _times(trips.end),
        DAY: local_days(trips.start, zone),
        MINUTES: (trips.end - trips.start) / MINUTE,
    }
    return Tabled(TRIPS, columns, {MINUTES: (0, longest / MINUTE)}, ("origin", "destination"))


def local_days(times: Whole, zone: ZoneInfo) -> NDArray[np.datetime64]:
    """The day of each time in a zone."""
    quarters, which = np.unique(times // _QUARTER, return_inverse=True)
    dates = [instant(int(each) * _QUARTER).astimezone(zone).date() for each in quarters]
    return np.array(dates, dtype="datetime64[D]")[which]


def _slots(rows: Rows, zone: ZoneInfo) -> dict[str, Column]:
    return {SLOT: _times(rows.slot), DAY: local_days(rows.slot, zone)}


def _times(times: Whole) -> NDArray[np.datetime64]:
    return times.astype("datetime64[us]")
