"""Preset `taxi`: pick-ups in 34 regions of a city from January to March, with a lockdown in March, like Q3 and Q4.

`people` is the number of pick-ups over all days. A region's busiest day of January and February is its threshold, as in
the thesis; the truth beside the data has it, because made of real data it would not be public.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from math import isqrt

import numpy as np

from louver.sense.simulate.dates import DAY, HOUR
from louver.sense.simulate.dice import Dice, Whole
from louver.sense.simulate.simulated import Simulated, microseconds, spanned

REGIONS = 34
WEEK = (82, 96, 103, 108, 116, 113, 82)  # from Monday, in hundredths of the mean
HOURS = (30, 18, 11, 8, 9, 16, 38, 62, 74, 68, 62, 64, 68, 70, 76, 78, 72, 86, 96, 88, 74, 70, 62, 46)
LOCKDOWN = (3, 15)  # month and day on which it begins
FALL, LEFT = 78, 7  # of the day before in hundredths remain each day, down to this
WARNED = 97  # each day of the week before, as people hear of it
PLAN, DAYS = 1, 1 << 20


def taxi(days: int, people: int, seed: int, start: date, progress: Callable[[int, int], None]) -> Simulated:
    plan = Dice(seed, PLAN)
    size = np.sort(plan.between(20, 400, REGIONS) * plan.between(20, 100, REGIONS))[::-1]
    levels = [_level(start + timedelta(days=number)) for number in range(days)]
    expected = [people * level // sum(levels) for level in levels]
    counts = np.stack([_counts(total, size, Dice(seed, DAYS + number)) for number, total in enumerate(expected)])
    columns: dict[str, list[Whole]] = {"region": [], "time": [], "fare": []}
    for number in range(days):
        region, time, fare = _pick_ups(counts[number], Dice(seed, DAYS * 2 + number))
        columns["region"].append(region)
        columns["time"].append(time + number * DAY)
        columns["fare"].append(fare)
        progress(number + 1, days)
    last = [number for number in range(days) if (start + timedelta(days=number)).month <= 2] or list(range(days))
    busiest = counts[last].max(axis=0)
    regions = np.arange(1, REGIONS + 1)
    tables = {
        "pickups": {
            "region": np.concatenate(columns["region"]),
            "time": microseconds(np.concatenate(columns["time"]), start),
            "fare": np.concatenate(columns["fare"]) / 100,
        },
        "truth/days": {
            "region": np.tile(regions, days),
            "day": microseconds(np.repeat(np.arange(days) * DAY, REGIONS), start).astype("datetime64[D]"),
            "pickups": counts.reshape(-1),
        },
        "truth/busiest": {"region": regions, "high": busiest, "medium": busiest * 8 // 10, "low": busiest * 6 // 10},
    }
    listed = [f"{region},{limit}" for region, limit in zip(regions, _usual(people, days, size), strict=True)]
    texts = {"regions.csv": "\n".join(["region,usual", *listed]) + "\n", "louver.toml": _description(start, days)}
    rows = len(tables["pickups"]["region"])
    summary = f"{rows:,} pick-ups in {REGIONS} regions {spanned(days, start)}"
    return Simulated(tables, texts, summary)


def _level(day: date) -> int:
    """How busy the city is, in hundredths of a usual weekday's mean."""
    since = (day - date(day.year, *LOCKDOWN)).days
    level = WEEK[day.weekday()] * 100
    if (day.month, day.day) == (1, 1):
        level = level * 6 // 10
    for _ in range(max(min(since, 0) + 7, 0)):
        level = level * WARNED // 100
    if since >= 0:
        for _ in range(min(since + 1, 60)):
            level = max(level * FALL // 100, WEEK[day.weekday()] * LEFT)
    return level


def _counts(total: int, size: Whole, dice: Dice) -> Whole:
    """Pick-ups of a day by region: what is expected, more or less by the weather, and by chance."""
    weather = int(dice.normal(1000, 45, 1)[0])
    mean = total * size // int(size.sum()) * weather // 1000
    spread = np.array([2 * isqrt(int(each)) + int(each) // 25 for each in mean])
    return np.maximum(dice.normal(mean, spread, len(mean)), 0)


def _pick_ups(counts: Whole, dice: Dice) -> tuple[Whole, Whole, Whole]:
    """One row for each pick-up, in order of time. Rides from some regions are longer than from others."""
    region = np.repeat(np.arange(1, REGIONS + 1), counts)
    ends = np.cumsum(HOURS)
    hour = np.searchsorted(ends, dice.below(int(ends[-1]), len(region)), side="right")
    time = hour * HOUR + dice.below(HOUR // 1000, len(region)) * 1000
    fare = 250 + 50 * ((dice.waits(len(region)) * (700 + 35 * (region * 7 % REGIONS))) // (50 << 16))
    order = np.argsort(time, kind="stable")
    return region[order].astype(np.int16), time[order], fare[order].astype(np.int32)


def _usual(people: int, days: int, size: Whole) -> list[int]:
    """A public threshold: half more than a region has in the mean, from the plan and not from the rows."""
    mean = people // max(days, 1) * size // int(size.sum())
    return [int(each) * 15 // 10 + 1 for each in mean]


def _description(start: date, days: int) -> str:
    last = start + timedelta(days=days - 1)
    return f"""# Invented: one row is one pick-up.

[source.pickups]
table = "pickups.parquet"
dataset = "taxi"
unit = "row"
domain = "region_days"

[source.pickups.columns]
day = "day(time)"

[source.pickups.values]
fare = {{ low = 0, high = 128, step = 0.5 }}

[domain.regions]
file = "regions.csv"

[domain.region_days]
keys = ["region", "day"]
region = {{ domain = "regions" }}
day = {{ from = {start.isoformat()}, to = {last.isoformat()} }}

[ask]
miss_rate = 0.05
slack = 30
"""
