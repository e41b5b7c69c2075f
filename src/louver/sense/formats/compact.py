"""Short payloads: `device,place,time` as text, or many events packed into one message of bytes.

A packed message holds each device and place once, and a number for each event: about 15 bytes an event where devices
come back. All numbers are little-endian.

| bytes | what |
| --- | --- |
| 4 | `LVE1` |
| 1 | 1 if events have values, else 0 |
| 3 × 4 | how many devices, places and events |
| each device, then each place | 1 byte for its length in UTF-8, and its text |
| 4 × events | numbers of the devices |
| 2 × events | numbers of the places |
| 8 × events | times: whole microseconds since 1970, signed |
| 8 × events, if there are values | values: floats of 64 bits |
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Final

from louver.errors import ParameterError
from louver.sense.events import Event, Rejected
from louver.sense.formats.delimited import MISSING_FIELD
from louver.sense.formats.fields import PRESENCE
from louver.sense.formats.limits import (
    EMPTY,
    LARGEST_MESSAGE,
    LARGEST_RECORD,
    NO_DEVICE,
    NO_PLACE,
    TOO_LONG,
    UNKNOWN_FORMAT,
    decoded,
    lines_of,
    name,
    number,
)
from louver.sense.formats.times import EARLIEST, LATEST, Clock, checked_clock, instant

MAGIC: Final = b"LVE1"
_HEAD: Final = struct.Struct("<4sBIII")
LARGEST_PACKED_NAME: Final = 255
MOST_EVENTS: Final = 50_000


@dataclass(frozen=True)
class Compact:
    """`device,place,time` or `device,place,time,value`, one event a line, or a message made by `pack`.

    >>> Compact()("aa:bb:cc:dd:ee:ff,ap-3,1772442000\\naa:bb:cc:dd:ee:ff,ap-4,1772442060")
    [Event(place='ap-3', time=1772442000000000, value=None), Event(place='ap-4', time=1772442060000000, value=None)]
    >>> Compact()(pack(Compact()("7,ap-3,1772442000")))
    [Event(place='ap-3', time=1772442000000000, value=None)]
    """

    clock: Clock = "s"
    separator: str = ","
    gives: str = PRESENCE  # values may stand there and not be what is wanted
    ending: ClassVar[bytes] = b"\n"

    def __post_init__(self) -> None:
        checked_clock(self.clock)

    def __call__(self, message: bytes | str, received: int | None = None) -> list[Event | Rejected]:  # noqa: ARG002
        if isinstance(message, bytes | bytearray | memoryview) and message[:4] == MAGIC:
            return unpacked(bytes(message))
        text = decoded(message)
        if isinstance(text, Rejected):
            return [text]
        return [self._line(line) for line in lines_of(text)]

    def _line(self, line: str) -> Event | Rejected:
        if len(line) > LARGEST_RECORD:
            return TOO_LONG
        parts = line.split(self.separator)
        if not 3 <= len(parts) <= 4:
            return MISSING_FIELD
        device, place = name(parts[0], NO_DEVICE), name(parts[1], NO_PLACE)
        time = instant(parts[2], self.clock)
        value = number(parts[3]) if len(parts) == 4 else None
        for part in (device, place, time, value):
            if isinstance(part, Rejected):
                return part
        return Event(device, place, time, value)  # type: ignore[arg-type]


def pack(events: Iterable[Event | Rejected]) -> bytes:
    """Events as one message; at most 50,000, and no name longer than 255 bytes."""
    given = [event for event in events if isinstance(event, Event)]
    if len(given) > MOST_EVENTS:
        raise ParameterError(f"At most {MOST_EVENTS:,} events go into one message.")
    devices = {event.device: 0 for event in given}
    places = {event.place: 0 for event in given}
    parts = []
    for table in (devices, places):
        for position, text in enumerate(table):
            table[text] = position
            encoded = text.encode("utf-8", "surrogatepass")
            if len(encoded) > LARGEST_PACKED_NAME:
                raise ParameterError(f"A name in a packed message has at most {LARGEST_PACKED_NAME} bytes.")
            parts += [bytes([len(encoded)]), encoded]
    if len(places) > 1 << 16:
        raise ParameterError("At most 65,536 places go into one message.")
    valued = any(event.value is not None for event in given)
    if valued and any(event.value is None for event in given):
        raise ParameterError("Either all events of a packed message have a value, or none.")
    count = len(given)
    columns = [
        struct.pack(f"<{count}I", *(devices[event.device] for event in given)),
        struct.pack(f"<{count}H", *(places[event.place] for event in given)),
        struct.pack(f"<{count}q", *(event.time for event in given)),
    ]
    if valued:
        columns.append(struct.pack(f"<{count}d", *(event.value or 0.0 for event in given)))
    message = b"".join([_HEAD.pack(MAGIC, valued, len(devices), len(places), count), *parts, *columns])
    if len(message) > LARGEST_MESSAGE:
        raise ParameterError("The packed message is too long; pack fewer events.")
    return message


def unpacked(message: bytes) -> list[Event | Rejected]:
    """The events of a packed message; a message whose parts do not fit together has none."""
    if len(message) > LARGEST_MESSAGE:
        return [TOO_LONG]
    if len(message) < _HEAD.size:
        return [UNKNOWN_FORMAT]
    _, valued, n_devices, n_places, count = _HEAD.unpack_from(message)
    columns = count * (22 if valued == 1 else 14)
    if valued > 1 or count > MOST_EVENTS or n_devices + n_places + columns > len(message) - _HEAD.size:
        return [UNKNOWN_FORMAT]  # before anything is made room for
    names: list[str | Rejected] = []
    position = _HEAD.size
    for missing, amount in ((NO_DEVICE, n_devices), (NO_PLACE, n_places)):
        for _ in range(amount):
            end = position + 1 + message[position] if position < len(message) else len(message) + 1
            if end > len(message):
                return [UNKNOWN_FORMAT]
            text = decoded(message[position + 1 : end])
            names.append(missing if text is EMPTY else text if isinstance(text, Rejected) else name(text, missing))
            position = end
    if len(message) - position != columns:
        return [UNKNOWN_FORMAT]
    who = struct.unpack_from(f"<{count}I", message, position)
    where = struct.unpack_from(f"<{count}H", message, position + 4 * count)
    when = struct.unpack_from(f"<{count}q", message, position + 6 * count)
    much = struct.unpack_from(f"<{count}d", message, position + 14 * count) if valued else (None,) * count
    if _plain(names, who, where, when, n_devices, valued):
        return list(map(Event, map(names.__getitem__, who), map(names[n_devices:].__getitem__, where), when))  # type: ignore[arg-type]
    found: list[Event | Rejected] = []
    for device, place, time, value in zip(who, where, when, much, strict=True):
        if device >= n_devices or place >= n_places:
            found.append(UNKNOWN_FORMAT)
        else:
            found.append(_event(names[device], names[n_devices + place], time, value))
    return found or [EMPTY]


def _plain(
    names: list[str | Rejected],
    who: tuple[int, ...],
    where: tuple[int, ...],
    when: tuple[int, ...],
    n_devices: int,
    valued: int,
) -> bool:
    """Whether every event is as it should be, which is seen faster for all than for each."""
    return (
        not valued
        and bool(when)
        and max(who) < n_devices
        and max(where) < len(names) - n_devices
        and min(when) >= EARLIEST
        and max(when) < LATEST
        and not any(isinstance(name, Rejected) for name in names)
    )


def _event(device: str | Rejected, place: str | Rejected, time: int, value: float | None) -> Event | Rejected:
    checked = (device, place, instant(time, "us"), None if value is None else number(value))
    for part in checked:
        if isinstance(part, Rejected):
            return part
    return Event(*checked)  # type: ignore[arg-type]
