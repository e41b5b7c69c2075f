"""Straight into a ledger's store, past everything that protects it: what an attacker with the file could do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import psycopg


class Raw(Protocol):
    def __call__(self, sql: str, *values: object) -> list[tuple[Any, ...]]: ...


@contextmanager
def opened(where: str) -> Iterator[Raw]:
    """Runs SQL with `?` for values, with nothing in the way of changing entries; committed at the end."""
    if where.startswith("postgresql://"):
        with psycopg.connect(where) as connection:
            connection.execute("SET search_path TO louver")
            connection.execute("ALTER TABLE entries DISABLE TRIGGER USER")

            def run_there(sql: str, *values: object) -> list[tuple[Any, ...]]:
                cursor = connection.execute(sql.replace("?", "%s"), values)
                return cursor.fetchall() if cursor.description else []

            yield run_there
            connection.execute("ALTER TABLE entries ENABLE TRIGGER USER")
        return
    file = sqlite3.connect(where)
    try:
        for (trigger,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            file.execute(f"DROP TRIGGER {trigger}")

        def run_here(sql: str, *values: object) -> list[tuple[Any, ...]]:
            return file.execute(sql, values).fetchall()

        yield run_here
        file.commit()
    finally:
        file.close()
