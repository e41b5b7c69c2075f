"""From the address of a ledger to its store and its key."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from louver.errors import ParameterError
from louver.ledger.sqlite import SQLiteStore
from louver.ledger.store import Store

KEY_VARIABLE = "LOUVER_LEDGER_KEY"
_SERVERS = ("postgresql://", "postgres://")


def store_at(where: str | Path) -> Store:
    if not isinstance(where, str | Path) or not str(where):  # type: ignore[redundant-expr]
        raise ParameterError("A ledger's address is the path of a file or a postgresql:// address.")
    if isinstance(where, str) and where.startswith(_SERVERS):
        from louver.ledger.postgres import PostgresStore

        return PostgresStore(where)
    if isinstance(where, str) and "://" in where:
        raise ParameterError("A ledger is kept in a file or at a postgresql:// address.")
    return SQLiteStore(where)


def key_path(where: str | Path, key: str | Path | None) -> Path:
    """Where the key is: as given, as the environment says, beside the file, or in the user's settings."""
    chosen = key or os.environ.get(KEY_VARIABLE)
    if chosen:
        return Path(chosen)
    if isinstance(where, str) and where.startswith(_SERVERS):
        settings = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        return settings / "louver" / f"{hashlib.sha256(store_at(where).address.encode()).hexdigest()[:16]}.key"
    return Path(f"{where}.key")
