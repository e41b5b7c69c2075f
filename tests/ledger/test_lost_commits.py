"""A server that goes away, a commit of which nobody knows whether it counts, and a ledger of an older version."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest

from louver.ledger import Cap, Ledger, schema
from louver.ledger.store import UncertainCommit
from louver.privacy import Between, Charge, Scope, Unit
from tests.ledger.made import PRICE, create
from tests.ledger.plans import flat, priced, rooms
from tests.ledger.sentences import one_sentence
from tests.ledger.server import Server
from tests.ledger.tampering import look, tamper

# A server that goes away


@pytest.fixture
def served(database: str, tmp_path: Path) -> tuple[str, Path]:
    create(database, tmp_path / "key")
    return database, tmp_path / "key"


def test_a_server_that_is_stopped_is_one_sentence(tmp_path: Path) -> None:
    server = Server()
    try:
        where, key = server.new_database(), tmp_path / "key"
        create(where, key)
        with Ledger.open(where, key=key) as ledger:
            reservation = ledger.reserve(flat(PRICE))
            server.stop()
            for act in (lambda: ledger.reserve(flat(PRICE)), lambda: ledger.settle(reservation), ledger.remaining):
                with one_sentence():
                    act()
            with one_sentence():
                Ledger.open(where, key=key)
            server.start()
            ledger.settle(reservation)
            assert ledger.spent() == 4 * PRICE
    finally:
        server.remove()


def test_a_connection_lost_between_reserving_and_settling_is_replaced(served: tuple[str, Path]) -> None:
    where, key = served
    with Ledger.open(where, key=key) as ledger:
        reservation = ledger.reserve(flat(PRICE, gradual=True))
        with psycopg.connect(where, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        ledger.settle(reservation, [Charge(Scope.everything(), PRICE / 2)])
        assert ledger.spent() == Fraction(7, 2) * PRICE


# A commit of which nobody knows whether it counts


@pytest.fixture
def kept(where: str, tmp_path: Path) -> Iterator[Ledger]:
    create(where, tmp_path / "key")
    with Ledger.open(where, key=tmp_path / "key") as ledger:
        yield ledger


def lose(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, committed: bool) -> None:
    """The next transaction ends in doubt, after it was committed or before."""
    write = ledger._store.write

    @contextmanager
    def lost() -> Iterator[Any]:
        monkeypatch.setattr(ledger._store, "write", write)
        try:
            with write() as connection:
                yield connection
                if not committed:
                    raise UncertainCommit("The connection was lost.")
        finally:
            pass
        raise UncertainCommit("The connection was lost.")

    monkeypatch.setattr(ledger._store, "write", lost)


def test_a_reservation_that_was_committed_in_doubt_is_found(kept: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    lose(kept, monkeypatch, committed=True)
    reservation = kept.reserve(flat(PRICE), key="monday")
    assert reservation.fresh
    assert (reservation.number, kept.spent()) == (5, 4 * PRICE)
    kept.settle(reservation)
    assert kept.verify().ok


def test_a_reservation_that_was_lost_is_an_error_and_spends_nothing(
    kept: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose(kept, monkeypatch, committed=False)
    with one_sentence() as refused:
        kept.reserve(flat(PRICE))
    assert "nothing was reserved" in str(refused.value)
    assert (kept.spent(), kept.head().number) == (3 * PRICE, 4)


def test_a_settlement_that_was_committed_in_doubt_counts(kept: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    reservation = kept.reserve(flat(PRICE, gradual=True))
    lose(kept, monkeypatch, committed=True)
    kept.settle(reservation, [Charge(Scope.everything(), 0)])
    assert kept.spent() == 3 * PRICE


def test_a_settlement_that_was_lost_leaves_the_reservation(kept: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    reservation = kept.reserve(flat(PRICE, gradual=True))
    lose(kept, monkeypatch, committed=False)
    with one_sentence() as refused:
        kept.settle(reservation, [Charge(Scope.everything(), 0)])
    assert "stays as it was" in str(refused.value)
    assert kept.spent() == 4 * PRICE
    kept.settle(reservation)


# Older ledgers


def test_a_ledger_of_the_first_version_opens_with_the_same_totals(where: str, tmp_path: Path) -> None:
    key = tmp_path / "key"
    ledger, tokens = Ledger.create(where, key=key, dataset="house", unit=Unit.row(), caps=[Cap(epsilon=1)])
    with ledger:
        gradual = ledger.reserve(rooms(["hall", "lab"], 0.5, gradual=True, slot=Between(0, 4)))
        ledger.reserve(priced((Scope({"slot": Between(2, 3)}), 0.125)), key="monday")
        ledger.settle(gradual, [Charge(Scope({"room": "hall", "slot": Between(0, 4)}), 0.25)])
        ledger.set_cap(Cap(epsilon=0.75), list(tokens.values()))
        head = ledger.head()
    tamper(where, *(f"DROP TABLE {table}" for table in schema.DERIVED_TABLES), "UPDATE ledger SET version = 1")
    with Ledger.open(where, key=key) as again:
        assert again.head() == head
        assert again.spent() == Fraction(3, 8)
        assert again.spent(Scope({"room": "lab"})) == Fraction(1, 8)
        assert again.remaining() == Fraction(3, 8)
        assert [each.number for each in again.reservations()] == [3]
        assert again.person(tokens["owner"]).name == "owner"
        assert not again.reserve(priced((Scope({"slot": Between(2, 3)}), 0.125)), key="monday").fresh
        assert again.verify().ok
    assert look(where, "SELECT version FROM ledger") == [(schema.VERSION,)]
