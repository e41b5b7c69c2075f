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
    """A table, and what became of the events: all of it where true counts are asked for, else what is malformed."""

    tabled: Tabled
    tally: Tally

    @property
    def malformed(self) -> list[str]:
        """The kinds of malformed messages that there were, by name only."""
        return [outcome for outcome in self.tally.to_dict() if outcome in MALFORMED]


def made(source: str, chosen: Options, progress: Callable[[int, int], None], *, counts: bool = False) -> Made:
    """Reads the events, and makes the table of them; with `counts` also the whole tally."""
    tabled, tally, faults = _read(source, chosen, progress)
    return Made(tabled(), faults if faults is not None and not counts else tally() + (faults or Tally()))


def counted(source: str, chosen: Options, progress: Callable[[int, int], None]) -> Tally:
    """What became of the events, in true counts; no table is made."""
    _, tally, faults = _read(source, chosen, progress)
    return tally() + (faults or Tally())


def _read(
    source: str, chosen: Options, progress: Callable[[int, int], None]
) -> tuple[Callable[[], Tabled], Callable[[], Tally], Tally | None]:
    """How the table is made, how events are counted, and what was wrong with records that never became events."""
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
    return *_ways(events, chosen, door if faults is None else None, columns), faults


def _in_engine(source: str, chosen: Options) -> bool:
    """Parquet files and tables have types, so that nothing in them has to be read record by record."""
    typed = "#" in source or (Path(source).suffix == ".parquet" and chosen.format in (None, "parquet"))
    return (
        typed and chosen.fields.cells is None and chosen.fields.only is None and chosen.fields.clock in _ENGINE_CLOCKS
    )


def _ways(
    events: object, chosen: Options, door: Door | None, columns: dict[str, str]
) -> tuple[Callable[[], Tabled], Callable[[], Tally]]:
    """How the table is made, and how what became of the events is counted."""
    places, timezone = chosen.listing.places, chosen.listing.timezone
    zone = ZoneInfo(timezone)
    if (combining := chosen.combining) is not None and chosen.kind == READINGS:
        readings = ReadingsBatch(events, chosen.rule, places, combining, door, columns=columns)
        return lambda: of_readings(readings.rows(), zone, combining), readings.tally
    if chosen.kind in (OCCUPANCY, PRESENCE):
        batch = Batch(events, chosen.rule, places, door, columns=columns)
        if chosen.kind == OCCUPANCY:
            return lambda: of_occupancy(batch.occupancy(chosen.during), zone), batch.tally
        return lambda: of_presence(batch.presence(), timezone), batch.tally
    trips = TripsBatch(events, places, door, longest=chosen.longest, words=chosen.fields.words, columns=columns)
    return lambda: of_trips(trips.trips(), zone, chosen.longest), trips.tally
