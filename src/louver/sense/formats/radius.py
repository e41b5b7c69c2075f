"""RADIUS accounting: the blocks of FreeRADIUS's detail files, and one record a line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import ClassVar, Final

from louver.sense.events import Event, Rejected
from louver.sense.formats.fields import PRESENCE
from louver.sense.formats.limits import (
    DEPARTURE,
    LARGEST_RECORD,
    NO_DEVICE,
    NO_PLACE,
    NO_TIME,
    TOO_LONG,
    UNKNOWN_FORMAT,
    UNKNOWN_MESSAGE,
    decoded,
    name,
)
from louver.sense.formats.local_times import WRITTEN, moment, zone_of
from louver.sense.formats.times import instant, iso
from louver.sense.formats.wifi_syslog import mac_text

_BLANK: Final = re.compile(r"\n[ \t\r]{0,80}\n")
_PAIR: Final = re.compile(
    r"(?<![\w-])([A-Za-z][A-Za-z0-9-]{1,63})[ \t]{0,8}[:+]?=[ \t]{0,8}"
    r"(\"[^\"\n]{0,1024}\"|'[^'\n]{0,1024}'|[^\s,;\"']{1,1024})",
    re.ASCII,
)
_STATION: Final = re.compile(r"((?:[0-9A-Fa-f]{2}[:.-]?){5}[0-9A-Fa-f]{2})(?::.*)?", re.ASCII)
_COMES: Final = frozenset({"start", "interim-update", "alive", "1", "3"})
_GOES: Final = frozenset({"stop", "2"})


@dataclass(frozen=True)
class Radius:
    """Accounting requests: Start and Interim-Update are events of Calling-Station-Id at Called-Station-Id.

    Stop is no event, as a disassociation is none: the session may have idled for long. The time is Event-Timestamp,
    else Timestamp less Acct-Delay-Time, else the line above the block. An access point's MAC address is written
    aa:bb:cc:dd:ee:ff, without the network's name that may follow it. `zone` is that of times that carry none.

    >>> block = '''Mon Mar  2 09:00:00 2026
    ...     Acct-Status-Type = Start
    ...     Calling-Station-Id = "AA-BB-CC-DD-EE-FF"
    ...     Called-Station-Id = "00-14-22-67-89-AB:campus"
    ...     Event-Timestamp = "Mar  2 2026 09:00:00 UTC"
    ... '''
    >>> Radius()(block)
    [Event(place='00:14:22:67:89:ab', time=1772442000000000, value=None)]
    """

    zone: str | tzinfo = "UTC"
    ending: ClassVar[bytes] = b"\n\n"
    gives: ClassVar[str] = PRESENCE
    _zone: tzinfo = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_zone", zone_of(self.zone))

    def __call__(self, message: bytes | str, received: int | None = None) -> list[Event | Rejected]:
        text = decoded(message)
        if isinstance(text, Rejected):
            return [text]
        found = []
        for block in _BLANK.split(text):
            if block and not block.isspace():
                found += [self._record(record, received) for record in _records(block)]
        return found

    def _record(self, record: str, received: int | None) -> Event | Rejected:
        if len(record) > LARGEST_RECORD:
            return TOO_LONG
        attributes: dict[str, str] = {}
        for key, value in _PAIR.findall(record):
            attributes.setdefault(key.lower(), value.strip("\"'").strip())
        if not attributes:
            return UNKNOWN_FORMAT
        status = attributes.get("acct-status-type", "").lower()
        if status in _GOES:
            return DEPARTURE
        if status not in _COMES:
            return UNKNOWN_MESSAGE
        device = name(attributes.get("calling-station-id"), NO_DEVICE)
        if isinstance(device, Rejected):
            return device
        place = name(_station(attributes), NO_PLACE)
        if isinstance(place, Rejected):
            return place
        time = self._time(record, attributes, received)
        return time if isinstance(time, Rejected) else Event(device, place, time)

    def _time(self, record: str, attributes: dict[str, str], received: int | None) -> int | Rejected:
        stamp = attributes.get("event-timestamp")
        if stamp is not None:
            written = WRITTEN.match(stamp)
            if written is not None:
                return moment(written, self._zone, received)
            return instant(stamp, "s") if stamp.isdigit() else iso(stamp)
        arrived = attributes.get("timestamp")
        if arrived is not None:
            delay = attributes.get("acct-delay-time", "0")
            time = instant(arrived, "s")
            late = int(delay) * 1_000_000 if delay.isdecimal() and len(delay) < 7 else 0
            return time if isinstance(time, Rejected) else instant(time - late, "us")
        above = WRITTEN.search(record, 0, 40)
        return NO_TIME if above is None else moment(above, self._zone, received)


def _records(block: str) -> list[str]:
    """A block of indented lines is one record; lines that each have a status are one each."""
    lines = [line for line in block.split("\n") if line and not line.isspace()]
    if sum("acct-status-type" in line.lower() for line in lines) > 1:
        return lines
    return [block]


def _station(attributes: dict[str, str]) -> str | None:
    """The access point: the MAC address that was called without the network after it, else the name of the sender."""
    called = attributes.get("called-station-id")
    if called:
        mac = _STATION.fullmatch(called)
        return mac_text(re.sub(r"[:.-]", "", mac[1])) if mac else called
    return attributes.get("nas-identifier")
