"""Where a broker is, which topic, and how to prove who one is: `mqtt://host[:port]/topic/#` or `mqtts://`."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from louver.errors import AccessError, ParameterError

_ADDRESS: Final = re.compile(r"(mqtts?)://(?:([^/@]*)@)?(\[[0-9A-Fa-f:.]+\]|[^/:@]+)(?::(\d{1,5}))?/(.*)", re.DOTALL)
PREFIX: Final = "LOUVER_MQTT_"


@dataclass(frozen=True)
class Broker:
    """An address and credentials. Its text shows no password.

    >>> Broker.at("mqtts://ann@broker.example/building/+/events", environment={"LOUVER_MQTT_PASSWORD": "secret"})
    Broker(mqtts://ann@broker.example:8883/building/+/events)
    """

    host: str
    port: int
    topic: str
    tls: bool = False
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    @classmethod
    def at(
        cls,
        address: str,
        *,
        ca: str | os.PathLike[str] | None = None,
        certificate: str | os.PathLike[str] | None = None,
        key: str | os.PathLike[str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Broker:
        """The broker at an address.

        The environment gives what an address must not show or does not have: LOUVER_MQTT_USER, LOUVER_MQTT_PASSWORD
        or LOUVER_MQTT_PASSWORD_FILE, and for TLS the files LOUVER_MQTT_CA, LOUVER_MQTT_CERTIFICATE and
        LOUVER_MQTT_KEY.
        """
        given = os.environ if environment is None else environment
        found = _ADDRESS.fullmatch(address)
        if found is None:
            raise ParameterError("An address of a broker is mqtt://host[:port]/topic, or mqtts:// for TLS.")
        scheme, person, host, port, topic = found.groups()
        if person is not None and ":" in person:
            raise ParameterError(
                f"A password in an address is seen by others on the machine; give it in {PREFIX}PASSWORD_FILE."
            )
        tls = scheme == "mqtts"
        number = int(port) if port else 8883 if tls else 1883
        if not 0 < number < 65536:
            raise ParameterError("A port is between 1 and 65535.")
        files = {
            name: Path(chosen) if (chosen := own or given.get(f"{PREFIX}{name.upper()}")) else None
            for name, own in (("ca", ca), ("certificate", certificate), ("key", key))
        }
        if not tls and (ca or certificate or key):
            raise ParameterError("Certificates need an address that begins with mqtts://.")
        return cls(
            host.strip("[]"),
            number,
            checked_topic(unquote(topic)),
            tls,
            unquote(person) if person else given.get(f"{PREFIX}USER"),
            _password(given),
            **files,
        )

    @property
    def address(self) -> str:
        """The address without a password."""
        person = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"mqtt{'s' if self.tls else ''}://{person}{host}:{self.port}/{self.topic}"

    def context(self) -> ssl.SSLContext | None:
        """What TLS must prove: the broker's certificate always, and one's own where one is given."""
        if not self.tls:
            return None
        try:
            context = ssl.create_default_context(cafile=self.ca)
            context.sslsocket_class = _Socket
            if self.certificate is not None:
                context.load_cert_chain(self.certificate, self.key)
        except (OSError, ValueError):
            raise AccessError("A certificate or key for TLS cannot be read; check the files that were named.") from None
        return context

    def __repr__(self) -> str:
        return f"Broker({self.address})"


class _Socket(ssl.SSLSocket):
    """Closed when the handshake fails, because nobody else will have it then."""

    def do_handshake(self, block: bool = False) -> None:
        try:
            super().do_handshake(block)
        except OSError:
            self.close()
            raise


def checked_topic(topic: str) -> str:
    """The same topic, if it is one that can be subscribed to."""
    levels = topic.split("/")
    wild = any("+" in level and level != "+" for level in levels) or any("#" in level for level in levels[:-1])
    if not topic or wild or ("#" in levels[-1] and levels[-1] != "#") or "\0" in topic or len(topic.encode()) > 65535:
        raise ParameterError("A topic has levels between slashes; + stands for one level, and # last for all below.")
    return topic


def _password(given: Mapping[str, str]) -> str | None:
    file = given.get(f"{PREFIX}PASSWORD_FILE")
    if file is None:
        return given.get(f"{PREFIX}PASSWORD")
    try:
        return Path(file).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError):
        raise AccessError(f"The password file that {PREFIX}PASSWORD_FILE names cannot be read.") from None
