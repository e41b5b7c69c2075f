"""Stores on a real server, and a server that a test may spoil."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from louver.ledger.postgres import PostgresStore
from tests.ledger.postgres.counting import made
from tests.ledger.server import Server


@pytest.fixture
def store(database: str) -> Iterator[PostgresStore]:
    store = made(database)
    yield store
    store.close()


@pytest.fixture
def other(database: str, store: PostgresStore) -> Iterator[PostgresStore]:
    """The same ledger, as another process sees it."""
    other = PostgresStore(database)
    assert other.schema == store.schema
    yield other
    other.close()


@pytest.fixture(scope="module")
def lone() -> Iterator[Server]:
    """A server whose settings a test may spoil."""
    server = Server()
    yield server
    server.remove()
