"""Where a ledger is kept: the small interface that SQLite and PostgreSQL both fill.

The ledger's own logic is written once, in SQL that both understand, with `?` for each value. A store gives it two
kinds of access: a consistent picture to read, and one transaction at a time that may write.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from louver.errors import LedgerError


class StoreError(LedgerError):
    """The store cannot do what was asked; nothing was written."""


class Busy(StoreError):  # noqa: N818 it says what is the matter
    """Others kept the store busy for too long."""


class UncertainCommit(StoreError):  # noqa: N818
    """The store went away while it was writing; whether the transaction is kept is not known."""


class Connection(Protocol):
    """One transaction. SQL has `?` for each value; values are int, float, str, bytes or None."""

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]: ...

    def run(self, sql: str, *values: object) -> None: ...

    def run_many(self, sql: str, several: Iterable[tuple[object, ...]]) -> None: ...


class Store(Protocol):
    @property
    def address(self) -> str:
        """Where it is, as people may see it: never with a password."""

    def exists(self) -> bool:
        """Whether there is a ledger; looks without making anything."""

    def create(self, statements: Iterable[str]) -> AbstractContextManager[Connection]:
        """A write transaction on a store made for it, after the statements that make the tables.

        Refuses with a sentence where a ledger already is.
        """

    def read(self) -> AbstractContextManager[Connection]:
        """One consistent picture; writers may go on meanwhile."""

    def write(self) -> AbstractContextManager[Connection]:
        """One serialisable transaction, the only writer: durable when the block ends, undone when it raises."""

    def identity(self, connection: Connection) -> str:
        """A text that stays while the store lives on, and differs for a copy or after a restore."""

    def close(self) -> None: ...
