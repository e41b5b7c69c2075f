"""Files and streams of bytes to the events in them, in blocking steps."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Final

from louver.sense.events import Event, Rejected
from louver.sense.formats.delimited import CSV
from louver.sense.formats.limits import NOT_TEXT, TOO_LONG
from louver.sense.formats.names import Format

CHUNK: Final = 1 << 18
LONGEST_REST: Final = 1 << 19  # with a chunk still less than the largest message
Outcomes = list[Event | Rejected]


def chunks(descriptor: int) -> Iterator[bytes]:
    """What is there, as soon as it is there, until the end."""
    while data := os.read(descriptor, CHUNK):
        yield data


def whole_records(pieces: Iterable[bytes], ending: bytes) -> Iterator[bytes | Rejected]:
    """The same bytes cut where records end; a record that goes on for too long is one rejection."""
    rest, skipping = b"", False
    for piece in pieces:
        rest += piece
        if b"\r" in piece:
            rest = rest.replace(b"\r\n", b"\n")
        complete, found, rest = rest.rpartition(ending)
        if skipping and found:
            complete, skipping = complete.partition(ending)[2], False
        if complete and not skipping:
            yield complete + found
        if len(rest) > LONGEST_REST:
            if not skipping:
                yield TOO_LONG
            rest, skipping = rest[-1:], True  # a half of an ending may be its last byte
    if rest.strip() and not skipping:
        yield rest


def read_all(pieces: Iterable[bytes], format: Format, received: Callable[[], int]) -> Iterator[Outcomes]:  # noqa: A002
    """The outcomes of a stream. One bad byte costs its own record, not the others that came with it."""
    for part in whole_records(pieces, format.ending):
        if isinstance(part, Rejected):
            yield [part]
            continue
        if isinstance(format, CSV) and format.columns is None:
            head, _, part = part.partition(b"\n")
            format = format.headed(head.decode("utf-8", "replace"))  # noqa: A001
            if not part.strip():
                continue
        now = received()
        found = format(part, now)
        if len(found) == 1 and found[0] in (NOT_TEXT, TOO_LONG):
            records = [record for record in part.split(format.ending) if record.strip()]
            found = [each for record in records for each in format(record, now)]
        yield found


def in_order(outcomes: Iterable[Outcomes], window: int) -> Iterator[Outcomes]:
    """The same outcomes with events sorted by time, as far as `window` events held back can sort them."""
    if window == 0:
        yield from outcomes
        return
    held: list[Event] = []
    for found in outcomes:
        faults: Outcomes = [each for each in found if isinstance(each, Rejected)]
        held += [each for each in found if isinstance(each, Event)]
        if len(held) > 2 * window:
            held.sort(key=attrgetter("time"))
            yield [*faults, *held[:-window]]
            held = held[-window:]
        elif faults:
            yield faults
    held.sort(key=attrgetter("time"))
    for start in range(0, len(held), 10_000):
        yield list(held[start : start + 10_000])
