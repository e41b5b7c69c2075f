"""Files and standard input as feeds: NDJSON, CSV, Parquet and the log formats, replayed at a chosen speed."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

from louver.errors import DataError, ParameterError
from louver.parameters import integer
from louver.sense.events import Event
from louver.sense.feeds.background import Background
from louver.sense.feeds.batch import Batch
from louver.sense.feeds.pace import Pace
from louver.sense.feeds.parquet import rows
from louver.sense.feeds.reading import Outcomes, chunks, in_order, read_all
from louver.sense.formats.fields import WIFI, Fields
from louver.sense.formats.names import Format, named

STANDARD_INPUT: Final = "-"
WINDOW: Final = 100_000
_BY_SUFFIX: Final = {".ndjson": "ndjson", ".jsonl": "ndjson", ".json": "ndjson", ".csv": "csv", ".log": "syslog"}


class Replay:
    """Events of a file, or of standard input (`-`), in the order of their times.

    `speed=2000` plays them two thousand times as fast as they happened; without it they come as fast as they are taken.
    A text file is sorted by a window of 100,000 events that are held back, so an event that stands further from its
    place comes when it can; a Parquet file is sorted as a whole. Standard input is not held back unless a `window` is
    given. Reading goes on only as batches are taken. There is nothing to acknowledge: a file can be read again.

    `received` (microseconds since 1970) stands in for when lines without a year arrived: by default when the file was
    last changed, and now for standard input.
    """

    def __init__(
        self,
        source: str | os.PathLike[str],
        *,
        format: Format | str | None = None,  # noqa: A002 it is the word
        fields: Fields = WIFI,
        zone: str = "UTC",
        speed: float | None = None,
        size: int = 1000,
        window: int | None = None,
        received: int | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._size = integer("size", size, 1, 1_000_000)
        self._pace = pace if pace is not None else None if speed is None else Pace(speed)
        self._received = received
        self._live = os.fspath(source) == STANDARD_INPUT
        self._path = Path(source)
        if window is None:
            window = 0 if self._live else WINDOW
        self._window = integer("window", window, 0, 10_000_000)
        if not self._live and not self._path.is_file():
            raise DataError(f"There is no file {self._path.name!r} to replay.")
        self._fields = fields
        self._format = None if self._is_parquet(format) else self._found(format, zone)
        self._background: Background[Outcomes] | None = None

    async def __aiter__(self) -> AsyncIterator[Batch]:
        self._background = Background(self._outcomes)
        waiting: Outcomes = []
        async for found in self._background:
            for each in found:
                if self._pace is not None and isinstance(each, Event) and self._pace.waits(each.time):
                    if waiting:
                        await self._pace.rest()
                        yield Batch(waiting)
                        waiting = []
                    self._pace.go_on(each.time)
                waiting.append(each)
                if len(waiting) == self._size:
                    if self._pace is not None:
                        await self._pace.rest()
                    yield Batch(waiting)
                    waiting = []
            if waiting and self._live:
                if self._pace is not None:
                    await self._pace.rest()
                yield Batch(waiting)
                waiting = []
        if waiting:
            if self._pace is not None:
                await self._pace.rest()
            yield Batch(waiting)

    @property
    def format(self) -> Format | None:
        """How its records are written; none for a Parquet file."""
        return self._format

    @property
    def gives(self) -> str:
        """What its records tell: presence, readings or trips."""
        return (self._fields if self._format is None else self._format).gives

    async def close(self) -> None:
        if self._background is not None:
            self._background.stop()

    def _is_parquet(self, format: Format | str | None) -> bool:  # noqa: A002
        return format == "parquet" or (format is None and self._path.suffix == ".parquet")

    def _found(self, format: Format | str | None, zone: str) -> Format:  # noqa: A002
        if format is None:
            if self._live:
                return named("ndjson", fields=self._fields)
            if self._path.suffix not in _BY_SUFFIX:
                raise ParameterError(f"The ending of {self._path.name!r} does not tell its format; name the format.")
            format = _BY_SUFFIX[self._path.suffix]  # noqa: A001
        return named(format, fields=self._fields, zone=zone) if isinstance(format, str) else format

    def _outcomes(self) -> Iterator[Outcomes]:
        if self._format is None:
            yield from in_order(rows(self._path, self._fields), 0)
        elif self._live:
            yield from in_order(read_all(chunks(sys.stdin.fileno()), self._format, self._now), self._window)
        else:
            with self._path.open("rb", buffering=0) as file:
                arrived = self._received or int(self._path.stat().st_mtime * 1e6)
                read = read_all(chunks(file.fileno()), self._format, lambda: arrived)
                yield from in_order(read, self._window)

    def _now(self) -> int:
        return self._received or time.time_ns() // 1000
