"""A watcher that is killed at any moment and started again: nothing acknowledged is lost, nothing is paid twice."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from louver.ledger import Ledger
from louver.sense.pseudonyms import Door
from louver.sense.store import Store
from louver.watch.journal import Journal
from tests.watch.made import FIRE_LIMIT, FULL, NINE, STEP, Given, events, house, paid_keys, told, watched

SLOTS = 12
RULES = FIRE_LIMIT + FIRE_LIMIT.replace("fire-limit", "second")
# Watches batches of one slot each, and says after each which one was acknowledged.
PROGRAM = """
import asyncio, sys
from pathlib import Path
from louver.watch.rules import Rules
from tests.watch.made import Given, NINE, STEP, events, watched

class Loud(Given):
    async def __aiter__(self):
        async for batch in super().__aiter__():
            yield batch
            print(*self.acknowledged, flush=True)

slots, full = int(sys.argv[2]), int(sys.argv[3])
batches = [events({"aula": full, "lab": 1}, start=NINE + at * STEP) for at in range(slots)]
asyncio.run(watched(Rules.read(Path(sys.argv[1]) / "rules.toml"), Loud(*batches)))
"""


def killed(folder: Path, lines: int, delay: float) -> list[int]:
    """The batches that were acknowledged before the watcher was killed, some time after so many lines."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", PROGRAM, str(folder), str(SLOTS), str(FULL)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(lines)]
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        said += process.stdout.readlines()
    whole = [line for line in said if line.endswith("\n") and line.strip()]
    return [int(number) for number in whole[-1].split()] if whole else []


@pytest.mark.parametrize(("lines", "delay"), [(1, 0.0), (2, 0.05), (3, 0.11), (5, 0.02), (7, 0.17)])
def test_a_killed_watcher_loses_no_acknowledged_event_and_pays_no_slot_twice(
    tmp_path: Path, lines: int, delay: float
) -> None:
    rules = house(tmp_path, RULES)
    acknowledged = killed(tmp_path, lines, delay)
    door = Door.open(rules.salt)
    with Store.open(rules.store) as store:
        stored = store.events()
    kept = set(zip(stored.person.tolist(), stored.time.tolist(), strict=True))
    for number in acknowledged:
        for event in events({"aula": FULL, "lab": 1}, start=NINE + number * STEP):
            assert (door.person(event.device), event.time) in kept
    assert len(kept) == len(stored)
    with Journal.open(rules.journal) as journal:
        before = {rule: [row[:2] for row in journal.released(rule)] for rule in ("fire-limit", "second")}

    batches = [events({"aula": FULL, "lab": 1}, start=NINE + at * STEP) for at in range(SLOTS)]
    asyncio.run(watched(rules, Given(*batches)))

    paid = paid_keys(rules)
    assert len(paid) == len(set(paid)) == 2 * SLOTS
    with Journal.open(rules.journal) as journal:
        for rule, rows in before.items():
            released = [row[:2] for row in journal.released(rule)]
            assert len(released) == len(set(released))
            assert released[: len(rows)] == rows
            assert journal.decided(rule) == NINE + (SLOTS - 1) * STEP
    firing = [alarm for alarm in told(rules) if alarm[1:3] == ("aula", "firing")]
    assert sorted(alarm[0] for alarm in firing) == ["fire-limit", "second"]
    with Ledger.open(rules.ledger) as ledger:
        assert ledger.spent() <= 1
        assert len(ledger.reservations()) <= 1  # the one that was under way
    with Store.open(rules.store) as store:
        assert len(store.events()) == SLOTS * (FULL + 1)
        assert len(store.rows(NINE)) == FULL + 1
