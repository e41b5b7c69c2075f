"""How long something lasts, as people write it: `5 minutes`, `90 s`, `1 hour`."""

from __future__ import annotations

import re

from louver.errors import ParameterError

MICROSECONDS = {"second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000, "day": 86_400_000_000}
_SHORT = {"s": "second", "sec": "second", "m": "minute", "min": "minute", "h": "hour", "d": "day"}
_WRITTEN = re.compile(r"(\d{1,9})\s*([a-z]+)")


def duration(name: str, text: object) -> int:
    """Whole microseconds.

    >>> duration("slot", "5 minutes"), duration("validity", "90s")
    (300000000, 90000000)
    """
    found = _WRITTEN.fullmatch(text.strip().lower()) if isinstance(text, str) else None
    word = "" if found is None else found[2].removesuffix("s") if found[2] != "s" else "s"
    unit = _SHORT.get(word, word)
    if found is None or unit not in MICROSECONDS:
        raise ParameterError(f"{name} is a number of seconds, minutes, hours or days, like '5 minutes' or '30m'.")
    return int(found[1]) * MICROSECONDS[unit]


def written(length: int) -> str:
    """The same in words.

    >>> written(300_000_000), written(3_600_000_000)
    ('5 minutes', '1 hour')
    """
    unit, size = next(
        (each for each in reversed(MICROSECONDS.items()) if length % each[1] == 0), ("second", MICROSECONDS["second"])
    )
    count = length // size
    return f"{count:,} {unit}{'' if count == 1 else 's'}"
