"""The smallest ledger that could go wrong: a store of entries, and a counter that overlapping writers spoil."""

from __future__ import annotations

import threading
import time
from urllib.parse import urlsplit

import psycopg

from louver.ledger.postgres import PostgresStore
from tests.ledger.server import Server

TABLES = (
    "CREATE TABLE entries (number BIGINT PRIMARY KEY, body TEXT NOT NULL)",
    "CREATE TABLE counter (total BIGINT NOT NULL)",
)


def made(address: str) -> PostgresStore:
    store = PostgresStore(address)
    with store.create(TABLES) as connection:
        connection.run("INSERT INTO counter VALUES (?)", 0)
    return store


def total(store: PostgresStore) -> int:
    with store.read() as connection:
        return int(connection.rows("SELECT total FROM counter")[0][0])


def add_one(store: PostgresStore) -> None:
    """What loses updates as soon as two writers overlap: read, then write one more."""
    with store.write() as connection:
        before = connection.rows("SELECT total FROM counter")[0][0]
        connection.run("UPDATE counter SET total = ?", before + 1)


def identity(store: PostgresStore) -> str:
    with store.read() as connection:
        return store.identity(connection)


def name_of(url: str) -> str:
    return urlsplit(url).path[1:]


def wait_until(server: Server, condition: str) -> None:
    """Until a session is in that state; the tests of one server run one after another."""
    deadline = time.monotonic() + 30
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as connection:
        while time.monotonic() < deadline:
            found = connection.execute(f"SELECT count(*) FROM pg_stat_activity WHERE {condition}".encode()).fetchone()
            if found != (0,):
                return
            threading.Event().wait(0.01)
    raise AssertionError(f"No session came to {condition}.")
