"""Keys that follow each other: days, hours of a day, slots of time."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from louver import parameters
from louver.errors import ParameterError
from louver.source.domain_columns import Column, check_count, shown


def days(first: date | str, last: date | str) -> tuple[date, ...]:
    """Every day from the first to the last, both included.

    >>> [str(day) for day in days("2024-02-28", "2024-03-01")]
    ['2024-02-28', '2024-02-29', '2024-03-01']
    """
    start, end = _day(first), _day(last)
    if end < start:
        raise ParameterError(f"The last day must not be before the first, but {end} is before {start}.")
    check_count((end - start).days + 1)
    return tuple(date.fromordinal(number) for number in range(start.toordinal(), end.toordinal() + 1))


def hours() -> tuple[int, ...]:
    """The hours of a day, 0 to 23."""
    return tuple(range(24))


def slots(first: datetime | str, last: datetime | str, minutes: int) -> tuple[datetime, ...]:
    """The start of every slot of so many minutes from the first to the last, both included, as in `slot(time, 15)`.

    >>> [str(time) for time in slots("2024-01-01T09:00", "2024-01-01T09:30", 15)][-1]
    '2024-01-01 09:30:00+00:00'
    """
    start, end = _instant(first), _instant(last)
    step = timedelta(minutes=parameters.integer("The minutes of a slot", minutes, 1, 7 * 24 * 60))
    if end < start:
        raise ParameterError("The last slot must not be before the first.")
    count = (end - start) // step + 1
    check_count(count)
    return tuple(start + step * number for number in range(count))


def _day(given: object) -> date:
    try:
        found = date.fromisoformat(given) if isinstance(given, str) else given
    except ValueError:
        raise ParameterError(f"A day is written like 2014-01-31, not {shown(repr(given))}.") from None
    if not isinstance(found, date) or isinstance(found, datetime):
        raise ParameterError(f"A day must be a date or a text like 2014-01-31, not a {type(given).__name__}.")
    return found


def _instant(given: object) -> datetime:
    try:
        found = datetime.fromisoformat(given) if isinstance(given, str) else given
    except ValueError:
        raise ParameterError(f"A time is written like 2014-01-31T09:00, not {shown(repr(given))}.") from None
    if not isinstance(found, datetime):
        raise ParameterError(
            f"A time must be a datetime or a text like 2014-01-31T09:00, not a {type(given).__name__}."
        )
    (exact,) = Column.of_keys("slot", [found]).values
    return exact  # type: ignore[return-value]
