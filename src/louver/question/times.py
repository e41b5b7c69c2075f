"""Columns derived from a time, in questions: by which names, and what they are compared with."""

from __future__ import annotations

from collections.abc import Iterable

from louver.errors import ParameterError
from louver.source import derived
from louver.source.derived import DAY, HOUR, MINUTES_A_DAY, MONTH, SLOT, WEEKDAY, Derived
from louver.source.filters import Value, kind_of

_KINDS = {DAY: "day", HOUR: "number", WEEKDAY: "number", MONTH: "number", SLOT: "time"}
_SAID = {
    DAY: "is a day, compared with DATE '2026-01-31'",
    HOUR: "is a number from 0 to 23",
    WEEKDAY: "is a number from 1 for Monday to 7 for Sunday",
    MONTH: "is a number from 1 to 12",
    SLOT: "is the time at which a slot begins, compared with TIMESTAMP '2026-01-31 09:00:00'",
}


def parse(name: str) -> Derived | None:
    """What a column is derived from, where its name says so in the usual spelling; None where it is a plain name."""
    found = derived.parse(name)
    return found if found is not None and str(found) == name else None


def check_slot(minutes: int) -> None:
    if minutes < 1 or MINUTES_A_DAY % minutes:
        raise ParameterError("The minutes of a slot must divide a day, as 5, 15, 60 and 240 do.")


def check_values(column: str, values: Iterable[Value]) -> None:
    """Refuses values that a derived column never has, such as a number for a day."""
    found = derived.parse(column)
    if found is None:
        return
    for value in values:
        kind = kind_of(value)
        if kind != _KINDS[found.part] or (found.part == WEEKDAY and value not in range(1, 8)):
            raise ParameterError(f"{column} {_SAID[found.part]}.")
