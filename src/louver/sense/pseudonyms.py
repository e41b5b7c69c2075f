"""The door: device ids become pseudonyms by a keyed hash, and go no further.

A pseudonym is the first 63 bits of HMAC-SHA256(salt, id). Whoever does not have the salt can neither compute it nor
try ids out. Two devices of n get the same one with probability below n²/2^64: for 36,436 devices that is 1 in 14
billion. A pseudonym still links all that one device does; `Rotating` cuts that link. Neither is a promise about what is
released: that is the ledger's matter. Ids that were seen lately are remembered in memory, and nowhere else.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError
from louver.sense.admitted import Admitted
from louver.sense.events import LATEST, Event

SHORTEST_SALT = 16
MOST_REMEMBERED = 1 << 17
_MAC = re.compile(
    r"[0-9a-f]{2}([: .-])(?:[0-9a-f]{2}\1){4}(?:[0-9a-f]{2}\1[0-9a-f]{2}\1)?[0-9a-f]{2}"  # aa:bb:cc:dd:ee:ff
    r"|[0-9a-f]{4}([: .-])[0-9a-f]{4}\2(?:[0-9a-f]{4}\2)?[0-9a-f]{4}"  # aabb.ccdd.eeff
    r"|[0-9a-f]{6}[: -][0-9a-f]{6}|[0-9a-f]{12}(?:[0-9a-f]{4})?",
    re.IGNORECASE | re.ASCII,
)
# RADIUS may put a network's name behind the address: AA-BB-CC-DD-EE-FF:guests; after : where no octet can follow.
_WITH_NETWORK = re.compile(
    r"((?:[0-9a-f]{2}-){5}[0-9a-f]{2}|[0-9a-f]{12}|(?:[0-9a-f]{4}[.-]){2}[0-9a-f]{4})[:#].*"
    r"|((?:[0-9a-f]{2}:){5}[0-9a-f]{2})#.*",
    re.IGNORECASE | re.ASCII | re.DOTALL,
)


def normalised(device: str) -> str:
    """One text for all spellings of a MAC address, of 6 octets or 8; any other id stays, without blanks around it.

    >>> normalised("AA-BB-CC-DD-EE-0F:guests"), normalised("aabb ccdd ee0f"), normalised("Card 7")
    ('aabbccddee0f', 'aabbccddee0f', 'Card 7')
    """
    stripped = device.strip()
    if with_network := _WITH_NETWORK.fullmatch(stripped):
        stripped = with_network[1] or with_network[2]
    if _MAC.fullmatch(stripped):
        return re.sub("[: .-]", "", stripped).lower()
    return stripped


def is_address(device: str) -> bool:
    """Whether an id is read as a MAC address."""
    return _MAC.fullmatch(normalised(device)) is not None


class Door:
    """Turns device ids into pseudonyms with one salt.

    >>> door = Door(b"not so secret, because printed here")
    >>> door.person("AA-BB-CC-DD-EE-0F") == door.person("aabb.ccdd.ee0f") == door.person("aa:bb:cc:dd:ee:0f")
    True
    >>> door
    <door>
    """

    UNLIKE = "The salt is not the one with which the events in {} were taken in; restore that one."
    CHANGES = False  # whether somebody has several pseudonyms, one after the other

    def __init__(self, salt: bytes) -> None:
        given: object = salt
        if not isinstance(given, bytes) or len(given) < SHORTEST_SALT:
            raise ParameterError(f"A salt is {SHORTEST_SALT} secret random bytes or more.")
        self._salt = salt
        self._remembered: dict[str, int] = {}

    @classmethod
    def open(cls, path: str | Path) -> Door:
        """The door with the salt in this file, which is made where it is missing."""
        from louver.sense.salt import salt

        return cls(salt(path))

    def person(self, device: str) -> int:
        """The pseudonym of a device: a whole number from 0 to 2^63 - 1."""
        found = self._remembered.get(device)
        if found is None:
            found = hashed(self._salt, device)
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[device] = found
        return found

    @property
    def fingerprint(self) -> int:
        """By which a salt is known again, and nothing else: no device has such an id."""
        return hashed(self._salt, "\0the fingerprint of this salt")

    def persons(self, devices: Iterable[str]) -> NDArray[np.int64]:
        return np.fromiter(map(self.person, devices), dtype=np.int64)

    def admit(self, events: Sequence[Event]) -> Admitted:
        """The events with pseudonyms; the device ids stay outside."""
        return admitted(events, self.persons(event.device for event in events))

    def __repr__(self) -> str:
        return "<door>"


def hashed(salt: bytes, device: str) -> int:
    """The first 63 bits of the keyed hash of a normalised id."""
    digest = hmac.digest(salt, normalised(device).encode("utf-8", "surrogatepass"), "sha256")
    return int.from_bytes(digest[:8], "big") >> 1


def admitted(events: Sequence[Event], persons: Any) -> Admitted:
    values = [event.value for event in events]
    return Admitted.of(
        persons,
        [event.place for event in events],
        # A time that no column holds is as wrong as a negative one.
        [event.time if 0 <= event.time < LATEST else -1 for event in events],
        None if not any(value is not None for value in values) else [np.nan if v is None else v for v in values],
        _positions(events),
    )


def _positions(events: Sequence[Event]) -> list[tuple[float, float]] | None:
    if not events or events[0].position is None:
        return None
    found = [event.position for event in events if event.position is not None]
    return found if len(found) == len(events) else None
