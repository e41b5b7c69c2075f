"""A small building with rules, a ledger and events for tests: who is where is said slot by slot."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from louver.ledger import Cap, Ledger
from louver.privacy import Unit
from louver.sense.events import Event, instant
from louver.sense.feeds.batch import Batch
from louver.watch.deciding import Decided
from louver.watch.journal import Journal
from louver.watch.rules import Rules
from louver.watch.watcher import Watched, Watcher

MINUTE = 60_000_000
STEP = 5 * MINUTE
NINE = int(datetime(2026, 3, 2, 9, tzinfo=UTC).timestamp()) * 1_000_000  # a Monday
REGIONS = ("aula", "cafe", "lab")
CAPACITY = 200
# 200 above or below a limit with a slack of 10: wrong with a probability below 1e-30.
FULL, EMPTY = 400, 0
FIRE_LIMIT = """
[rule.fire-limit]
having = "count(*) > capacity"
miss_rate = 0.05
slack = 10
"""

Counts = Mapping[str, int]


def house(
    folder: Path,
    rules: str = FIRE_LIMIT,
    *,
    cap: float = 1,
    unit: str = "(person, slot)",
    regions: Sequence[str] = REGIONS,
    capacity: int = CAPACITY,
    watch: str = "",
) -> Rules:
    """Rules of a building with one access point for each region, and a ledger."""
    lines = ["[building]", 'id = "house"', "[floor.1]", "[floor.2]"]
    for number, region in enumerate(regions):
        floor = "1" if number == 0 else "2"
        lines += [f"[region.{region}]", f'floor = "{floor}"', f"capacity = {capacity}"]
        lines += [f'access_points = ["ap-{region}"]']
    (folder / "building.toml").write_text("\n".join(lines))
    (folder / "rules.toml").write_text(
        '[watch]\nbuilding = "building.toml"\nstore = "store"\nledger = "watch.ledger"\nsalt = "salt"\n'
        f'dataset = "house"\nunit = "{unit}"\nvalidity = "5 minutes"\n{watch}\n{rules}'
    )
    ledger, _ = Ledger.create(
        folder / "watch.ledger", dataset="house", unit=Unit.parse(unit), caps=[Cap(epsilon=cap)], key=None
    )
    ledger.close()
    return Rules.read(folder / "rules.toml")


def events(*slots: Counts, start: int = NINE) -> list[Event]:
    """Devices that are there in one slot each: so many in each region, slot after slot."""
    return [
        Event(f"{region} {number}", f"ap-{region}", start + at * STEP)
        for at, counts in enumerate(slots)
        for region, count in counts.items()
        for number in range(count)
    ]


def lines(*slots: Counts, start: int = NINE) -> str:
    """The same events as NDJSON."""
    return "".join(
        json.dumps({"device": event.device, "place": event.place, "time": instant(event.time).isoformat()}) + "\n"
        for event in events(*slots, start=start)
    )


class Given:
    """A feed of these batches, which remembers which of them were acknowledged."""

    def __init__(self, *batches: Sequence[Event], ends: bool = True) -> None:
        self.batches, self.connected, self.ends = batches, True, ends
        self.acknowledged: list[int] = []
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[Batch]:
        for number, batch in enumerate(self.batches):

            async def acknowledge(number: int = number) -> None:
                self.acknowledged.append(number)

            yield Batch(batch, acknowledge)
        if not self.ends:
            await asyncio.Event().wait()

    async def close(self) -> None:
        self.closed = True


async def watched(
    rules: Rules, feed: Any, until: Callable[[list[Decided]], bool] = lambda _: False, **options: Any
) -> Watched:
    """What a watch of the feed comes to, at its end or when what was decided so far is enough."""
    so_far: list[Decided] = []

    def hear(decided: list[Decided]) -> None:
        so_far.extend(decided)
        if until(so_far):
            watcher.stop()

    with Journal.open(rules.journal) as journal:
        watcher = Watcher(rules, feed, journal, told=hear, **({"clock": "events"} | options))
        return await watcher.run()


def told(rules: Rules) -> list[tuple[str, str, str, int]]:
    """Every alarm: rule, key, state, and the number of its slot after nine."""
    with Journal.open(rules.journal) as journal:
        raised = [each.alarm for each in journal.alarms(open_only=False)]
    return [(alarm.rule, alarm.key, alarm.state, (alarm.slot - NINE) // STEP) for alarm in raised]


def paid_keys(rules: Rules) -> list[str]:
    """The idempotency key of every reservation in the ledger."""
    with Ledger.open(rules.ledger) as ledger:
        return [entry.body["key"] for entry in ledger.entries() if entry.act == "reserved"]
