"""From 3.9 million events to occupancy: as a batch in DuckDB and as a stream, beside plain ways to count them.

The events are of invented devices at random access points over 89 days. The floors are DuckDB's plain GROUP BY of the
same file by place and five minutes, and a plain Python loop that counts the same events. Seconds are of the wall; CPU
is of all threads, which is what stays the same on a busy machine. Run: python -m bench.sense
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from louver.sense import Admitted, Batch, Door, Event, Occupancy, Rotating, Rule

EVENTS, DEVICES, PLACES, DAYS = 3_900_000, 36_000, 64, 89
REPEATS = 3
BATCH = 10_000  # events that come together, as from a queue
SECOND = 1_000_000
REGIONS = {f"ap-{number}": f"region {number:02}" for number in range(PLACES)}
MADE = """COPY (SELECT printf('aa:00:00:%02x:%02x:%02x', d // 65536, d // 256 % 256, d % 256) AS device,
    'ap-' || a AS place, make_timestamp(t) AS time FROM given ORDER BY t) TO '{path}' (FORMAT parquet)"""
PLAIN = "SELECT place, time_bucket(INTERVAL 5 MINUTE, time), count(*) FROM read_parquet('{path}') GROUP BY ALL"


def written(path: Path, events: int) -> None:
    dice = np.random.default_rng(1)
    devices = (DEVICES * dice.random(events) ** 2).astype(np.int64)
    times = dice.integers(0, DAYS * 86_400 * SECOND, events) + 1_517_443_200 * SECOND
    with duckdb.connect() as engine:
        engine.register("given", {"d": devices, "a": dice.integers(0, PLACES, events), "t": times})
        engine.execute(MADE.format(path=path))


def plain(path: Path) -> None:
    with duckdb.connect() as engine:
        engine.execute(PLAIN.format(path=path)).fetchnumpy()


def loop(events: Admitted) -> None:
    """What a few lines of Python would do: count by place and five minutes."""
    counted: Counter[tuple[str, int]] = Counter()
    for place, moment in zip(events.place, events.time.tolist(), strict=True):
        counted[place, moment // (300 * SECOND)] += 1


def streamed(events: Admitted, rule: Rule) -> None:
    occupancy = Occupancy(rule, REGIONS)
    for begin in range(0, len(events), BATCH):
        occupancy.add(events[begin : begin + BATCH])
        occupancy.advance()
    occupancy.finish()


def through_the_door(events: list[Event], door: Door, rule: Rule) -> None:
    occupancy = Occupancy(rule, REGIONS)
    for begin in range(0, len(events), BATCH):
        occupancy.add(door.admit(events[begin : begin + BATCH]))
        occupancy.advance()
    occupancy.finish()


def line(name: str, work: Callable[[], Any], events: int, floor: float | None = None) -> float:
    """One line of the table, of the quickest of several runs; gives its CPU seconds."""
    wall, cpu = [], []
    for _ in range(REPEATS):
        gc.collect()
        start, used = time.perf_counter(), time.process_time()
        work()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - used)
    ratio = "" if floor is None else f"{min(cpu) / floor:.2f}"
    print(f"{name[:46]:46} {min(wall):8.2f} {min(cpu):8.2f} {events / min(cpu):12,.0f} {ratio:>12}", flush=True)
    return min(cpu)


def main() -> None:
    door, rule = Door(b"a salt for the bench"), Rule()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.parquet"
        written(path, EVENTS)
        print(f"{'what':46} {'seconds':>8} {'CPU':>8} {'events/CPU s':>12} {'times floor':>12}")
        floor = line("plain DuckDB GROUP BY", lambda: plain(path), EVENTS)
        line("batch, rows of occupancy", lambda: Batch(path, rule, REGIONS, door).occupancy(), EVENTS, floor)
        line(
            "batch, up to 3 regions during a slot", lambda: Batch(path, rule, REGIONS, door).occupancy(3), EVENTS, floor
        )
        line("batch, presence", lambda: Batch(path, rule, REGIONS, door).presence(), EVENTS, floor)
        rotating = Rotating(120 * SECOND)
        line("batch, salts of 2 minutes", lambda: Batch(path, rule, REGIONS, rotating).occupancy(), EVENTS, floor)
        with duckdb.connect() as engine:
            read = f"SELECT device, place, epoch_us(time) AS time FROM read_parquet('{path}')"  # noqa: S608
            found = engine.execute(read).fetchnumpy()
    events = Admitted.of(door.persons(found["device"].tolist()), found["place"].tolist(), found["time"])
    floor = line("plain Python loop that counts", lambda: loop(events), EVENTS)
    line("stream, 1 minute of lateness", lambda: streamed(events, rule), EVENTS, floor)
    line("stream, 1 hour of lateness", lambda: streamed(events, Rule(lateness=3600 * SECOND)), EVENTS, floor)
    some = EVENTS // 4
    columns = zip(
        found["device"][:some].tolist(), found["place"][:some].tolist(), found["time"][:some].tolist(), strict=True
    )
    listed = [Event(*each) for each in columns]
    floor = line("plain Python loop, a quarter of them", lambda: loop(events[:some]), some)
    line("stream through the door, a quarter of them", lambda: through_the_door(listed, door, rule), some, floor)


if __name__ == "__main__":
    main()
