"""Alarms into an MQTT broker, with QoS 1: as messages on one topic, or retained as the state of each key."""

from __future__ import annotations

import asyncio
from typing import Final
from urllib.parse import quote

from louver.errors import AccessError, ParameterError
from louver.sense.feeds.broker import Broker
from louver.sense.feeds.connection import Connection, LostError
from louver.watch.alarms.alarm import Notice
from louver.watch.alarms.sink import LaterError, RefusedError

PATIENCE: Final = 10.0


class MQTT:
    """Keeps one connection. With `retained`, the newest record of a key stays at `topic/rule/key` for who comes later.

    In the names of rules and keys what topics give a meaning to (/, + and #) is written as in web addresses.
    """

    def __init__(self, broker: Broker | str, *, retained: bool = False, patience: float = PATIENCE) -> None:
        self._broker = Broker.at(broker) if isinstance(broker, str) else broker
        if "+" in self._broker.topic or "#" in self._broker.topic:
            raise ParameterError("Alarms go to one topic, without + or #.")
        self._retained, self._patience = retained, patience
        self._connection: Connection | None = None

    async def deliver(self, notice: Notice) -> None:
        try:
            async with asyncio.timeout(self._patience):
                connection = await self._connected()
                await connection.publish(self._topic(notice), notice.line(), retain=self._retained)
        except TimeoutError:
            await self.close()
            raise LaterError(f"The broker at {self._broker.host} does not answer.") from None
        except LostError as lost:
            raise LaterError(str(lost)) from None
        except AccessError as refused:
            raise RefusedError(str(refused)) from None

    def _topic(self, notice: Notice) -> str:
        if not self._retained:
            return self._broker.topic
        alarm = notice.alarm
        return f"{self._broker.topic}/{quote(alarm.rule, safe=' ')}/{quote(alarm.key, safe=' ')}"

    async def _connected(self) -> Connection:
        if self._connection is None or self._connection.ended.done():
            self._connection = await Connection.open(self._broker, "")
        return self._connection

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()
