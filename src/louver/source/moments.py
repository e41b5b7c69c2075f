"""Moments as people give them, and the slots of a day that they are in; all in UTC."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from louver.errors import ParameterError


def instant(what: str, given: object) -> datetime:
    """The moment that a time, a day or a text means; without a zone it is in UTC, and a day is its midnight.

    >>> str(instant("The begin", "2018-02-01T10:00+01:00"))
    '2018-02-01 09:00:00+00:00'
    """
    try:
        if isinstance(given, str):
            given = datetime.fromisoformat(given.strip())
        elif isinstance(given, date) and not isinstance(given, datetime):
            given = datetime(given.year, given.month, given.day, tzinfo=UTC)
        if isinstance(given, datetime):
            return given.replace(tzinfo=UTC) if given.tzinfo is None else given.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise ParameterError(f"{what} is a time like 2018-02-01T09:00, or a day like 2018-02-01.")


def slot_start(moment: datetime, minutes: int) -> datetime:
    """The start of the slot of so many minutes that the moment is in, counted from midnight.

    >>> str(slot_start(datetime(2018, 2, 1, 9, 44, tzinfo=UTC), 15))
    '2018-02-01 09:30:00+00:00'
    """
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    length = timedelta(minutes=minutes)
    return midnight + (moment - midnight) // length * length
