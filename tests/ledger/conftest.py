"""Where ledgers are kept in the tests: a file, and a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ledger.server import Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One for all tests of a process, started by the first that asks."""
    server = Server()
    yield server
    server.remove()


@pytest.fixture
def database(server: Server) -> Iterator[str]:
    """The URL of a database of one's own."""
    url = server.new_database()
    yield url
    server.drop_database(url)


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a ledger that is not there yet: the same test runs on each kind of store."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    return str(request.getfixturevalue("database"))
