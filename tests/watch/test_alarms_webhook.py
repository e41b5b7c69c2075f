"""Webhooks against a real server: signed, retried where that helps, never redirected, with one id."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path

import pytest

from louver.errors import AccessError, ParameterError
from louver.watch.alarms import Channel, LaterError, Notice, RefusedError, Webhook, sign, verify
from louver.watch.journal import Journal
from louver.watch.outbox import Outbox
from tests.sense.feeds.certificates import Authority
from tests.watch.alarms_made import Clock, alarm, raise_
from tests.watch.alarms_servers import Hook, hook

SECRET = "correct horse battery staple"  # noqa: S105 it guards nothing
NOTICE = Notice(alarm())


@pytest.fixture
def server() -> Iterator[Hook]:
    with hook() as kept:
        yield kept


def send(sink: Webhook, notice: Notice = NOTICE) -> None:
    asyncio.run(sink.deliver(notice))


def test_the_body_is_the_record_and_the_signature_verifies(server: Hook) -> None:
    send(Webhook(server.url(), SECRET))
    [request] = server.got
    assert request.path == "/alarms?desk=7"
    assert request.headers["Content-Type"] == "application/json"
    assert json.loads(request.body) == NOTICE.to_dict()
    assert request.headers["Idempotency-Key"] == NOTICE.id == f"{NOTICE.alarm.id}-0"
    assert verify(SECRET, request.headers["Louver-Signature"], request.body)


def test_whatever_was_changed_on_the_way_does_not_verify(server: Hook) -> None:
    send(Webhook(server.url(), SECRET))
    [request] = server.got
    header = request.headers["Louver-Signature"]
    seconds = int(header[2:].split(",")[0])
    changed = request.body.replace(b"firing", b"clear.", 1)
    assert changed != request.body
    assert not verify(SECRET, header, changed)
    assert not verify("another secret of that length", header, request.body)
    assert not verify(SECRET, header.replace(f"t={seconds}", f"t={seconds + 1}"), request.body)


def test_an_old_signature_does_not_verify() -> None:
    header = sign(SECRET, b"body", 1_000_000)
    assert verify(SECRET, header, b"body", now=1_000_300)
    assert not verify(SECRET, header, b"body", now=1_000_301)
    assert not verify(SECRET, header, b"body", now=999_699)


@pytest.mark.parametrize(
    "header",
    ["", "t=1", "v1=00", "t=,v1=00", "t=1,t=1,v1=00", "t=-1,v1=00", "t=²,v1=00", f"t={'9' * 40},v1=00", "t=1,v1=\xe4"],
)
def test_a_header_that_is_none_does_not_verify_and_does_not_raise(header: str) -> None:
    assert not verify(SECRET, header, b"body", now=1)


def test_one_of_several_signatures_suffices() -> None:
    """So that a sender may sign with an old and a new secret while receivers change over."""
    good = sign(SECRET, b"body", 1).split(",")[1]
    assert verify(SECRET, f"t=1,v1={'0' * 64},{good},v2=x", b"body", now=1)


@pytest.mark.parametrize("status", [500, 502, 503, 599, 429, 408, 425])
def test_what_may_pass_is_tried_again(server: Hook, status: int) -> None:
    server.answers = [(status, {})]
    with pytest.raises(LaterError, match=f"status {status}") as caught:
        send(Webhook(server.url(), SECRET))
    assert caught.value.after is None


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 422])
def test_what_the_server_refuses_is_not_tried_again(server: Hook, status: int) -> None:
    server.answers = [(status, {})]
    with pytest.raises(RefusedError, match=f"status {status}"):
        send(Webhook(server.url(), SECRET))


@pytest.mark.parametrize("status", [200, 201, 202, 204])
def test_any_success_is_one(server: Hook, status: int) -> None:
    server.answers = [(status, {})]
    send(Webhook(server.url(), SECRET))


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(server: Hook, status: int) -> None:
    server.answers = [(status, {"Location": server.url()})]
    with pytest.raises(RefusedError, match="redirect"):
        send(Webhook(server.url(), SECRET))
    assert len(server.got) == 1


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("120", 120.0),
        ("0", 0.0),
        ("999999", 3600.0),
        ("Thu, 01 Jan 1970 00:00:40 GMT", 30.0),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0),
        ("0" * 12 + "120", 120.0),
        ("9" * 400, 3600.0),
        ("9" * 5000, 3600.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 3600.0),
        ("Mon, 01 Jan 0001 00:00:00 +2359", 3600.0),  # by the rules of mail this is 2001
        ("Fri, 31 Dec 99999 23:59:59 GMT", None),
        ("1 Jan 99999999999999999999 00:00:00 GMT", None),
        ("Fri, 31 Feb 2018 00:00:00 GMT", None),
        ("Thu, 01 Jan 1970 00:00:40 +99999999999999", None),
        ("soon", None),
        ("", None),
        ("-5", None),
        ("1e400", None),
        ("inf", None),
        ("nan", None),
        ("12.5", None),
        ("\xb2", None),
        (",,,", None),
    ],
)
def test_the_server_says_when_to_come_back(server: Hook, written: str, seconds: float | None) -> None:
    server.answers = [(429, {"Retry-After": written})]
    with pytest.raises(LaterError) as caught:
        send(Webhook(server.url(), SECRET, now=lambda: 10.0))
    assert caught.value.after == seconds


def test_nobody_there_means_later() -> None:
    with hook() as server:
        url = server.url()
    with pytest.raises(LaterError, match="cannot be reached"):
        send(Webhook(url, SECRET))


def test_a_connection_that_breaks_off_means_later(server: Hook) -> None:
    server.drop = True
    with pytest.raises(LaterError, match="broke off"):
        send(Webhook(server.url(), SECRET))


def test_a_server_that_never_finishes_means_later(server: Hook) -> None:
    server.hang = threading.Event()
    with pytest.raises(LaterError, match=r"cannot be reached|did not answer"):
        send(Webhook(server.url(), SECRET, patience=0.3))
    server.hang.set()


def test_a_server_that_drips_is_cut_off(server: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte comes in time, the answer as a whole does not; then no thread goes on waiting for it."""
    server.hang = threading.Event()
    sink = Webhook(server.url(), SECRET, patience=0.3)
    connected, post, ended = sink._connection, sink._post, threading.Event()

    def patient() -> HTTPConnection:
        connection = connected()
        connection.timeout = 30
        return connection

    def posted(connection: HTTPConnection, notice: Notice) -> tuple[int, float | None]:
        try:
            return post(connection, notice)
        finally:
            ended.set()

    async def work() -> bool:
        with pytest.raises(LaterError, match="did not answer"):
            await sink.deliver(NOTICE)
        return await asyncio.to_thread(ended.wait, 10)

    monkeypatch.setattr(sink, "_connection", patient)
    monkeypatch.setattr(sink, "_post", posted)
    assert asyncio.run(work())
    server.hang.set()


def test_tls_is_checked(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "ours")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.certify("desk"))
    with hook(context) as server:
        send(Webhook(server.url("https"), SECRET, ca=authority.ca))
        assert len(server.got) == 1
        with pytest.raises(LaterError, match="certificate"):
            send(Webhook(server.url("https"), SECRET))
        with pytest.raises(LaterError, match="certificate"):
            send(Webhook(server.url("https"), SECRET, ca=Authority(tmp_path / "theirs").ca))
        assert len(server.got) == 1
    with pytest.raises(AccessError, match="cannot be read"):
        Webhook("https://desk.example.org", SECRET, ca=tmp_path / "missing")


@pytest.mark.parametrize(
    "address", ["desk.example.org", "ftp://desk", "https://", "https://desk:port/", "https://desk/a b", "https://dösk/"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ParameterError, match="https://host/path"):
        Webhook(address, SECRET)


def test_plain_http_stays_on_this_machine_and_secrets_are_long() -> None:
    with pytest.raises(ParameterError, match="needs https"):
        Webhook("http://desk.example.org/", SECRET)
    with pytest.raises(ParameterError, match="no user and password"):
        Webhook("https://ann:secret@desk.example.org/", SECRET)
    with pytest.raises(ParameterError, match="at least 16"):
        Webhook("https://desk.example.org/", "short")


def test_the_address_is_never_shown(server: Hook) -> None:
    server.answers = [(404, {})]
    with pytest.raises(RefusedError) as caught:
        send(Webhook(f"http://127.0.0.1:{server.port}/token-4711", SECRET))
    assert "4711" not in str(caught.value)


def test_an_outbox_retries_with_one_id_and_signs_anew(server: Hook, tmp_path: Path) -> None:
    server.answers = [(503, {}), (429, {"Retry-After": "60"}), (200, {})]
    clock = Clock(time.time_ns() // 1000)
    with Journal.open(tmp_path / "journal", now=clock) as journal:
        made = raise_(journal, alarm())
        sink = Webhook(server.url(), SECRET, now=lambda: clock.now / 1e6)
        outbox = Outbox(journal, {"desk": Channel("desk", sink)}, say=lambda _: None, now=clock)
        for seconds in (0, 1, 59, 1):
            clock.wait(seconds)
            asyncio.run(outbox.flush())
        assert [sent.outcome for sent in journal.alarms()[0].sent] == ["delivered"]
    assert len(server.got) == 3
    assert {request.headers["Idempotency-Key"] for request in server.got} == {f"{made.id}-0"}
    assert len({request.body for request in server.got}) == 1
    assert len({request.headers["Louver-Signature"] for request in server.got}) == 3
    last = server.got[-1]
    assert verify(SECRET, last.headers["Louver-Signature"], last.body, now=clock.now / 1e6)


def test_a_reminder_has_an_id_of_its_own(server: Hook) -> None:
    sink = Webhook(server.url(), SECRET)
    send(sink, NOTICE)
    send(sink, replace(NOTICE, number=1))
    assert [request.headers["Idempotency-Key"][-2:] for request in server.got] == ["-0", "-1"]
