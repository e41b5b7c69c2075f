"""How many units a window has: a number of them, or as many as somebody has in a length of time.

The price of a window is for units, because only those are told apart. A length of time is rounded up to whole ticks.
With slots that lie within ticks, somebody has a unit in each of them. With the bare time, or with rows, nobody knows
how many there are in a tick, so a length of time says nothing; except about different values of a column that the unit
fixes, of which it adds one to a tick, however many units it has there. With regions it would add one to each of them
that it is in, so there the unit must be that column at its time, and nothing else.
"""

from __future__ import annotations

from datetime import timedelta

from louver import parameters
from louver.errors import ParameterError
from louver.privacy import Unit
from louver.source.measures import DISTINCT, MOST_KEYS
from louver.stream.measured import Measured
from louver.stream.ticks import Ticks, minutes_of


def is_length(given: object) -> bool:
    """Whether it is a length of time, and no number."""
    return isinstance(given, timedelta) or (isinstance(given, str) and not given.strip().isdigit())


def ticks_in(length: object, ticks: Ticks, name: str) -> int:
    """How many ticks: a number of them, or a length of time that is rounded up to whole ones."""
    if is_length(length):
        return -(-minutes_of(length, name) // ticks.minutes)
    whole = int(length) if isinstance(length, str) else length
    return parameters.integer(name, whole, 1, MOST_KEYS)


def units_in(length: object, ticks: Ticks, unit: Unit, measured: Measured, regions: tuple[str, ...]) -> int:
    """How many units a window has; `regions` are the columns that are counted by."""
    number = ticks_in(length, ticks, "window")
    if not is_length(length) or not ticks.in_one(unit):  # the plan refuses windows of units that are in many ticks
        return number
    slot = ticks.slot_of(unit)
    if slot is not None:
        return number * (ticks.minutes // slot)
    adds_one = measured.kind == DISTINCT and unit.fixes(measured.column or "") and all(map(unit.fixes, regions))
    if unit.is_row or not adds_one or (regions and not ticks.is_somebodys(unit)):
        raise ParameterError(
            f"A window that lasts some time needs units that are slots of time; here one unit is {unit}, and somebody "
            f"may have any number of them in a tick. Give the window as a number of units, such as {number}, or "
            f"protect slots, such as {ticks.column}."
        )
    return number
