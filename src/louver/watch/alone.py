"""One watcher for a journal: a second one would decide the same slots and send the same alarms."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from louver.errors import DataError


@contextmanager
def alone(journal: Path) -> Iterator[None]:
    """Holds a lock beside the journal, which ends with the process at the latest.

    It is not on the journal itself: SQLite would lose its own locks there.
    """
    lock = journal.with_name(f"{journal.name}.lock")
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        opened = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as fault:
        raise DataError(f"The lock {lock} cannot be made: {fault.strerror}.") from None
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DataError(
                f"Another watcher is at work with the journal {journal}; stop that one, or give this one rules with a "
                "store and a journal of its own."
            ) from None
        yield
    finally:
        os.close(opened)
