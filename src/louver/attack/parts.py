"""Parts of a day, as in Ghayyur's thesis: day from 7 to 19 o'clock, and night."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError
from louver.source.names import instead_of

MORNING, EVENING, HOURS = 7, 19, 24
PARTS = ("day", "night")
WHOLE_DAY = "all"


def hours_of(part: str) -> int:
    return HOURS if part == WHOLE_DAY else EVENING - MORNING


def ticks_of(part: str, ticks: int) -> NDArray[np.int64]:
    """The ticks of a part, in the order of time; a night begins in the evening.

    >>> ticks_of("day", 24).tolist(), ticks_of("night", 24)[:6].tolist()
    ([7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18], [19, 20, 21, 22, 23, 0])
    """
    every = np.arange(ticks)
    if part == WHOLE_DAY:
        return every
    if part not in PARTS:
        raise ParameterError(f"There is no part of a day {part!r}{instead_of(part, (*PARTS, WHOLE_DAY))}.")
    hour = every * HOURS / ticks
    inside = (hour >= MORNING) & (hour < EVENING)
    if part == "day":
        return every[inside]
    return np.concatenate([every[hour >= EVENING], every[hour < MORNING]])
