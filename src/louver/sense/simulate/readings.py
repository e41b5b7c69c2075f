"""Energy and temperature beside presence: what a region's meter and thermometer say every quarter of an hour."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from louver.sense.simulate.dates import HOUR
from louver.sense.simulate.dice import Dice, Whole
from louver.sense.simulate.hall import AULA, CAFE, CORRIDOR, LAB, LECTURE, LOBBY, LOUNGE, MEETING, OFFICE, STUDY, Hall

EVERY = HOUR // 4
# In watts: what is always on, what is on while anybody is there, and what each person adds.
_LOADS = {
    LOBBY: (900, 600, 15),
    CORRIDOR: (300, 350, 5),
    CAFE: (2600, 2400, 60),
    AULA: (400, 3200, 20),
    LECTURE: (250, 1600, 25),
    STUDY: (200, 800, 55),
    OFFICE: (350, 450, 95),
    MEETING: (120, 500, 40),
    LAB: (1800, 900, 160),
    LOUNGE: (450, 500, 35),
}


def readings_of_day(hall: Hall, people: Whole, slot: int, dice: Dice) -> tuple[Whole, Whole]:
    """Watts, and tenths of a degree Celsius, for each region and quarter of an hour; `people` is by region and slot.

    A crowd warms a room, and the heating lets it cool at night; a room follows slowly.
    """
    step = EVERY // slot
    there = people[:, ::step]
    first = np.searchsorted(hall.region_of_room, np.arange(len(there)))
    loads = np.array([_LOADS[hall.kinds[room]] for room in first], dtype=np.int64)
    shape = there.shape
    always, occupied, each = (loads[:, [column]] for column in range(3))
    watts = always + np.where(there > 0, occupied, 0) + each * there
    watts = watts * (1000 + dice.normal(0, 30, watts.size).reshape(shape)) // 1000
    capacity = np.bincount(hall.region_of_room, weights=hall.capacities).astype(np.int64)[:, np.newaxis]
    heated = _heated()
    lately = np.cumsum(np.pad(there, ((0, 0), (4, 0))), axis=1)
    lately = (lately[:, 4:] - lately[:, :-4]) // 4
    tenths = heated + lately * 28 // np.maximum(capacity, 1) + first[:, np.newaxis] % 7 - 3
    return watts, tenths + dice.normal(0, 1, tenths.size).reshape(shape)


def _heated() -> Whole:
    """Tenths of a degree through the day without anybody: warm from eight to eight, cool before dawn."""
    known = [(0, 187), (5, 183), (8, 208), (20, 210), (24, 187)]
    per_hour = HOUR // EVERY
    parts = []
    for (start, low), (end, high) in pairwise(known):
        steps = (end - start) * per_hour
        parts.append(low + (high - low) * np.arange(steps) // steps)
    return np.concatenate(parts)
