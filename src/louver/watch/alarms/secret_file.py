"""A secret in a file of its own, which only its owner can read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from louver.errors import AccessError

LARGEST = 4096


def secret(path: Path, *, shortest: int = 1) -> str:
    """The first line of the file; refused where others can read it, or where it is too short to be a secret."""
    try:
        file = os.open(path, os.O_RDONLY)
        try:
            mode = os.fstat(file).st_mode
            written = os.read(file, LARGEST)
        finally:
            os.close(file)
    except OSError as fault:
        raise AccessError(f"The secret {path} cannot be read: {fault.strerror}.") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise AccessError(f"The secret {path} can be used by others; make it yours alone: chmod 600 {path}.")
    try:
        found = written.decode("utf-8").split("\n", 1)[0].strip()
    except UnicodeDecodeError:
        raise AccessError(f"The secret {path} is no text in UTF-8.") from None
    if len(found) < shortest:
        raise AccessError(
            f"The secret {path} needs at least {shortest} letters; make one with: openssl rand -hex 32 > {path}."
        )
    return found
