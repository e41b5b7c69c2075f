"""A stream from one topic of a real broker to another, live: with a session that is lost, and a target that is away."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from louver.sense.events import instant
from louver.sense.feeds import Broker
from louver.sense.feeds.connection import Connection
from louver.sense.feeds.publishing import as_json
from louver.watch.deciding import Decided
from tests.sense.feeds.broker import Mosquitto
from tests.watch.made import NINE, STEP, events, paid_keys
from tests.watch.streamed import ROOMS, streamed
from tests.watch.test_watch_broker import LONGEST, Hands, live, sent

SOON = NINE - STEP + 30_000_000  # counts at nine, and is not of the future when the watch begins


@pytest.fixture
def broker() -> Iterator[Mosquitto]:
    made = Mosquitto()
    yield made
    made.remove()


class Listener:
    """Hears what is published to a topic."""

    def __init__(self, broker: Mosquitto, topic: str) -> None:
        self.heard: list[dict[str, Any]] = []
        self._ready, self._news = threading.Event(), threading.Condition()
        self._client = mqtt.Client(CallbackAPIVersion.VERSION2)
        self._client.on_subscribe = lambda *_: self._ready.set()
        self._client.on_message = self._hear
        self._client.connect("127.0.0.1", broker.port)
        self._client.subscribe(topic, qos=1)
        self._client.loop_start()
        assert self._ready.wait(30)

    def _hear(self, _: object, __: object, message: Any) -> None:
        with self._news:
            self.heard.append(json.loads(message.payload))
            self._news.notify()

    def until(self, tick: str) -> dict[str, list[int | None] | None]:
        """The values by tick, once this one has come; None where it is missing."""
        with self._news:
            assert self._news.wait_for(lambda: any(each["tick"][11:16] == tick for each in self.heard), LONGEST)
        self._client.loop_stop()
        self._client.disconnect()
        return {
            each["tick"][11:16]: None if each.get("missing") else [region["value"] for region in each["regions"]]
            for each in self.heard
        }


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_stream_of_a_broker_goes_to_another_topic_and_says_what_is_missing(
    tmp_path: Path, broker: Mosquitto, is_kept: bool
) -> None:
    """Two runs of a watch: between them the broker keeps what comes, or loses it."""
    rules = streamed(tmp_path, ROOMS.replace('"rooms.csv"', f'"{broker.address("rooms")}"'))
    address, hands, listener = broker.address("wifi"), Hands(), Listener(broker, "rooms")

    async def run() -> list[Decided]:
        await live(rules, address, hands, NINE + STEP, as_json(events({"aula": 2, "lab": 1}, start=SOON)))
        if not is_kept:
            await (await Connection.open(Broker.at(address), "hall", session=0)).close()
        await sent(address, as_json(events(*[{"aula": 5}] * 3, start=NINE + 2 * STEP)))
        hands.now = NINE + 4 * STEP + 60_000_000
        return await live(rules, address, hands, NINE + 8 * STEP)

    decided = asyncio.run(run())
    found = listener.until("09:35")
    unknown = None if not is_kept else [5, 0, 0]
    assert found["09:00"] == [2, 0, 1]
    assert [found[f"09:{minute}"] for minute in (10, 15, 20)] == [unknown] * 3
    assert found["09:35"] == [0, 0, 0]
    unanswered = {f"{instant(each.slot):%H:%M}": bool(each.undecided) for each in decided}
    assert {tick: found[tick] is None for tick in unanswered if tick <= "09:35"} == {
        tick: each for tick, each in unanswered.items() if tick <= "09:35"
    }
    assert len(paid_keys(rules)) == len(set(paid_keys(rules)))


def test_a_target_that_is_away_holds_up_no_rule_and_gets_its_ticks_when_it_is_back(
    tmp_path: Path, broker: Mosquitto, capsys: pytest.CaptureFixture[str]
) -> None:
    away = Mosquitto()
    to = away.address("rooms")
    away.kill()
    rules = streamed(tmp_path, ROOMS.replace('"rooms.csv"', f'"{to}"'))
    address, hands = broker.address("wifi"), Hands()
    try:
        decided = asyncio.run(live(rules, address, hands, NINE + 3 * STEP, as_json(events({"aula": 2}, start=SOON))))
        assert [bool(each.undecided) for each in decided] == [False] * len(decided)
        assert "wait to be sent" in capsys.readouterr().err
        away.start()
        listener = Listener(away, "rooms")
        asyncio.run(live(rules, address, hands, NINE + 4 * STEP))
        found = listener.until("09:15")
        assert found["09:00"] == [2, 0, 0]
        assert list(found)[:4] == ["09:00", "09:05", "09:10", "09:15"]
    finally:
        away.remove()
