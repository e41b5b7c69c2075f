"""Invented data that is believable, with the truth behind it, the same for the same seed.

This is simulation and not privacy: a seed is right here, and `louver.noise`, which has none, is not used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from typing import TYPE_CHECKING

from louver import parameters
from louver.errors import ParameterError
from louver.source.names import instead_of

if TYPE_CHECKING:
    from louver.sense.simulate.simulated import Simulated

__all__ = ["PRESETS", "Preset", "simulate"]
MOST_DAYS, MOST_PEOPLE, LARGEST_SEED = 3660, 20_000_000, 2**63 - 1


@dataclass(frozen=True, slots=True)
class Preset:
    """One kind of invented data: what it is, where it is made, and its size unless another is asked for.

    `table` is the main one of its tables, and `counted` what `people` counts.
    """

    what: str
    module: str
    function: str
    days: int
    people: int
    start: date
    table: str
    counted: str = "people"


PRESETS = {
    "building": Preset(
        "Wi-Fi events of a university building with 64 access points, with energy and temperature",
        *("building_preset", "building", 89, 36_000, date(2018, 2, 1), "events"),
    ),
    "demo": Preset(
        "the same of a small building during two days, for a first look and for tests",
        *("building_preset", "demo", 2, 2_000, date(2018, 2, 1), "events"),
    ),
    "campus": Preset(
        "who was in which of 24 buildings in which hour of a month, with capacities",
        *("campus", "campus", 31, 36_000, date(2018, 10, 1), "presence"),
    ),
    "taxi": Preset(
        "taxi pick-ups in 34 regions from January to March, with a lockdown in March",
        *("taxi", "taxi", 91, 15_700_000, date(2020, 1, 1), "pickups", "pick-ups"),
    ),
    "fall-risk": Preset(
        "sudden accelerations that wearables of elderly residents noticed",
        *("fall_risk", "fall_risk", 56, 240, date(2026, 1, 5), "accelerations", "residents"),
    ),
}


def simulate(
    preset: str = "building",
    *,
    days: int | None = None,
    people: int | None = None,
    seed: int = 7,
    start: date | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Simulated:
    """The invented data of a preset. The same arguments give the same data on every machine.

    >>> simulate("fall-risk", people=20, days=7).summary
    '626 accelerations of 20 residents over 7 days from 2026-01-05'
    """
    if preset not in PRESETS:
        raise ParameterError(f"There is no preset {preset!r}{instead_of(preset, PRESETS)}.")
    chosen = PRESETS[preset]
    day = chosen.start if start is None else start
    if type(day) is not date or not 1971 <= day.year <= 2150:
        raise ParameterError("The start is a date from 1971 to 2150, such as 2018-02-01.")
    make = getattr(import_module(f"{__name__}.{chosen.module}"), chosen.function)
    made: Simulated = make(
        parameters.integer("The number of days", chosen.days if days is None else days, 1, MOST_DAYS),
        parameters.integer(
            f"The number of {chosen.counted}", chosen.people if people is None else people, 1, MOST_PEOPLE
        ),
        parameters.integer("The seed", seed, 0, LARGEST_SEED),
        day,
        progress or (lambda _done, _all_of: None),
    )
    return made
