"""Preset `fall-risk`: sudden accelerations that wearables of elderly residents noticed. The key is a person.

Who makes more of them in a week than a limit is at risk of falling and is looked after more closely. The list of
residents is public inside the house; what each one's wearable said is not.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

import numpy as np

from louver.sense.simulate.dates import DAY, HOUR
from louver.sense.simulate.dice import UNIT, Dice
from louver.sense.simulate.simulated import Coded, Column, Simulated, microseconds, spanned

WARDS = ("Birch", "Cedar", "Elm", "Maple")
LIMIT = 60  # accelerations a week
AT_RISK, WORSENING = 0.10, 0.06  # of the residents
AWAKE = (7 * HOUR, 22 * HOUR)
PLAN, ROWS = 1, 2


def fall_risk(days: int, people: int, seed: int, start: date, progress: Callable[[int, int], None]) -> Simulated:
    plan = Dice(seed, PLAN)
    steady = plan.between(8, 38, people)
    at_risk = plan.chance(AT_RISK, people)
    worsening = ~at_risk & plan.chance(WORSENING, people)
    weekly = np.where(at_risk, plan.between(66, 105, people), steady)
    # Accelerations a week on each day, in 65536ths: those who get worse end at more than twice what they began with.
    growth = UNIT + UNIT * 3 * np.arange(days) // max(2 * days, 1)
    rate = weekly[:, np.newaxis] * np.where(worsening[:, np.newaxis], growth, UNIT)
    ends = np.cumsum((rate // 7).reshape(-1))
    total = int(ends[-1])
    dice = Dice(seed, ROWS)
    at = np.cumsum(dice.waits(total // UNIT * 11 // 10 + 100))
    cell = np.searchsorted(ends, at[at < total], side="right")
    person, day = cell // days, cell % days
    size = len(cell)
    time = day * DAY + dice.between(*AWAKE, size)
    strength = 150 + dice.waits(size) * 60 // UNIT
    order = np.lexsort((person, time))
    names = [f"resident {number:03}" for number in range(1, people + 1)]
    week = day // 7
    weeks = -(-days // 7)
    counted = np.bincount(person * weeks + week, minlength=people * weeks)
    tables: dict[str, dict[str, Column]] = {
        "accelerations": {
            "resident": Coded(names, person[order]),
            "time": microseconds(time[order], start),
            "g": strength[order] / 100,
        },
        "truth/weeks": {
            "resident": Coded(names, np.repeat(np.arange(people), weeks)),
            "week": np.tile(np.arange(weeks), people),
            "accelerations": counted,
            "limit": np.full(people * weeks, LIMIT),
        },
        "truth/residents": {
            "resident": Coded(names, np.arange(people)),
            "state": Coded(["steady", "at risk", "worsening"], at_risk + 2 * worsening),
        },
    }
    progress(days, days)
    listed = [f"{name},{LIMIT},{WARDS[number % len(WARDS)]}" for number, name in enumerate(names)]
    texts = {
        "residents.csv": "\n".join(["resident,limit,ward", *listed]) + "\n",
        "louver.toml": _description(start, days),
    }
    summary = f"{size:,} accelerations of {people:,} residents {spanned(days, start)}"
    return Simulated(tables, texts, summary)


def _description(start: date, days: int) -> str:
    last = start + timedelta(days=days - 1)
    return f"""# Invented: one row is one sudden acceleration of a resident's wearable, and the key is a person.

[source.accelerations]
table = "accelerations.parquet"
dataset = "fall risk"
unit = "row"                     # one acceleration; with "(resident, day)" a whole day is protected, at a higher price
domain = "residents"

[source.accelerations.columns]
day = "day(time)"

[domain.residents]
file = "residents.csv"

[domain.resident_days]
keys = ["resident", "day"]
resident = {{ domain = "residents" }}
day = {{ from = {start.isoformat()}, to = {last.isoformat()} }}

[ask]
miss_rate = 0.05
slack = 10
"""
