"""What is special about a day: weekends, public holidays, the break between terms, a fault, a large event."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

HOUR = 3_600_000  # in milliseconds, as all times of the simulation
DAY = 24 * HOUR
TEACHING, BREAK, CLOSED = "teaching", "break", "closed"


@dataclass(frozen=True, slots=True)
class Incident:
    """Something at one place from a start to an end, in milliseconds since the first midnight."""

    place: int
    start: int
    end: int


def kind_of_day(day: date) -> str:
    """Weekends and each third Monday are closed; the last whole week of each quarter's last month has no lectures.

    >>> [kind_of_day(date(2018, 2, day)) for day in (1, 4, 19)], kind_of_day(date(2018, 3, 27))
    (['teaching', 'closed', 'closed'], 'break')
    """
    if day.weekday() >= 5 or (day.weekday() == 0 and 15 <= day.day <= 21):
        return CLOSED
    monday = day - timedelta(days=day.weekday())
    in_break = monday.month % 3 == 0 and monday.day >= 24 and (monday + timedelta(days=4)).month == monday.month
    return BREAK if in_break else TEACHING


def event_day(start: date, days: int) -> int | None:
    """A day of teaching after about three fifths of the time, or the nearest one before or after; None without any."""
    teaching = [number for number in range(days) if kind_of_day(start + timedelta(days=number)) == TEACHING]
    return min(teaching, key=lambda number: abs(number - days * 3 // 5)) if teaching else None


def fault(access_point: int, days: int) -> Incident:
    """An access point is broken after three tenths of the time: some hours of a short simulation, four days of 89."""
    start = days * 3 // 10 * DAY + 9 * HOUR
    return Incident(access_point, start, start + max(6 * HOUR, days * DAY * 9 // 200))
