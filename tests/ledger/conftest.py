"""Where ledgers are kept in the tests: a file, and a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from louver.ledger import Cap, Ledger
from louver.privacy import Unit
from tests.ledger.server import Server

Make = Callable[..., tuple[Ledger, dict[str, str]]]


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


@pytest.fixture
def make(where: str, tmp_path: Path) -> Iterator[Make]:
    """Makes the ledger of the test; whatever is not named is the simplest."""
    made: list[Ledger] = []

    def create(*caps: Cap, **others: Any) -> tuple[Ledger, dict[str, str]]:
        given = {"dataset": "house", "unit": Unit.row(), "key": tmp_path / "key", **others}
        ledger, tokens = Ledger.create(where, caps=caps or [Cap(epsilon=1)], **given)
        made.append(ledger)
        return ledger, tokens

    yield create
    for ledger in made:
        ledger.close()


@pytest.fixture
def ledger(make: Make) -> Ledger:
    return make()[0]
