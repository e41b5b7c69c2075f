"""Whatever happens to the server is one sentence, and what is stored is known or said to be uncertain."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from louver.ledger import postgres
from louver.ledger.postgres import PostgresStore
from louver.ledger.store import Busy, StoreError, UncertainCommit
from tests.ledger.postgres.counting import TABLES, add_one, identity, name_of, total, wait_until
from tests.ledger.server import Server


def test_a_connection_lost_in_the_middle_writes_nothing_and_the_next_call_has_a_new_one(
    server: Server, store: PostgresStore
) -> None:
    def lose_the_connection() -> None:
        with store.write() as connection:
            connection.run("UPDATE counter SET total = ?", 7)
            server.stop("immediate")
            server.start()
            connection.run("UPDATE counter SET total = ?", 8)

    with pytest.raises(StoreError, match="was lost; nothing was written"):
        lose_the_connection()
    add_one(store)
    assert total(store) == 1


def test_a_server_that_is_down_is_named_and_the_next_call_after_its_start_works(
    server: Server, store: PostgresStore
) -> None:
    server.stop("immediate")
    try:
        with pytest.raises(StoreError, match="cannot be reached"), store.write():
            pass
    finally:
        server.start()
    add_one(store)
    assert total(store) == 1


def test_a_restart_between_two_calls_is_not_noticed(server: Server, store: PostgresStore) -> None:
    add_one(store)
    server.stop()
    server.start()
    add_one(store)
    assert total(store) == 2


def test_a_connection_lost_while_it_commits_is_uncertain(server: Server, store: PostgresStore) -> None:
    """The server waits for a standby that never answers, so the transaction is stored and nobody is told."""
    server.stop()
    server.start(synchronous_standby_names="nobody")
    try:
        with ThreadPoolExecutor() as threads:
            written = threads.submit(add_one, store)
            wait_until(server, "wait_event = 'SyncRep'")
            server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
            with pytest.raises(UncertainCommit, match="nobody here knows"):
                written.result()
        assert total(store) == 1
    finally:
        server.stop()
        server.start()


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
def test_a_server_that_could_lose_commits_is_refused(server: Server, store: PostgresStore, setting: str) -> None:
    server.stop()
    server.start(**{setting: "off"})
    try:
        with pytest.raises(StoreError, match=f"because {setting} is not on"), store.read():
            pass
    finally:
        server.stop()
        server.start()


def test_commits_wait_for_the_disk_even_where_the_database_says_otherwise(
    server: Server, database: str, store: PostgresStore
) -> None:
    store.close()
    server.run(f"ALTER DATABASE {name_of(database)} SET synchronous_commit TO off")
    with store.write() as connection:
        assert connection.rows("SELECT current_setting('synchronous_commit')") == [("on",)]


def test_a_server_that_is_too_old_is_refused(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.close()
    monkeypatch.setattr(postgres, "OLDEST_SERVER", 990000)
    with pytest.raises(StoreError, match="needs PostgreSQL 99 or newer"), store.read():
        pass


def test_a_user_who_may_only_read_reads_and_is_refused_to_write(
    server: Server, database: str, store: PostgresStore
) -> None:
    server.run("CREATE ROLE reader LOGIN")
    try:
        for grant in ("USAGE ON SCHEMA louver", "SELECT ON ALL TABLES IN SCHEMA louver"):
            server.run(f"GRANT {grant} TO reader", name_of(database))
        reader = PostgresStore(server.dsn(name_of(database), "reader"))
        assert reader.exists()
        assert total(reader) == 0
        assert identity(reader) == identity(store)
        with pytest.raises(StoreError, match="by this user"), reader.write():
            pass
        reader.close()
        maker = PostgresStore(f"{reader.address}#own")
        with pytest.raises(StoreError, match="by this user"), maker.create(TABLES):
            pass
        maker.close()
    finally:
        server.run("DROP OWNED BY reader", name_of(database))
        server.run("DROP ROLE reader")


def test_a_database_without_a_ledger_says_how_to_make_one(database: str) -> None:
    store = PostgresStore(database)
    with pytest.raises(StoreError, match="louver ledger init"), store.write():
        pass
    with pytest.raises(StoreError, match="louver ledger init"), store.read() as connection:
        connection.rows("SELECT * FROM entries")
    store.close()


@pytest.mark.parametrize(
    ("code", "kind", "sentence"),
    [
        ("40001", Busy, "busy by others"),
        ("40P01", Busy, "busy by others"),
        ("53100", StoreError, "disk of its server is full"),
        ("XX001", StoreError, "is damaged"),
        ("22012", StoreError, "could not be used: 22012"),
    ],
)
def test_what_the_server_reports_is_one_sentence_without_its_words(
    store: PostgresStore, code: str, kind: type[StoreError], sentence: str
) -> None:
    with pytest.raises(kind, match=sentence) as refused, store.write() as connection:
        connection.run(f"DO $$ BEGIN RAISE EXCEPTION 'room 7 holds 12' USING ERRCODE = '{code}'; END $$")
    assert "room 7" not in str(refused.value)
    assert str(refused.value).endswith(".")
    add_one(store)


def test_a_collision_found_at_commit_is_certain(store: PostgresStore) -> None:
    with store.write() as connection:
        connection.run("CREATE TABLE later (a BIGINT UNIQUE DEFERRABLE INITIALLY DEFERRED)")
    with pytest.raises(StoreError, match="nothing was written") as refused, store.write() as connection:
        connection.run_many("INSERT INTO later VALUES (?)", [(1,), (1,)])
    assert not isinstance(refused.value, UncertainCommit)
