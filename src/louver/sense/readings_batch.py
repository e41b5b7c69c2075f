"""Readings of a whole table: read in DuckDB, combined as the stream combines them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from louver.sense.admitted import Admitted
from louver.sense.batch import in_engine
from louver.sense.batch_people import people
from louver.sense.batch_reading import NUMBER
from louver.sense.events import ACCEPTED, DUPLICATE, LATEST, Tally
from louver.sense.places import Places
from louver.sense.presence import Rule
from louver.sense.readings import has_value
from louver.sense.readings_rows import Combining, ReadingRows

if TYPE_CHECKING:
    from louver.sense.pseudonyms import Door

# Of several readings of one unit at one place and instant the first counts, as it does for a stream.
_READ = """
SELECT person, places.number AS place, time, value FROM events
JOIN people USING (device) JOIN places USING (place)
WHERE time >= 0 AND time < {latest} AND value IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY person, places.number, time ORDER BY nth) = 1
"""


class ReadingsBatch:
    """A table of readings with its rule; `events`, `regions`, `door` and `columns` are as for `Batch`, with a `value`.

    >>> from louver.sense import Admitted
    >>> minute = 60_000_000
    >>> sent = Admitted.of([7, 7, 8], ["m-1", "m-1", "m-2"], [minute, 2 * minute, 7 * minute], [3.0, 5.0, 99.0])
    >>> rows = ReadingsBatch(sent, Rule(), {"m-1": "east", "m-2": "west"}, Combining("sum", 0, 10)).rows()
    >>> rows.names().tolist(), rows.value.tolist()
    (['east', 'west'], [8.0, 10.0])
    """

    def __init__(
        self,
        events: object,
        rule: Rule,
        regions: Mapping[str, str] | Places,
        combining: Combining,
        door: Door | None = None,
        *,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        self._events, self._rule, self._door, self._columns = events, rule, door, columns or {}
        self._combining = combining
        self._places = regions if isinstance(regions, Places) else Places(regions)

    def rows(self) -> ReadingRows:
        """One row for each unit and slot with a reading."""
        position = None
        if isinstance(self._events, Admitted):
            events = self._admitted(self._events)
            read = events.person, self._places.numbers(events.place), events.time, events.value
            position = events.position
        else:
            with in_engine(self._events, self._columns, self._places, self._door, NUMBER) as connection:
                _, persons = people(connection, self._door)
                found = connection.execute(_READ.format(latest=LATEST)).fetchnumpy()
            read = persons[found["person"]], found["place"], found["time"], found["value"]
        return self._combining.rows(read, self._places.region_of, self._rule.slot, self._places.regions, position)

    def tally(self) -> Tally:
        """What became of the events: accepted, duplicates, and each fault."""
        from louver.sense.batch import outcomes

        with in_engine(self._events, self._columns, self._places, self._door, NUMBER) as connection:
            tally = outcomes(connection, valued=True)
            people(connection, self._door)
            counted = connection.execute(f"SELECT count(*) FROM ({_READ.format(latest=LATEST)})").fetchone()  # noqa: S608
        kept = 0 if counted is None else int(counted[0])
        return Tally({**tally.to_dict(), ACCEPTED: kept, DUPLICATE: tally[ACCEPTED] - kept})

    def _admitted(self, events: Admitted) -> Admitted:
        """Readings of known places, in range, each (unit, place, time) once: the first."""
        place = self._places.numbers(events.place)
        sound = has_value(events) & (place >= 0) & (events.time >= 0) & (events.time < LATEST)
        events, place = events[sound], place[sound]
        order = np.lexsort((np.arange(len(place)), events.time, place, events.person))
        ordered, where = events[order], place[order]
        first = np.ones(len(order), dtype=np.bool_)
        first[1:] = (
            (ordered.person[1:] != ordered.person[:-1])
            | (where[1:] != where[:-1])
            | (ordered.time[1:] != ordered.time[:-1])
        )
        return ordered[first]
