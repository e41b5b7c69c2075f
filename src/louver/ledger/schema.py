"""The tables, their version, and how an older ledger becomes a newer one.

Entries are the ledger. Everything else is made from them, so that it can be checked against them and made again.
"""

from __future__ import annotations

from typing import Protocol

from louver.errors import LedgerError
from louver.ledger.store import Connection

VERSION = 2

FOUNDATION = (
    "CREATE TABLE ledger (version BIGINT NOT NULL)",
    (
        "CREATE TABLE entries (number BIGINT PRIMARY KEY, epoch BIGINT NOT NULL, at TEXT NOT NULL, who TEXT NOT NULL,"
        " act TEXT NOT NULL, body TEXT NOT NULL, link TEXT NOT NULL)"
    ),
)

# Made from the entries. `totals` adds up the charges on each scope; `blocks` bounds the totals piece by piece along an
# axis; `classes`, `columns` and `axes` say what kinds of rows the two hold.
DERIVED = (
    "CREATE INDEX IF NOT EXISTS epochs ON entries (number) WHERE act IN ('opened', 'recovered')",
    "CREATE TABLE reservations (number BIGINT PRIMARY KEY, idempotency TEXT UNIQUE, settled BIGINT)",
    "CREATE INDEX unsettled ON reservations (number) WHERE settled IS NULL",
    "CREATE TABLE caps (id TEXT PRIMARY KEY, cap TEXT NOT NULL)",
    "CREATE TABLE people (name TEXT PRIMARY KEY, role TEXT NOT NULL, token TEXT NOT NULL)",
    (
        "CREATE TABLE totals (axis TEXT NOT NULL, reach BIGINT NOT NULL, low BIGINT NOT NULL, high BIGINT NOT NULL,"
        " id TEXT NOT NULL, audience TEXT NOT NULL, family TEXT NOT NULL, keyed TEXT NOT NULL,"
        " category BIGINT NOT NULL, scope TEXT NOT NULL, price TEXT NOT NULL, delta TEXT NOT NULL,"
        " PRIMARY KEY (axis, reach, low, id, audience, family))"
    ),
    (
        "CREATE TABLE classes (axis TEXT NOT NULL, reach BIGINT NOT NULL, family TEXT NOT NULL,"
        " PRIMARY KEY (axis, reach, family))"
    ),
    "CREATE TABLE columns (name TEXT PRIMARY KEY, kind TEXT NOT NULL)",
    "CREATE TABLE axes (axis TEXT PRIMARY KEY, exponent BIGINT NOT NULL)",
    (
        "CREATE TABLE blocks (axis TEXT NOT NULL, block BIGINT NOT NULL, audience TEXT NOT NULL, family TEXT NOT NULL,"
        " price TEXT NOT NULL, delta TEXT NOT NULL, PRIMARY KEY (axis, block, audience, family))"
    ),
)
DERIVED_TABLES = ("reservations", "caps", "people", "totals", "classes", "columns", "axes", "blocks")


class Rebuildable(Protocol):
    def rebuild(self) -> None:
        """Make the derived tables from the entries."""


def version(connection: Connection, address: str) -> int:
    found = connection.rows("SELECT version FROM ledger")
    if len(found) != 1 or not isinstance(found[0][0], int):
        raise LedgerError(f"{address} is a database but no ledger.")
    number = int(found[0][0])
    if number > VERSION:
        raise LedgerError(
            f"The ledger {address} was written by a newer Louver (format {number}; this one knows {VERSION}); "
            "install that version."
        )
    return number


def migrate(connection: Connection, book: Rebuildable) -> None:
    """Bring an older ledger up to this version. Format 1 had the entries alone, and added them up for each request."""
    for statement in DERIVED:
        connection.run(statement)
    book.rebuild()
    connection.run("UPDATE ledger SET version = ?", VERSION)
