"""A store in PostgreSQL: the schema `louver_sense` of a database, or `louver_sense_name` for an address with #name.

Deleted rows stay in PostgreSQL's files until they are written anew, so whatever forgets rows ends with VACUUM (FULL). A
mark says that this is due until it is done, so that the next opening does it after a crash. The server's log of writes
(pg_wal), its backups and its standbys keep copies for as long as they are kept: that is for whoever runs the server.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from louver.errors import DataError, ParameterError
from louver.sense.admitted import Admitted
from louver.sense.rows import Rows
from louver.sense.store import EXPIRED, Appended, Forgotten, Store
from louver.source.locations import PostgresTable

if TYPE_CHECKING:
    import psycopg

REWRITE = "rewrite"  # the mark of files that still hold what was forgotten
_NETWORK = {"connect_timeout": 10, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
_DURABLE = ("synchronous_commit", "fsync", "full_page_writes")
_TABLES = """
CREATE SCHEMA IF NOT EXISTS {schema};
CREATE TABLE IF NOT EXISTS {schema}.events (person BIGINT NOT NULL, place TEXT COLLATE "C" NOT NULL,
    time BIGINT NOT NULL, value DOUBLE PRECISION, PRIMARY KEY (time, person, place));
CREATE TABLE IF NOT EXISTS {schema}.occupancy (slot BIGINT NOT NULL, person BIGINT NOT NULL,
    region TEXT COLLATE "C" NOT NULL, PRIMARY KEY (slot, person, region));
CREATE TABLE IF NOT EXISTS {schema}.marks (name TEXT PRIMARY KEY, value BIGINT NOT NULL);
"""
_INCOMING = "CREATE TEMP TABLE IF NOT EXISTS incoming (LIKE events) ON COMMIT DELETE ROWS"
_APPEND = """INSERT INTO events SELECT DISTINCT ON (time, person, place) person, place, time, value FROM incoming
ON CONFLICT DO NOTHING"""
_MARK = "INSERT INTO marks VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value"


class PostgresStore(Store):
    """One schema of a database; several processes may use it."""

    def __init__(self, address: str) -> None:
        url, _, name = address.partition("#")
        if name and not re.fullmatch("[a-z][a-z0-9_]{0,39}", name):
            raise ParameterError(
                "The name of a store, after the # of its address, has small letters, digits and _ only."
            )
        self.schema = f"louver_sense_{name}" if name else "louver_sense"
        self.address = PostgresTable(url, self.schema).describe()
        self._turn = threading.RLock()
        self._connection = self._connect(url)
        try:
            with self._sentences():
                self._prepare()
            if REWRITE in self._marks():
                self._rewrite()
        except BaseException:
            self.close()
            raise

    def append(self, events: Admitted) -> Appended:
        if not len(events):
            return Appended(0, 0)
        values = [None if np.isnan(value) else value for value in events.value.tolist()]
        with self._transaction() as cursor:
            cursor.execute(_INCOMING)
            with cursor.copy("COPY incoming (person, place, time, value) FROM STDIN") as copy:
                for row in zip(
                    events.person.tolist(), events.place.tolist(), events.time.tolist(), values, strict=True
                ):
                    copy.write_row(row)
            cursor.execute(_APPEND)
            stored = cursor.rowcount
        return Appended(stored, len(events) - stored)

    def events(self, since: int = 0) -> Admitted:
        found = self._read("SELECT person, place, time, value FROM events WHERE time >= %s", since)
        if not found:
            return Admitted.none()
        person, place, time, value = zip(*found, strict=True)
        return Admitted.of(person, place, time, [np.nan if each is None else each for each in value])

    def close(self) -> None:
        self._connection.close()

    def _marks(self) -> Mapping[str, int]:
        return dict(self._read("SELECT name, value FROM marks"))

    def _put(self, rows: Rows, marks: Mapping[str, int]) -> None:
        with self._transaction() as cursor:
            with cursor.copy("COPY occupancy (slot, person, region) FROM STDIN") as copy:
                for row in zip(rows.slot.tolist(), rows.person.tolist(), rows.names().tolist(), strict=True):
                    copy.write_row(row)
            for mark in marks.items():
                cursor.execute(_MARK, mark)

    def _rows(self, slot: int) -> Rows:
        found = self._read("SELECT person, region FROM occupancy WHERE slot = %s", slot)
        regions = tuple(sorted({region for _, region in found}))
        numbered = {region: number for number, region in enumerate(regions)}
        persons = np.array([person for person, _ in found], dtype=np.int64)
        return Rows.ordered(
            persons, np.full(len(found), slot), np.array([numbered[each] for _, each in found]), regions
        )

    def _expire(self, before: int) -> Forgotten:
        marks = {EXPIRED: before} if before > self._marks().get(EXPIRED, 0) else {}
        return self._forgotten("time < %s", "slot < %s", before, marks)

    def _erase(self, person: int) -> Forgotten:
        return self._forgotten("person = %s", "person = %s", person, {})

    def _forgotten(self, events: str, rows: str, value: int, marks: Mapping[str, int]) -> Forgotten:
        with self._transaction() as cursor:
            counts = []
            for table, met in (("events", events), ("occupancy", rows)):
                cursor.execute(f"DELETE FROM {table} WHERE {met}".encode(), (value,))  # noqa: S608 our own names
                counts.append(cursor.rowcount)
            due = {REWRITE: 1} if any(counts) else {}
            for mark in {**marks, **due}.items():
                cursor.execute(_MARK, mark)
        if due:
            self._rewrite()
        return Forgotten(*counts)

    def _rewrite(self) -> None:
        with self._turn, self._sentences():
            for table in ("events", "occupancy"):
                self._connection.execute(f"VACUUM (FULL) {table}".encode())
            self._connection.execute("DELETE FROM marks WHERE name = %s", (REWRITE,))

    def _read(self, sql: str, *values: object) -> list[Any]:
        with self._turn, self._sentences():
            return self._connection.execute(sql.encode(), values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[psycopg.Cursor[Any]]:
        with self._turn, self._sentences(), self._connection.transaction(), self._connection.cursor() as cursor:
            yield cursor

    def _connect(self, url: str) -> psycopg.Connection[Any]:
        try:
            import psycopg
            from psycopg.conninfo import conninfo_to_dict, make_conninfo
        except ImportError:
            raise DataError(
                "A store in PostgreSQL needs psycopg; install it with: pip install 'louver[postgres]'."
            ) from None
        try:
            given: dict[str, Any] = conninfo_to_dict(url)
            parameters = make_conninfo("", **{**_NETWORK, **given, "client_encoding": "UTF8"})
            return psycopg.connect(parameters, autocommit=True)
        except (psycopg.Error, OSError, UnicodeError):
            raise DataError(
                f"The server of the store {self.address} cannot be reached, or does not let this user in."
            ) from None

    def _prepare(self) -> None:
        self._connection.execute("SET client_min_messages TO error")
        self._connection.execute(_TABLES.format(schema=self.schema).encode())
        self._connection.execute(f"SET search_path TO {self.schema}, pg_temp".encode())
        self._connection.execute("SET synchronous_commit TO on")
        for setting in _DURABLE:
            if self._connection.execute(f"SHOW {setting}".encode()).fetchone() != ("on",):
                raise DataError(
                    f"The server of the store {self.address} could lose what it has stored, because {setting} is not "
                    "on; set it in postgresql.conf."
                )

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Whatever PostgreSQL reports, as one sentence without its words, which may hold values."""
        import psycopg

        try:
            yield
        except psycopg.Error as fault:
            reason = "the connection was lost" if self._connection.closed else fault.sqlstate or type(fault).__name__
            raise DataError(f"The store {self.address} could not be used: {reason}.") from None
