"""Events into a broker: replays a feed onto a topic, for tests, demonstrations and bridges."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from louver.errors import ParameterError
from louver.sense.events import Event, instant
from louver.sense.feeds.backoff import Backoff
from louver.sense.feeds.batch import Feed
from louver.sense.feeds.broker import Broker
from louver.sense.feeds.connection import Connection, LostError
from louver.sense.formats.compact import pack

if TYPE_CHECKING:
    from types import TracebackType

LARGEST_WINDOW: Final = 1000
EVENTS_A_MESSAGE: Final = 1000


def as_json(events: Sequence[Event]) -> list[bytes]:
    """One JSON object a message, with the field names of `WIFI`, and a value where there is one."""
    made = []
    for event in events:
        record = {"device": event.device, "place": event.place, "time": instant(event.time).isoformat()}
        made.append(json.dumps(record if event.value is None else record | {"value": event.value}).encode())
    return made


def as_lines(events: Sequence[Event]) -> list[bytes]:
    """`device,place,time[,value]` a message, with times in seconds."""
    made = []
    for event in events:
        seconds, micros = divmod(event.time, 1_000_000)
        moment = f"{seconds}.{micros:06}" if micros else str(seconds)
        line = f"{event.device},{event.place},{moment}"
        made.append((line if event.value is None else f"{line},{event.value!r}").encode())
    return made


def as_packed(events: Sequence[Event]) -> list[bytes]:
    """Up to a thousand events a message."""
    return [pack(events[start : start + EVENTS_A_MESSAGE]) for start in range(0, len(events), EVENTS_A_MESSAGE)]


PAYLOADS: Final[dict[str, Callable[[Sequence[Event]], list[bytes]]]] = {
    "ndjson": as_json,
    "compact": as_lines,
    "packed": as_packed,
}


class Publisher:
    """Sends messages with QoS 1 and sends again what a lost connection left open, so a message may come twice."""

    def __init__(
        self, broker: Broker | str, *, client: str = "", patience: float = 30.0, backoff: Backoff | None = None
    ) -> None:
        self._broker = Broker.at(broker) if isinstance(broker, str) else broker
        if "+" in self._broker.topic or "#" in self._broker.topic:
            raise ParameterError("Messages go to one topic, without + or #.")
        self._client, self._patience = client, patience
        self._backoff = backoff or Backoff()
        self._connection: Connection | None = None

    async def send(self, payloads: Iterable[bytes]) -> None:
        """Returns when the broker has acknowledged every one."""
        left = deque(payloads)
        while left:
            connection = await self._connected()
            open_: deque[tuple[bytes, asyncio.Future[None]]] = deque()
            try:
                while left or open_:
                    while left and len(open_) < min(connection.window, LARGEST_WINDOW):
                        payload = left.popleft()
                        open_.append((payload, connection.publish(self._broker.topic, payload)))
                    await open_[0][1]
                    open_.popleft()
            except LostError:
                for _, sent in open_:
                    sent.cancel()
                left.extendleft(payload for payload, _ in reversed(open_))

    async def _connected(self) -> Connection:
        if self._connection is not None and not self._connection.ended.done():
            return self._connection
        started = time.monotonic()
        while True:
            try:
                self._connection = await Connection.open(self._broker, self._client)
            except LostError:
                if time.monotonic() - started > self._patience:
                    raise
                await asyncio.sleep(self._backoff.next())
            else:
                self._backoff.reset()
                return self._connection

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def __aenter__(self) -> Publisher:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def publish(feed: Feed, broker: Broker | str, *, payload: str = "ndjson", client: str = "") -> int:
    """Send every event of a feed to a topic, at the feed's own speed; the number of events.

    `payload` is ndjson, compact (a line of text an event) or packed (up to a thousand events a message).
    """
    if payload not in PAYLOADS:
        raise ParameterError(f"A payload is one of {', '.join(PAYLOADS)}, not {payload[:40]!r}.")
    made = PAYLOADS[payload]
    count = 0
    async with Publisher(broker, client=client) as publisher:
        async for batch in feed:
            await publisher.send(made(batch.events))
            await batch.done()
            count += len(batch.events)
    return count
