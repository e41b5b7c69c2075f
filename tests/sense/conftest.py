"""A real PostgreSQL for stores, one for all tests of a process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ledger.server import Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.remove()


@pytest.fixture(params=["folder", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a store that is not there yet: the same test runs on each kind."""
    if request.param == "folder":
        yield str(tmp_path / "store")
        return
    server: Server = request.getfixturevalue("server")
    database = server.new_database()
    yield database
    server.drop_database(database)
