"""The door's salt in a file of its own, which only its owner can read.

Keep it apart from the store: whoever has both can try every device id there is.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from louver.errors import DataError

SALT_BYTES = 32


def salt(path: str | Path) -> bytes:
    """The salt in this file, which is made where it is missing and refused where others can read it."""
    place = Path(path)
    try:
        _make(place)
        file = os.open(place, os.O_RDONLY)
        try:
            mode = os.fstat(file).st_mode
            written = os.read(file, 1024)
        finally:
            os.close(file)
    except OSError as fault:
        raise DataError(f"The salt {place} cannot be read or made: {fault.strerror}.") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise DataError(f"The salt {place} can be used by others; make it yours alone: chmod 600 {place}.")
    try:
        found = bytes.fromhex(written.decode("ascii").strip())
    except ValueError:
        found = b""
    if len(found) != SALT_BYTES:
        raise DataError(f"{place} holds no salt; restore it, because with another one nobody is recognised.")
    return found


def _make(place: Path) -> None:
    """Written aside and linked into place, so that nobody ever finds half a salt, and the first of two stays."""
    if place.exists():
        return
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    aside = place.with_name(f"{place.name}.{secrets.token_hex(8)}.new")
    file = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        try:
            os.write(file, f"{secrets.token_hex(SALT_BYTES)}\n".encode("ascii"))
            os.fsync(file)
        finally:
            os.close(file)
        with contextlib.suppress(FileExistsError):
            os.link(aside, place)
    finally:
        aside.unlink()
    folder = os.open(place.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
