"""Pseudonyms for a whole table of events: each different device once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from louver.sense.events import LATEST
from louver.sense.pseudonyms import Door, normalised

if TYPE_CHECKING:
    import duckdb

    from louver.sense.rotating import Rotating

_DEVICES = "SELECT DISTINCT device FROM events WHERE device IS NOT NULL"
_SEEN = """SELECT {person} AS person, {region}, time FROM events
JOIN people USING (device) {regions} WHERE time >= 0 AND time < {latest}"""
_REGIONS = "JOIN regions USING (place)"


def people(
    connection: duckdb.DuckDBPyConnection, door: Door | Rotating | None, *, regions: bool = True
) -> tuple[str, NDArray[np.int64]]:
    """SQL for (person, region, time) or (person, place, time), with small numbers for people; and their pseudonyms."""
    devices = [each for each in connection.execute(_DEVICES).fetchnumpy()["device"].tolist() if each.strip()]
    spelled: dict[str, int] = {}
    number = np.array([spelled.setdefault(normalised(each), len(spelled)) for each in devices], dtype=np.int32)
    if door is None:
        persons = np.array([int(each) for each in spelled], dtype=np.int64)
    else:
        persons = door.persons(spelled) if isinstance(door, Door) else np.arange(len(spelled))
    order = np.argsort(persons)  # so that numbers are in the order of pseudonyms
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    persons = persons[order]
    connection.register("people", {"device": np.array(devices, dtype=object), "person": rank[number]})
    wanted = (
        {"region": "region", "regions": _REGIONS} if regions else {"region": "place", "regions": "SEMI " + _REGIONS}
    )
    seen = _SEEN.format(person="person", latest=LATEST, **wanted)
    if door is None or isinstance(door, Door):
        return seen, persons
    return _rotated(connection, door, seen, wanted["region"])


def _rotated(
    connection: duckdb.DuckDBPyConnection, door: Rotating, seen: str, place: str
) -> tuple[str, NDArray[np.int64]]:
    """A person for each device and epoch. Salts that nobody keeps give random numbers, so these are drawn at once."""
    # The door sees an event before anybody knows its place, so one at an unknown place can be a device's first too.
    first = "min(time)" if door.per_device else "0"
    connection.execute(
        f"CREATE TEMP TABLE epochs AS WITH own AS (SELECT person, {first} AS first FROM events "  # noqa: S608 our own names
        f"JOIN people USING (device) WHERE time >= 0 AND time < {LATEST} GROUP BY person) "
        f"SELECT person AS device, {place}, time, (time - first) // {door.ttl} AS epoch "
        f"FROM ({seen}) JOIN own USING (person)"
    )
    connection.execute(
        "CREATE TEMP TABLE changing AS "
        "SELECT *, CAST(row_number() OVER () - 1 AS INTEGER) AS person FROM (SELECT DISTINCT device, epoch FROM epochs)"
    )
    counted: Any = connection.execute("SELECT count(*) FROM changing").fetchone()
    drawn = np.frombuffer(os.urandom(8 * counted[0]), dtype=np.uint64) >> np.uint64(1)
    joined = f"SELECT person, {place}, time FROM epochs JOIN changing USING (device, epoch)"  # noqa: S608
    return joined, np.sort(drawn.astype(np.int64))
