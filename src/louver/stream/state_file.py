"""The state of a live stream in a file that only its owner can read, whole or not at all; for one process at a time.

It holds private numbers: keep it as you keep the data.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from louver.errors import DataError

FORMAT = 1


@dataclass(frozen=True, slots=True, repr=False)
class State:
    """After so many ticks: the reservation that pays, what the last tick released, and what the mechanism remembers.

    `missing` says that nothing was known of the last tick.
    """

    key: str
    reservation: int
    ticks: int
    released: Any
    private: Any
    missing: bool = False

    def __repr__(self) -> str:
        return f"<state of the stream {self.key!r} after {self.ticks:,} ticks, not shown>"

    def save(self, path: Path) -> None:
        """On disk when it returns; whatever happens, the file holds this state or the one before."""
        aside = path.with_name(f"{path.name}.new")
        with _sentences(path):
            aside.unlink(missing_ok=True)  # of a process that died; one that others could read would stay so
            file = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(file, "w", encoding="utf-8") as opened:
                opened.write(self._written())
                opened.flush()
                os.fsync(file)
            aside.replace(path)
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _written(self) -> str:
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        return json.dumps({"format": FORMAT, **plain}, allow_nan=False)

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """The state in the file; None where there is no file."""
        with _sentences(path):
            if not path.exists():
                return None
            with path.open(encoding="utf-8") as file:
                if os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                    raise DataError(f"The state {path} can be read by others; make it yours alone: chmod 600 {path}.")
                text = file.read()
        try:
            plain = json.loads(text)
            if plain.pop("format") != FORMAT:
                raise ValueError
            made = cls(**plain)
            if any(type(each) is not int or each < 0 for each in (made.reservation, made.ticks)):
                raise ValueError
            if type(made.missing) is not bool:
                raise ValueError
            if made.ticks == 0 or made.private is None:  # it is saved after a tick
                raise ValueError
        except (ValueError, TypeError, KeyError, AttributeError):
            raise DataError(f"{path} is no state of a stream of format {FORMAT}; restore the newest one.") from None
        return made


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Holds a lock beside the file, which ends with the process at the latest."""
    with _sentences(path):
        opened = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DataError(f"Another process goes on with the stream of {path}; stop that one first.") from None
        yield
    finally:
        os.close(opened)


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise DataError(f"The state {path} cannot be kept: {fault.strerror or 'no reason was given'}.") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is no state of a stream; restore the newest one.") from None
