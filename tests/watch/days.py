"""A day of the demo building, who was where in it, and how often the law of the noise should flag each key."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from louver.ledger import Cap, Ledger
from louver.privacy.calibrate.oneshot import OneShot
from louver.sense.admitted import Admitted
from louver.sense.events import Event
from louver.sense.occupancy import Occupancy
from louver.sense.simulate import simulate
from louver.watch.pipeline import prepared
from louver.watch.rules import Rules

RULE = "fire-limit"
MISS_RATE = 0.05
PENDING = 2
FIRE_LIMIT = f"""
[rule.{RULE}]
having = "count(*) > capacity"
miss_rate = {MISS_RATE}
slack = 10
pending = {PENDING}
"""
Cell = tuple[int, str]  # a slot and a region


@dataclass(frozen=True)
class Day:
    """Its rules, its events in the order of time, and how far above its limit every region was in every slot."""

    rules: Rules
    events: tuple[Event, ...]
    margins: Mapping[Cell, int]

    @cached_property
    def last(self) -> int:
        """The last slot in which a region was over its limit."""
        return max(slot for slot, _ in self.breaches)

    @cached_property
    def breaches(self) -> list[Cell]:
        return [cell for cell, margin in self.margins.items() if margin > 0]

    def flagged(self, cells: list[Cell]) -> NDArray[np.float64]:
        """The probability with which each of these cells is flagged, by the law of the noise."""
        with Ledger.open(self.rules.ledger) as ledger:
            (test,) = prepared(self.rules, ledger).asked[0].plan.tests
        each = {margin: _rate(test, margin) for margin in {self.margins[cell] for cell in cells}}
        return np.array([each[self.margins[cell]] for cell in cells])

    def begin(self) -> None:
        """As if it had never been watched: a new ledger, and nothing else."""
        rules = self.rules
        for place in (rules.store, rules.journal, rules.ledger, rules.salt):
            for left in rules.path.parent.glob(f"{Path(place).name}*"):
                shutil.rmtree(left) if left.is_dir() else left.unlink()
        caps = [Cap(epsilon=1)]
        Ledger.create(rules.ledger, dataset=rules.dataset, unit=rules.unit, caps=caps, key=None)[0].close()


def demo_day(folder: Path, hours: str = "", people: int = 2000) -> Day:
    """A Thursday of the demo building; hours are those of the rule."""
    made = simulate("demo", days=1, people=people, start=date(2018, 2, 1))
    made.write(folder)
    only = f'hours = "{hours}"\n' if hours else ""
    (folder / "rules.toml").write_text(
        '[watch]\nbuilding = "building.toml"\nstore = "store"\nledger = "watch.ledger"\nsalt = "salt"\n'
        f'dataset = "house"\n{FIRE_LIMIT}{only}'
    )
    rules = Rules.read(folder / "rules.toml")
    times = made.column("events", "time").astype("datetime64[us]").astype(np.int64)
    order = np.argsort(times, kind="stable")
    devices, places = (made.column("events", name)[order] for name in ("device", "place"))
    _, people_there = np.unique(devices, return_inverse=True)
    occupancy = Occupancy(rules.timing, rules.building.access_points)
    occupancy.add(Admitted.of(people_there.astype(np.int64), places, times[order]))
    events = map(Event, devices.tolist(), places.tolist(), times[order].tolist())
    return Day(rules, tuple(events), dict(_margins(rules, occupancy)))


def _rate(test: OneShot, margin: int) -> float:
    enclosed = test.acceptance(margin)
    return float(Fraction(enclosed.low, 1 << enclosed.bits))


def _margins(rules: Rules, occupancy: Occupancy) -> Iterator[tuple[Cell, int]]:
    capacity = {region.id: region.capacity for region in rules.building.regions}
    for slot, rows in occupancy.finish():
        if not rules.due(slot):
            continue
        names, counts = np.unique(rows.names().astype(str), return_counts=True)
        there = dict(zip(names.tolist(), counts.tolist(), strict=True))
        for region, most in capacity.items():
            yield (slot, region), there.get(region, 0) - most
