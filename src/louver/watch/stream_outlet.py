"""From released ticks to where they are published, in a thread of its own: a broken target must not hold up an alarm.

A tick is on disk in a spool before the stream goes on, and leaves it when the other side has it. So each is published
at least once, in order, whatever dies when. The spool holds nothing but what is published.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from louver.errors import DataError, LouverError
from louver.stream.tick import Tick
from louver.watch.targets import Target

AT_ONCE: Final = 500  # ticks that are sent together
FIRST_WAIT, LONGEST_WAIT = 1.0, 300.0
LAST_CALL: Final = 30.0  # seconds that a watch which ends gives a target


class Outlet:
    """Takes ticks and sends them on; `say` gets a sentence when that fails, and when it goes on."""

    def __init__(self, name: str, place: Target, spool: Path, say: Callable[[str], None]) -> None:
        self._name, self._place, self._spool, self._say = name, place, spool, say
        self._lock, self._news, self._ending = threading.Lock(), threading.Event(), threading.Event()
        self._size = 0  # of the lines in the spool that are whole
        self._left = self._kept()
        self._thread = threading.Thread(target=self._run, name=f"louver stream {name}", daemon=True)
        self._thread.start()
        self._news.set()

    def put(self, tick: Tick) -> None:
        """On disk when it returns; it is sent as soon as the other side takes it."""
        with self._lock:
            try:
                self._append(f"{json.dumps(tick.to_dict())}\n".encode())
            except OSError as fault:
                raise DataError(
                    f"{self._spool} cannot be written: {fault.strerror or 'no reason was given'}."
                ) from None
            self._left.append(tick)
        self._news.set()

    def _append(self, line: bytes) -> None:
        """Behind the last whole line: what a full disk took of another one is cut off."""
        file = os.open(self._spool, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            end = min(self._size, os.fstat(file).st_size)
            os.ftruncate(file, end)
            os.lseek(file, end, os.SEEK_SET)
            rest = line
            while rest:
                rest = rest[os.write(file, rest) :]
            os.fsync(file)
            self._size = end + len(line)
        finally:
            os.close(file)

    def close(self, seconds: float = LAST_CALL) -> None:
        """Sends what is left, for so long; the rest waits in the spool for the next start."""
        self._ending.set()
        self._news.set()
        self._thread.join(seconds)
        with self._lock:
            left = len(self._left)
        if left:
            self._say(f"{left:,} ticks of the stream {self._name} wait to be sent, and are when it is started again.")

    def _kept(self) -> list[Tick]:
        """What was not sent when the last process ended. A line that was cut off comes again from the stream."""
        if not self._spool.exists():
            return []
        try:
            content = self._spool.read_bytes()
            whole = content[: content.rfind(b"\n") + 1]
            if whole != content:
                os.truncate(self._spool, len(whole))
            self._size = len(whole)
            return [Tick.from_dict(json.loads(line)) for line in whole.splitlines()]
        except OSError as fault:
            raise DataError(f"{self._spool} cannot be read: {fault.strerror or 'no reason was given'}.") from None
        except (ValueError, KeyError, TypeError, IndexError):
            raise DataError(f"{self._spool} holds no ticks of a stream; move it away.") from None

    def _run(self) -> None:
        is_failing, wait = False, FIRST_WAIT
        while True:
            self._news.wait()
            self._news.clear()
            is_last = self._ending.is_set()
            while some := self._some():
                if self._sent(some, is_again=is_failing):
                    self._forget(len(some))
                    is_failing, wait = False, FIRST_WAIT
                    continue
                is_failing = True
                if is_last:
                    return
                is_last = self._ending.wait(wait)
                wait = min(2 * wait, LONGEST_WAIT)
            if is_last:
                return

    def _some(self) -> list[Tick]:
        with self._lock:
            return self._left[:AT_ONCE]

    def _sent(self, some: list[Tick], *, is_again: bool) -> bool:
        try:
            self._place.ticks(some)
        except (LouverError, OSError) as fault:
            if not is_again:
                why = str(fault) if isinstance(fault, LouverError) else "the system refused."
                self._say(f"The stream {self._name} waits, and is tried again: {why}")
            return False
        if is_again:
            self._say(f"The stream {self._name} is published again.")
        return True

    def _forget(self, count: int) -> None:
        """The spool is emptied once all of it is sent: until then, what comes twice does no harm."""
        with self._lock:
            del self._left[:count]
            if not self._left:
                os.truncate(self._spool, 0)
                self._size = 0
