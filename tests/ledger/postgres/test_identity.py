"""A store knows itself again, and a copy is another."""

from __future__ import annotations

import subprocess

import pytest

from louver.ledger.postgres import PostgresStore
from louver.ledger.store import StoreError
from tests.ledger.postgres.counting import TABLES, add_one, identity, made, name_of, total, wait_until
from tests.ledger.server import Server


def test_the_identity_stays_while_the_store_lives_on(server: Server, database: str, store: PostgresStore) -> None:
    before = identity(store)
    add_one(store)
    server.run("VACUUM FULL", name_of(database))
    server.stop()
    server.start()
    assert identity(store) == before
    server.stop("immediate")
    server.start()
    assert identity(store) == before
    with store.write() as connection:
        assert store.identity(connection) == before


def test_the_identity_is_known_while_the_ledger_is_made(database: str) -> None:
    store = PostgresStore(database)
    with store.create(TABLES) as connection:
        known = store.identity(connection)
    assert identity(store) == known
    store.close()


def test_a_copy_of_the_database_has_another_identity(server: Server, database: str, store: PostgresStore) -> None:
    before = identity(store)
    store.close()
    server.run(f"CREATE DATABASE copied TEMPLATE {name_of(database)}")
    copy = PostgresStore(server.dsn("copied"))
    assert total(copy) == 0
    assert identity(copy) != before
    copy.close()
    server.drop_database(server.dsn("copied"))


def test_a_ledger_that_was_dumped_and_loaded_again_has_another_identity(
    server: Server, database: str, store: PostgresStore
) -> None:
    before = identity(store)
    store.close()
    dump = subprocess.check_output([server.binary("pg_dump"), database])
    server.run("DROP SCHEMA louver CASCADE", name_of(database))
    subprocess.run([server.binary("psql"), "-q", "-v", "ON_ERROR_STOP=1", database], input=dump, check=True, stdout=-3)
    assert total(store) == 0
    assert identity(store) != before
    with pytest.raises(StoreError, match="keeps its entries for ever"), store.write() as connection:
        connection.run("DELETE FROM entries")


def test_another_cluster_has_another_identity(lone: Server, store: PostgresStore) -> None:
    same = made(lone.new_database())
    assert identity(same).split()[:2] != identity(store).split()[:2]
    same.close()


def test_a_standby_reads_as_its_primary_and_refuses_to_write(lone: Server) -> None:
    store = made(lone.new_database())
    before = identity(store)
    lone.stop()
    (lone.data / "standby.signal").touch()
    lone.start()
    assert identity(store) == before
    with pytest.raises(StoreError, match="only reads"), store.write():
        pass
    store.close()
    lone.stop()
    (lone.data / "standby.signal").unlink()
    lone.start()


def test_a_recovery_from_a_backup_has_another_identity(lone: Server) -> None:
    store = made(lone.new_database())
    before = identity(store)
    lone.stop()
    (lone.data / "recovery.signal").touch()
    lone.start(restore_command="/bin/false")
    wait_until(lone, "NOT pg_is_in_recovery()")
    assert identity(store) != before
    assert total(store) == 0
    store.close()
