"""Bringing an older ledger up to date with entries that were written after it, and beginning a new epoch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from louver.errors import LedgerError
from louver.ledger import chain
from louver.ledger.book import RECOVERED, Book
from louver.ledger.model import Entry, Head


def append_newer(book: Book, key: bytes, newer: Iterable[Entry]) -> int:
    """Add the entries that this ledger lacks; each must continue the chain. Returns how many were added."""
    last = book.last()
    previous, number, added = last.link, last.number, 0
    for entry in newer:
        if entry.number <= number:
            known = book.entry(entry.number)
            if known is None or known.link != entry.link:
                raise LedgerError(
                    f"Entry {entry.number} of those supplied is not the ledger's own; nothing was changed."
                )
            continue
        if entry.number != number + 1:
            raise LedgerError(f"Entry {number + 1} is missing among those supplied; nothing was changed.")
        if not chain.same(entry.link, chain.link_of(key, previous, entry)):
            raise LedgerError(
                f"Entry {entry.number} of those supplied does not continue the chain; nothing was changed."
            )
        book.copy(entry)
        previous, number, added = entry.link, entry.number, added + 1
    return added


def check_reaches(book: Book, heads: Sequence[Head], seen: tuple[int, str] | None) -> None:
    """Whether the ledger holds every entry that is known to have been written."""
    known = [(head.number, head.link) for head in heads] + ([seen] if seen is not None else [])
    if not known:
        raise LedgerError(
            "Nothing shows how far this ledger had come: the witness is missing, so supply the newest exported head."
        )
    for number, link in known:
        entry = book.entry(number)
        if entry is None:
            raise LedgerError(
                f"The ledger was known to have {number} entries and now has {book.last().number}; "
                "supply the newer ones too. Until then it counts as wholly spent."
            )
        if entry.link != link:
            raise LedgerError(f"Entry {number} is not the one that was written; this ledger has another history.")


def begin_epoch(book: Book, owners: Sequence[str], store: str, added: int, proof: Mapping[str, Any]) -> Entry:
    """From here on this store is the ledger."""
    epoch = book.last().epoch + 1
    return book.append(
        RECOVERED, " and ".join(owners), {"store": store, "by": list(owners), "added": added, **proof}, epoch=epoch
    )
