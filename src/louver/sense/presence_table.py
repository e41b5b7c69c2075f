"""Presence as a table for a steward: one row for each stay and day, with how long it was."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np

from louver.errors import DataError, ParameterError
from louver.privacy import Unit
from louver.sense.events import instant, microseconds
from louver.sense.presence import MINUTE, Whole
from louver.source import Table

if TYPE_CHECKING:
    from louver.sense.presence import Presence

UNIT = Unit("person", "day")


def table(presence: Presence, dataset: str, unit: Unit | None, timezone: str, name: str | None) -> Table:
    """Columns person, region, start and end (times in UTC), day (a date of the zone) and minutes."""
    try:
        import pyarrow
    except ImportError:
        raise DataError("Presence as a table needs pyarrow; install it with: pip install pyarrow.") from None
    source, start, end, day = by_day(presence, timezone)
    regions = pyarrow.array(presence.regions, pyarrow.string())
    columns: dict[str, Any] = {
        "person": presence.person[source],
        "region": pyarrow.DictionaryArray.from_arrays(presence.region[source], regions).cast(pyarrow.string()),
        "start": pyarrow.array(start).cast(pyarrow.timestamp("us")),
        "end": pyarrow.array(end).cast(pyarrow.timestamp("us")),
        "day": pyarrow.array(day),
        "minutes": (end - start) / MINUTE,
    }
    return Table(pyarrow.table(columns), dataset=dataset, unit=UNIT if unit is None else unit, name=name)


def by_day(presence: Presence, timezone: str) -> tuple[Whole, Whole, Whole, Any]:
    """Which presence each row is of, its start and end, and its day."""
    try:
        zone = ZoneInfo(timezone)
    except (ValueError, OSError, KeyError):
        raise ParameterError(f"There is no time zone {timezone!r}; take a name such as Europe/Berlin.") from None
    if not len(presence):
        none = np.empty(0, np.int64)
        return none, none, none, np.empty(0, "datetime64[D]")
    date = instant(int(presence.start.min())).astimezone(zone).date()
    last = instant(int(presence.end.max())).astimezone(zone).date()
    dates = [date + timedelta(days=number) for number in range((last - date).days + 2)]
    midnights = np.array([microseconds(datetime(*each.timetuple()[:3], tzinfo=zone)) for each in dates])
    first = np.searchsorted(midnights, presence.start, side="right") - 1
    each = np.searchsorted(midnights, presence.end, side="left") - first
    source = np.repeat(np.arange(len(presence)), each)
    number = first[source] + np.arange(len(source)) - np.repeat(np.cumsum(each) - each, each)
    start = np.maximum(presence.start[source], midnights[number])
    end = np.minimum(presence.end[source], midnights[number + 1])
    return source, start, end, np.array(dates, dtype="datetime64[D]")[number]
