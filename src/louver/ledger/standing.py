"""Whether a ledger is the one that was in use, or an older one in its place.

Each store has an epoch, which began when the store was made or recovered and names the store by its identity. A copy or
a restored backup has another identity; an older file written over the newer one has the same, but lacks the entry that
the witness has seen. Either way everything counts as spent until an owner supplies the newer entries.
"""

from __future__ import annotations

from dataclasses import dataclass

from louver.errors import BudgetError, LedgerError
from louver.ledger.book import OPENED, RECOVERED, Book
from louver.ledger.keys import Keys
from louver.ledger.sqlite import SQLiteStore
from louver.ledger.store import Store


@dataclass(frozen=True, slots=True)
class Witnessed:
    """What the witness holds. It is read before the ledger: what it has seen was written by then."""

    newest: tuple[int, str] | None
    fault: str | None = None
    missing: bool = False

    @classmethod
    def now(cls, keys: Keys) -> Witnessed:
        try:
            newest = keys.seen()
        except LedgerError as fault:
            return cls(None, str(fault)[0].lower() + str(fault)[1:].removesuffix("."))
        if newest is None:
            return cls(None, f"its witness {keys.witness_path} is missing", missing=True)
        return cls(newest)


def standing(book: Book, store: Store, witnessed: Witnessed) -> str | None:
    """Why this ledger may not be the newest, as a phrase; None when it is."""
    if _identity_of_epoch(book) != store.identity(book.connection):
        return "it was copied or restored from a backup"
    if witnessed.newest is None:
        # A server is recognised by its identity, so that a new host may begin its own witness there.
        return None if witnessed.missing and not isinstance(store, SQLiteStore) else witnessed.fault
    number, link = witnessed.newest
    entry = book.entry(number)
    if entry is None:
        return f"it ends before entry {number}, which was written"
    return None if entry.link == link else f"its entry {number} is not the one that was written"


def check_standing(book: Book, store: Store, witnessed: Witnessed) -> None:
    doubt = standing(book, store, witnessed)
    if doubt is not None:
        raise BudgetError(
            f"The ledger {store.address} counts as wholly spent, because {doubt}; "
            "its owners can bring it up to date with: louver ledger recover."
        )


def _identity_of_epoch(book: Book) -> str:
    # Written out as in the index that holds these entries alone.
    began = f"act IN ('{OPENED}', '{RECOVERED}')"
    found = book.connection.rows(f"SELECT number FROM entries WHERE {began} ORDER BY number DESC LIMIT 1")  # noqa: S608
    entry = book.entry(int(found[0][0])) if found else None
    return str(entry.body.get("store")) if entry is not None else ""
