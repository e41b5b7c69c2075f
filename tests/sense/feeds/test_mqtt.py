"""A real broker: what is delivered, held back, delivered again, and never lost."""

from __future__ import annotations

import asyncio
import itertools
import math
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeVar

import pytest

from louver.errors import AccessError, DataError, ParameterError
from louver.sense.events import Event, Rejected, Tally
from louver.sense.feeds import MQTT, Broker, Publisher, Replay, publish
from louver.sense.feeds.backoff import Backoff
from louver.sense.feeds.batch import Batch
from louver.sense.feeds.connection import Connection, LostError
from louver.sense.feeds.publishing import as_json, as_lines, as_packed
from louver.sense.formats import NDJSON, Compact, Fields
from tests.sense.feeds.broker import Mosquitto
from tests.sense.feeds.certificates import Authority
from tests.sense.formats.malformed import malformed

Found = TypeVar("Found")
NINE = 1_772_442_000_000_000
numbers = itertools.count()


def some(count: int, start: int = 0) -> list[Event]:
    return [Event(f"d{number}", "ap", NINE + number * 1_000_000) for number in range(start, start + count)]


def quick() -> Backoff:
    return Backoff(first=0.05, longest=0.2)


@pytest.fixture
def topic() -> str:
    """One that no other test has used."""
    return f"t{next(numbers)}"


@asynccontextmanager
async def listening(address: str, topic: str, **options: object) -> AsyncIterator[MQTT]:
    """A feed that has subscribed, so that nothing is published too early."""
    settings: dict[str, object] = {"format": "compact", "client": f"client-{topic}", "backoff": quick()} | options
    async with MQTT(address, **settings) as feed:  # type: ignore[arg-type]
        await within(feed.ready())
        yield feed


async def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    for _ in range(int(seconds * 100)):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("It did not happen.")


async def taken(feed: MQTT, count: int, *, done: bool = True, faults: Tally | None = None) -> list[Event]:
    """The next events, at least so many; faults count too where a tally is given."""
    found: list[Event] = []
    while len(found) + (faults.total if faults is not None else 0) < count:
        batch = await within(anext(feed))
        found += batch.events
        for kind in batch.faults if faults is not None else ():
            assert faults is not None
            faults.add(kind, batch.faults[kind])
        if done:
            await batch.done()
    return found


async def within(waiting: Awaitable[Found], seconds: float = 20) -> Found:
    return await asyncio.wait_for(waiting, seconds)


async def nothing_more(feed: MQTT) -> bool:
    try:
        batch = await asyncio.wait_for(anext(feed), 0.5)
    except TimeoutError:
        return True
    return not batch.events and not batch.faults.total


@pytest.mark.parametrize(("payload", "reader"), [(as_json, "ndjson"), (as_lines, "compact"), (as_packed, "compact")])
def test_what_is_published_arrives(mosquitto: Mosquitto, topic: str, payload: object, reader: str) -> None:
    events = some(500)

    async def run() -> list[Event]:
        async with (
            listening(mosquitto.address(f"{topic}/#"), topic, format=reader) as feed,
            Publisher(mosquitto.address(f"{topic}/a")) as publisher,
        ):
            await publisher.send(payload(events))  # type: ignore[operator]
            return await taken(feed, 500)

    assert asyncio.run(run()) == events


def test_a_file_is_replayed_into_a_broker(mosquitto: Mosquitto, topic: str, tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text("device,place,time\n" + "".join(f"{e.device},{e.place},{e.time}\n" for e in some(50)))

    async def run() -> list[Event]:
        async with listening(mosquitto.address(topic), topic, format="ndjson") as feed:
            replay = Replay(path, fields=Fields(clock="us"), speed=1000)
            assert await publish(replay, mosquitto.address(topic)) == 50
            return await taken(feed, 50)

    assert asyncio.run(run()) == some(50)
    with pytest.raises(ParameterError, match="A payload is one of"):
        asyncio.run(publish(Replay(path), mosquitto.address(topic), payload="xml"))


def test_nothing_is_acknowledged_before_it_is_done(mosquitto: Mosquitto, topic: str) -> None:
    """The first feed takes everything and stores nothing, so the second gets everything."""

    async def run() -> tuple[list[Event], list[Event]]:
        address = mosquitto.address(topic)
        async with listening(address, topic) as feed, Publisher(address) as publisher:
            await publisher.send(as_lines(some(100)))
            first = await taken(feed, 100, done=False)
        async with listening(address, topic) as feed:
            return first, await taken(feed, 100)

    first, second = asyncio.run(run())
    assert first == second == some(100)


def test_what_was_done_does_not_come_again(mosquitto: Mosquitto, topic: str) -> None:
    async def run() -> None:
        address = mosquitto.address(topic)
        async with listening(address, topic, size=10) as feed, Publisher(address) as publisher:
            await publisher.send(as_lines(some(30)))
            stored = await taken(feed, 10)
            await taken(feed, 10, done=False)
            assert stored == some(10)
        async with listening(address, topic) as feed:
            assert await taken(feed, 20) == some(20, 10)
            assert await nothing_more(feed)

    asyncio.run(run())


def test_a_slow_store_holds_the_broker_back(mosquitto: Mosquitto, topic: str) -> None:
    async def run() -> None:
        address = mosquitto.address(topic)
        async with listening(address, topic, inflight=10, size=10) as feed, Publisher(address) as publisher:
            await publisher.send(as_lines(some(100)))
            batches: list[Batch] = []
            with suppress(TimeoutError):
                while True:
                    batches.append(await within(anext(feed), 0.5))
            found = [event for batch in batches for event in batch.events]
            assert 8 <= len(found) <= 20  # one's own are on their way too, and Mosquitto sends ten more for one of them
            for batch in batches:
                await batch.done()
            assert len(found + await taken(feed, 100 - len(found))) == 100

    asyncio.run(run())


def test_messages_without_qos_are_held_back_by_the_network(mosquitto: Mosquitto, topic: str) -> None:
    async def run() -> None:
        address = mosquitto.address(topic)
        async with listening(address, topic, inflight=10, size=5) as feed:
            sender = await Connection.open(Broker.at(address), "")
            for event in some(2000):
                sender._mqtt.publish(topic, as_lines([event])[0], qos=0)
            await asyncio.sleep(0.5)
            assert len(feed._waiting) <= 20
            assert len(await taken(feed, 100)) >= 100
            assert len(feed._waiting) <= 20
            await sender.close()

    asyncio.run(run())


def test_ten_thousand_malformed_messages_are_counted_and_nothing_stops(mosquitto: Mosquitto, topic: str) -> None:
    bad = [(message, fault) for message, fault in malformed(10_000, seed=5) if len(message) < 100_000]
    good = some(100)

    async def run() -> tuple[Tally, list[Event]]:
        address = mosquitto.address(topic)
        faults = Tally()
        async with (
            listening(address, topic, format=NDJSON()) as feed,
            Publisher(address) as publisher,
        ):
            everything = publisher.send([*(message for message, _ in bad), *as_json(good)])
            found, _ = await asyncio.gather(taken(feed, len(bad) + 100, faults=faults), everything)
        return faults, found

    faults, found = asyncio.run(run())
    assert found == good
    assert Counter(faults.to_dict()) == Counter(fault for _, fault in bad)
    assert faults.total > 9500


CONSUMER = """
import asyncio, os, sys
from louver.sense.feeds import MQTT

async def main(address, client, stored):
    async with MQTT(address, format="compact", client=client, size=20) as feed:
        acknowledged = 0
        async for batch in feed:
            with open(stored, "a") as file:
                file.writelines(f"{event.device}\\n" for event in batch.events)
                file.flush()
                os.fsync(file.fileno())
            if acknowledged >= 60:
                print(acknowledged, flush=True)
                await asyncio.sleep(60)  # stored, and not acknowledged
            await batch.done()
            acknowledged += len(batch.events)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
def consumers() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", CONSUMER, *arguments]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def test_a_consumer_that_is_killed_gets_again_what_it_had_not_acknowledged(
    mosquitto: Mosquitto, topic: str, tmp_path: Path, consumers: Callable[..., subprocess.Popen[str]]
) -> None:
    stored = tmp_path / "stored"
    client = f"client-{topic}"
    address = mosquitto.address(topic)

    async def run() -> None:
        async with listening(address, topic):
            pass  # the session exists from now on
        async with Publisher(address) as publisher:
            await publisher.send(as_lines(some(200)))
        process = consumers(address, client, str(stored))
        assert process.stdout is not None
        acknowledged = int(await asyncio.to_thread(process.stdout.readline))
        process.kill()
        process.wait()
        will = await status_of(mosquitto, client)
        async with listening(address, topic) as feed:
            assert await taken(feed, 200 - acknowledged) == some(200 - acknowledged, acknowledged)
        kept = stored.read_text().split()
        assert kept[:acknowledged] == [event.device for event in some(acknowledged)]
        assert len(kept) > acknowledged  # what was stored and not acknowledged came twice
        assert will == b"offline"

    asyncio.run(run())


async def status_of(mosquitto: Mosquitto, client: str) -> bytes:
    """The retained status of a client, once it has settled."""
    from paho.mqtt.subscribeoptions import SubscribeOptions

    heard: list[bytes] = []
    watcher = await Connection.open(
        Broker.at(mosquitto.address("x")), "", heard=lambda _, message: heard.append(bytes(message.payload))
    )
    watcher._mqtt.subscribe(f"louver/status/{client}", options=SubscribeOptions(qos=1))
    await until(lambda: bool(heard))
    await asyncio.sleep(0.3)
    await watcher.close()
    return heard[-1]


def test_a_feed_says_when_it_is_there_and_when_it_leaves(mosquitto: Mosquitto, topic: str) -> None:
    async def run() -> tuple[bytes, bytes]:
        async with listening(mosquitto.address(topic), topic):
            there = await status_of(mosquitto, f"client-{topic}")
        return there, await status_of(mosquitto, f"client-{topic}")

    assert asyncio.run(run()) == (b"online", b"offline")


def test_a_broker_that_is_killed_is_found_again_and_nothing_acknowledged_is_lost(topic: str) -> None:
    broker = Mosquitto()
    address = broker.address(topic)

    async def run() -> None:
        publisher = Publisher(address, backoff=quick())
        async with listening(address, topic, size=50) as feed:
            await publisher.send(as_lines(some(100)))
            stored = await taken(feed, 50)
            held = await within(anext(feed))
            broker.saved()
            broker.kill()
            await until(lambda: feed._connection is None)
            sending = asyncio.ensure_future(publisher.send(as_lines(some(100, 100))))
            await asyncio.sleep(0.3)
            assert not sending.done()
            broker.start()
            await within(sending)
            again: list[Event] = []
            while {*stored, *again} != {*some(200)}:
                again += await taken(feed, 1)
            assert {*held.events} <= {*again}
        await publisher.close()

    try:
        asyncio.run(run())
    finally:
        broker.remove()


def test_an_acknowledgement_by_a_lost_connection_does_not_count_for_the_next(topic: str) -> None:
    """The broker may have given the number of the old message to a new one that is not stored."""
    broker = Mosquitto()
    address = broker.address(topic)

    async def run() -> None:
        async with listening(address, topic) as feed, Publisher(address) as publisher:
            await publisher.send(as_lines(some(50)))
            held = await within(anext(feed))
            await publisher.close()
            broker.saved()
            broker.kill()
            broker.start()
            assert {*await taken(feed, 50, done=False)} == {*some(50)}
            await held.done()
            await asyncio.sleep(0.2)
        async with listening(address, topic) as feed:
            assert {*await taken(feed, 50)} == {*some(50)}

    try:
        asyncio.run(run())
    finally:
        broker.remove()


def test_no_broker_is_an_error_after_some_patience() -> None:
    async def run() -> None:
        async with MQTT("mqtt://127.0.0.1:1/x", patience=0.2, backoff=quick()) as feed:
            await within(anext(feed))

    with pytest.raises(DataError, match=r"No broker answers at 127\.0\.0\.1:1"):
        asyncio.run(run())


def test_a_silent_broker_is_an_error_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("louver.sense.feeds.connection.ANSWER", 0.2)

    async def run(port: int) -> None:
        with pytest.raises(LostError, match="does not answer"):
            await Connection.open(Broker.at(f"mqtt://127.0.0.1:{port}/x", environment={}), "")

    with socket.create_server(("127.0.0.1", 0)) as silent:
        asyncio.run(run(silent.getsockname()[1]))


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    """A broker that wants a name and a password: ann may do everything, bob may only read."""
    folder = tmp_path_factory.mktemp("guarded")
    passwords, access = folder / "passwords", folder / "access"
    for option, person in (("-c", "ann"), ("-b", "bob"), ("-b", "eva")):
        options = [option, "-b"] if option == "-c" else [option]
        subprocess.run(["mosquitto_passwd", *options, str(passwords), person, "opensesame"], check=True)
    access.write_text(
        "user ann\ntopic readwrite #\nuser bob\ntopic read t/#\nuser eva\ntopic read t/+\n"
        "topic readwrite louver/echo/client-eva\ntopic write louver/status/client-eva\n"
    )
    broker = Mosquitto(f"allow_anonymous false\npassword_file {passwords}\nacl_file {access}")
    yield broker
    broker.remove()


def at(broker: Mosquitto, topic: str, user: str, password: str) -> Broker:
    return Broker.at(broker.address(topic), environment={"LOUVER_MQTT_USER": user, "LOUVER_MQTT_PASSWORD": password})


@pytest.mark.parametrize(("user", "password"), [("ann", "sesameopen"), ("eve", "opensesame")])
def test_a_wrong_password_is_refused_at_once_and_not_shown(guarded: Mosquitto, user: str, password: str) -> None:
    async def run() -> None:
        async with MQTT(at(guarded, "t/a", user, password), patience=60) as feed:
            await within(anext(feed))

    with pytest.raises(AccessError, match="refuses this client") as refused:
        asyncio.run(run())
    assert password not in str(refused.value)


def test_who_may_only_read_reads_without_a_status(guarded: Mosquitto) -> None:
    async def run() -> list[Event]:
        async with (
            listening(at(guarded, "t/a", "bob", "opensesame"), "reader") as feed,  # type: ignore[arg-type]
            Publisher(at(guarded, "t/a", "ann", "opensesame")) as publisher,
        ):
            await publisher.send(as_lines(some(3)))
            found = await taken(feed, 3)
            await until(lambda: "read and write louver/echo/client-reader" in feed.deafness)
            return found

    assert asyncio.run(run()) == some(3)


def test_who_may_read_the_topic_and_its_own_echo_hears_itself(guarded: Mosquitto) -> None:
    async def run() -> str:
        async with listening(at(guarded, "t/a", "eva", "opensesame"), "eva") as feed:  # type: ignore[arg-type]
            assert await nothing_more(feed)
            assert (feed.link.heard or 0) > 0
            return feed.deafness

    assert asyncio.run(run()) == ""


def test_who_may_not_write_is_told(guarded: Mosquitto) -> None:
    async def run() -> None:
        async with Publisher(at(guarded, "t/a", "bob", "opensesame")) as publisher:
            await within(publisher.send([b"x"]))

    with pytest.raises(AccessError, match="does not let this client write"):
        asyncio.run(run())


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def locked(authority: Authority) -> Iterator[Mosquitto]:
    """A broker behind TLS that lets in who has a certificate of the authority."""
    certificate, key = authority.certify("broker")
    broker = Mosquitto(
        f"cafile {authority.ca}\ncertfile {certificate}\nkeyfile {key}\nrequire_certificate true\nallow_anonymous true"
    )
    yield broker
    broker.remove()


def test_tls_with_certificates_on_both_sides_works(locked: Mosquitto, authority: Authority) -> None:
    certificate, key = authority.certify("watcher")
    broker = Broker.at(locked.address("a", tls=True), ca=authority.ca, certificate=certificate, key=key, environment={})

    async def run() -> list[Event]:
        async with (
            listening(broker, "tls") as feed,  # type: ignore[arg-type]
            Publisher(broker) as publisher,
        ):
            await publisher.send(as_lines(some(3000)) + as_packed(some(5000)))
            return await taken(feed, 8000)

    assert asyncio.run(run()) == some(3000) + some(5000)


def test_a_broker_of_another_authority_is_refused_at_once(locked: Mosquitto, tmp_path: Path) -> None:
    other = Authority(tmp_path / "other")

    async def run() -> None:
        broker = Broker.at(locked.address("a", tls=True), ca=other.ca, environment={})
        async with MQTT(broker, patience=60) as feed:
            await within(anext(feed))

    with pytest.raises(AccessError, match="not signed by a known authority"):
        asyncio.run(run())


def test_a_client_without_a_certificate_gets_no_events(locked: Mosquitto, authority: Authority) -> None:
    async def run() -> None:
        broker = Broker.at(locked.address("a", tls=True), ca=authority.ca, environment={})
        async with MQTT(broker, patience=0.5, backoff=quick()) as feed:
            await within(anext(feed))

    with pytest.raises((AccessError, DataError)):
        asyncio.run(run())


def test_plain_words_to_a_tls_port_are_no_connection(locked: Mosquitto) -> None:
    async def run() -> None:
        async with MQTT(locked.address("a"), patience=0.2, backoff=quick()) as feed:
            await within(anext(feed))

    with pytest.raises(DataError):
        asyncio.run(run())


def test_a_watcher_whose_session_another_took_is_told() -> None:
    """Mosquitto 2.0 only hangs up; other brokers say why, as this one does."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1000)
        writer.write(b"\x20\x03\x00\x00\x00" + b"\xe0\x01\x8e")  # accepted, and then session taken over
        await writer.drain()
        await reader.read(1000)
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with MQTT(Broker.at(f"mqtt://127.0.0.1:{port}/x", environment={})) as feed:
            with pytest.raises(AccessError, match="Another client with the same name"):
                await within(anext(feed))
        server.close()
        await server.wait_closed()

    asyncio.run(run())


def test_a_closed_feed_ends(mosquitto: Mosquitto, topic: str) -> None:
    async def run() -> None:
        async with listening(mosquitto.address(topic), topic) as feed:
            pass
        with pytest.raises(StopAsyncIteration):
            await anext(feed)

    asyncio.run(run())


@pytest.mark.parametrize("client", ["", "a/b", "a#", "x" * 200])
def test_a_name_that_a_topic_cannot_hold_is_refused(client: str) -> None:
    with pytest.raises(ParameterError, match="name of a client"):
        MQTT("mqtt://127.0.0.1/a", client=client)


def test_messages_go_to_one_topic() -> None:
    with pytest.raises(ParameterError, match="one topic"):
        Publisher("mqtt://127.0.0.1/a/#")


def test_what_is_published_can_be_read_again() -> None:
    events = [*some(3), Event("d", "ap", NINE + 1, 2.5)]
    assert [NDJSON()(message)[0] for message in as_json(events[:3])] == events[:3]
    assert [Compact()(message)[0] for message in as_lines(events)] == events
    assert not any(isinstance(each, Rejected) for each in Compact()(as_packed(events[:3])[0]))
    assert Batch([]).events == []


def test_a_session_that_the_broker_kept_lost_nothing_and_another_one_did(mosquitto: Mosquitto, topic: str) -> None:
    async def run() -> list[int]:
        address, losses = mosquitto.address(topic), []
        for name in (topic, topic, f"{topic}-other"):
            async with listening(address, name) as feed:
                losses.append(feed.link.losses)
        return losses

    assert asyncio.run(run()) == [1, 0, 1]


def test_a_session_that_another_deleted_while_the_feed_was_away_is_a_loss(mosquitto: Mosquitto, topic: str) -> None:
    async def run() -> int:
        address = mosquitto.address(topic)
        async with listening(address, topic):
            pass
        # A clean start under the same name: the broker forgets what it kept.
        await (await Connection.open(Broker.at(address), f"client-{topic}", session=0)).close()
        async with listening(address, topic) as feed:
            return feed.link.losses

    assert asyncio.run(run()) == 1


def test_a_broker_that_forgot_the_session_is_a_loss_and_one_that_kept_it_is_none(topic: str) -> None:
    broker = Mosquitto()

    async def run() -> None:
        async with listening(broker.address(topic), topic) as feed:
            assert feed.link[:3] == (True, 1, 1)
            broker.saved()
            broker.kill()
            await until(lambda: not feed.link.connected)
            broker.start()
            await within(feed.ready())
            assert feed.link[:3] == (True, 2, 1)
            broker.kill()
            (broker.folder / "mosquitto.db").unlink()
            await until(lambda: not feed.link.connected)
            broker.start()
            await within(feed.ready())
            assert feed.link[:3] == (True, 3, 2)

    try:
        asyncio.run(run())
    finally:
        broker.remove()


def test_a_feed_whose_messages_come_without_qos_is_kept_nothing_for(mosquitto: Mosquitto, topic: str) -> None:
    async def run() -> None:
        address = mosquitto.address(topic)
        async with listening(address, topic) as feed:
            assert feed.link.session
            sender = await Connection.open(Broker.at(address), "")
            sender._mqtt.publish(topic, as_lines(some(1))[0], qos=0)
            await taken(feed, 1)
            await sender.close()
            assert feed.link.session == ""

    asyncio.run(run())


def test_heartbeats_are_counted_and_are_no_events(mosquitto: Mosquitto, topic: str) -> None:
    async def run() -> tuple[int, list[Event], int]:
        heartbeat = f"{topic}/status"
        async with (
            listening(mosquitto.address(f"{topic}/+/events"), topic, heartbeat=heartbeat) as feed,
            Publisher(mosquitto.address(heartbeat)) as controller,
            Publisher(mosquitto.address(f"{topic}/a/events")) as sensor,
        ):
            await controller.send([b"", b"anything", b"offline"])
            await sensor.send(as_lines(some(3)))
            faults = Tally()
            return len(found := await taken(feed, 3, faults=faults)), found, feed.link.heartbeats + 100 * faults.total

    count, found, heartbeats = asyncio.run(run())
    assert (count, found) == (3, some(3))
    assert heartbeats == 2


def test_heartbeats_that_came_while_the_feed_was_away_do_not_come_later(mosquitto: Mosquitto, topic: str) -> None:
    async def run() -> int:
        address, heartbeat = mosquitto.address(topic), f"{topic}-status"
        async with listening(address, topic, heartbeat=heartbeat):
            pass
        async with Publisher(mosquitto.address(heartbeat)) as controller:
            await controller.send([b"alive"] * 5)
        async with listening(address, topic, heartbeat=heartbeat) as feed:
            assert await nothing_more(feed)
            return feed.link.heartbeats

    assert asyncio.run(run()) == 0


@pytest.mark.parametrize(
    ("events", "heartbeat", "said"),
    [
        ("a", "", "A topic has levels"),
        ("wifi/#", "wifi/#", "one topic, without"),
        ("wifi/#", "status/+", "one topic, without"),
        ("wifi/#", "wifi/status", "is among the topics of events, 'wifi/#'"),
        ("+/events", "status/events", "is among the topics of events"),
        ("wifi", "wifi", "is among the topics of events"),
    ],
)
def test_a_heartbeat_by_which_events_could_come_is_refused(events: str, heartbeat: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        MQTT(f"mqtt://127.0.0.1/{events}", heartbeat=heartbeat)


def test_a_feed_hears_itself_behind_all_that_waited_for_it(mosquitto: Mosquitto, topic: str) -> None:
    async def run() -> None:
        address = mosquitto.address(topic)
        async with listening(address, topic):
            pass
        async with Publisher(address) as publisher:
            await publisher.send(as_lines(some(3000)))
        began, count = time.monotonic(), 0
        async with listening(address, topic, inflight=100, size=100) as feed:
            while count < 3000:
                batch = await within(anext(feed))
                assert feed.link.heard == -math.inf  # also where it is slow to take what comes
                count += len(batch.events)
                await asyncio.sleep(0.05)
                await batch.done()
            assert await nothing_more(feed)
            assert began < (feed.link.heard or 0) < time.monotonic()

    asyncio.run(run())


def test_what_came_before_is_not_proven_as_long_as_its_batch_is_not_taken(mosquitto: Mosquitto, topic: str) -> None:
    async def run() -> None:
        address = mosquitto.address(topic)
        async with listening(address, topic) as feed, Publisher(address) as publisher:
            await publisher.send(as_lines(some(5)))
            sent = time.monotonic()
            batch = await within(anext(feed))
            await asyncio.sleep(2.5)  # an echo has come meanwhile, behind the events
            assert (feed.link.heard or 0) < sent
            await batch.done()
            assert await nothing_more(feed)
            assert (feed.link.heard or 0) >= sent

    asyncio.run(run())


def test_a_feed_of_every_topic_takes_no_echo_for_an_event() -> None:
    broker = Mosquitto()

    async def run() -> None:
        address = broker.address("#").replace("#", "%23")
        faults = 0
        async with listening(address, "one") as feed, listening(address, "two") as other:
            while min(each.link.heard or 0 for each in (feed, other)) < began + 2:
                with suppress(TimeoutError):
                    faults += (await asyncio.wait_for(anext(feed), 0.2)).faults.total
                with suppress(TimeoutError):
                    await asyncio.wait_for(anext(other), 0.2)
        assert faults <= 1  # the status of the other one

    began = time.monotonic()
    try:
        asyncio.run(within(run()))
    finally:
        broker.remove()


def test_before_every_connection_whoever_keeps_notes_is_told(topic: str) -> None:
    broker, told = Mosquitto(), []

    async def run() -> None:
        async def connecting() -> None:
            told.append(feed.link[:2])

        async with MQTT(broker.address(topic), client="one", backoff=quick()) as feed:
            feed.connecting = connecting
            await within(feed.ready())
            broker.kill()
            await until(lambda: not feed.link.connected)
            broker.start()
            await until(lambda: feed.link.connections == 2)

    try:
        asyncio.run(run())
    finally:
        broker.remove()
    assert (told[0], told[-1]) == ((False, 0), (False, 1))
