"""Preset `campus`: who was in which of 24 buildings in which hour of a month, like the data of the thesis' Q1 and Q2.

Somebody is in at most one building an hour, so a row (person, building, time) is a person's hour. Capacities fit the
number of people; on working days some buildings pass theirs around noon, and on the second Saturday of a month a match
fills the arena.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

import numpy as np

from louver.sense.simulate.dates import BREAK, CLOSED, DAY, HOUR, TEACHING, kind_of_day
from louver.sense.simulate.dice import Dice, Whole
from louver.sense.simulate.simulated import Coded, Simulated, microseconds, spanned

PEOPLE = 36_000  # for whom the capacities below are
# Each building's capacity, how much it is used against it, and at which hour most.
BUILDINGS: dict[str, tuple[int, int, int]] = {
    "Aldrich": (420, 78, 11),
    "Anteater": (1300, 92, 11),
    "Arena": (2600, 12, 19),
    "Arts": (640, 70, 15),
    "Biology": (1150, 88, 11),
    "Bren": (1500, 98, 14),
    "Business": (980, 84, 10),
    "Cafeteria": (760, 112, 12),
    "Chemistry": (900, 80, 10),
    "Clinic": (380, 66, 10),
    "Computing": (1250, 102, 15),
    "Dance": (300, 60, 16),
    "Education": (520, 72, 13),
    "Engineering": (1450, 94, 10),
    "Gateway": (700, 90, 17),
    "Humanities": (1050, 82, 13),
    "Langson": (1700, 104, 16),
    "Law": (560, 70, 14),
    "Mathematics": (820, 108, 9),
    "Nursing": (340, 68, 9),
    "Physics": (880, 76, 14),
    "Recreation": (950, 90, 18),
    "Social": (1100, 86, 11),
    "Student Centre": (1600, 106, 12),
}
FIRST_HOUR, LAST_HOUR = 7, 21
COMING = {TEACHING: 0.74, BREAK: 0.35, CLOSED: 0.11}
AT_HOME = 0.5  # of the hours are spent in the building of one's own department
PLAN, DAYS = 1, 1 << 20


def campus(days: int, people: int, seed: int, start: date, progress: Callable[[int, int], None]) -> Simulated:
    names = list(BUILDINGS)
    capacity, used, peak = (np.array(column) for column in zip(*BUILDINGS.values(), strict=True))
    capacity = np.maximum(capacity * people // PEOPLE, 2)
    plan = Dice(seed, PLAN)
    home = _drawn(capacity * used, plan, people)
    keen = plan.between(40, 100, people)
    made = []
    for number in range(days):
        made.append(_day(start, number, home, keen, capacity * used, peak, Dice(seed, DAYS + number)))
        progress(number + 1, days)
    person, building, time = (np.concatenate(column) for column in zip(*made, strict=True))
    hour = time // HOUR
    counted = np.bincount(hour * len(names) + building, minlength=days * 24 * len(names))
    place = np.tile(np.arange(len(names)), days * 24)
    at = np.repeat(np.arange(days * 24), len(names)) * HOUR
    tables = {
        "presence": {"person": person, "building": Coded(names, building), "time": microseconds(time, start)},
        "truth/hours": {
            "building": Coded(names, place),
            "time": microseconds(at, start),
            "people": counted,
            "capacity": capacity[place],
        },
    }
    listed = [f"{name},{limit}" for name, limit in zip(names, capacity, strict=True)]
    texts = {
        "buildings.csv": "\n".join(["building,capacity", *listed]) + "\n",
        "louver.toml": _description(start, days),
    }
    who = f"{people:,} people in {len(names)} buildings"
    return Simulated(tables, texts, f"{len(person):,} hours of {who} {spanned(days, start)}")


def _day(
    start: date, number: int, home: Whole, keen: Whole, weight: Whole, peak: Whole, dice: Dice
) -> tuple[Whole, Whole, Whole]:
    day = start + timedelta(days=number)
    share = COMING[kind_of_day(day)] * keen / 70.0
    who = np.flatnonzero(dice.chance(np.minimum(share, 1.0), len(home)))
    first = np.clip(dice.normal(10, 2, len(who)), FIRST_HOUR, LAST_HOUR)
    last = np.minimum(first + np.clip(dice.normal(5, 2, len(who)), 1, 12), LAST_HOUR + 1)
    row = np.repeat(np.arange(len(who)), last - first)
    hour = (
        np.repeat(first, last - first)
        + np.arange(len(row))
        - np.repeat(np.cumsum(last - first) - (last - first), last - first)
    )
    person = who[row]
    building = np.where(dice.chance(AT_HOME, len(row)), home[person], -1)
    away = np.flatnonzero(building < 0)
    for each in range(FIRST_HOUR, LAST_HOUR + 1):
        there = away[hour[away] == each]
        building[there] = _drawn(weight * np.maximum(10 - np.abs(peak - each), 3), dice, len(there))
    if day.weekday() == 5 and 8 <= day.day <= 14:
        person, hour, building = _match(person, hour, building, len(home), dice)
    time = hour * HOUR + dice.below(HOUR, len(person)) + number * DAY
    order = np.lexsort((person, time))
    return person[order], building[order], time[order]


def _match(person: Whole, hour: Whole, building: Whole, people: int, dice: Dice) -> tuple[Whole, Whole, Whole]:
    """Three hours in the arena for one in eleven people, whatever else they did at that time."""
    arena = list(BUILDINGS).index("Arena")
    fans = np.flatnonzero(dice.chance(1 / 11, people))
    kept = ~(np.isin(person, fans) & (hour >= 18) & (hour <= 20))
    return (
        np.concatenate([person[kept], np.repeat(fans, 3)]),
        np.concatenate([hour[kept], np.tile(np.arange(18, 21), len(fans))]),
        np.concatenate([building[kept], np.full(len(fans) * 3, arena)]),
    )


def _drawn(weights: Whole, dice: Dice, size: int) -> Whole:
    """Places in proportion to their weights."""
    ends = np.cumsum(weights)
    return np.searchsorted(ends, dice.below(int(ends[-1]), size), side="right")


def _description(start: date, days: int) -> str:
    last = start + timedelta(days=days - 1)
    return f"""# Invented: one row is one person's hour in one building.

[source.presence]
table = "presence.parquet"
dataset = "campus"
unit = "row"                     # one person's hour; an hour has at most one row of a person
domain = "building_hours"

[source.presence.columns]
day = "day(time)"
hour = "hour(time)"

[domain.buildings]
file = "buildings.csv"

[domain.building_hours]
keys = ["building", "hour", "day"]
building = {{ domain = "buildings" }}
hour = {{ from = {FIRST_HOUR}, to = {LAST_HOUR} }}
day = {{ from = {start.isoformat()}, to = {last.isoformat()} }}

[ask]
miss_rate = 0.05
slack = 10
"""
