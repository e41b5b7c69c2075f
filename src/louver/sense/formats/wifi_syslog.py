"""Syslog of Wi-Fi controllers and access points: the headers of RFC 3164 and RFC 5424, and files of such lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import ClassVar, Final

from louver.sense.events import Event, Rejected
from louver.sense.formats.fields import PRESENCE
from louver.sense.formats.limits import (
    DEPARTURE,
    NO_DEVICE,
    NO_PLACE,
    NO_TIME,
    TOO_LONG,
    UNKNOWN_MESSAGE,
    decoded,
    lines_of,
    name,
)
from louver.sense.formats.local_times import WRITTEN, moment, zone_of
from louver.sense.formats.times import iso
from louver.sense.formats.wifi_messages import said

LONGEST_LINE: Final = 8192
_PRIORITY: Final = re.compile(r"<\d{1,3}>", re.ASCII)
_ISO: Final = re.compile(
    r"(?:1 )?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)) (\S{1,256})", re.ASCII
)
_SENDER: Final = re.compile(r"[: ]{0,3}(\S{1,256})", re.ASCII)
_FACILITY: Final = re.compile(r"[a-z0-9]{2,10}\.(?:emerg|alert|crit|err|warn|warning|notice|info|debug)", re.ASCII)
# A UniFi access point without a name of its own signs "U7PG2,802aa853a30a,v4.0.69.10871:"; its MAC is the place.
_UNIFI: Final = re.compile(r"\(?\"?[^,]{1,64},([0-9a-f]{12}),", re.ASCII)


@dataclass(frozen=True)
class Syslog:
    """Lines of syslog. An association, a roam or an authentication is an event; its place is the access point.

    A disassociation is no event: a controller often gives one long after the device went, and presence ends by itself,
    by its validity. Such lines are counted as departures, and lines about other things as unknown messages. `zone` is
    that of times that carry none. A time without a year is placed by when the line was received.

    >>> received = 1_772_442_060_000_000  # 2 March 2026, 09:01
    >>> line = "<30>Mar  2 09:00:59 ap-3 hostapd: wlan0: STA aa:bb:cc:dd:ee:ff IEEE 802.11: associated (aid 1)"
    >>> Syslog()(line, received)
    [Event(place='ap-3', time=1772442059000000, value=None)]
    """

    zone: str | tzinfo = "UTC"
    ending: ClassVar[bytes] = b"\n"
    gives: ClassVar[str] = PRESENCE
    _zone: tzinfo = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_zone", zone_of(self.zone))

    def __call__(self, message: bytes | str, received: int | None = None) -> list[Event | Rejected]:
        text = decoded(message)
        if isinstance(text, Rejected):
            return [text]
        return [self._line(line, received) for line in lines_of(text)]

    def _line(self, line: str, received: int | None) -> Event | Rejected:
        if len(line) > LONGEST_LINE:
            return TOO_LONG
        found = said(line)
        if found is None:
            return UNKNOWN_MESSAGE
        if not found.come:
            return DEPARTURE
        time, sender = self._header(line, received)
        if found.time is not None:
            time = iso(found.time)
        if isinstance(time, Rejected):
            return time
        device = name(found.device, NO_DEVICE)
        place = name(sender if found.place is None else found.place, NO_PLACE)
        if isinstance(device, Rejected):
            return device
        return place if isinstance(place, Rejected) else Event(device, place, time)

    def _header(self, line: str, received: int | None) -> tuple[int | Rejected, str | None]:
        """When the line was written and who sent it: the first time in it, and the word that follows."""
        priority = _PRIORITY.match(line)
        start = priority.end() if priority else 0
        stamped = _ISO.match(line, start)
        if stamped:
            return iso(stamped[1].replace(" ", "T")), _sender(line, stamped.start(2))
        written = WRITTEN.search(line, start, start + 160)
        if written is None:
            return NO_TIME, None
        return moment(written, self._zone, received), _sender(line, written.end())


def _sender(line: str, start: int) -> str | None:
    word = _SENDER.match(line, start)
    if word is None:
        return None
    unifi = _UNIFI.match(line, word.start(1))
    if unifi:
        return mac_text(unifi[1])
    text = word[1].rstrip(":")
    return None if _FACILITY.fullmatch(text) or text.startswith(("%", "hostapd", "*")) else text


def mac_text(digits: str) -> str:
    """Twelve hexadecimal digits as aa:bb:cc:dd:ee:ff, in small letters."""
    lower = digits.lower()
    return ":".join(lower[start : start + 2] for start in range(0, 12, 2))
