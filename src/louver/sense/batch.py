"""Presence and occupancy of a whole table of events, in DuckDB: one pass with a window over each person's events.

Device ids are read once, each different one is given its pseudonym in Python, and only small numbers go on from there.
Raw events are read by this room alone: a steward reads rows of occupancy.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from louver import parameters
from louver.errors import DataError
from louver.sense.batch_people import people
from louver.sense.batch_reading import opened
from louver.sense.events import ACCEPTED, DUPLICATE, LATEST, Tally
from louver.sense.occupancy import MOST_REGIONS
from louver.sense.places import Places
from louver.sense.presence import Presence, Rule
from louver.sense.rows import Rows

if TYPE_CHECKING:
    from louver.sense.pseudonyms import Door
    from louver.sense.rotating import Rotating

# Of events at one instant the last by region is followed by none at that instant, so only it lasts.
_STAYS = """
WITH seen AS ({seen}), stays AS (
    SELECT person, region, time, least(time + {validity},
        lead(time, 1, 2 * {latest}) OVER (PARTITION BY person ORDER BY time, region)) AS until
    FROM seen)
"""
_AT_INSTANT = """
SELECT person, region, unnest(range((time + {slot} - 1) // {slot}, (until - 1) // {slot} + 1)) AS slot
FROM stays WHERE until > time AND (time + {slot} - 1) // {slot} <= (until - 1) // {slot}
"""
_DURING = """
, parts AS (
    SELECT person, region, time, until, unnest(range(time // {slot}, (until - 1) // {slot} + 1)) AS slot
    FROM stays WHERE until > time
), added AS (
    SELECT person, slot, region, sum(least(until, (slot + 1) * {slot}) - greatest(time, slot * {slot})) AS stay
    FROM parts GROUP BY ALL
)
SELECT person, slot, region FROM added
QUALIFY row_number() OVER (PARTITION BY person, slot ORDER BY stay DESC, region) <= {during}
"""
_PRESENCE = """
, marked AS (
    SELECT *, lag(region) OVER w IS DISTINCT FROM region OR lag(until) OVER w < time AS begins
    FROM stays WHERE until > time WINDOW w AS (PARTITION BY person ORDER BY time)
), numbered AS (
    SELECT *, sum(CAST(begins AS INTEGER)) OVER (PARTITION BY person ORDER BY time) AS number FROM marked
)
SELECT person, region, min(time) AS start, max(until) AS until FROM numbered GROUP BY person, region, number
"""
_OUTCOMES = """
SELECT CASE WHEN device IS NULL OR trim(device) = '' THEN 'no device'
    WHEN place IS NULL OR place = '' THEN 'no place'
    WHEN time IS NULL THEN 'no time'
    WHEN time < 0 OR time >= {latest} THEN 'time out of range'
    WHEN place NOT IN (SELECT place FROM regions) THEN 'unknown place' {more} ELSE 'accepted' END AS outcome,
    count(*) AS number
FROM events GROUP BY outcome
"""


class Batch:
    """A table of events with its rule: where the events are, the regions of their places, and the door.

    `events` is a .parquet or .csv file, a table `plant.duckdb#events`, an Arrow, pandas or Polars table, or `Admitted`
    events, which need no door. A line of a CSV file that has more or fewer values than its header is left out.
    `columns` names the columns where they are not called device, place and time. A time is a time, a text that is one
    (without a zone in UTC), or whole microseconds UTC since 1970.

    >>> from louver.sense import Admitted
    >>> minute = 60_000_000
    >>> events = Admitted.of([7, 7, 8], ["ap-1", "ap-2", "ap-2"], [4 * minute, 9 * minute, 12 * minute])
    >>> rows = Batch(events, Rule(), {"ap-1": "hall", "ap-2": "lab"}).occupancy()
    >>> (rows.slot // minute).tolist(), rows.names().tolist()
    ([5, 10, 15, 15, 20], ['hall', 'lab', 'lab', 'lab', 'lab'])
    """

    def __init__(
        self,
        events: object,
        rule: Rule,
        regions: Mapping[str, str] | Places,
        door: Door | Rotating | None = None,
        *,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        self._events, self._rule, self._door, self._columns = events, rule, door, columns or {}
        self._places = regions if isinstance(regions, Places) else Places(regions)

    def presence(self) -> Presence:
        """Who was where from when to when."""
        found, persons = self._run(_STAYS + _PRESENCE)
        order = np.lexsort((found["start"], found["person"]))
        person, region, start, end = (found[name][order] for name in ("person", "region", "start", "until"))
        return Presence(persons[person], region, start, end, self._places.regions)

    def occupancy(self, during: int | None = None) -> Rows:
        """Rows (person, slot, region): one region at the slot's instant, or up to `during` within the slot."""
        if during is not None:
            parameters.integer("during", during, 1, MOST_REGIONS)
        found, persons = self._run(_STAYS + (_AT_INSTANT if during is None else _DURING), during=during)
        person, slot, region = found["person"], found["slot"], found["region"]
        # One number to sort by is quicker than three columns: people are numbered in the order of their pseudonyms.
        many, regions = len(persons) or 1, self._places.regions
        fits = LATEST // self._rule.slot * many * len(regions) < 2**63
        order = (
            np.argsort((slot * many + person) * len(regions) + region) if fits else np.lexsort((region, person, slot))
        )
        return Rows(persons[person[order]], slot[order] * self._rule.slot, region[order], regions)

    def tally(self) -> Tally:
        """What became of the events: accepted, duplicates, and each fault."""
        with in_engine(self._events, self._columns, self._places, self._door) as connection:
            tally = outcomes(connection)
            seen, _ = people(connection, self._door, regions=False)
            different = f"SELECT count(*) FROM (SELECT DISTINCT person, place, time FROM ({seen}))"  # noqa: S608
            (kept,) = connection.execute(different).fetchone() or (0,)
        return Tally({**tally.to_dict(), ACCEPTED: kept, DUPLICATE: tally[ACCEPTED] - kept})

    def _run(self, sql: str, **given: object) -> tuple[dict[str, Any], Any]:
        with in_engine(self._events, self._columns, self._places, self._door) as connection:
            seen, persons = people(connection, self._door)
            rule = self._rule
            written = sql.format(seen=seen, latest=LATEST, validity=rule.validity, slot=rule.slot, **given)
            return connection.execute(written).fetchnumpy(), persons


@contextmanager
def in_engine(
    events: object,
    columns: Mapping[str, str],
    places: Places,
    door: Door | Rotating | None,
    value: str | Mapping[str, float] | None = None,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Events, places and regions as tables; what the engine says when it fails may quote events, so nobody sees it."""
    try:
        with opened(events, columns, has_door=door is not None, value=value) as connection:
            names = np.array(places.places, dtype=object)
            connection.register("regions", {"place": names, "region": places.region_of})
            connection.register("places", {"place": names, "number": np.arange(len(names), dtype=np.int32)})
            yield connection
    except (duckdb.OutOfMemoryException, MemoryError):
        raise DataError("The events need more memory than there is; take fewer days at a time.") from None
    except (duckdb.Error, csv.Error, OSError):
        raise DataError("The events cannot be read; check the file and its columns.") from None


def outcomes(connection: duckdb.DuckDBPyConnection, *, valued: bool = False) -> Tally:
    """What is wrong with events, or nothing; duplicates are accepted here."""
    more = "WHEN value IS NULL THEN 'no value'" if valued else ""
    counted = connection.execute(_OUTCOMES.format(latest=LATEST, more=more)).fetchall()
    return Tally({outcome: int(number) for outcome, number in counted})
