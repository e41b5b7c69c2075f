"""The door's salt in a file of its own, which only its owner can read; or the salts of epochs that are not over.

Keep it apart from the store: whoever has both can try every device id there is.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from louver.errors import DataError

SALT_BYTES = 32
_CHANGING = "salts that change every"


def salt(path: str | Path) -> bytes:
    """The salt in this file, which is made where it is missing and refused where others can read it."""
    place = Path(path)
    with _sentences(place):
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _write(place, f"{secrets.token_hex(SALT_BYTES)}\n", replace=False)
        written = _read(place)
    try:
        found = bytes.fromhex(written.strip())
    except ValueError:
        found = b""
    if len(found) != SALT_BYTES:
        raise DataError(f"{place} holds no salt; restore it, because with another one nobody is recognised.")
    return found


def salts(path: str | Path, ttl: int) -> dict[int, bytes]:
    """The salts by epoch in this file, none where it is missing; each epoch is so many microseconds long."""
    place = Path(path)
    if not place.exists():
        return {}
    with _sentences(place):
        first, *lines = _read(place).splitlines() or [""]
    if first != f"{_CHANGING} {ttl}":
        raise DataError(f"{place} holds no salts that change this often; name another file, or change it back.")
    try:
        found = {int(epoch): bytes.fromhex(written) for epoch, written in (line.split() for line in lines)}
    except ValueError:
        found = {0: b""}
    if any(len(each) != SALT_BYTES for each in found.values()):
        raise DataError(f"{place} holds no salts; restore it, or else everybody is there twice for a while.")
    return found


def keep_salts(path: str | Path, ttl: int, kept: Mapping[int, bytes]) -> None:
    """These salts and no others, on disk when it returns."""
    place = Path(path)
    lines = [f"{_CHANGING} {ttl}", *(f"{epoch} {each.hex()}" for epoch, each in sorted(kept.items()))]
    with _sentences(place):
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(place, "\n".join(lines) + "\n", replace=True)


@contextlib.contextmanager
def _sentences(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise DataError(f"The salt {place} cannot be read or made: {fault.strerror}.") from None


def _read(place: Path) -> str:
    """The text of a file that only its owner can use."""
    with place.open(encoding="ascii", errors="replace") as file:
        if os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise DataError(f"The salt {place} can be used by others; make it yours alone: chmod 600 {place}.")
        return file.read()


def _write(place: Path, text: str, *, replace: bool) -> None:
    """Written aside and put into place, so that nobody ever finds half a salt; of two first ones the first stays."""
    aside = place.with_name(f"{place.name}.{secrets.token_hex(8)}.new")
    file = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(file, "w", encoding="ascii") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(file)
        if replace:
            aside.replace(place)
        else:
            with contextlib.suppress(FileExistsError):
                os.link(aside, place)
    finally:
        aside.unlink(missing_ok=True)
    folder = os.open(place.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
