"""A small ledger with something in it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from louver.ledger import Cap, Ledger
from louver.privacy import Unit
from tests.ledger.plans import flat

PRICE = Fraction(1, 8)


def create(where: str | Path, key: Path | None = None, reservations: int = 3) -> None:
    """A ledger with a cap of 1 and some reservations of one price each, closed again."""
    ledger, _ = Ledger.create(where, key=key, dataset="house", unit=Unit.row(), caps=[Cap(epsilon=1)])
    with ledger:
        for _ in range(reservations):
            ledger.reserve(flat(PRICE))
