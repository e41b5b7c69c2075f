"""Addresses of brokers, credentials, and how long to wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from louver.errors import AccessError, ParameterError
from louver.sense.feeds import Broker
from louver.sense.feeds.backoff import Backoff


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("mqtt://h/a/#", ("h", 1883, "a/#", False, None)),
        ("mqtts://h/a", ("h", 8883, "a", True, None)),
        ("mqtt://h:99/+/x", ("h", 99, "+/x", False, None)),
        ("mqtt://ann@h/a", ("h", 1883, "a", False, "ann")),
        ("mqtt://a%40b@h/a%20b", ("h", 1883, "a b", False, "a@b")),
        ("mqtt://[::1]:99/a", ("::1", 99, "a", False, None)),
        ("mqtt://h//a", ("h", 1883, "/a", False, None)),
        ("mqtt://h/#", ("h", 1883, "#", False, None)),
    ],
)
def test_an_address_says_where_and_what(address: str, parts: tuple[object, ...]) -> None:
    broker = Broker.at(address, environment={})
    assert (broker.host, broker.port, broker.topic, broker.tls, broker.user) == parts


@pytest.mark.parametrize(
    "address",
    [
        "mqtt://h",
        "mqtt://h/",
        "h/a",
        "http://h/a",
        "mqtt:///a",
        "mqtt://h:0/a",
        "mqtt://h:70000/a",
        "mqtt://h:x/a",
        "mqtt://h/a/#/b",
        "mqtt://h/a#",
        "mqtt://h/a+/b",
        "mqtt://h/a%00b",
    ],
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ParameterError):
        Broker.at(address, environment={})


def test_a_password_in_an_address_is_refused_and_not_shown() -> None:
    with pytest.raises(ParameterError, match="PASSWORD_FILE") as refused:
        Broker.at("mqtt://ann:opensesame@h/a", environment={})
    assert "opensesame" not in str(refused.value)


def test_credentials_come_from_the_environment_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("from file\n")
    plain = Broker.at("mqtt://h/a", environment={"LOUVER_MQTT_USER": "ann", "LOUVER_MQTT_PASSWORD": "opensesame"})
    assert (plain.user, plain.password) == ("ann", "opensesame")
    assert "opensesame" not in repr(plain)
    assert "opensesame" not in plain.address
    filed = Broker.at("mqtt://bob@h/a", environment={"LOUVER_MQTT_USER": "ann", "LOUVER_MQTT_PASSWORD_FILE": str(file)})
    assert (filed.user, filed.password) == ("bob", "from file")
    with pytest.raises(AccessError, match="password file"):
        Broker.at("mqtt://h/a", environment={"LOUVER_MQTT_PASSWORD_FILE": str(tmp_path / "none")})


def test_certificates_need_tls_and_files_that_can_be_read(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="mqtts://"):
        Broker.at("mqtt://h/a", ca=tmp_path / "ca.pem", environment={})
    (tmp_path / "ca.pem").write_text("nothing")
    for file in (tmp_path / "ca.pem", tmp_path / "none.pem"):
        with pytest.raises(AccessError, match="cannot be read"):
            Broker.at("mqtts://h/a", ca=file, environment={}).context()
    assert Broker.at("mqtt://h/a", environment={}).context() is None


def test_waits_double_up_to_the_longest_and_start_again_after_a_success() -> None:
    longest = Backoff(first=1, longest=10, uniform=lambda _low, high: high)
    assert [longest.next() for _ in range(6)] == [1, 2, 4, 8, 10, 10]
    longest.reset()
    assert longest.next() == 1


def test_waits_are_spread_and_never_none() -> None:
    waits = {Backoff(first=1).next() for _ in range(100)}
    assert len(waits) > 90  # equal ones are two draws of 53 random bits that agree
    assert all(0.25 <= wait <= 1 for wait in waits)
