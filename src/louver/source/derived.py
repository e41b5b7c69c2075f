"""Columns that are made of a time: `day(time)`, `hour(time)`, `weekday(time)`, `month(time)`, `slot(time, 15)`.

Such a name can be used as a column anywhere. Times without a zone are in UTC, and all parts are taken in UTC.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from louver.errors import ParameterError
from louver.source.filters import Value, kind_of

DAY, HOUR, WEEKDAY, MONTH, SLOT = "day", "hour", "weekday", "month", "slot"
MINUTES_A_DAY = 24 * 60
_KINDS = {DAY: "day", HOUR: "number", WEEKDAY: "number", MONTH: "number", SLOT: "time"}
_SAID = {
    DAY: "is a day, compared with DATE '2026-01-31'",
    HOUR: "is a number from 0 to 23",
    WEEKDAY: "is a number from 1 for Monday to 7 for Sunday",
    MONTH: "is a number from 1 to 12",
    SLOT: "is the time at which a slot begins, compared with TIMESTAMP '2026-01-31 09:00:00'",
}
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
    check_slot(minutes, repr(name))
    return Derived(SLOT, found[3], minutes)


def spelled(name: str) -> Derived | None:
    """The same, but only where the name is in the usual spelling."""
    found = parse(name)
    return found if found is not None and str(found) == name else None


def check_slot(minutes: int, what: str = "a slot") -> None:
    if minutes < 1 or MINUTES_A_DAY % minutes:
        raise ParameterError(f"The minutes of {what} must divide a day, as 5, 15, 60 and 240 do.")


def check_values(column: str, values: Iterable[Value]) -> None:
    """Refuses values that a derived column never has, such as a number for a day."""
    found = parse(column)
    if found is None:
        return
    for value in values:
        kind = kind_of(value)
        if kind != _KINDS[found.part] or (found.part == WEEKDAY and value not in range(1, 8)):
            raise ParameterError(f"{column} {_SAID[found.part]}.")


def kind_of_part(column: str) -> str | None:
    """What kind of values a derived column has; None where the name is a plain one."""
    found = parse(column)
    return None if found is None else _KINDS[found.part]


def definition(column: str, text: object) -> Derived:
    """What a declared column is made of, or a sentence about what to write."""
    found = parse(text) if isinstance(text, str) else None
    if found is None:
        raise ParameterError(
            f"Column {column!r} must be made of a time, like day(time), hour(time), weekday(time), month(time) "
            "or slot(time, 15)."
        )
    return found
