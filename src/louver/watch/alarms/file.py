"""Alarms appended to a file, a JSON record a line, on disk before they count as delivered."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from louver.watch.alarms.alarm import Notice
from louver.watch.alarms.sink import LaterError

BEGINNING: Final = b'{"louver": "alarm"'  # of every line that this writes
LONGEST_LINE: Final = 1 << 20


class File:
    """Opened for each line, so that a file which was moved away to be archived is begun anew."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def deliver(self, notice: Notice) -> None:
        await self.deliver_many([notice])

    async def deliver_many(self, notices: Sequence[Notice]) -> None:
        """A line each, on disk together."""
        await asyncio.to_thread(self._append, b"".join(each.line() + b"\n" for each in notices))

    def _append(self, lines: bytes) -> None:
        try:
            fresh = not self._path.exists()
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
                _mend(file)
                left = memoryview(lines)
                while left:
                    left = left[os.write(file, left) :]
                os.fsync(file)
            finally:
                os.close(file)
            if fresh:
                _sync_folder(self._path.parent)
        except OSError as fault:
            raise LaterError(f"The file {self._path} cannot be written: {fault.strerror}.") from None

    async def close(self) -> None:
        """Nothing stays open."""


def _mend(file: int) -> None:
    """A crash or a full disk leaves half a line: its notice comes again, so it is cut off. Other text gets its end."""
    size = os.fstat(file).st_size
    tail = os.pread(file, LONGEST_LINE, max(0, size - LONGEST_LINE)).rpartition(b"\n")[2]
    if not tail:
        return
    if _is_half(tail):
        os.ftruncate(file, size - len(tail))
    else:
        os.write(file, b"\n")


def _is_half(tail: bytes) -> bool:
    if not (tail.startswith(BEGINNING) or BEGINNING.startswith(tail)):
        return False
    try:
        json.loads(tail)
    except ValueError:
        return True
    return False


def _sync_folder(folder: Path) -> None:
    """A new name in a folder is safe only when the folder itself is on disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
