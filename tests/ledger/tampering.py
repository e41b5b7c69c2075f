"""A hand in the store: changes that the ledger itself would never make, with what guards against them taken away."""

from __future__ import annotations

import sqlite3
from typing import Any

import psycopg

TABLES = ("ledger", "entries", "reservations", "caps", "people", "totals", "classes", "axes", "blocks", "columns")


def tamper(where: str, *statements: str) -> None:
    """Run statements in the store, written with ? for nothing: both kinds of stores understand them."""
    if where.startswith("postgres"):
        with psycopg.connect(where, autocommit=True) as connection:
            connection.execute("SET search_path TO louver")
            connection.execute("ALTER TABLE entries DISABLE TRIGGER ALL")
            for statement in statements:
                connection.execute(statement.encode())
            connection.execute("ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_refuse_change")
        return
    opened = sqlite3.connect(where, isolation_level=None)
    try:
        triggers = opened.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            opened.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            opened.execute(statement)
        for _, sql in triggers:
            opened.execute(sql)
    finally:
        opened.close()


def look(where: str, sql: str) -> list[tuple[Any, ...]]:
    if where.startswith("postgres"):
        with psycopg.connect(where, autocommit=True) as connection:
            connection.execute("SET search_path TO louver")
            return connection.execute(sql.encode()).fetchall()
    opened = sqlite3.connect(where)
    try:
        return opened.execute(sql).fetchall()
    finally:
        opened.close()


def everything(where: str) -> dict[str, list[tuple[Any, ...]]]:
    """All that is stored, to see that nothing changed."""
    return {table: sorted(look(where, f"SELECT * FROM {table}"), key=repr) for table in TABLES}
