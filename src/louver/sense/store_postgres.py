"""A store in PostgreSQL: the schema `louver_sense` of a database, or `louver_sense_name` for an address with #name.

Deleted rows stay in PostgreSQL's files until they are written anew, so whatever forgets rows ends with VACUUM (FULL). A
mark says that this is due until it is done, so that the next opening does it after a crash. The server's log of writes
(pg_wal), its backups and its standbys keep copies for as long as they are kept: that is for whoever runs the server.
Its statistics would keep values too, so it makes none of columns that tell of people.

A lock of the session keeps others out. The server gives it back when the session ends, also where its process or its
machine died: it looks after a silent one within a minute.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from louver.errors import DataError, ParameterError
from louver.sense.admitted import Admitted
from louver.sense.events import LATEST
from louver.sense.presence import Presence
from louver.sense.readings_rows import rows_of, values_of
from louver.sense.rows import Rows, Slots
from louver.sense.store import EXPIRED, Appended, Forgotten, InUseError, Store
from louver.source.locations import PostgresTable

if TYPE_CHECKING:
    import psycopg

REWRITE = "rewrite"  # the mark of files that still hold what was forgotten
_NETWORK = {"connect_timeout": 10, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
_SILENT = {"tcp_keepalives_idle": 30, "tcp_keepalives_interval": 10, "tcp_keepalives_count": 3}
PATIENCE = 2.0  # seconds in which a server notices that a process that had the store was killed
_DURABLE = ("synchronous_commit", "fsync", "full_page_writes")
_TABLES = """
CREATE SCHEMA IF NOT EXISTS {schema};
CREATE TABLE IF NOT EXISTS {schema}.events (person BIGINT NOT NULL, place TEXT COLLATE "C" NOT NULL,
    time BIGINT NOT NULL, value DOUBLE PRECISION, PRIMARY KEY (time, person, place));
CREATE TABLE IF NOT EXISTS {schema}.occupancy (slot BIGINT NOT NULL, person BIGINT NOT NULL,
    region TEXT COLLATE "C" NOT NULL, value DOUBLE PRECISION, PRIMARY KEY (slot, person, region));
CREATE TABLE IF NOT EXISTS {schema}.presence (person BIGINT NOT NULL, region TEXT COLLATE "C" NOT NULL,
    start BIGINT NOT NULL, until BIGINT NOT NULL);
CREATE INDEX IF NOT EXISTS presence_until ON {schema}.presence (until);
CREATE TABLE IF NOT EXISTS {schema}.marks (name TEXT PRIMARY KEY, value BIGINT NOT NULL);
"""
# Columns of which the server makes statistics, among those that tell of people.
_COUNTED = """SELECT attrelid::regclass::text, attname FROM pg_attribute
WHERE attrelid = ANY(%s::regclass[]::oid[]) AND attname = ANY(%s) AND attstattarget IS DISTINCT FROM 0"""
_OF_SOMEBODY = dict.fromkeys(("person", "time", "start", "until"), "BIGINT") | {"value": "DOUBLE PRECISION"}
_INCOMING = "CREATE TEMP TABLE IF NOT EXISTS incoming (LIKE events) ON COMMIT DELETE ROWS"
_APPEND = """INSERT INTO events SELECT DISTINCT ON (time, person, place) person, place, time, value FROM incoming
ON CONFLICT DO NOTHING"""
_MARK = "INSERT INTO marks VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value"
_PRESENCE = "SELECT person, region, start, until FROM presence WHERE until > %s AND start < %s"
_OF_PEOPLE = dict.fromkeys(("events", "occupancy", "presence"), "person = ANY(%s::BIGINT[])")
_BEFORE = {"events": "time < %s", "occupancy": "slot < %s", "presence": "until <= %s"}
_AFTER = "UPDATE presence SET start = %s WHERE start < %s"


class PostgresStore(Store):
    """One schema of a database, for one process at a time."""

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
        with self._transaction():
            self._connection.execute(_INCOMING)
            columns = events.person, events.place, events.time, _known(events.value)
            self._copied("incoming (person, place, time, value)", *columns)
            stored = self._connection.execute(_APPEND).rowcount
        return Appended(stored, len(events) - stored)

    def events(self, since: int = 0, until: int | None = None) -> Admitted:
        before = LATEST if until is None else until
        found = self._read(
            "SELECT person, place, time, value FROM events WHERE time >= %s AND time < %s", since, before
        )
        if not found:
            return Admitted.none()
        person, place, time, value = zip(*found, strict=True)
        return Admitted.of(person, place, time, [np.nan if each is None else each for each in value])

    def close(self) -> None:
        self._connection.close()

    def _marks(self) -> Mapping[str, int]:
        return dict(self._read("SELECT name, value FROM marks"))

    def _mark(self, marks: Mapping[str, int]) -> None:
        for mark in marks.items():
            self._connection.execute(_MARK, mark)

    def _insert(self, slots: Slots) -> None:
        rows, presence = slots.rows, slots.presence
        columns = rows.slot, rows.person, rows.names(), _known(values_of(rows))
        self._copied("occupancy (slot, person, region, value)", *columns)
        if presence is not None:
            stays = presence.person, presence.names(), presence.start, presence.end
            self._copied("presence (person, region, start, until)", *stays)

    def _copied(self, table: str, *columns: Any) -> None:
        if not len(columns[0]):
            return
        with self._connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN".encode()) as copy:
            for row in zip(*(each.tolist() for each in columns), strict=True):
                copy.write_row(row)

    def _rows(self, slot: int) -> Rows:
        found = self._read("SELECT person, region, value FROM occupancy WHERE slot = %s", slot)
        person, names, value = zip(*found, strict=True) if found else ((), (), ())
        regions, numbers = _numbered(names)
        return rows_of(_whole(person), np.full(len(found), slot), numbers, regions, np.array(value, dtype=np.float64))

    def _presence(self, begin: int, end: int) -> Presence:
        found = self._read(_PRESENCE, begin, end)
        person, names, start, until = zip(*found, strict=True) if found else ((), (), (), ())
        regions, numbers = _numbered(names)
        return Presence(_whole(person), numbers, _whole(start), _whole(until), regions)

    def _expire(self, before: int) -> Forgotten:
        return self._forgotten(_BEFORE, before, before)

    def _erase(self, people: Sequence[int]) -> Forgotten:
        return self._forgotten(_OF_PEOPLE, list(people))

    def _forgotten(self, gone: Mapping[str, str], value: object, before: int | None = None) -> Forgotten:
        """Deletes what meets a table's condition, and then writes the files anew."""
        with self._transaction() as connection:
            if before is not None and before > self._marks().get(EXPIRED, 0):
                self._mark({EXPIRED: before})
            counts = [
                connection.execute(f"DELETE FROM {table} WHERE {met}".encode(), (value,)).rowcount  # noqa: S608 our own names
                for table, met in gone.items()
            ]
            cut = 0 if before is None else connection.execute(_AFTER, (before, before)).rowcount
            is_due = any(counts) or cut > 0
            if is_due:
                self._mark({REWRITE: 1})
        if is_due:
            self._rewrite()
        return Forgotten(*counts)

    def _rewrite(self) -> None:
        with self._turn, self._sentences():
            for table in _BEFORE:
                self._connection.execute(f"VACUUM (FULL) {table}".encode())
            self._connection.execute("DELETE FROM marks WHERE name = %s", (REWRITE,))

    def _read(self, sql: str, *values: object) -> list[Any]:
        with self._turn, self._sentences():
            return self._connection.execute(sql.encode(), values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[psycopg.Connection[Any]]:
        with self._turn, self._sentences(), self._connection.transaction():
            yield self._connection

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

    def _take(self) -> None:
        """Takes the lock of this store; a process that was killed a moment ago may still seem to have it."""
        for setting, value in _SILENT.items():
            self._connection.execute(f"SET {setting} TO {value}".encode())
        digest = hashlib.sha256(f"louver store {self.schema}".encode()).digest()
        key = int.from_bytes(digest[:8], "big", signed=True)
        until = time.monotonic() + PATIENCE
        while self._connection.execute("SELECT pg_try_advisory_lock(%s)", (key,)).fetchone() != (True,):
            if time.monotonic() > until:
                raise InUseError(self.address)
            time.sleep(0.02)

    def _prepare(self) -> None:
        self._connection.execute("SET client_min_messages TO error")
        self._take()
        self._connection.execute(_TABLES.format(schema=self.schema).encode())
        self._connection.execute(f"SET search_path TO {self.schema}, pg_temp".encode())
        self._connection.execute("SET synchronous_commit TO on")
        for setting in _DURABLE:
            if self._connection.execute(f"SHOW {setting}".encode()).fetchone() != ("on",):
                raise DataError(
                    f"The server of the store {self.address} could lose what it has stored, because {setting} is not "
                    "on; set it in postgresql.conf."
                )
        for table, column in self._connection.execute(_COUNTED, (list(_BEFORE), list(_OF_SOMEBODY))).fetchall():
            # A new type, even if it is the old one, drops the statistics that there are; rows stay as they are.
            changes = f"ALTER {column} SET STATISTICS 0, ALTER {column} TYPE {_OF_SOMEBODY[column]}"
            self._connection.execute(f"ALTER TABLE {table} {changes}".encode())

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Whatever PostgreSQL reports, as one sentence without its words, which may hold values."""
        import psycopg

        try:
            yield
        except psycopg.Error as fault:
            reason = "the connection was lost" if self._connection.closed else fault.sqlstate or type(fault).__name__
            raise DataError(f"The store {self.address} could not be used: {reason}.") from None


def _known(values: NDArray[np.float64]) -> NDArray[np.object_]:
    """NaN as missing."""
    return np.array([None if np.isnan(value) else value for value in values.tolist()], dtype=object)


def _whole(values: Sequence[int]) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


def _numbered(names: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Regions once each, in order, and their numbers."""
    regions = tuple(sorted(set(names)))
    number = {region: place for place, region in enumerate(regions)}
    return regions, np.array([number[each] for each in names], dtype=np.int32)
