"""Writers queue, readers have one picture, and entries stay."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psycopg
import pytest

from louver.ledger import postgres
from louver.ledger.postgres import PostgresStore
from louver.ledger.store import Busy, StoreError
from tests.ledger.postgres.counting import add_one, made, total, wait_until
from tests.ledger.server import Server


def test_values_come_back_as_they_went_in(store: PostgresStore) -> None:
    with store.write() as connection:
        connection.run("CREATE TABLE kinds (a BIGINT, b DOUBLE PRECISION, c TEXT, d BYTEA, e TEXT)")
        connection.run("INSERT INTO kinds VALUES (?, ?, ?, ?, ?)", 2**62, 0.1, "100%s ? δ", b"\0\xff", None)
    with store.read() as connection:
        assert connection.rows("SELECT * FROM kinds WHERE c LIKE '100%'") == [
            (2**62, 0.1, "100%s ? δ", b"\0\xff", None)
        ]


def test_several_rows_are_written_at_once(store: PostgresStore) -> None:
    with store.write() as connection:
        connection.run_many("INSERT INTO entries VALUES (?, ?)", [(1, "a"), (2, "b")])
        connection.run_many("INSERT INTO entries VALUES (?, ?)", [])
    with store.read() as connection:
        assert connection.rows("SELECT number, body FROM entries ORDER BY number") == [(1, "a"), (2, "b")]


def test_a_sum_of_whole_numbers_is_a_whole_number(store: PostgresStore) -> None:
    with store.read() as connection:
        found = connection.rows("SELECT sum(n), avg(m) FROM (VALUES (?, 1), (?, 2)) numbers (n, m)", 2**62 + 1, 2**62)
    assert found == [(2**63 + 1, 1.5)]
    assert [type(value) for value in found[0]] == [int, float]


def test_texts_are_ordered_by_their_bytes_whatever_the_language_of_the_database(server: Server) -> None:
    server.run("CREATE DATABASE english TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'")
    store = made(server.dsn("english"))
    with store.write() as connection:
        connection.run_many("INSERT INTO entries VALUES (?, ?)", [(1, "a"), (2, "B"), (3, "_")])
        assert connection.rows("SELECT body FROM entries ORDER BY body") == [("B",), ("_",), ("a",)]
        assert connection.rows("SELECT 'a' < 'B'") == [(True,)]
    store.close()
    server.drop_database(server.dsn("english"))


def test_writers_in_several_connections_lose_nothing(database: str, store: PostgresStore) -> None:
    def add_many(_: int) -> None:
        own = PostgresStore(database)
        for _ in range(20):
            add_one(own)
        own.close()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(add_many, range(4)))
    assert total(store) == 80


def test_threads_take_turns_on_one_store(store: PostgresStore) -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: add_one(store), range(40)))
    assert total(store) == 40


def test_a_writer_that_waited_sees_what_the_one_before_it_stored(
    server: Server, store: PostgresStore, other: PostgresStore
) -> None:
    with ThreadPoolExecutor() as threads:
        with store.write() as connection:
            waiting = threads.submit(add_one, other)
            wait_until(server, "wait_event_type = 'Lock'")
            connection.run("UPDATE counter SET total = ?", 41)
        waiting.result()
    assert total(store) == 42


def test_a_block_that_raises_writes_nothing(store: PostgresStore) -> None:
    def write_and_raise() -> None:
        with store.write() as connection:
            connection.run("UPDATE counter SET total = ?", 7)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_raise()
    assert total(store) == 0


def test_a_block_that_hides_a_failed_statement_is_refused(store: PostgresStore) -> None:
    def write_and_hide() -> None:
        with store.write() as connection:
            connection.run("UPDATE counter SET total = ?", 7)
            with suppress(psycopg.Error):
                connection.run("INSERT INTO nowhere VALUES (1)")

    with pytest.raises(StoreError, match="nothing was written"):
        write_and_hide()
    assert total(store) == 0


def test_a_reader_keeps_its_picture_while_a_writer_stores(store: PostgresStore, other: PostgresStore) -> None:
    with store.read() as connection:
        before = connection.rows("SELECT total FROM counter")
        add_one(other)
        assert connection.rows("SELECT total FROM counter") == before
    assert total(store) == 1


def test_a_reader_does_not_wait_for_a_writer(
    store: PostgresStore, other: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "LONGEST_WAIT", 1)
    with store.write() as connection:
        connection.run("INSERT INTO entries VALUES (1, 'a')")
        with other.read() as picture:
            assert picture.rows("SELECT number FROM entries") == []


def test_a_reader_cannot_write(store: PostgresStore) -> None:
    with pytest.raises(StoreError, match="only reads"), store.read() as connection:
        connection.run("UPDATE counter SET total = ?", 7)


def test_a_transaction_inside_another_of_the_same_store_is_refused(store: PostgresStore) -> None:
    with store.write() as connection:
        connection.run("UPDATE counter SET total = ?", 7)
        with pytest.raises(StoreError, match="finish that first"), store.read():
            pass
    assert total(store) == 7


def test_whoever_waits_too_long_is_told_that_others_are_busy(
    store: PostgresStore, other: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "LONGEST_WAIT", 0.05)
    with store.write(), pytest.raises(Busy, match="nothing was written"), other.write():
        pass
    add_one(other)


def test_a_writer_that_hangs_is_cut_off_and_does_not_hold_up_the_others(
    store: PostgresStore, other: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_WRITE", postgres._WRITE.replace("'60s'", "'50ms'"))

    def hang() -> None:
        with store.write() as connection:
            connection.run("UPDATE counter SET total = ?", 7)
            add_one(other)

    with pytest.raises(StoreError, match="was lost; nothing was written"):
        hang()
    assert total(store) == 1


@pytest.mark.parametrize("act", ["UPDATE entries SET body = 'b'", "DELETE FROM entries", "TRUNCATE entries"])
@pytest.mark.parametrize("role", ["origin", "replica"])
def test_entries_cannot_be_changed_or_removed(store: PostgresStore, act: str, role: str) -> None:
    with store.write() as connection:
        connection.run("INSERT INTO entries VALUES (1, 'a')")

    def change() -> None:
        with store.write() as connection:
            connection.run(f"SET LOCAL session_replication_role TO {role}")
            connection.run(act)

    with pytest.raises(StoreError, match="keeps its entries for ever"):
        change()
    with store.read() as connection:
        assert connection.rows("SELECT body FROM entries") == [("a",)]
