"""Texts that write a value of another kind: what `5`, `true` or `2026-01-31` stand for where a column has no texts."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime
from fractions import Fraction

from louver.source.filters import Value

NUMBER, TRUTH, DAY, TIME = "number", "truth", "day", "time"
TO_WRITE = {
    NUMBER: "a number, without quotes",
    TRUTH: "TRUE or FALSE",
    DAY: "DATE '2026-01-31'",
    TIME: "TIMESTAMP '2026-01-31 09:00:00', or DATE '2026-01-31' for its first instant",
}
_NUMBER = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{1,40})?")
_TRUTHS = {"true": True, "t": True, "false": False, "f": False}


def spelled(text: str, kind: str) -> Value | None:
    """The value of a kind that a text writes; None where it writes none.

    >>> spelled("05", NUMBER), spelled("True", TRUTH), spelled("x", NUMBER)
    (5, True, None)
    """
    bare = text.strip()
    if kind == NUMBER and _NUMBER.fullmatch(bare):
        exact = Fraction(bare)
        return int(exact) if exact.denominator == 1 else exact
    if kind == TRUTH:
        return _TRUTHS.get(bare.lower())
    with suppress(ValueError, OverflowError):
        if kind == DAY:
            return date.fromisoformat(bare)
        if kind == TIME:
            at = datetime.fromisoformat(bare)
            return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return None


def to_write(text: str, kind: str) -> str:
    """What to write in SQL for what a text seems to mean.

    >>> to_write("2026-03-04", DAY), to_write("tomorrow", DAY)
    ("DATE '2026-03-04'", "DATE '2026-01-31'")
    """
    value = spelled(text, kind)
    if value is None:
        return TO_WRITE[kind]
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        if len(text.strip()) == len("2026-01-31"):
            return f"DATE '{value:%Y-%m-%d}' for its first instant, or TIMESTAMP '{value:%Y-%m-%d %H:%M:%S}'"
        return f"TIMESTAMP '{value.replace(tzinfo=None).isoformat(' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    return f"{value if isinstance(value, int) else text.strip()}, without quotes"
