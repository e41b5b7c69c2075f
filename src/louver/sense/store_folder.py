"""A store in a folder that only its owner can read: one DuckDB file, for one process at a time.

DuckDB leaves deleted rows in the file, also after a checkpoint: freed blocks are not overwritten. So what has to go is
left out while the rest is copied to a new file, which then takes the place of the old one in one step. Whenever this is
cut short, the old file stands whole.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from louver.errors import DataError
from louver.sense.admitted import Admitted
from louver.sense.rows import Rows
from louver.sense.store import EXPIRED, Appended, Forgotten, Store

FILE = "store.duckdb"
_CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "autoload_known_extensions": False,
    "autoinstall_known_extensions": False,
    "python_enable_replacements": False,
    "temp_directory": "",
}
_TABLES = """
CREATE TABLE IF NOT EXISTS {schema}.events (person BIGINT, place VARCHAR, time BIGINT, value DOUBLE);
CREATE TABLE IF NOT EXISTS {schema}.occupancy (slot BIGINT, person BIGINT, region VARCHAR);
CREATE TABLE IF NOT EXISTS {schema}.marks (name VARCHAR, value BIGINT);
"""
_APPEND = """INSERT INTO events
SELECT DISTINCT ON (person, place, time) person, place, time, CASE WHEN NOT isnan(value) THEN value END FROM given
WHERE NOT EXISTS (FROM events AS old WHERE old.time BETWEEN $first AND $last
    AND old.time = given.time AND old.person = given.person AND old.place = given.place)"""
_PUT = "INSERT INTO occupancy SELECT slot, person, region FROM given ORDER BY slot, person, region"


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
            self._connect()

    def append(self, events: Admitted) -> Appended:
        if not len(events):
            return Appended(0, 0)
        columns = {"person": events.person, "place": events.place, "time": events.time, "value": events.value}
        within = {"first": int(events.time.min()), "last": int(events.time.max())}
        with self._transaction() as connection:
            connection.register("given", columns)
            (stored,) = connection.execute(_APPEND, within).fetchone() or (0,)
            connection.unregister("given")
        return Appended(stored, len(events) - stored)

    def events(self, since: int = 0) -> Admitted:
        found = self._read(
            "SELECT person, place, time, coalesce(value, 'nan') AS value FROM events WHERE time >= ?", since
        )
        return Admitted.of(found["person"], found["place"], found["time"], found["value"])

    def close(self) -> None:
        with self._turn:
            if self._open is not None:
                self._open.close()
            self._open = None

    def _marks(self) -> Mapping[str, int]:
        found = self._read("SELECT name, value FROM marks")
        return dict(zip(found["name"].tolist(), found["value"].tolist(), strict=True))

    def _put(self, rows: Rows, marks: Mapping[str, int]) -> None:
        columns = {"slot": rows.slot, "person": rows.person, "region": rows.names()}
        with self._transaction() as connection:
            if len(rows):
                connection.register("given", columns)
                connection.execute(_PUT)
                connection.unregister("given")
            _mark(connection, marks)

    def _rows(self, slot: int) -> Rows:
        found = self._read("SELECT slot, person, region FROM occupancy WHERE slot = ?", slot)
        regions, numbers = np.unique(found["region"].astype(str), return_inverse=True)
        return Rows.ordered(found["person"], found["slot"], numbers, tuple(regions.tolist()))

    def _expire(self, before: int) -> Forgotten:
        with self._turn:
            if before > self._marks().get(EXPIRED, 0):
                # First of all: whatever happens then, no slot that lost rows is answered.
                with self._transaction() as connection:
                    _mark(connection, {EXPIRED: before})
            return self._rewritten("time < $1", "slot < $1", before)

    def _erase(self, person: int) -> Forgotten:
        return self._rewritten("person = $1", "person = $1", person)

    def _rewritten(self, events: str, rows: str, value: int) -> Forgotten:
        """Copies everything but the events and rows that meet a condition to a new file, which becomes the store's."""
        fresh = Path(f"{self._file}.new")
        with self._turn, self._sentences():
            connection = self._connected()
            gone = Forgotten(
                *(self._counted(table, met, value) for table, met in (("events", events), ("occupancy", rows)))
            )
            if gone == Forgotten(0, 0):
                return gone
            connection.execute(f"ATTACH '{_escaped(fresh)}' AS fresh")
            connection.execute(_TABLES.format(schema="fresh"))
            connection.execute("BEGIN")
            connection.execute(f"INSERT INTO fresh.events FROM events WHERE NOT ({events})", [value])
            connection.execute(f"INSERT INTO fresh.occupancy FROM occupancy WHERE NOT ({rows})", [value])
            connection.execute("INSERT INTO fresh.marks FROM marks")
            connection.execute("COMMIT")
            connection.execute("CHECKPOINT fresh")
            connection.execute("DETACH fresh")
            connection.execute("CHECKPOINT")
            self.close()
            if Path(f"{self._file}.wal").exists() or Path(f"{fresh}.wal").exists():
                raise DataError(f"The store {self.address} could not be closed to be rewritten; nothing was forgotten.")
            _synced(fresh)
            fresh.replace(self._file)
            _synced(self.folder)
            self._connect()
        return gone

    def _counted(self, table: str, met: str, value: int) -> int:
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
                    self.close()
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
        if is_new:
            self._file.chmod(0o600)
            _synced(self.folder)
        self._open = connection

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Whatever DuckDB reports, as one sentence without its words, which may hold values."""
        try:
            yield
        except duckdb.IOException:
            raise DataError(
                f"The store {self.address} cannot be read or written; if another process has it open, close it there."
            ) from None
        except (duckdb.OutOfMemoryException, MemoryError):
            raise DataError(f"The store {self.address} needs more memory than there is.") from None
        except duckdb.Error as fault:
            raise DataError(f"The store {self.address} could not be used: {type(fault).__name__}.") from None
        except OSError as fault:
            raise DataError(f"The store {self.address} cannot be used: {fault.strerror}.") from None


def _mark(connection: duckdb.DuckDBPyConnection, marks: Mapping[str, int]) -> None:
    for name, value in marks.items():
        connection.execute("DELETE FROM marks WHERE name = ?", [name])
        connection.execute("INSERT INTO marks VALUES (?, ?)", [name, value])


def _synced(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _escaped(path: Path) -> str:
    return str(path.resolve()).replace("'", "''")
