"""Times as log lines write them: without a year, without a zone, or without both."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from louver.errors import ParameterError
from louver.sense.events import EPOCH, Rejected
from louver.sense.formats.limits import NO_TIME
from louver.sense.formats.times import OUT_OF_RANGE, microseconds

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# "Sep  7 20:30:58", "Sep 25 2026 12:42:02.000 UTC", "Fri Dec 15 18:00:24 2000", "May  5 2025 19:40:42 CEST"
WRITTEN: Final = re.compile(
    rf"\b(?P<month>{'|'.join(_MONTHS)}) {{1,2}}(?P<day>\d{{1,2}})(?: (?P<year>\d{{4}}))?"
    r" (?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?"
    r"(?: (?P<year_after>\d{4})\b)?(?: (?P<zone>UTC|GMT|Z)\b)?",
    re.ASCII,
)
AHEAD: Final = timedelta(days=1)


def zone_of(name: str | tzinfo) -> tzinfo:
    """The zone that a log's local times are in."""
    if isinstance(name, tzinfo):
        return name
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ParameterError(f"There is no time zone named {name[:40]!r}; an example is 'Europe/Vienna'.") from None


def moment(found: re.Match[str], zone: tzinfo, received: int | None) -> int | Rejected:
    """The instant that a written time means.

    A year that is not written is the latest one in which the time is at most a day after it was received: the line of
    31 December that arrives in January is of last year, a clock that runs ahead over New Year's Eve is of the next, and
    29 February is of a leap year or of none. A local hour that occurs twice is the one nearest to when it was received.
    """
    if found["zone"]:
        zone = UTC
    written = found["year"] or found["year_after"]
    if written:
        moments = _on(found, int(written), zone)
        if received is None or len(moments) < 2:
            return microseconds(moments[0]) if moments else NO_TIME
        arrived = EPOCH + timedelta(microseconds=received)
        return microseconds(min(moments, key=lambda each: abs(each - arrived)))
    if received is None:
        return NO_TIME
    arrived = EPOCH + timedelta(microseconds=received)
    any_year = False
    next_is_near = arrived.month == 12 and arrived.day >= 29  # two days more than AHEAD, for any zone
    for year in range(arrived.year + next_is_near, arrived.year - 2, -1):
        moments = _on(found, year, zone)
        any_year = any_year or bool(moments)
        within = [each for each in moments if each - arrived <= AHEAD]
        if within:
            return microseconds(min(within, key=lambda each: abs(each - arrived)))
    return OUT_OF_RANGE if any_year or found["month"] == "Feb" else NO_TIME


def _on(found: re.Match[str], year: int, zone: tzinfo) -> list[datetime]:
    """The time in this year: none where there is no such day, two where clocks were set back."""
    micros = int((found["fraction"] or "0").ljust(6, "0")[:6])
    clock = (int(found["hour"]), int(found["minute"]), int(found["second"]), micros)
    try:
        first = datetime(year, _MONTHS.index(found["month"]) + 1, int(found["day"]), *clock, tzinfo=zone)
        if zone is UTC:
            return [first]
        both = [each.astimezone(UTC) for each in (first, first.replace(fold=1))]
    except (ValueError, OverflowError):
        return []
    return both if both[0] < both[1] else both[:1]
