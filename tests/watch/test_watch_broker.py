"""A watch through a real broker, end to end; the watcher and the broker are killed in the middle."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from louver.ledger import Ledger
from louver.sense.feeds import MQTT, Broker, Publisher
from louver.sense.feeds.backoff import Backoff
from louver.sense.feeds.batch import Batch
from louver.sense.feeds.connection import Connection
from louver.sense.feeds.publishing import as_json, as_packed
from louver.sense.pseudonyms import Door
from louver.sense.store import Store
from louver.watch.deciding import Decided
from louver.watch.journal import Journal
from louver.watch.rules import WALL, Rules
from tests.sense.feeds.broker import Mosquitto
from tests.watch.made import FIRE_LIMIT, FULL, MINUTE, NINE, STEP, events, house, paid_keys, told, watched

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


class Hands:
    """A wall clock that stands still until it is set, so that only the broker decides what comes before what."""

    def __init__(self) -> None:
        self.now, self.looks = NINE - STEP, 0

    def __call__(self) -> int:
        self.looks += 1
        return self.now

    async def looked_at(self) -> None:
        """Returns when a watch that has nothing to do has gone round a few times, or seems to have ended."""
        enough = self.looks + 20
        for _ in range(500):
            if self.looks >= enough:
                return
            await asyncio.sleep(0.02)


async def nothing(_: MQTT) -> None: ...


async def live(
    rules: Rules,
    address: str,
    hands: Hands,
    until: int,
    before: Sequence[bytes] = (),
    pause: Callable[[MQTT], Awaitable[None]] = nothing,
) -> list[Decided]:
    """What a live watch of the broker decides: it hears these messages first, and then it is so late."""
    found: list[Decided] = []
    feed = MQTT(address, client="hall", backoff=Backoff(first=0.05, longest=0.2), heartbeat=rules.heartbeat)

    def enough(decided: list[Decided]) -> bool:
        found[:] = decided
        return decided[-1].slot >= until - STEP

    options: dict[str, Any] = {"clock": WALL, "now": hands, "tick": 0.1}
    watching = asyncio.ensure_future(watched(rules, feed, enough, **options))
    await asyncio.wait_for(feed.ready(), LONGEST)
    await hands.looked_at()
    await sent(address, list(before))
    await hands.looked_at()
    await pause(feed)
    hands.now = until + 2 * MINUTE
    if rules.heartbeat is not None:
        await hands.looked_at()
        assert not found  # time goes on with the next heartbeat only
        await sent(address.replace("wifi", rules.heartbeat), [b"alive"])
    await asyncio.wait_for(watching, LONGEST)
    return found


@pytest.mark.parametrize("is_kept", [True, False])
def test_what_came_between_two_runs_is_decided_where_the_broker_kept_it_and_undecided_where_it_did_not(
    tmp_path: Path, broker: Mosquitto, is_kept: bool
) -> None:
    rules, address, hands = house(tmp_path), broker.address("wifi"), Hands()

    async def run() -> list[Decided]:
        await live(rules, address, hands, NINE + STEP, as_json(events({"aula": 1})))
        if not is_kept:  # a clean start under the same name, as whoever copies a client's settings does
            await (await Connection.open(Broker.at(address), "hall", session=0)).close()
        await sent(address, as_json(events(*[{"aula": FULL}] * 3, start=NINE + 2 * STEP)))
        hands.now = NINE + 4 * STEP + MINUTE
        return await live(rules, address, hands, NINE + 8 * STEP)

    decided = asyncio.run(run())
    after = {(each.slot - NINE) // STEP: each for each in decided}
    if is_kept:
        assert [number for number, each in after.items() if each.firing] == [2, 3, 4]
        assert not any(each.undecided for each in decided)
        assert len(paid_keys(rules)) == len(after) + 2
    else:
        assert [number for number, each in after.items() if each.undecided] == [2, 3, 4, 5]
        assert not any(each.firing for each in decided)
        assert len(paid_keys(rules)) == len(after) + 2 - 4


class Slow(MQTT):
    """A feed that takes its time: longer than a watch waits for one that proves nothing."""

    async def __anext__(self) -> Batch:
        batch = await super().__anext__()
        await asyncio.sleep(0.3)
        return batch


def test_what_a_broker_kept_counts_also_where_it_comes_with_pauses(tmp_path: Path, broker: Mosquitto) -> None:
    rules, address, hands = house(tmp_path), broker.address("wifi"), Hands()

    async def run() -> list[Decided]:
        await live(rules, address, hands, NINE + STEP, as_json(events({"aula": 1})))
        await sent(address, as_json(events(*[{"aula": FULL}] * 5, start=NINE + 2 * STEP)))
        hands.now = NINE + 8 * STEP + 2 * MINUTE
        feed = Slow(address, client="hall", size=FULL // 2)
        found: list[Decided] = []

        def enough(decided: list[Decided]) -> bool:
            found[:] = decided
            return len(decided) >= 6

        await asyncio.wait_for(watched(rules, feed, enough, clock=WALL, now=hands, tick=0.1), LONGEST)
        return found

    assert [bool(each.firing) for each in asyncio.run(run())][:6] == [True] * 5 + [False]


def test_no_slot_ends_while_the_connection_is_dead_and_nobody_has_noticed(tmp_path: Path, broker: Mosquitto) -> None:
    rules, address, hands = house(tmp_path, watch='lateness = "0 seconds"'), broker.address("wifi"), Hands()

    async def run() -> None:
        feed = MQTT(address, client="hall")
        watching = asyncio.ensure_future(watched(rules, feed, clock=WALL, now=hands, tick=0.05))
        await feed.ready()
        await hands.looked_at()
        broker.stop()
        await asyncio.sleep(0.1)  # what was on its way
        await hands.looked_at()
        hands.now = NINE + 8 * STEP
        await hands.looked_at()
        assert feed.connected
        assert paid_keys(rules) == []
        broker.go_on()
        while not paid_keys(rules):
            await asyncio.sleep(0.1)
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching

    asyncio.run(asyncio.wait_for(run(), LONGEST))


def test_a_broker_that_loses_the_session_under_a_running_watch_leaves_slots_undecided(
    tmp_path: Path, broker: Mosquitto
) -> None:
    rules, address, hands = house(tmp_path), broker.address("wifi"), Hands()

    async def run() -> list[Decided]:
        return await live(rules, address, hands, NINE + 8 * STEP, pause=lost)

    async def lost(feed: MQTT) -> None:
        hands.now = NINE + STEP + 2 * MINUTE
        await hands.looked_at()
        broker.kill()
        (broker.folder / "mosquitto.db").unlink(missing_ok=True)
        while feed.link.connected:
            await asyncio.sleep(0.05)
        hands.now = NINE + 2 * STEP + 2 * MINUTE
        broker.start()
        while feed.link.connections < 2:
            await asyncio.sleep(0.05)
        await hands.looked_at()

    decided = asyncio.run(run())
    # Nothing is known of 09:07 to 09:12; what was in force at 09:10 and 09:15 could have been said then.
    assert [(each.slot - NINE) // STEP for each in decided if each.undecided] == [2, 3]
    assert len(decided) > 4


def test_with_heartbeats_time_goes_on_with_them(tmp_path: Path, broker: Mosquitto) -> None:
    rules = house(tmp_path, watch='heartbeat = "status"')
    decided = asyncio.run(live(rules, broker.address("wifi"), Hands(), NINE + STEP))
    assert [(each.slot - NINE) // STEP for each in decided][-1:] == [1]


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
