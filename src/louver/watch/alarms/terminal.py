"""Alarms as text on a terminal."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import TextIO

from louver.watch.alarms.alarm import Notice
from louver.watch.alarms.digest import digest
from louver.watch.alarms.sink import LaterError
from louver.watch.alarms.words import text


class Terminal:
    """Writes to a stream, standard output unless another is given."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream

    async def deliver(self, notice: Notice) -> None:
        # In a thread, because a terminal that is halted, or a pipe that nobody reads, would halt everything.
        await asyncio.to_thread(self._write, f"{text(notice)}\n\n")

    async def deliver_many(self, notices: Sequence[Notice]) -> None:
        await asyncio.to_thread(self._write, f"{digest(notices)}\n\n")

    def _write(self, said: str) -> None:
        stream = sys.stdout if self._stream is None else self._stream
        try:
            # What a terminal cannot show is written as an escape, so that no alarm is lost to an encoding.
            encoding = getattr(stream, "encoding", None) or "utf-8"
            stream.write(said.encode(encoding, "backslashreplace").decode(encoding))
            stream.flush()
        except (OSError, ValueError):
            raise LaterError("The terminal is closed.") from None

    async def close(self) -> None:
        """The stream is its owner's."""
