"""One connection to a broker, from CONNECT to its end, driven by the event loop.

A lost connection is never mended: the next one is a new object. So an acknowledgement can only reach the connection
that its message came by, and what was not acknowledged is sent again by the broker.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTMessage, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from louver.errors import AccessError, DataError
from louver.sense.feeds.broker import Broker
from louver.sense.formats.limits import LARGEST_MESSAGE

KEEP_ALIVE: Final = 15  # a connection that died is noticed within twice this, well within the usual lateness
ANSWER: Final = 10.0  # seconds that a broker may take for its answer
LARGEST_PACKET: Final = 4 * LARGEST_MESSAGE  # what is larger the broker keeps to itself
BURST: Final = 200  # packets that are read before others get their turn

# What no waiting mends: protocol, identifier, name or password, permission, banned.
_REFUSALS: Final = frozenset({132, 133, 134, 135, 138, 140})
_TAKEN_OVER: Final = 142


class LostError(DataError):
    """The connection ended, or none could be made; trying again may help."""


class Connection:
    """Opened with `await Connection.open(...)`; `ended` is done when it is over."""

    def __init__(self, broker: Broker, client: str, heard: Callable[[Connection, MQTTMessage], None] | None) -> None:
        self._broker = broker
        self._loop = asyncio.get_running_loop()
        self._mqtt = Client(CallbackAPIVersion.VERSION2, client, protocol=MQTTv5, manual_ack=True)
        self._mqtt.max_inflight_messages = 0  # the window is ours, because the broker says how large it may be
        self._heard = heard
        self._read = 0
        self._paused = False
        self._sock: Any = None
        self._timer: asyncio.TimerHandle | None = None
        self._accepted: asyncio.Future[int] = self._loop.create_future()
        self._sent: dict[int, asyncio.Future[None]] = {}
        self._granted: asyncio.Future[list[bool]] = self._loop.create_future()
        self.ended: asyncio.Future[AccessError | None] = self._loop.create_future()
        self.window = 20
        self.resumed = False  # whether the broker had kept the session

    @classmethod
    async def open(
        cls,
        broker: Broker,
        client: str,
        *,
        heard: Callable[[Connection, MQTTMessage], None] | None = None,
        inflight: int = 1000,
        session: int = 0,
        will: tuple[str, bytes] | None = None,
    ) -> Connection:
        """Connected and accepted, or `AccessError` where the broker refuses, or `LostError`.

        `session` is for how many seconds the broker keeps what was not acknowledged, 0 for a fresh start.
        """
        self = cls(broker, client, heard)
        mqtt = self._mqtt
        context = broker.context()
        if context is not None:
            mqtt.tls_set_context(context)
        if broker.user is not None or broker.password is not None:
            mqtt.username_pw_set(broker.user or "", broker.password)
        if will is not None:
            mqtt.will_set(will[0], will[1], qos=1, retain=True)
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        properties.SessionExpiryInterval = session
        properties.ReceiveMaximum = inflight
        properties.MaximumPacketSize = LARGEST_PACKET
        try:
            # Blocking, with the socket still unknown to the loop: nothing is read before it is watched.
            await asyncio.to_thread(
                mqtt.connect, broker.host, broker.port, KEEP_ALIVE, clean_start=not session, properties=properties
            )
        except ssl.SSLCertVerificationError:
            raise AccessError(
                f"The certificate of {broker.host} is not signed by a known authority or is for another host; "
                "name its authority."
            ) from None
        except ssl.SSLError:
            raise AccessError(
                f"{broker.host}:{broker.port} does not agree on TLS; check the port and the certificates."
            ) from None
        except (OSError, ValueError):
            raise LostError(f"No broker answers at {broker.host}:{broker.port}.") from None
        if mqtt.socket() is None:  # the other side hung up before the first word was out
            raise LostError(f"The broker at {broker.host}:{broker.port} hangs up; it may want a certificate.")
        self._watch()
        try:
            self.window = await asyncio.wait_for(self._accepted, ANSWER)
        except TimeoutError:
            self._close()
            raise LostError(f"The broker at {broker.host}:{broker.port} does not answer.") from None
        except BaseException:
            self._close()
            raise
        return self

    async def subscribe(self, topics: Mapping[str, int], own: str) -> bool:
        """Everything on these topics from now on, each with its QoS at most; one's own messages on the last one alone.

        Retained ones, which are old, are left out. Says whether the broker lets one read one's own.
        """
        never = SubscribeOptions.RETAIN_DO_NOT_SEND
        self._mqtt.subscribe(
            [
                *((topic, SubscribeOptions(qos, noLocal=True, retainHandling=never)) for topic, qos in topics.items()),
                (own, SubscribeOptions(1, retainHandling=never)),
            ]
        )
        try:
            *granted, is_own_granted = await asyncio.wait_for(self._granted, ANSWER)
        except TimeoutError:
            raise LostError("The broker does not answer.") from None
        if not all(granted):
            raise AccessError("The broker does not let this client read the topic.")
        return is_own_granted

    def acknowledge(self, packets: Iterable[int]) -> None:
        """Tell the broker that these are stored; over a connection that ended nothing is told."""
        for packet in packets:
            if self.ended.done():
                return
            self._mqtt.ack(packet, 1)
        self._mqtt.loop_write()  # at once, as far as the network takes it

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> asyncio.Future[None]:
        """Send with QoS 1. The future is done when the broker has it, and fails if the connection ends before."""
        sent = self._loop.create_future()
        if self.ended.done():
            sent.set_exception(LostError("The connection to the broker ended."))
        else:
            self._sent[self._mqtt.publish(topic, payload, qos=1, retain=retain).mid] = sent
        return sent

    def pause(self) -> None:
        """Read no more; the broker and then the network hold back what comes."""
        if not self._paused and self._sock is not None:
            self._paused = True
            self._loop.remove_reader(self._sock)

    def resume(self) -> None:
        if self._paused and self._sock is not None:
            self._paused = False
            self._loop.add_reader(self._sock, self._readable)
            self._readable()  # TLS may hold bytes that the socket no longer shows

    async def close(self) -> None:
        """Take leave, so that the last will is not sent."""
        if not self.ended.done():
            self._mqtt.disconnect()
            for _ in range(100):
                if self.ended.done():
                    break
                await asyncio.sleep(0.01)
        self._close()

    def _watch(self) -> None:
        mqtt = self._mqtt
        mqtt.on_connect = self._on_connect
        mqtt.on_disconnect = self._on_disconnect
        mqtt.on_message = self._on_message
        mqtt.on_subscribe = self._on_subscribe
        mqtt.on_publish = self._on_publish
        mqtt.on_socket_close = self._on_socket_close
        mqtt.on_socket_register_write = self._on_register_write
        mqtt.on_socket_unregister_write = self._on_unregister_write
        self._sock = mqtt.socket()
        self._loop.add_reader(self._sock, self._readable)
        if mqtt.want_write():
            self._loop.add_writer(self._sock, self._mqtt.loop_write)
        self._tick()

    def _tick(self) -> None:
        self._timer = self._loop.call_later(1.0, self._tick)
        self._mqtt.loop_misc()

    def _readable(self) -> None:
        for _ in range(BURST):
            if self._sock is None or self._paused:
                return
            before = self._read
            self._mqtt.loop_read()
            if self._read == before and not self._pending():
                return
        self._loop.call_soon(self._readable)  # a reader is not called for bytes that TLS already took

    def _pending(self) -> bool:
        return self._sock is not None and isinstance(self._sock, ssl.SSLSocket) and self._sock.pending() > 0

    def _close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        sock = self._sock
        if sock is not None:
            self._on_socket_close()
            sock.close()
        self._end(None)

    def _end(self, why: AccessError | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if not self.ended.done():
            self.ended.set_result(why)
        lost = why or LostError("The connection to the broker ended.")
        all_waiting: list[asyncio.Future[Any]] = [self._accepted, self._granted, *self._sent.values()]
        for waiting in all_waiting:
            if not waiting.done():
                waiting.set_exception(lost)
                waiting.exception()  # whoever waits gets it; nobody may
        self._sent.clear()

    def _on_connect(
        self, _client: Client, _data: Any, flags: ConnectFlags, reason: ReasonCode, properties: Properties | None
    ) -> None:
        if reason.is_failure:
            if reason.value in _REFUSALS:
                self._end(
                    AccessError(
                        f"The broker at {self._broker.host}:{self._broker.port} refuses this client "
                        f"({reason.getName().lower()}); check the user name, the password and what they may do."
                    )
                )
            else:
                self._end(None)
            return
        if not self._accepted.done():
            self.resumed = flags.session_present
            self._accepted.set_result(getattr(properties, "ReceiveMaximum", 65535))

    def _on_disconnect(
        self, _client: Client, _data: Any, _flags: DisconnectFlags, reason: ReasonCode, _properties: Any
    ) -> None:
        if reason.value == _TAKEN_OVER:
            self._end(AccessError("Another client with the same name connected; give each watcher its own."))
        else:
            self._end(None)

    def _on_message(self, _client: Client, _data: Any, message: MQTTMessage) -> None:
        self._read += 1
        if self._heard is not None:
            self._heard(self, message)

    def _on_subscribe(
        self, _client: Client, _data: Any, _mid: int, reasons: list[ReasonCode], _properties: Any
    ) -> None:
        if not self._granted.done():
            self._granted.set_result([not reason.is_failure for reason in reasons])

    def _on_publish(self, _client: Client, _data: Any, packet: int, reason: ReasonCode, _properties: Any) -> None:
        self._read += 1
        sent = self._sent.pop(packet, None)
        if sent is None or sent.done():
            return
        if reason.is_failure:
            sent.set_exception(AccessError("The broker does not let this client write to the topic."))
        else:
            sent.set_result(None)

    def _on_socket_close(self, *_: Any) -> None:
        if self._sock is not None:
            self._loop.remove_reader(self._sock)
            self._loop.remove_writer(self._sock)
            self._sock = None

    def _on_register_write(self, *_: Any) -> None:
        if self._sock is not None:
            self._loop.add_writer(self._sock, self._mqtt.loop_write)

    def _on_unregister_write(self, *_: Any) -> None:
        if self._sock is not None:
            self._loop.remove_writer(self._sock)
