"""A whole file, or all of standard input, through the door: for tables, where nothing is live."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from louver.sense.admitted import Admitted
from louver.sense.events import Event, Tally
from louver.sense.feeds.files import STANDARD_INPUT, Replay
from louver.sense.feeds.parquet import rows
from louver.sense.feeds.reading import Outcomes, chunks, read_all
from louver.sense.formats.fields import Fields
from louver.sense.formats.names import check_gives
from louver.sense.pseudonyms import Door


def admitted(
    source: str,
    door: Door,
    fields: Fields,
    *,
    format: str | None = None,  # noqa: A002 it is the word
    zone: str = "UTC",
    progress: Callable[[int, int], None] = lambda _done, _all_of: None,
) -> tuple[Admitted, Tally]:
    """The events of a file with pseudonyms, and what was wrong with the rest. `progress` is told the bytes read."""
    replay = Replay(source, format=format, fields=fields, zone=zone)
    check_gives(replay, fields.gives)
    faults, parts = Tally(), []
    for found in _outcomes(source, replay, fields, progress):
        faults += Tally.of(each for each in found if not isinstance(each, Event))
        events = [each for each in found if isinstance(each, Event)]
        if events:
            parts.append(door.admit(events))
    return Admitted.joined(parts), faults


def _outcomes(source: str, replay: Replay, fields: Fields, progress: Callable[[int, int], None]) -> Iterator[Outcomes]:
    if replay.format is None:
        yield from rows(Path(source), fields)
    elif source == STANDARD_INPUT:
        yield from read_all(chunks(sys.stdin.fileno()), replay.format, lambda: time.time_ns() // 1000)
    else:
        with Path(source).open("rb", buffering=0) as file:
            about = Path(source).stat()
            changed = int(about.st_mtime * 1e6)
            pieces = _told(chunks(file.fileno()), about.st_size, progress)
            yield from read_all(pieces, replay.format, lambda: changed)


def _told(pieces: Iterable[bytes], size: int, progress: Callable[[int, int], None]) -> Iterator[bytes]:
    done = 0
    for piece in pieces:
        yield piece
        done += len(piece)
        progress(done, size)
