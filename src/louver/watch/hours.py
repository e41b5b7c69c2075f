"""When a rule holds: hours of a day and days of a week, in the building's time zone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from louver.errors import ParameterError
from louver.sense.events import instant, microseconds
from louver.source.names import instead_of

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FORTNIGHT = 14 * 86_400_000_000
_HOURS = re.compile(r"(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})")


@dataclass(frozen=True, slots=True)
class Hours:
    """From `start` up to but not including `end`, on these days (0 is Monday).

    Where the end is not after the start, they go on past midnight and belong to the day that they begin on.

    >>> nights = Hours.parse("22:00-06:00", ["fri"])
    >>> nights.hold(datetime(2026, 1, 3, 5, 55, tzinfo=UTC))  # a Saturday
    True
    """

    start: time = time(0)
    end: time = time(0)
    days: frozenset[int] = frozenset(range(7))

    @classmethod
    def parse(cls, hours: str | None = None, days: str | Sequence[str] | None = None) -> Hours:
        start, end = (time(0), time(0)) if hours is None else _hours(hours)
        return cls(start, end, frozenset(range(7)) if days is None else _days(days))

    def hold(self, local: datetime) -> bool:
        """Whether they hold at this time of the place."""
        clock, day = local.time().replace(tzinfo=None), local.weekday()
        if self.start < self.end:
            return day in self.days and self.start <= clock < self.end
        if clock >= self.start:
            return day in self.days
        return clock < self.end and (day - 1) % 7 in self.days

    def hold_at(self, slot: int, zone: ZoneInfo) -> bool:
        return self.hold(instant(slot).astimezone(zone))

    def next_at(self, slot: int, zone: ZoneInfo, step: int) -> int | None:
        """The first slot from this one on at which they hold; None where there is none within two weeks."""
        begin = -(-slot // step) * step
        return next((at for at in range(begin, begin + _FORTNIGHT, step) if self.hold_at(at, zone)), None)

    @property
    def always(self) -> bool:
        return self.start == self.end and len(self.days) == 7

    def __str__(self) -> str:
        if self.always:
            return "always"
        hours = "" if self.start == self.end else f"{self.start:%H:%M}-{self.end:%H:%M}"
        days = "" if len(self.days) == 7 else ", ".join(DAYS[day] for day in sorted(self.days))
        return ", ".join(part for part in (hours, days) if part)


def _hours(text: str) -> tuple[time, time]:
    found = _HOURS.fullmatch(text.strip())
    try:
        if found is None:
            raise ValueError
        hour, minute, end_hour, end_minute = map(int, found.groups())
        end = time(0) if (end_hour, end_minute) == (24, 0) else time(end_hour, end_minute)
        return time(hour, minute), end
    except ValueError:
        raise ParameterError("Hours are written like '07:00-22:00'.") from None


def _days(given: str | Sequence[str]) -> frozenset[int]:
    words = given.split(",") if isinstance(given, str) else list(given)
    found: set[int] = set()
    for word in words:
        first, dash, last = (part.strip().lower()[:3] for part in word.partition("-"))
        ends = [first, last] if dash else [first]
        for each in ends:
            if each not in DAYS:
                raise ParameterError(f"There is no day {each!r}{instead_of(each, DAYS)}; days are like 'mon-fri'.")
        begin, end = DAYS.index(ends[0]), DAYS.index(ends[-1])
        found |= {day % 7 for day in range(begin, begin + (end - begin) % 7 + 1)}
    return frozenset(found)


def local_day(slot: int, zone: ZoneInfo) -> datetime:
    """The day that a slot is in, as questions and scopes write it: its date, at midnight UTC."""
    local = instant(slot).astimezone(zone)
    return datetime(local.year, local.month, local.day, tzinfo=UTC)


def midnight_after(slot: int, zone: ZoneInfo) -> int:
    """The first local midnight after a slot."""
    date = local_day(slot, zone) + timedelta(days=1)
    return microseconds(datetime(date.year, date.month, date.day, tzinfo=zone))
