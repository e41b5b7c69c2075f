"""A ledger in PostgreSQL, for several hosts: one schema of a database, one writer at a time, durable commits."""

from __future__ import annotations

import functools
import os
import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from louver.errors import LedgerError
from louver.ledger.postgres_address import parsed
from louver.ledger.store import Busy, Connection, StoreError, UncertainCommit

if TYPE_CHECKING:
    import psycopg

LONGEST_WAIT = 60  # seconds, for a turn to write
OLDEST_SERVER = 120000  # how PostgreSQL numbers version 12

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_MAKE = "BEGIN ISOLATION LEVEL SERIALIZABLE"
# LOCK takes no snapshot, so whoever waited in it sees what the writer before it stored. A writer that hangs is cut off.
_WRITE = (
    f"BEGIN ISOLATION LEVEL SERIALIZABLE; SET LOCAL idle_in_transaction_session_timeout TO '{LONGEST_WAIT}s'; "
    "LOCK TABLE entries IN EXCLUSIVE MODE"
)

_TIMELINE_OF_STANDBY = "(SELECT lpad(upper(to_hex(timeline_id)), 8, '0') FROM pg_control_checkpoint())"

_NEVER_CHANGED = "LV001"  # the error code of the trigger
_APPEND_ONLY = (
    f"""CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'entries are never changed' USING ERRCODE = '{_NEVER_CHANGED}'; END $$""",
    """CREATE TRIGGER entries_refuse_change BEFORE UPDATE OR DELETE OR TRUNCATE ON entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()""",
    "ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_refuse_change",
)

_NUMERIC = 1700  # the type that PostgreSQL gives to a sum of whole numbers
_CUT_OFF = "25P03"  # idle in a transaction for too long, so that COMMIT came too late
_BUSY = ("40001", "40P01", "55P03", "57014")  # cannot serialise, deadlock, lock timeout, statement timeout
_TAKEN = ("23505", "42P06", "42P07", "42723")  # somebody made the same schema or table meanwhile
_REASONS = {
    _NEVER_CHANGED: "keeps its entries for ever; none is changed or removed.",
    "0A000": "is on a server that only reads, or cannot do what Louver needs; nothing was written.",
    "25006": "is on a server or in a transaction that only reads; nothing was written.",
    "3F000": "is not there; make one with: louver ledger init.",
    "42501": "may not be read or written in this way by this user; nothing was written.",
    "42P01": "is not there; make one with: louver ledger init.",
    "53100": "cannot be written because the disk of its server is full; nothing was written.",
    "58030": "could not be read or written by its server; check the disk there. Nothing was written.",
    "XX001": "is damaged; restore it and supply its newer entries.",
    "XX002": "is damaged; restore it and supply its newer entries.",
}

# Why there is no connection: PostgreSQL tells it in words only, which may hold what nobody should see.
_REFUSALS = (
    (r"pg_hba\.conf", "does not let this user in from here."),
    (r"password|authentication", "does not accept this user or password."),
    (r'role ".*" does not exist', "does not know this user."),
    (r'database ".*" does not exist', "has no such database; make it with: createdb."),
    (r"permission denied", "does not let this user into the database."),
    (r"too many|connection slots", "has no connection left; try again later."),
    (r"starting up|shutting down|recovery", "is starting or stopping; try again in a moment."),
    (r"SSL|certificate", "does not agree on encryption; check sslmode and the certificates."),
)


class _PostgresConnection:
    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        cursor = self._connection.execute(_translated(sql), values)
        found = cursor.fetchall()
        if any(column.type_code == _NUMERIC for column in cursor.description or ()):
            return [tuple(map(_plain, row)) for row in found]
        return found

    def run(self, sql: str, *values: object) -> None:
        self._connection.execute(_translated(sql), values)

    def run_many(self, sql: str, several: Iterable[tuple[object, ...]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_translated(sql), several)


class PostgresStore:
    """The schema `louver` of a database, or `louver_name` for an address that ends in `#name`.

    A connection belongs to the process that opened it, so that a fork opens its own; threads take turns.
    """

    def __init__(self, address: str) -> None:
        self._parameters, self.schema, self._shown = parsed(address)
        self._open: psycopg.Connection[Any] | None = None
        self._process = os.getpid()
        self._turn = threading.RLock()

    @property
    def address(self) -> str:
        return self._shown

    def exists(self) -> bool:
        with self._transaction(_READ) as connection:
            return "entries" in self._tables(connection)

    @contextmanager
    def create(self, statements: Iterable[str]) -> Iterator[Connection]:
        """One transaction makes everything, in a schema that is new or still empty: half a ledger is never found."""
        with self._transaction(_MAKE) as connection:
            if self._tables(connection):
                raise self._taken()
            with self._sentences(making=True):
                if not connection.rows("SELECT 1 FROM pg_namespace WHERE nspname = ?", self.schema):
                    connection.run(f"CREATE SCHEMA {self.schema}")
                for statement in [*statements, *_APPEND_ONLY]:
                    connection.run(statement)
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self._transaction(_READ) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        with self._transaction(_WRITE) as connection:
            yield connection

    def identity(self, connection: Connection) -> str:
        """Which cluster, timeline, database and table: a dump, a copy or a recovery to an earlier time has others.

        A standby has its primary's, until it is promoted: then it may lack what the primary stored last.
        """
        asked = "SELECT has_function_privilege('pg_control_system()', 'EXECUTE'), pg_is_in_recovery()"
        may_see_cluster, is_standby = connection.rows(asked)[0]
        cluster = "(SELECT system_identifier FROM pg_control_system())" if may_see_cluster else "'unknown'"
        timeline = _TIMELINE_OF_STANDBY if is_standby else "left(pg_walfile_name(pg_current_wal_lsn()), 8)"
        found = connection.rows(
            f"SELECT {cluster}, {timeline}, oid::bigint, 'entries'::regclass::oid::bigint "  # noqa: S608 no values in it
            "FROM pg_database WHERE datname = current_database()"
        )
        return "cluster {} timeline {} database {} table {}".format(*found[0])

    def close(self) -> None:
        self._leave_to_parent()
        with self._turn:
            if self._open is not None:
                self._open.close()
            self._open = None

    def _tables(self, connection: Connection) -> list[str]:
        sql = "SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = ?"
        return [name for (name,) in connection.rows(sql, self.schema)]

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Connection]:
        self._leave_to_parent()
        with self._turn:
            with self._sentences():
                connection = self._begun(begin)
            try:
                with self._sentences():
                    yield _PostgresConnection(connection)
                if begin != _READ:
                    self._commit(connection)
            finally:
                self._undo(connection)

    def _begun(self, begin: str) -> psycopg.Connection[Any]:
        """In a transaction; a connection that was lost while nobody used it is replaced without a word."""
        import psycopg

        try:
            return self._begin(begin)
        except psycopg.Error:
            if self._open is not None and not self._open.closed:
                raise
            return self._begin(begin)

    def _begin(self, begin: str) -> psycopg.Connection[Any]:
        import psycopg

        connection = self._connected()
        if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            raise StoreError(f"The ledger {self.address} is being read or written here already; finish that first.")
        try:
            connection.execute(begin.encode())
        except BaseException:
            self._undo(connection)
            raise
        return connection

    def _commit(self, connection: psycopg.Connection[Any]) -> None:
        import psycopg

        if self._process != os.getpid():
            raise StoreError(f"Only the process that began to write to the ledger {self.address} can finish it.")
        try:
            done = connection.execute("COMMIT").statusmessage
        except psycopg.Error as fault:
            if fault.sqlstate == _CUT_OFF or (fault.sqlstate is not None and not connection.closed):
                raise self._sentence(fault) from None
            connection.close()
            raise UncertainCommit(
                f"The connection to the ledger {self.address} was lost while it was writing, "
                "so that nobody here knows whether it did; look it up before you try again."
            ) from None
        if done != "COMMIT":  # PostgreSQL undoes a transaction in which a statement failed, and calls that no error
            raise StoreError(
                f"The ledger {self.address} refused a part of what was to be written; nothing was written."
            )

    def _undo(self, connection: psycopg.Connection[Any]) -> None:
        import psycopg

        if self._process != os.getpid() or connection.closed:
            return
        if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            try:
                connection.execute("ROLLBACK")
            except psycopg.Error:
                connection.close()

    def _leave_to_parent(self) -> None:
        """After a fork, start afresh: to close the parent's connection here would end it there."""
        if self._process != os.getpid():
            _LEFT_TO_PARENTS.append(self._open)
            self._open, self._process, self._turn = None, os.getpid(), threading.RLock()

    def _connected(self) -> psycopg.Connection[Any]:
        if self._open is None or self._open.closed:
            self._open = self._connect()
            try:
                self._check_durable(self._open)
            except BaseException:
                self._open.close()
                raise
        return self._open

    def _connect(self) -> psycopg.Connection[Any]:
        import psycopg

        try:
            return psycopg.connect(self._parameters, autocommit=True)
        except (psycopg.Error, OSError, UnicodeError) as fault:
            otherwise = "cannot be reached; check that it runs and that the address is right."
            reason = next((words for pattern, words in _REFUSALS if re.search(pattern, str(fault))), otherwise)
            raise StoreError(f"The server of the ledger {self.address} {reason}") from None

    def _check_durable(self, connection: psycopg.Connection[Any]) -> None:
        if connection.info.server_version < OLDEST_SERVER:
            raise StoreError(
                f"Louver needs PostgreSQL {OLDEST_SERVER // 10000} or newer for the ledger {self.address}."
            )
        connection.execute(
            f"SET synchronous_commit TO on; SET lock_timeout TO '{LONGEST_WAIT}s'; "
            f"SET search_path TO {self.schema}, pg_temp".encode()
        )
        for setting in ("synchronous_commit", "fsync", "full_page_writes"):
            if connection.execute(f"SHOW {setting}".encode()).fetchone() != ("on",):
                raise StoreError(
                    f"The server of the ledger {self.address} could lose what it has stored, because {setting} "
                    "is not on; set it in postgresql.conf."
                )

    @contextmanager
    def _sentences(self, making: bool = False) -> Iterator[None]:
        """Whatever PostgreSQL reports, as one sentence without its words, which may hold values."""
        import psycopg

        try:
            yield
        except psycopg.Error as fault:
            raise (self._taken() if making and fault.sqlstate in _TAKEN else self._sentence(fault)) from None

    def _sentence(self, fault: psycopg.Error) -> StoreError:
        where = f"The ledger {self.address}"
        if self._open is None or self._open.closed:
            return StoreError(f"The connection to the ledger {self.address} was lost; nothing was written. Try again.")
        if fault.sqlstate in _BUSY:
            return Busy(f"{where} was kept busy by others for too long; nothing was written. Try again.")
        if fault.sqlstate in _REASONS:
            return StoreError(f"{where} {_REASONS[fault.sqlstate]}")
        return StoreError(f"{where} could not be used: {fault.sqlstate or type(fault).__name__}; nothing was written.")

    def _taken(self) -> LedgerError:
        return LedgerError(f"{self.address} is there already; a ledger is never made over something else.")


_LEFT_TO_PARENTS: list[object] = []


@functools.lru_cache(maxsize=1000)
def _translated(sql: str) -> bytes:
    """For psycopg, %s instead of ?. Texts are ordered by their bytes, as in SQLite, whatever the server's language."""
    if sql.startswith("CREATE TABLE"):
        sql = re.sub(r"\bTEXT\b", 'TEXT COLLATE "C"', sql)
    return sql.replace("%", "%%").replace("?", "%s").encode()


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value
