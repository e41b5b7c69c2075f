"""A topic of an MQTT broker as a feed: each message is acknowledged when its events are stored, and not before."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from paho.mqtt.client import MQTTMessage, topic_matches_sub

from louver.errors import AccessError, LouverError, ParameterError
from louver.parameters import integer
from louver.sense.events import Event, Rejected
from louver.sense.feeds.backoff import Backoff
from louver.sense.feeds.batch import Batch
from louver.sense.feeds.broker import Broker, checked_topic
from louver.sense.feeds.connection import Connection, LostError
from louver.sense.feeds.echo import PREFIX, Echo
from louver.sense.feeds.link import Link
from louver.sense.formats.names import Format, named

if TYPE_CHECKING:
    from types import TracebackType

ONLINE, OFFLINE = b"online", b"offline"
LARGEST_BATCH: Final = 8 << 20  # bytes of messages in one batch
STEADY: Final = 5.0  # a connection that held this long forgives the failures before it


class MQTT:
    """Events of a topic, by MQTT 5 with QoS 1 and a session that the broker keeps while the feed is away.

    At most `inflight` messages are on their way without an acknowledgement; then the broker waits. Messages sent
    with QoS 0 have no such bound, so reading stops while twice as many wait. A connection that is lost is made again,
    with growing pauses, and the broker sends again what was not acknowledged, so a batch may repeat events. If no
    connection at all can be made within `patience` seconds, or the broker refuses, the feed raises.

    `client` names the session: keep it over restarts, and give each watcher its own. The topic
    `louver/status/<client>` says `online` or `offline`; the broker itself says the latter when the feed dies. On
    `louver/echo/<client>` the feed hears itself, and so it knows when everything that waited has come.

    Messages on the topic `heartbeat` are signs of life of the sensors, whatever they say, and no events. They come from
    machines: a controller, a bridge, never from a person.

    Who asks for a batch has taken the one before. `connecting` is awaited before every connection, for whoever keeps
    notes of the session: the connection may find that it is gone.
    """

    def __init__(
        self,
        broker: Broker | str,
        *,
        format: Format | str = "ndjson",  # noqa: A002 it is the word
        client: str = "louver",
        inflight: int = 1000,
        size: int = 1000,
        linger: float = 0.02,
        session: timedelta = timedelta(days=1),
        heartbeat: str | None = None,
        patience: float = 30.0,
        backoff: Backoff | None = None,
        now: Callable[[], int] = lambda: time.time_ns() // 1000,
    ) -> None:
        self._broker = Broker.at(broker) if isinstance(broker, str) else broker
        self._format = named(format) if isinstance(format, str) else format
        if not client or len(client.encode()) > 128 or any(letter in client for letter in "/+#\0"):
            raise ParameterError("The name of a client is 1 to 128 bytes long, without / + or #.")
        self._client = client
        self._inflight = integer("inflight", inflight, 1, 65535)
        self._size = integer("size", size, 1, 1_000_000)
        self._session = integer("the seconds of a session", int(session.total_seconds()), 1, 2**32 - 1)
        self._linger, self._patience, self._now = linger, patience, now
        self._backoff = backoff or Backoff()
        self._status = f"louver/status/{client}"
        self._echo = Echo(client)
        self.heartbeat = None if heartbeat is None else _checked_heartbeat(heartbeat, self._broker.topic)
        self.connecting: Callable[[], Awaitable[None]] = _nothing
        self._connections = self._losses = self._heartbeats = 0
        self._all_kept = True
        self._waiting: deque[tuple[MQTTMessage, Connection | None]] = deque()
        self._wake = asyncio.Event()
        self._connection: Connection | None = None
        self._task: asyncio.Task[None] | None = None
        self._failure: LouverError | None = None
        self._may_tell = True
        self._closed = False

    def __aiter__(self) -> MQTT:
        return self

    async def __anext__(self) -> Batch:
        if self._closed:
            raise StopAsyncIteration
        while not self._has_messages():
            if self._closed:
                raise StopAsyncIteration
            await self._news()
        if len(self._waiting) < self._size and self._linger:
            await asyncio.sleep(self._linger)  # a fuller batch costs one commit instead of many
        return self._batch()

    @property
    def gives(self) -> str:
        """What its messages tell: presence, readings or trips."""
        return self._format.gives

    @property
    def connected(self) -> bool:
        """Whether the broker is there now. While it is not, nothing is known of what happens."""
        return self._connection is not None

    @property
    def link(self) -> Link:
        """The connection as it stands, and what happened to it so far."""
        name = f"{self._broker.address} {self._client}" if self._all_kept else ""
        return Link(self.connected, self._connections, self._losses, name, self._heartbeats, self._echo.heard)

    @property
    def deafness(self) -> str:
        """Why it cannot know whether it has heard everything; empty where it can."""
        if not self._echo.is_refused:
            return ""
        return (
            f"The broker does not let this client read and write {self._echo.topic}, and so it cannot know whether "
            "everything that was sent has come; allow both."
        )

    async def ready(self) -> None:
        """Returns when it is connected and subscribed: what is published from now on will come."""
        while self._connection is None and not self._closed:
            await self._news()

    async def _news(self) -> None:
        """Until something happens: a connection, a message, the end; raises what went wrong."""
        if self._task is None:
            self._task = asyncio.create_task(self._keep_connected())
            self._task.add_done_callback(lambda _: self._wake.set())
        if self._failure is not None:
            raise self._failure
        if self._task.done():
            self._task.result()
        self._wake.clear()
        await self._wake.wait()

    def _has_messages(self) -> bool:
        """Whether the next batch has something in it; an echo before that says that the batches so far were all."""
        while self._waiting and self._waiting[0][0].topic == self._echo.topic:
            message, connection = self._waiting.popleft()
            if connection is not None:  # else it came with QoS 0, and may have overtaken others
                self._echo.came(bytes(message.payload))
                connection.acknowledge([message.mid])
        return bool(self._waiting)

    def _batch(self) -> Batch:
        outcomes: list[Event | Rejected] = []
        packets: list[int] = []
        connection, received, taken = None, self._now(), 0
        for _ in range(self._size):
            if not self._waiting or taken > LARGEST_BATCH:
                break
            message, source = self._waiting[0]
            if source is not None and connection is not None and source is not connection:
                break  # of the next connection, so of the next batch
            if message.topic == self._echo.topic:
                break  # it counts when this batch was taken
            self._waiting.popleft()
            taken += len(message.payload)
            if source is not None:
                connection = source
                packets.append(message.mid)
            outcomes += self._format(bytes(message.payload), received)
        if self._connection is not None and len(self._waiting) <= self._inflight:
            self._connection.resume()

        async def acknowledge() -> None:
            if connection is not None:
                connection.acknowledge(packets)
            await asyncio.sleep(0)  # a store that never waits must not keep the network waiting

        return Batch(outcomes, acknowledge)

    async def _keep_connected(self) -> None:
        started = time.monotonic()
        ever = False
        while not self._closed:
            try:
                await self.connecting()
                self._connection = connection = await self._connected()
                self._connections += 1
                self._wake.set()
                ever, began = True, time.monotonic()
                echoing = asyncio.create_task(self._echo.send(connection))
                try:
                    failure = await asyncio.shield(connection.ended)
                finally:
                    echoing.cancel()
                if failure is not None:
                    raise failure
                if time.monotonic() - began > STEADY:
                    self._backoff.reset()
            except LostError as lost:
                if not ever and time.monotonic() - started > self._patience:
                    return self._fail(lost)
            except LouverError as refused:
                return self._fail(refused)
            self._connection = None
            # What came by the lost connection comes again; a message with QoS 0 does not.
            self._waiting = deque(each for each in self._waiting if each[1] is None)
            await asyncio.sleep(self._backoff.next())
        return None

    async def _connected(self) -> Connection:
        connection = await Connection.open(
            self._broker,
            self._client,
            heard=self._heard,
            inflight=self._inflight,
            session=self._session,
            will=(self._status, OFFLINE) if self._may_tell else None,
        )
        # Counted at once: should this one fail, the next finds the session that it began.
        self._losses += not (connection.resumed and self._all_kept)
        try:
            # Heartbeats are not kept for later: they say that somebody is there now.
            topics = {self._broker.topic: 1} | ({self.heartbeat: 0} if self.heartbeat else {})
            self._echo.is_refused |= not await connection.subscribe(topics, self._echo.topic)
            if self._may_tell:
                await self._tell(connection)
        except BaseException:
            await connection.close()
            raise
        return connection

    async def _tell(self, connection: Connection) -> None:
        """Say that one is there. Who may only read is told so, perhaps with a hang-up, and does not say it again."""
        try:
            await connection.publish(self._status, ONLINE, retain=True)
        except AccessError:
            self._may_tell = False

    def _heard(self, connection: Connection, message: MQTTMessage) -> None:
        if message.topic.startswith(PREFIX) and message.topic != self._echo.topic:  # of another feed
            connection.acknowledge([message.mid] if message.qos else [])
            return
        if message.topic == self.heartbeat:
            self._heartbeats += message.payload.lower() != OFFLINE  # a last will is no sign of life
            if message.qos:
                connection.acknowledge([message.mid])
            return
        if not message.qos and message.topic != self._echo.topic:
            self._all_kept = False  # what is sent with QoS 0 while the feed is away is lost
        self._waiting.append((message, connection if message.qos else None))
        self._wake.set()
        if len(self._waiting) >= 2 * self._inflight:
            connection.pause()

    def _fail(self, error: LouverError) -> None:
        self._failure = error
        self._wake.set()

    async def close(self) -> None:
        """Say goodbye and disconnect; the broker keeps what was not acknowledged for the next time."""
        self._closed = True
        self._wake.set()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        connection, self._connection = self._connection, None
        if connection is not None:
            if self._may_tell:
                with suppress(TimeoutError, LouverError):
                    await asyncio.wait_for(connection.publish(self._status, OFFLINE, retain=True), 2.0)
            await connection.close()

    async def __aenter__(self) -> MQTT:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def _nothing() -> None: ...


def _checked_heartbeat(topic: str, events: str) -> str:
    """The same topic, if it is one alone and no events come by it: those would not be counted, and are of people."""
    if "+" in topic or "#" in topic:
        raise ParameterError("A heartbeat has one topic, without + or #.")
    if topic_matches_sub(events, checked_topic(topic)):
        raise ParameterError(f"The heartbeat {topic!r} is among the topics of events, {events!r}; give it another.")
    return topic
