"""A time as people and TOML write it: `2018-02-01`, `2018-02-01T09:00`, with a zone or in the building's."""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo

from louver.errors import ParameterError
from louver.sense.events import LATEST, instant, microseconds


def moment(name: str, given: object, zone: ZoneInfo) -> int:
    """Microseconds UTC since 1970. A day alone is its first moment.

    >>> moment("It", "2018-02-01T01:00", ZoneInfo("Europe/Vienna")) == moment("It", "2018-02-01", ZoneInfo("UTC"))
    True
    """
    try:
        if isinstance(given, str):
            given = datetime.fromisoformat(given.strip())
        elif isinstance(given, date) and not isinstance(given, datetime):
            given = datetime(given.year, given.month, given.day)  # noqa: DTZ001 the zone comes next
    except ValueError:
        given = None
    if not isinstance(given, datetime):
        raise ParameterError(f"{name} is a time like 2018-02-01T09:00, or a day like 2018-02-01.")
    found = microseconds(given if given.tzinfo is not None else given.replace(tzinfo=zone))
    if not 0 <= found < LATEST:
        raise ParameterError(f"{name} is a time from 1970 on, and before 2200.")
    return found


def shown(time: int) -> str:
    """The same for people, to the minute."""
    return f"{instant(time):%Y-%m-%d %H:%M} UTC"
