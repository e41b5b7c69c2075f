"""A watch through a real broker, end to end; the watcher and the broker are killed in the middle."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from louver.ledger import Ledger
from louver.sense.feeds import MQTT, Publisher
from louver.sense.feeds.backoff import Backoff
from louver.sense.feeds.publishing import as_json, as_packed
from louver.sense.pseudonyms import Door
from louver.sense.store import Store
from louver.watch.journal import Journal
from louver.watch.rules import Rules
from tests.sense.feeds.broker import Mosquitto
from tests.watch.made import FIRE_LIMIT, FULL, NINE, STEP, events, house, paid_keys, told, watched

SLOTS = 10
LONGEST = 120.0  # seconds until a test that hangs fails
CROWD = {"aula": FULL, "lab": 1}


@pytest.fixture
def broker() -> Iterator[Mosquitto]:
    made = Mosquitto()
    yield made
    made.remove()


def slots(first: int, end: int) -> list[bytes]:
    """Messages of the events of these slots."""
    return as_packed(events(*[CROWD] * (end - first), start=NINE + first * STEP))


async def sent(address: str, payloads: list[bytes]) -> None:
    async with Publisher(address, backoff=Backoff(first=0.05, longest=0.2)) as publisher:
        await publisher.send(payloads)


def test_events_of_a_broker_are_decided_slot_by_slot(tmp_path: Path, broker: Mosquitto) -> None:
    rules, address = house(tmp_path), broker.address("wifi")
    full, empty = {"aula": FULL}, {"lab": 1}

    async def both() -> None:
        feed = MQTT(address, client="watch")
        await feed.ready()
        watching = asyncio.create_task(watched(rules, feed, lambda decided: len(decided) == 4))
        await sent(address, [*as_json(events(empty, full, full, empty, empty)), b"nothing of the kind"])
        made = await asyncio.wait_for(watching, LONGEST)
        assert made.slots == 4

    asyncio.run(both())
    assert told(rules) == [("fire-limit", "aula", "firing", 1), ("fire-limit", "aula", "clear", 3)]


class Command:
    """`louver watch` as a process of its own, whose lines are read as they come."""

    def __init__(self, folder: Path, address: str) -> None:
        command = [sys.executable, "-m", "louver", "watch", address, "--clock", "events", "--json"]
        self.process = subprocess.Popen(
            [*command, "--rules", str(folder / "rules.toml")],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        self._alarm = threading.Timer(LONGEST, self.process.kill)  # so that a test that hangs fails
        self._alarm.daemon = True
        self._alarm.start()

    def until(self, enough: Callable[[dict[str, object]], bool]) -> None:
        """Returns when a line says so."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if enough(json.loads(line)):
                return
        raise AssertionError("The watcher ended too early.")

    def end(self, by: signal.Signals) -> None:
        self._alarm.cancel()
        self.process.send_signal(by)
        self.process.communicate()


def at(slot: int, rule: str = "second") -> Callable[[dict[str, object]], bool]:
    """The line about a slot."""
    minute = f"09:{5 * slot:02}:00"
    return lambda line: line["what"] == "slot" and line["rule"] == rule and minute in str(line["slot"])


def test_watcher_and_broker_are_killed_in_the_middle_and_nothing_is_lost_or_paid_twice(
    tmp_path: Path, broker: Mosquitto
) -> None:
    client = 'client = "hall"\nformat = "compact"'
    rules = house(tmp_path, FIRE_LIMIT + FIRE_LIMIT.replace("fire-limit", "second"), watch=client)
    address = broker.address("wifi")

    first = Command(tmp_path, address)
    first.until(lambda line: line["what"] == "forecast")
    subscribed(broker)
    asyncio.run(sent(address, slots(0, 4)))
    first.until(at(1))
    first.end(signal.SIGKILL)
    asyncio.run(sent(address, slots(4, 7)))  # the broker keeps them
    broker.saved()
    broker.kill()

    broker.start()
    second = Command(tmp_path, address)
    second.until(at(4))
    broker.saved()
    broker.kill()
    broker.start()
    asyncio.run(sent(address, slots(7, SLOTS + 1)))
    second.until(at(SLOTS - 1))
    second.end(signal.SIGTERM)

    assert second.process.returncode == 0
    check(rules)


def subscribed(broker: Mosquitto) -> None:
    """Returns when the watcher has said that it is online, which it does after it subscribed; the broker keeps that."""
    from paho.mqtt import subscribe

    at = {"hostname": "127.0.0.1", "port": broker.port}
    status = subscribe.simple("louver/status/hall", retained=True, **at)  # type: ignore[no-untyped-call]
    assert status.payload == b"online"


def check(rules: Rules) -> None:
    paid = paid_keys(rules)
    assert len(paid) == len(set(paid)) == 2 * SLOTS
    with Journal.open(rules.journal) as journal:
        for rule in ("fire-limit", "second"):
            released = [row[:2] for row in journal.released(rule)]
            assert len(released) == len(set(released))
            assert journal.decided(rule) == NINE + (SLOTS - 1) * STEP
    door = Door.open(rules.salt)
    with Store.open(rules.store) as store:
        stored = store.events()
    kept = list(zip(stored.person.tolist(), stored.time.tolist(), strict=True))
    wanted = [(door.person(event.device), event.time) for event in events(*[CROWD] * SLOTS)]
    assert len(kept) == len(set(kept))
    assert set(wanted) <= set(kept)
    assert [each[1:3] for each in told(rules) if each[1] == "aula"] == [("aula", "firing")] * 2
    with Ledger.open(rules.ledger) as ledger:
        assert ledger.spent() <= 1
