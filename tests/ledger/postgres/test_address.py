"""The address finds the server, and shows no password."""

from __future__ import annotations

import subprocess
import sys

import pytest

from louver.errors import LouverError, ParameterError
from louver.ledger.postgres import PostgresStore
from louver.ledger.store import StoreError
from tests.ledger.server import Server


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("postgresql://louver@/none?host={folder}&port=5432", "has no such database"),
        ("postgresql://stranger@/postgres?host={folder}&port=5432", "does not know this user"),
        ("postgresql://louver@/postgres?host=%2Fnowhere", "cannot be reached"),
        ("postgresql://louver@127.0.0.1:1/postgres", "cannot be reached"),
        (f"postgresql://louver@{'a' * 70}/postgres", "cannot be reached"),
    ],
)
def test_a_server_that_does_not_answer_well_is_told_apart(server: Server, wrong: str, sentence: str) -> None:
    store = PostgresStore(wrong.format(folder=server.folder))
    with pytest.raises(StoreError, match=sentence):
        store.exists()


def test_a_wrong_password_is_refused_and_never_shown(lone: Server) -> None:
    lone.run("CREATE ROLE guest LOGIN PASSWORD 'right'")
    rules = lone.data / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text("local postgres guest scram-sha-256\nlocal all louver trust\n")
    lone.stop()
    lone.start()
    address = lone.dsn("postgres", "guest:{}")
    with pytest.raises(StoreError, match="does not accept this user or password") as refused:
        PostgresStore(address.format("sesame")).exists()
    assert "sesame" not in str(refused.value)
    with pytest.raises(StoreError, match="does not accept this user or password"):
        PostgresStore(lone.dsn("postgres", "guest")).exists()
    with pytest.raises(StoreError, match="does not let this user in"):
        PostgresStore(lone.dsn("template1", "guest")).exists()
    store = PostgresStore(address.format("right"))
    assert not store.exists()
    store.close()
    rules.write_text(before)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://ann:sesame@db.example/data", "postgresql://ann@db.example/data"),
        ("postgres://ann:sesame@db.example:5433/data#east", "postgresql://ann@db.example:5433/data#east"),
        ("postgresql://db.example/data?password=sesame&user=ann", "postgresql://ann@db.example/data"),
        ("postgresql://ann@h/data?sslpassword=sesame&sslmode=require", "postgresql://ann@h/data"),
        ("postgresql://ann:sesame@one:1,two:2/data", "postgresql://ann@/data?host=one%2Ctwo&port=1%2C2"),
        ("postgresql://ann:sesame@[::1]/data", "postgresql://ann@/data?host=%3A%3A1"),
        ("postgresql://", "postgresql:///"),
    ],
)
def test_the_address_that_people_see_has_no_password(address: str, shown: str) -> None:
    assert PostgresStore(address).address == shown
    assert PostgresStore(shown).address == shown


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:ses#ame@host/data",
        "postgresql://ann:ses%ame@host/data",
        "postgresql://ann:sesame@[host/data",
        "postgresql://ann:sesame@host/data?sesame=1",
        "user=ann password=sesame",
        "postgresql://ann@host/data#Sesame",
        "postgresql://ann@host/data#" + "sesame" * 10,
    ],
)
def test_an_address_that_cannot_be_understood_is_not_repeated(address: str) -> None:
    with pytest.raises(ParameterError) as refused:
        PostgresStore(address)
    assert "ame@" not in str(refused.value)
    assert "esame" not in str(refused.value)


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(LouverError, match=r"pip install 'psycopg\[binary\]'"):
        PostgresStore("postgresql://ann@host/data")


def test_the_driver_is_loaded_with_the_first_ledger_in_postgresql() -> None:
    code = "import sys, louver.ledger.postgres; print('psycopg' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
