"""The rows of `louver sense`: read in the engine where the file allows it, else record by record through a format."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from louver.cli.sense_options import Options
from louver.sense.batch import Batch
from louver.sense.events import MALFORMED, Tally
from louver.sense.feeds.whole import admitted
from louver.sense.pseudonyms import Door
from louver.sense.readings_batch import ReadingsBatch
from louver.sense.salt import SALT_BYTES
from louver.sense.tabling import (
    OCCUPANCY,
    PRESENCE,
    READINGS,
    Tabled,
    of_occupancy,
    of_presence,
    of_readings,
    of_trips,
)
from louver.sense.trips_batch import TripsBatch

_ENGINE_CLOCKS = ("iso", "us")


@dataclass(frozen=True, slots=True)
class Made:
    """A table, and the kinds of malformed messages that there were, by name only."""

    tabled: Tabled
    malformed: list[str]


def made(source: str, chosen: Options, progress: Callable[[int, int], None]) -> Made:
    """Reads the events, and makes the table of them."""
    door = Door(secrets.token_bytes(SALT_BYTES)) if chosen.salt is None else Door.open(chosen.salt)
    events: object
    if _in_engine(source, chosen):
        fields = chosen.fields
        columns = {"device": fields.device, "place": str(fields.place), "time": fields.time}
        columns |= {} if fields.value is None else {"value": fields.value}
        events, faults = source, None
    else:
        columns = {}
        events, faults = admitted(
            source, door, chosen.fields, format=chosen.format, zone=chosen.zone, progress=progress
        )
    tabled, tally = _tabled(events, chosen, door if faults is None else None, columns)
    malformed = tally() if faults is None else faults
    return Made(tabled, [outcome for outcome in malformed if outcome in MALFORMED])


def _in_engine(source: str, chosen: Options) -> bool:
    """Parquet files and tables have types, so that nothing in them has to be read record by record."""
    typed = "#" in source or (Path(source).suffix == ".parquet" and chosen.format in (None, "parquet"))
    return (
        typed and chosen.fields.cells is None and chosen.fields.only is None and chosen.fields.clock in _ENGINE_CLOCKS
    )


def _tabled(
    events: object, chosen: Options, door: Door | None, columns: dict[str, str]
) -> tuple[Tabled, Callable[[], Tally]]:
    places, timezone = chosen.listing.places, chosen.listing.timezone
    zone = ZoneInfo(timezone)
    if chosen.combining is not None and chosen.kind == READINGS:
        readings = ReadingsBatch(events, chosen.rule, places, chosen.combining, door, columns=columns)
        return of_readings(readings.rows(), zone, chosen.combining), readings.tally
    if chosen.kind in (OCCUPANCY, PRESENCE):
        batch = Batch(events, chosen.rule, places, door, columns=columns)
        if chosen.kind == OCCUPANCY:
            return of_occupancy(batch.occupancy(chosen.during), zone), batch.tally
        return of_presence(batch.presence(), timezone), batch.tally
    trips = TripsBatch(events, places, door, longest=chosen.longest, words=chosen.fields.words, columns=columns)
    return of_trips(trips.trips(), zone, chosen.longest), trips.tally
