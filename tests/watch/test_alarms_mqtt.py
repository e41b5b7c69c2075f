"""Alarms into a real broker."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from louver.errors import ParameterError
from louver.sense.feeds.broker import Broker
from louver.sense.feeds.connection import Connection
from louver.watch.alarms import MQTT, LaterError, Notice, RefusedError
from tests.sense.feeds.broker import Mosquitto
from tests.watch.alarms_made import alarm

NOTICE = Notice(alarm(rule="fire limit", key="Hörsaal 1/2 #+"))


@pytest.fixture(scope="module")
def broker() -> Iterator[Mosquitto]:
    made = Mosquitto()
    yield made
    made.remove()


class Listener:
    """Everything below a topic, with whether it was retained."""

    def __init__(self, broker: Mosquitto, topic: str) -> None:
        self.got: list[tuple[str, dict[str, Any], int]] = []
        self._broker = Broker.at(broker.address(f"{topic}/#"))

    async def __aenter__(self) -> Listener:
        self._connection = await Connection.open(self._broker, "", heard=self._heard)
        self._connection._mqtt.subscribe(self._broker.topic, qos=1)  # retained messages too
        await asyncio.wait_for(self._connection._granted, 10)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._connection.close()

    def _heard(self, connection: Connection, message: Any) -> None:
        self.got.append((message.topic, json.loads(message.payload), message.qos))
        connection.acknowledge([message.mid])

    async def until(self, count: int) -> None:
        async with asyncio.timeout(20):
            while len(self.got) < count:
                await asyncio.sleep(0.01)


def test_notices_come_in_order_with_qos_1_over_one_connection(broker: Mosquitto) -> None:
    async def work() -> Listener:
        sink = MQTT(broker.address("plain/alarms"))
        async with Listener(broker, "plain") as listener:
            await sink.deliver(NOTICE)
            first = sink._connection
            await sink.deliver(Notice(alarm("clear")))
            assert sink._connection is first
            await listener.until(2)
            await sink.close()
            return listener

    listener = asyncio.run(work())
    assert listener.got[0] == ("plain/alarms", NOTICE.to_dict(), 1)
    assert [record["state"] for _, record, _ in listener.got] == ["firing", "clear"]


def test_a_notice_is_not_retained(broker: Mosquitto) -> None:
    async def work() -> Listener:
        sink = MQTT(broker.address("gone/alarms"))
        await sink.deliver(NOTICE)
        async with Listener(broker, "gone") as listener:
            await sink.deliver(Notice(alarm("clear")))
            await listener.until(1)
            await sink.close()
            return listener

    assert [record["state"] for _, record, _ in asyncio.run(work()).got] == ["clear"]


def test_who_comes_later_finds_the_newest_state_of_each_key(broker: Mosquitto) -> None:
    async def work() -> Listener:
        sink = MQTT(broker.address("board/states"), retained=True)
        await sink.deliver(NOTICE)
        await sink.deliver(Notice(alarm("firing", key="Cafe")))
        await sink.deliver(Notice(alarm("clear", key="Cafe")))
        await sink.close()
        async with Listener(broker, "board") as listener:
            await listener.until(2)
            return listener

    listener = asyncio.run(work())
    assert {topic: record["state"] for topic, record, _ in listener.got} == {
        "board/states/fire limit/H%C3%B6rsaal 1%2F2 %23%2B": "firing",
        "board/states/fire-limit/Cafe": "clear",
    }


def test_a_broker_that_dies_means_later_and_is_found_again() -> None:
    own = Mosquitto()

    async def work() -> None:
        sink = MQTT(own.address("alarms"), patience=5)
        await sink.deliver(NOTICE)
        own.kill()
        for _ in range(2):
            with pytest.raises(LaterError):
                await sink.deliver(NOTICE)
        own.start()
        await sink.deliver(NOTICE)
        await sink.close()

    try:
        asyncio.run(work())
    finally:
        own.remove()


def test_a_broker_that_refuses_is_not_asked_again() -> None:
    own = Mosquitto("allow_anonymous false")
    try:
        with pytest.raises(RefusedError, match="refuses this client"):
            asyncio.run(MQTT(own.address("alarms")).deliver(NOTICE))
    finally:
        own.remove()


def test_alarms_go_to_one_topic() -> None:
    with pytest.raises(ParameterError, match="one topic"):
        MQTT("mqtt://localhost/alarms/#")
