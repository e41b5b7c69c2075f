"""A store in a folder that only its owner can read: one DuckDB file, for one process at a time.

DuckDB leaves deleted rows in the file, also after a checkpoint: freed blocks are not overwritten. So what has to go is
left out while the rest is copied to a new file, which then takes the place of the old one in one step. Whenever this is
cut short, the old file stands whole. A lock of the folder keeps others out all the while, also within this process.
"""

from __future__ import annotations

import fcntl
import os
import stat
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from louver.errors import DataError
from louver.sense.admitted import Admitted
from louver.sense.events import LATEST
from louver.sense.presence import Presence
from louver.sense.readings_rows import rows_of, values_of
from louver.sense.rows import Rows, Slots
from louver.sense.store import EXPIRED, Appended, Forgotten, InUseError, Store

FILE = "store.duckdb"
_LOCKED = "Could not set lock"  # how DuckDB says that another process has the file
_CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "autoload_known_extensions": False,
    "autoinstall_known_extensions": False,
    "python_enable_replacements": False,
    "temp_directory": "",
}
_TABLES = """
CREATE TABLE IF NOT EXISTS {schema}.events (person BIGINT, place VARCHAR, time BIGINT, value DOUBLE);
CREATE TABLE IF NOT EXISTS {schema}.occupancy (slot BIGINT, person BIGINT, region VARCHAR, value DOUBLE);
CREATE TABLE IF NOT EXISTS {schema}.presence (person BIGINT, region VARCHAR, start BIGINT, until BIGINT);
CREATE TABLE IF NOT EXISTS {schema}.marks (name VARCHAR, value BIGINT);
"""
_APPEND = """INSERT INTO events
SELECT DISTINCT ON (person, place, time) person, place, time, CASE WHEN NOT isnan(value) THEN value END FROM given
WHERE NOT EXISTS (FROM events AS old WHERE old.time BETWEEN $first AND $last
    AND old.time = given.time AND old.person = given.person AND old.place = given.place)"""
_PUT = """INSERT INTO occupancy SELECT slot, person, region, CASE WHEN NOT isnan(value) THEN value END
FROM given ORDER BY slot, person, region"""
_ROWS = "SELECT slot, person, region, coalesce(value, 'nan') AS value FROM occupancy WHERE slot = ?"
_PUT_PRESENCE = "INSERT INTO presence SELECT person, region, start, until FROM given"
_PRESENCE = "SELECT person, region, start, until FROM presence WHERE until > ? AND start < ?"
# What of each table is to go, and how the presence that stays is written: none of it is of an earlier time.
_OF_PEOPLE = dict.fromkeys(("events", "occupancy", "presence"), "list_contains($1::BIGINT[], person)")
_BEFORE = {"events": "time < $1", "occupancy": "slot < $1", "presence": "until <= $1"}
_AFTER = "person, region, greatest(start, $1) AS start, until"


class FolderStore(Store):
    """A DuckDB file in a folder of its own."""

    def __init__(self, where: str | Path) -> None:
        self.folder = Path(where)
        self.address = str(where)
        self._file = self.folder / FILE
        self._turn = threading.RLock()
        self._open: duckdb.DuckDBPyConnection | None = None
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if stat.S_IMODE(self.folder.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
                raise DataError(
                    f"The store {self.folder} can be seen by others; make it yours alone: chmod 700 {self.folder}."
                )
        except OSError as fault:
            raise DataError(f"The store {self.folder} cannot be used: {fault.strerror}.") from None
        with self._sentences():
            self._release = _held(self)
        try:
            with self._sentences():
                self._connect()
        except BaseException:
            self._release()
            raise

    def append(self, events: Admitted) -> Appended:
        if not len(events):
            return Appended(0, 0)
        columns = {"person": events.person, "place": events.place, "time": events.time, "value": events.value}
        within = {"first": int(events.time.min()), "last": int(events.time.max())}
        with self._transaction():
            (stored,) = self._given(columns, _APPEND, within)
        return Appended(stored, len(events) - stored)

    def events(self, since: int = 0, until: int | None = None) -> Admitted:
        found = self._read(
            "SELECT person, place, time, coalesce(value, 'nan') AS value FROM events WHERE time >= ? AND time < ?",
            since,
            LATEST if until is None else until,
        )
        return Admitted.of(found["person"], found["place"], found["time"], found["value"])

    def close(self) -> None:
        with self._turn:
            self._disconnect()
            self._release()

    def _disconnect(self) -> None:
        if self._open is not None:
            self._open.close()
        self._open = None

    def _marks(self) -> Mapping[str, int]:
        found = self._read("SELECT name, value FROM marks")
        return dict(zip(found["name"].tolist(), found["value"].tolist(), strict=True))

    def _mark(self, marks: Mapping[str, int]) -> None:
        connection = self._connected()
        for name, value in marks.items():
            connection.execute("DELETE FROM marks WHERE name = ?", [name])
            connection.execute("INSERT INTO marks VALUES (?, ?)", [name, value])

    def _insert(self, slots: Slots) -> None:
        rows, presence = slots.rows, slots.presence
        if len(rows):
            columns: dict[str, Any] = {"slot": rows.slot, "person": rows.person, "region": rows.names()}
            self._given({**columns, "value": values_of(rows)}, _PUT)
        if presence is not None and len(presence):
            columns = {"person": presence.person, "region": presence.names()}
            self._given({**columns, "start": presence.start, "until": presence.end}, _PUT_PRESENCE)

    def _given(self, columns: Mapping[str, Any], sql: str, values: Mapping[str, int] | None = None) -> tuple[int, ...]:
        """Runs an insertion of columns, which it calls given."""
        connection = self._connected()
        connection.register("given", columns)
        counted: tuple[int, ...] = connection.execute(sql, values).fetchone() or (0,)
        connection.unregister("given")
        return counted

    def _rows(self, slot: int) -> Rows:
        found = self._read(_ROWS, slot)
        regions, numbers = _numbered(found["region"])
        return rows_of(found["person"], found["slot"], numbers, regions, found["value"])

    def _presence(self, begin: int, end: int) -> Presence:
        found = self._read(_PRESENCE, begin, end)
        regions, numbers = _numbered(found["region"])
        return Presence(found["person"], numbers, found["start"], found["until"], regions)

    def _expire(self, before: int) -> Forgotten:
        with self._turn:
            if before > self._marks().get(EXPIRED, 0):
                # First of all: whatever happens then, no slot that lost rows is answered.
                with self._transaction():
                    self._mark({EXPIRED: before})
            return self._rewritten(_BEFORE, before, expires=True)

    def _erase(self, people: Sequence[int]) -> Forgotten:
        return self._rewritten(_OF_PEOPLE, list(people))

    def _rewritten(self, gone: Mapping[str, str], value: int | list[int], *, expires: bool = False) -> Forgotten:
        """Copies all but what meets a table's condition to a new file, which becomes the store's."""
        fresh = Path(f"{self._file}.new")
        with self._turn, self._sentences():
            connection = self._connected()
            forgotten = Forgotten(*(self._counted(table, met, value) for table, met in gone.items()))
            cut = self._counted("presence", "start < $1", value) if expires else 0
            if forgotten == Forgotten(0, 0) and not cut:
                return forgotten
            connection.execute(f"ATTACH '{_escaped(fresh)}' AS fresh")
            connection.execute(_TABLES.format(schema="fresh"))
            connection.execute("BEGIN")
            for table, met in gone.items():
                columns = _AFTER if expires and table == "presence" else "*"
                copied = f"SELECT {columns} FROM {table} WHERE NOT ({met})"  # noqa: S608 our own names
                connection.execute(f"INSERT INTO fresh.{table} {copied}", [value])
            connection.execute("INSERT INTO fresh.marks FROM marks")
            connection.execute("COMMIT")
            connection.execute("CHECKPOINT fresh")
            connection.execute("DETACH fresh")
            connection.execute("CHECKPOINT")
            self._disconnect()
            if Path(f"{self._file}.wal").exists() or Path(f"{fresh}.wal").exists():
                raise DataError(f"The store {self.address} could not be closed to be rewritten; nothing was forgotten.")
            _synced(fresh)
            fresh.replace(self._file)
            _synced(self.folder)
            self._connect()
        return forgotten

    def _counted(self, table: str, met: str, value: int | list[int]) -> int:
        counted = self._connected().execute(f"SELECT count(*) FROM {table} WHERE {met}", [value]).fetchone()  # noqa: S608
        return int(counted[0]) if counted else 0

    def _read(self, sql: str, *values: object) -> dict[str, Any]:
        with self._turn, self._sentences():
            return self._connected().execute(sql, list(values)).fetchnumpy()

    @contextmanager
    def _transaction(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with self._turn, self._sentences():
            connection = self._connected()
            connection.execute("BEGIN")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                try:
                    connection.execute("ROLLBACK")
                except duckdb.Error:
                    self._disconnect()
                raise

    def _connected(self) -> duckdb.DuckDBPyConnection:
        if self._open is None:
            raise DataError(f"The store {self.address} is closed.")
        return self._open

    def _connect(self) -> None:
        """Opens the file; what a rewriting that was cut short left behind is removed."""
        is_new = not self._file.exists()
        connection = duckdb.connect(str(self._file), config=_CLOSED)
        for left in (Path(f"{self._file}.new"), Path(f"{self._file}.new.wal")):
            left.unlink(missing_ok=True)
        connection.execute("SET enable_progress_bar = false")
        connection.execute(_TABLES.format(schema="main"))
        self._file.chmod(0o600)  # also where it was written anew
        if is_new:
            _synced(self.folder)
        self._open = connection

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Whatever DuckDB reports, as one sentence without its words, which may hold values."""
        try:
            yield
        except duckdb.IOException as fault:
            if _LOCKED in str(fault):
                raise InUseError(self.address) from None
            raise DataError(f"The store {self.address} cannot be read or written; is {FILE} there a store?") from None
        except (duckdb.OutOfMemoryException, MemoryError):
            raise DataError(f"The store {self.address} needs more memory than there is.") from None
        except duckdb.Error as fault:
            raise DataError(f"The store {self.address} could not be used: {type(fault).__name__}.") from None
        except OSError as fault:
            raise DataError(f"The store {self.address} cannot be used: {fault.strerror}.") from None


def _held(store: FolderStore) -> Callable[[], object]:
    """Takes the lock of a store's folder; what gives it back, at the latest when the store is gone."""
    opened = os.open(store.folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(opened)
        raise InUseError(store.address) from None
    except BaseException:
        os.close(opened)
        raise
    return weakref.finalize(store, os.close, opened)


def _numbered(names: Any) -> tuple[tuple[str, ...], Any]:
    """Regions once each, in order, and their numbers."""
    regions, numbers = np.unique(names.astype(str), return_inverse=True)
    return tuple(regions.tolist()), numbers.astype(np.int32)


def _synced(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _escaped(path: Path) -> str:
    return str(path.resolve()).replace("'", "''")
