"""E-mail through a real server: encrypted, readable, with one Message-ID, and honest about what was refused."""

from __future__ import annotations

import asyncio
import ssl
import threading
from pathlib import Path
from typing import Any

import pytest

from louver.errors import AccessError, ParameterError
from louver.watch.alarms import LaterError, Mail, Notice, RefusedError, text
from tests.sense.feeds.certificates import Authority
from tests.watch.alarms_made import alarm
from tests.watch.alarms_servers import Office, office

NOTICE = Notice(alarm(key="Hörsaal 1"))
FROM, TO = "louver@example.org", "desk@example.org"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


def context(authority: Authority) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(*authority.certify("mail"))
    return made


def send(server: Office, scheme: str = "smtp", to: tuple[str, ...] = (TO,), **given: Any) -> str | None:
    sink = Mail(f"{scheme}://127.0.0.1:{server.port}", FROM, to, **given)
    return asyncio.run(sink.deliver(NOTICE))


def test_a_mail_says_it_all_in_plain_text() -> None:
    with office() as server:
        assert send(server) is None
    [message] = server.got
    assert message["Subject"] == "FIRING: region Hörsaal 1 is found to cross its limit of 180 devices"
    assert (message["From"], message["To"]) == (FROM, TO)
    assert message.get_content_type() == "text/plain"
    assert message.get_content().replace("\r\n", "\n") == text(NOTICE) + "\n"
    assert message["Auto-Submitted"] == "auto-generated"
    assert server.envelopes[0][1] == [TO]


def test_the_same_notice_has_the_same_message_id() -> None:
    with office() as server:
        send(server)
        send(server)
    assert [message["Message-ID"] for message in server.got] == [f"<{NOTICE.id}@example.org>"] * 2


def test_a_key_cannot_write_headers_or_a_message_of_its_own() -> None:
    evil = alarm(key="Aula\r\nBcc: all@example.org\r\n\r\nBuy this", rule="fire\n.\nQUIT")
    with office() as server:
        sink = Mail(f"smtp://127.0.0.1:{server.port}", FROM, [TO])
        asyncio.run(sink.deliver(Notice(evil)))
        asyncio.run(sink.deliver_many([Notice(evil)] * 12))
    assert len(server.got) == 2
    for message in server.got:
        assert message["Bcc"] is None
        assert "Aula\\r\\nBcc" in message["Subject"]
        assert "\nBuy this" not in message.get_content().replace("\r\n", "\n")
    assert [to for _, to in server.envelopes] == [[TO]] * 2


def test_many_alarms_are_one_mail_with_one_message_id() -> None:
    notices = [Notice(alarm(key=f"Hörsaal {number}")) for number in range(40)]
    with office() as server:
        sink = Mail(f"smtp://127.0.0.1:{server.port}", FROM, [TO])
        for sent in (notices, notices, notices[1:]):
            asyncio.run(sink.deliver_many(sent))
    first, again, fewer = server.got
    assert first["Subject"] == "40 FIRING: region Hörsaal 0, region Hörsaal 1, region Hörsaal 2 and 37 more"
    assert first["Message-ID"] == again["Message-ID"] != fewer["Message-ID"]
    said = first.get_content()
    assert all(f"{each.alarm.id}: FIRING: region {each.alarm.key} is found" in said for each in notices)
    assert said.count("To do:") == said.count("Promise:") == 1


def test_starttls_is_used_and_checked(authority: Authority, tmp_path: Path) -> None:
    with office(starttls=context(authority)) as server:
        send(server, ca=authority.ca)
        assert server.encrypted == [True]
        with pytest.raises(LaterError, match="certificate"):
            send(server, ca=Authority(tmp_path / "theirs").ca)
    assert len(server.got) == 1


def test_tls_from_the_start_is_used_and_checked(authority: Authority) -> None:
    with office(wrapped=context(authority)) as server:
        send(server, "smtps", ca=authority.ca)
        assert server.encrypted == [True]
        with pytest.raises(LaterError, match="certificate"):
            send(server, "smtps")
    assert len(server.got) == 1


def test_another_machine_without_starttls_gets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("louver.watch.alarms.mail.LOCAL", ())
    with office() as server, pytest.raises(RefusedError, match="no STARTTLS"):
        send(server)
    assert server.got == []


def test_a_password_comes_from_a_file_or_the_environment(authority: Authority, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("open sesame\n")
    file.chmod(0o600)
    with office(starttls=context(authority), login=("ann", "open sesame")) as server:
        send(server, ca=authority.ca, user="ann", password_file=file)
        send(server, ca=authority.ca, user="ann", environment={"LOUVER_SMTP_PASSWORD": "open sesame"})
        with pytest.raises(RefusedError, match="535"):
            send(server, ca=authority.ca, user="ann", environment={"LOUVER_SMTP_PASSWORD": "open barley"})
        with pytest.raises(RefusedError, match="530"):
            send(server, ca=authority.ca)
    assert len(server.got) == 2
    file.chmod(0o640)
    with pytest.raises(AccessError, match="chmod 600"):
        send(server, user="ann", password_file=file)
    with pytest.raises(ParameterError, match="needs a password"):
        send(server, user="ann", environment={})


@pytest.mark.parametrize(("code", "error"), [(451, LaterError), (550, RefusedError)])
def test_replies_say_whether_to_try_again(code: int, error: type[Exception]) -> None:
    with office() as server:
        server.codes[TO] = code
        with pytest.raises(error, match=str(code)):
            send(server)
        server.codes.clear()
        server.data_code = code
        with pytest.raises(error, match=str(code)):
            send(server)
    assert server.got == []


def test_while_one_of_all_refused_addresses_may_pass_it_is_tried_again() -> None:
    with office() as server:
        server.codes |= {TO: 451, "boss@example.org": 550}
        with pytest.raises(LaterError, match="451"):
            send(server, to=(TO, "boss@example.org"))


def test_a_mail_that_some_did_not_get_says_so() -> None:
    with office() as server:
        server.codes["boss@example.org"] = 550
        said = send(server, to=(TO, "boss@example.org"))
    assert said == "127.0.0.1 took the e-mail, but not for 1 of its 2 addresses."
    assert server.envelopes[0][1] == [TO]


def test_nobody_there_or_no_answer_means_later() -> None:
    with office() as server:
        server.hang = threading.Event()
        with pytest.raises(LaterError, match=r"cannot be reached|did not take"):
            send(server, patience=0.3)
        server.hang.set()
    with pytest.raises(LaterError, match="cannot be reached"):
        send(server)


def test_a_key_cannot_write_headers_of_its_own() -> None:
    with office() as server:
        notice = Notice(alarm(key="Aula\r\nBcc: all@example.org\r\n\r\nHello"))
        asyncio.run(Mail(f"smtp://127.0.0.1:{server.port}", FROM, [TO]).deliver(notice))
    [message] = server.got
    assert message["Bcc"] is None
    assert "Aula\\r\\nBcc" in message["Subject"]


@pytest.mark.parametrize("server", ["mail.example.org", "http://mail", "smtp://", "smtp://host:port", "smtp://h/inbox"])
def test_what_is_no_server_is_refused(server: str) -> None:
    with pytest.raises(ParameterError, match="smtp://host"):
        Mail(server, FROM, [TO])


@pytest.mark.parametrize("address", ["desk", "@example.org", "a b@example.org", "a@b\nBcc: c@d", "<a@b>", "a@b,c@d"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ParameterError, match="no e-mail address"):
        Mail("smtp://localhost", FROM, [address])
    with pytest.raises(ParameterError, match="no e-mail address"):
        Mail("smtp://localhost", address, [TO])


def test_somebody_must_get_it_and_no_password_stands_in_an_address() -> None:
    with pytest.raises(ParameterError, match="somebody"):
        Mail("smtp://localhost", FROM, [])
    with pytest.raises(ParameterError, match="password_file"):
        Mail("smtp://ann:secret@localhost", FROM, [TO])
