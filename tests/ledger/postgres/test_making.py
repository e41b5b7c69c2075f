"""A ledger in PostgreSQL is made whole, in a schema of its own, or not at all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from louver.errors import LedgerError
from louver.ledger.postgres import PostgresStore
from tests.ledger.postgres.counting import TABLES, add_one, identity, made, name_of, total, wait_until
from tests.ledger.server import Server


def test_a_ledger_is_there_after_it_is_made_and_not_before(database: str) -> None:
    store = PostgresStore(database)
    assert not store.exists()
    with store.create(TABLES):
        pass
    assert store.exists()
    store.close()


def test_a_ledger_is_never_made_over_another(store: PostgresStore, other: PostgresStore) -> None:
    with pytest.raises(LedgerError, match="is there already"), other.create(TABLES):
        pass
    assert total(store) == 0


def test_a_ledger_is_not_made_among_tables_of_others(server: Server, database: str) -> None:
    server.run("CREATE SCHEMA louver CREATE TABLE theirs (a int)", name_of(database))
    store = PostgresStore(database)
    with pytest.raises(LedgerError, match="is there already"), store.create(TABLES):
        pass
    store.close()


def test_an_empty_schema_that_an_administrator_made_is_used(server: Server, database: str) -> None:
    server.run("CREATE SCHEMA louver", name_of(database))
    store = made(database)
    assert total(store) == 0
    store.close()


def test_a_ledger_whose_making_fails_leaves_nothing(database: str) -> None:
    store = PostgresStore(database)
    with pytest.raises(ZeroDivisionError), store.create(TABLES):
        raise ZeroDivisionError
    assert not store.exists()
    with store.create(TABLES):
        pass
    store.close()


def test_of_two_who_make_the_same_ledger_at_once_one_is_refused(database: str, server: Server) -> None:
    first, second = PostgresStore(database), PostgresStore(database)

    def make_second() -> str:
        with pytest.raises(LedgerError) as refused, second.create(TABLES):
            pass
        return str(refused.value)

    with ThreadPoolExecutor() as threads:
        with first.create(TABLES):
            answer = threads.submit(make_second)
            wait_until(server, "wait_event_type = 'Lock'")
        assert "is there already" in answer.result()
    first.close()
    second.close()


def test_two_names_are_two_ledgers_in_one_database(database: str) -> None:
    plain, east, west = made(database), made(f"{database}#east"), made(f"{database}#west")
    add_one(east)
    assert [total(plain), total(east), total(west)] == [0, 1, 0]
    assert len({identity(plain), identity(east), identity(west)}) == 3
    assert east.address.endswith("#east")
    for store in (plain, east, west):
        store.close()


def test_nothing_is_made_outside_the_schema(server: Server, database: str, store: PostgresStore) -> None:
    with psycopg.connect(server.dsn(name_of(database))) as connection:
        schemas = "SELECT DISTINCT relnamespace::regnamespace::text FROM pg_class WHERE oid >= 16384"
        functions = "SELECT DISTINCT pronamespace::regnamespace::text FROM pg_proc WHERE oid >= 16384"
        found = {row[0] for sql in (schemas, functions) for row in connection.execute(sql.encode()).fetchall()}
    assert found == {store.schema, "pg_toast"}
