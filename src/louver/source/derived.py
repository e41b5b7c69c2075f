"""Columns that are made of a time: `day(time)`, `hour(time)`, `weekday(time)`, `month(time)`, `slot(time, 15)`.

Such a name can be used as a column anywhere. Times without a zone are in UTC, and all parts are taken in UTC.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from louver.errors import ParameterError

DAY, HOUR, WEEKDAY, MONTH, SLOT = "day", "hour", "weekday", "month", "slot"
MINUTES_A_DAY = 24 * 60
_FORM = re.compile(r"(day|hour|weekday|month)\(\s*(.+?)\s*\)|slot\(\s*(.+?)\s*,\s*([0-9]{1,4})\s*\)")


@dataclass(frozen=True, slots=True)
class Derived:
    """A part of a time: its day, hour (0 to 23), weekday (Monday is 1), month, or the start of its slot of minutes.

    >>> parse("slot(time,15)")
    Derived(part='slot', column='time', minutes=15)
    >>> print(parse("slot(time,15)"))
    slot(time, 15)
    >>> parse("room") is None
    True
    """

    part: str
    column: str
    minutes: int | None = None

    def __str__(self) -> str:
        return f"{self.part}({self.column})" if self.minutes is None else f"{self.part}({self.column}, {self.minutes})"


def parse(name: str) -> Derived | None:
    """What a column's name says that it is made of; None where it is a plain name."""
    found = _FORM.fullmatch(name.strip())
    if found is None:
        return None
    if found[1]:
        return Derived(found[1], found[2])
    minutes = int(found[4])
    if minutes < 1 or MINUTES_A_DAY % minutes:
        raise ParameterError(f"The minutes of {name!r} must divide a day, as 5, 15, 60 and 240 do.")
    return Derived(SLOT, found[3], minutes)


def definition(column: str, text: object) -> Derived:
    """What a declared column is made of, or a sentence about what to write."""
    found = parse(text) if isinstance(text, str) else None
    if found is None:
        raise ParameterError(
            f"Column {column!r} must be made of a time, like day(time), hour(time), weekday(time), month(time) "
            "or slot(time, 15)."
        )
    return found
