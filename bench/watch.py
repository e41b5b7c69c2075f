"""A day of the demo building through a real broker, as fast as it goes: how many times real time, and what is missed.

The floor is a subscriber in the same process that reads the same messages and keeps nothing. Needs Mosquitto
(script/mosquitto installs it). Run: python -m bench.watch [DAYS], 30 days unless given.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.sense.feeds.broker import Mosquitto
from tests.watch.days import MISS_RATE, PENDING, RULE, Day, demo_day
from tests.watch.made import watched

from louver.sense.feeds import MQTT, Publisher
from louver.sense.feeds.publishing import as_json
from louver.watch.deciding import Decided
from louver.watch.journal import Journal

DAYS = 30
SIZES = (1, 20)  # events a message


def messages(day: Day, size: int) -> list[bytes]:
    lines = as_json(day.events)
    return [b"\n".join(lines[at : at + size]) for at in range(0, len(lines), size)]


async def read_only(address: str, sent: list[bytes], events: int) -> float:
    """Seconds from the first message sent to the last one read and acknowledged."""
    feed = MQTT(address, client="floor")
    await feed.ready()

    async def taken() -> None:
        left = events
        async for batch in feed:
            left -= len(batch.events)
            await batch.done()
            if left <= 0:
                return

    start = time.perf_counter()
    reading = asyncio.create_task(taken())
    async with Publisher(address) as publisher:
        await publisher.send(sent)
    await reading
    await feed.close()
    return time.perf_counter() - start


async def watch(address: str, day: Day, sent: list[bytes], client: str) -> tuple[float, int]:
    """Seconds from the first message sent to the last slot with a breach decided, and how many slots were."""
    feed = MQTT(address, client=client)
    await feed.ready()

    def is_over(decided: list[Decided]) -> bool:
        return bool(decided) and decided[-1].slot >= day.last

    start = time.perf_counter()
    watching = asyncio.create_task(watched(day.rules, feed, is_over))
    async with Publisher(address) as publisher:
        await publisher.send(sent)
    made = await watching
    return time.perf_counter() - start, made.slots


def main() -> None:
    days = int(sys.argv[1]) if len(sys.argv) > 1 else DAYS
    broker = Mosquitto()
    try:
        with tempfile.TemporaryDirectory() as folder:
            measured(demo_day(Path(folder)), broker, days)
    finally:
        broker.remove()


def measured(day: Day, broker: Mosquitto, days: int) -> None:
    length = (day.last - day.events[0].time) / 1e6
    print(f"{len(day.events):,} events over {length / 3600:.1f} hours, {len(day.breaches)} breaches")
    print(f"{'events a message':>16} {'seconds':>8} {'ms a slot':>10} {'times real time':>16} {'times floor':>12}")
    for size in SIZES:
        sent = messages(day, size)
        floor = asyncio.run(read_only(broker.address(f"floor/{size}"), sent, len(day.events)))
        day.begin()
        seconds, slots = asyncio.run(watch(broker.address(f"speed/{size}"), day, sent, f"speed-{size}"))
        line = (
            f"{size:16} {seconds:8.2f} {1000 * seconds / slots:10.1f} {length / seconds:16,.0f} {seconds / floor:12.2f}"
        )
        print(line, flush=True)
    sent = messages(day, SIZES[-1])
    missed, slowest = 0, float("inf")
    for number in range(days):
        day.begin()
        seconds, _ = asyncio.run(watch(broker.address(f"day/{number}"), day, sent, f"day-{number}"))
        slowest = min(slowest, length / seconds)
        with Journal.open(day.rules.journal) as journal:
            flags = {(row.slot, row.key): row.value for row in journal.released(RULE)}
        missed += sum(not flags[cell] for cell in day.breaches)
    trials, promised = days * len(day.breaches), MISS_RATE / PENDING
    expected = float((1 - day.flagged(day.breaches)).mean())
    print(
        f"{days} days, the slowest at {slowest:,.0f} times real time: {missed} of {trials} breaches were not flagged."
    )
    shares = f"{missed / max(1, trials):.4f}; promised at most {promised:.4f}, by the law of the noise {expected:.4f}"
    print(f"Share of misses in a slot: {shares}.")


if __name__ == "__main__":
    main()
