"""What the tests of streams of a watch share: a house with a stream, and what was published to its file."""

from __future__ import annotations

import asyncio
import csv
from pathlib import Path
from typing import Any

from louver.sense.events import Event
from louver.watch.rules import Rules
from louver.watch.watcher import Watched
from tests.watch.made import FIRE_LIMIT, Given, house, watched

# At this price there is no noise but once in 10^200 draws.
LOUD = 500
ROOMS = f"""
[stream.rooms]
mechanism = "laplace"
epsilon = {LOUD}
from = 2026-03-02T09:00:00Z
until = 2026-03-02T10:00:00Z
to = "rooms.csv"
"""
DAILY = ROOMS.replace("from = 2026-03-02T09:00:00Z\nuntil = 2026-03-02T10:00:00Z", 'each = "1d"')


def streamed(folder: Path, streams: str = ROOMS, rules: str = FIRE_LIMIT, cap: float = LOUD + 1, **more: Any) -> Rules:
    return house(folder, rules + streams, cap=cap, **more)


def run(rules: Rules, *batches: list[Event], **options: Any) -> Watched:
    return asyncio.run(watched(rules, Given(*batches), **options))


def published(folder: Path, name: str = "rooms.csv") -> dict[str, dict[str, int | None]]:
    """By the time of a tick, the value of each region; None where it is missing."""
    found: dict[str, dict[str, int | None]] = {}
    with (folder / name).open(newline="") as file:
        for row in csv.DictReader(file):
            values = found.setdefault(row["tick"][11:16], {})
            assert row["region"] not in values, "a tick was written twice"
            values[row["region"]] = int(row["value"]) if row["value"] else None
    return found
