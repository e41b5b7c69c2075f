"""The ticks of a stream: a public range of time in equal steps. A tick without rows is a tick too.

A tick is a value of the column `slot(time, minutes)`. A unit *is in one tick* where it is the row, or where one of its
columns tells the tick: the time itself, or slots or days that lie within ticks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from math import gcd
from typing import Any, Self

from louver.errors import ParameterError
from louver.privacy import Between, Unit
from louver.privacy.ranges import Range
from louver.privacy.unit import column_name
from louver.source import derived
from louver.source.derived import DAY, MINUTES_A_DAY, SLOT, Derived
from louver.source.measures import MOST_KEYS
from louver.source.moments import instant, slot_start

MINUTE, ONE_DAY = timedelta(minutes=1), timedelta(days=1)
LAST_DAY = datetime(9999, 12, 31, tzinfo=UTC)
_UNITS = {"m": 1, "min": 1, "minute": 1, "h": 60, "hour": 60, "d": MINUTES_A_DAY, "day": MINUTES_A_DAY}
_LENGTH = re.compile(r"([0-9]{1,6})\s*([a-z]+)")


@dataclass(frozen=True, slots=True, init=False)
class Ticks:
    """The ticks from `begin` up to but not including `end`, each so many minutes long; times are in UTC.

    >>> hour = Ticks("time", "2018-02-01T09:00", "2018-02-01T10:00", every="15m")
    >>> len(hour), hour.column
    (4, 'slot(time, 15)')
    >>> hour.in_one(Unit("person", "time")), hour.in_one(Unit("person", "day(time)"))
    (True, False)
    """

    time: str
    begin: datetime
    end: datetime
    minutes: int

    def __init__(
        self, time: str, begin: datetime | date | str, end: datetime | date | str, every: timedelta | str
    ) -> None:
        if derived.parse(column_name(time)) is not None:
            raise ParameterError(f"Ticks are cut out of a column of times, and {time!r} is made of one; name that one.")
        minutes = minutes_of(every, "A tick", dividing=True)
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "begin", instant("The begin of a stream", begin))
        object.__setattr__(self, "end", instant("The end of a stream", end))
        object.__setattr__(self, "minutes", minutes)
        for moment in (self.begin, self.end):
            if slot_start(moment, minutes) != moment:
                raise ParameterError(
                    f"Ticks of {written(minutes)} are counted from midnight UTC, and {moment:%Y-%m-%d %H:%M} is none "
                    f"of them; take {slot_start(moment, minutes):%Y-%m-%dT%H:%M}."
                )
        if not self.begin < self.end:
            raise ParameterError("A stream must end after it begins.")
        if self.end > LAST_DAY:
            raise ParameterError("A stream must end before the last day of the year 9999.")
        if len(self) > MOST_KEYS:
            raise ParameterError(
                f"{len(self):,} ticks are more than the {MOST_KEYS:,} that one stream can have; take a shorter range "
                "or longer ticks."
            )

    def __len__(self) -> int:
        return (self.end - self.begin) // self.length

    @property
    def column(self) -> str:
        return str(Derived(SLOT, self.time, self.minutes))

    @property
    def length(self) -> timedelta:
        return self.minutes * MINUTE

    def start(self, number: int) -> datetime:
        return self.begin + number * self.length

    def starts(self) -> tuple[datetime, ...]:
        return tuple(self.start(number) for number in range(len(self)))

    def in_one(self, unit: Unit) -> bool:
        """Whether all rows of one unit are in one tick."""
        return unit.is_row or any(self._tells(column) for column in unit.columns)

    def _tells(self, column: str) -> bool:
        length = self._length(column)
        return column == self.time or (length is not None and self.minutes % length == 0)

    def slot_of(self, unit: Unit) -> int | None:
        """How many minutes a unit lasts that is in one tick; None where it is a moment, or a row.

        Where several of its columns are slots, it is no shorter than what all of them are multiples of.
        """
        if self.time in unit.columns or not self.in_one(unit) or unit.is_row:
            return None
        return gcd(*(length for column in unit.columns if (length := self._length(column)) is not None))

    def is_somebodys(self, unit: Unit) -> bool:
        """Whether a unit is what one column names, at its time, so that nobody has two of them at once.

        With one more column somebody may have several, such as one in each room.
        """
        return sum(column != self.time and self._length(column) is None for column in unit.columns) <= 1

    def _length(self, column: str) -> int | None:
        """How many minutes of the ticks' time one value of a column is."""
        part = self._part(column)
        lengths = {} if part is None else {SLOT: part.minutes, DAY: MINUTES_A_DAY}
        return None if part is None else lengths.get(part.part)

    def ranges(self, unit: Unit) -> dict[str, Range]:
        """What these ticks say about the columns that the unit fixes: the narrowest ranges that hold all their rows."""
        day = str(Derived(DAY, self.time))
        told = (self.time, self.column, day) if unit.is_row else unit.columns
        return {column: kept for column in told if (kept := self._range(column)) is not None}

    def _range(self, column: str) -> Range | None:
        if column == self.time:
            return Between(self.begin, self.end)
        part = self._part(column)
        if part is None or part.part not in (DAY, SLOT):
            return None
        if part.part == SLOT:
            return Between(slot_start(self.begin, part.minutes or 1), self.end)
        last = slot_start(self.end - timedelta(microseconds=1), MINUTES_A_DAY)
        return Between(slot_start(self.begin, MINUTES_A_DAY), last + ONE_DAY)

    def _part(self, column: str) -> Derived | None:
        part = derived.parse(column)
        return part if part is not None and part.column == self.time else None

    def to_dict(self) -> dict[str, Any]:
        edges = {"begin": self.begin.isoformat(), "end": self.end.isoformat()}
        return {"time": self.time, **edges, "every": f"{self.minutes}m"}

    @classmethod
    def from_dict(cls, plain: object) -> Self:
        if not isinstance(plain, Mapping) or set(plain) != {"time", "begin", "end", "every"}:
            raise ParameterError("Stored ticks need 'time', 'begin', 'end' and 'every', and nothing else.")
        return cls(plain["time"], plain["begin"], plain["end"], plain["every"])

    def __str__(self) -> str:
        return f"{written(self.minutes)} from {self.begin:%Y-%m-%d %H:%M} to {self.end:%Y-%m-%d %H:%M} UTC"


def written(minutes: int) -> str:
    """So many minutes, as people say it."""
    for size, word in ((MINUTES_A_DAY, "day"), (60, "hour")):
        if minutes % size == 0:
            return f"{minutes // size} {word}{'' if minutes == size else 's'}"
    return f"{minutes} minute{'' if minutes == 1 else 's'}"


def minutes_of(given: object, what: str, *, dividing: bool = False) -> int:
    """Whole minutes from a text like 5m, 1h or 1d, or from a timedelta."""
    if isinstance(given, str):
        found = _LENGTH.fullmatch(given.strip().lower())
        word = "" if found is None else found[2] if found[2] in _UNITS else found[2].removesuffix("s")
        length = None if found is None or word not in _UNITS else int(found[1]) * _UNITS[word]
    else:
        whole = isinstance(given, timedelta) and given % MINUTE == timedelta(0)
        length = given // MINUTE if whole else None  # type: ignore[operator]
    if not length or length < 1:
        raise ParameterError(f"{what} lasts whole minutes, hours or days, like 5m, 1h or 1d.")
    if dividing and MINUTES_A_DAY % length:
        raise ParameterError(f"The minutes of a tick must divide a day, as 5, 15, 60 and 240 do; {length} does not.")
    return int(length)
