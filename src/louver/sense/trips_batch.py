"""Trips of a whole table of taps, in DuckDB: one pass with a window over each person's taps."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from louver.sense.batch import in_engine, outcomes
from louver.sense.batch_people import people
from louver.sense.events import ACCEPTED, DUPLICATE, LATEST, Tally
from louver.sense.formats.fields import OFF, ON, TAPS
from louver.sense.places import Places
from louver.sense.presence import duration
from louver.sense.trips import LONGEST, UNMATCHED, TripRows

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    from numpy.typing import NDArray

    from louver.sense.pseudonyms import Door

_TAPS = """
SELECT DISTINCT person, place, region, time, value FROM events
JOIN people USING (device) JOIN regions USING (place)
WHERE time >= 0 AND time < {latest} AND value IS NOT NULL
"""
_TRIPS = """
WITH followed AS (
    SELECT person, region, time, value, lead(region) OVER w AS destination, lead(time) OVER w AS until,
        lead(value) OVER w AS following
    FROM taps WINDOW w AS (PARTITION BY person ORDER BY time, value, region, place)
)
SELECT person, region AS origin, destination, time AS start, until FROM followed
WHERE value = {on} AND following = {off} AND until - time <= {longest}
"""


class TripsBatch:
    """A table of taps; `events`, `regions`, `door` and `columns` are as for `Batch`, with a `value` that is on or off.

    `words` are the texts that mean on and off.

    >>> from louver.sense import Admitted
    >>> minute = 60_000_000
    >>> taps = Admitted.of([7, 7, 8], ["north", "south", "north"], [minute, 13 * minute, 2 * minute], [1.0, 0.0, 1.0])
    >>> batch = TripsBatch(taps, {"north": "north", "south": "south"})
    >>> len(batch.trips()), batch.tally()
    (1, Tally({'accepted': 2, 'unmatched': 1}))
    """

    def __init__(
        self,
        events: object,
        regions: Mapping[str, str] | Places,
        door: Door | None = None,
        *,
        longest: timedelta | int = LONGEST,
        words: Mapping[str, float] | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        self._events, self._door, self._columns = events, door, columns or {}
        self._longest = duration("The longest trip", longest)
        self._words = words or TAPS.words or {}
        self._places = regions if isinstance(regions, Places) else Places(regions)

    def trips(self) -> TripRows:
        """Who went from where to where."""
        with in_engine(self._events, self._columns, self._places, self._door, self._words) as connection:
            persons = self._read(connection)
            found = connection.execute(_TRIPS.format(on=ON, off=OFF, longest=self._longest)).fetchnumpy()
        person, origin, destination = persons[found["person"]], found["origin"], found["destination"]
        return TripRows.ordered(person, origin, destination, found["start"], found["until"], self._places.regions)

    def tally(self) -> Tally:
        """What became of the taps: those of trips are accepted, and others unmatched, duplicates or faults."""
        with in_engine(self._events, self._columns, self._places, self._door, self._words) as connection:
            sound = outcomes(connection, valued=True)
            self._read(connection)
            trips = f"SELECT count(*) FROM ({_TRIPS.format(on=ON, off=OFF, longest=self._longest)})"  # noqa: S608
            counted = [connection.execute(sql).fetchone() for sql in (trips, "SELECT count(*) FROM taps")]
        pairs, taps = (0 if row is None else int(row[0]) for row in counted)
        counts = {ACCEPTED: 2 * pairs, DUPLICATE: sound[ACCEPTED] - taps, UNMATCHED: taps - 2 * pairs}
        return Tally({**sound.to_dict(), **counts})

    def _read(self, connection: duckdb.DuckDBPyConnection) -> NDArray[np.int64]:
        """Makes the table of taps, each once; gives the people's pseudonyms."""
        _, persons = people(connection, self._door)
        connection.execute(f"CREATE TEMP TABLE taps AS {_TAPS.format(latest=LATEST)}")
        return persons
