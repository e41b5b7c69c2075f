"""The journal's SQLite file: a write-ahead log, every commit on disk before it counts, several processes at once."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from louver.errors import DataError

VERSION: Final = 2
APPLICATION: Final = 0x4C4A524E  # "LJRN": tells a journal from other databases
LONGEST_WAIT: Final = 60.0
FULL: Final = 2  # how SQLite numbers synchronous=FULL

# A slot that is decided has its row in `slots`, with what was released. An alarm is open until it is closed. Notices of
# an alarm are numbered: 0 is the first, others repeat it. A delivery, one notice to one channel, waits while it has no
# outcome. The key of a snooze begins with =, and is empty where the whole rule is meant.
TABLES: Final = (
    (
        "CREATE TABLE slots (rule TEXT NOT NULL, slot INTEGER NOT NULL, released TEXT NOT NULL,"
        " PRIMARY KEY (rule, slot)) WITHOUT ROWID"
    ),
    (
        "CREATE TABLE states (rule TEXT NOT NULL, key TEXT NOT NULL, state TEXT NOT NULL, since INTEGER NOT NULL,"
        " streak INTEGER NOT NULL, clear_streak INTEGER NOT NULL, slot INTEGER NOT NULL,"
        " PRIMARY KEY (rule, key)) WITHOUT ROWID"
    ),
    (
        "CREATE TABLE alarms (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, rule TEXT NOT NULL,"
        " key TEXT NOT NULL, state TEXT NOT NULL, record TEXT NOT NULL, raised INTEGER NOT NULL, closed INTEGER,"
        " acknowledged INTEGER, who TEXT)"
    ),
    "CREATE INDEX open_alarms ON alarms (rule, key) WHERE closed IS NULL",
    (
        "CREATE TABLE deliveries (number INTEGER PRIMARY KEY AUTOINCREMENT, alarm INTEGER NOT NULL REFERENCES alarms,"
        " notice INTEGER NOT NULL, channel TEXT NOT NULL, lane TEXT NOT NULL, made INTEGER NOT NULL,"
        " tries INTEGER NOT NULL DEFAULT 0, tried INTEGER, next INTEGER NOT NULL, outcome TEXT, ended INTEGER,"
        " why TEXT, UNIQUE (alarm, notice, channel))"
    ),
    "CREATE INDEX waiting ON deliveries (channel, lane, number) WHERE outcome IS NULL",
    (
        "CREATE TABLE snoozes (rule TEXT NOT NULL, key TEXT NOT NULL, until INTEGER NOT NULL, who TEXT NOT NULL,"
        " PRIMARY KEY (rule, key)) WITHOUT ROWID"
    ),
)
# Since version 2: the first of the flagged slots in a row, what the journal is bound to, and who waits to be erased.
SECOND: Final = (
    "ALTER TABLE states ADD COLUMN first INTEGER",
    "UPDATE states SET first = since WHERE streak > 0",
    "CREATE TABLE bound (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE erasures (person INTEGER PRIMARY KEY, asked INTEGER NOT NULL)",
)


class JournalFile:
    """One file; threads take turns, processes wait for each other."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._turn = threading.Lock()

    @classmethod
    def open(cls, path: Path, *, create: bool) -> JournalFile:
        if not create and not path.exists():
            raise DataError(f"There is no journal at {path}; louver watch makes one.")
        try:
            if create:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch(mode=0o600)  # SQLite gives the files beside it the same mode
        except OSError as fault:
            raise DataError(f"The journal {path} cannot be made: {fault.strerror}.") from None
        _check_private(path)
        with _sentences(path):
            connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=rw",
                uri=True,
                timeout=LONGEST_WAIT,
                isolation_level=None,
                check_same_thread=False,
            )
        file = cls(path, connection)
        try:
            file._prepare()
        except BaseException:
            connection.close()
            raise
        return file

    def _prepare(self) -> None:
        with _sentences(self.path):
            mode = self._one("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=FULL")
            self._connection.execute("PRAGMA fullfsync=ON")  # the stronger flush, where the system has one
            self._connection.execute("PRAGMA foreign_keys=ON")
            self._connection.execute("PRAGMA trusted_schema=OFF")
            self._connection.execute("PRAGMA secure_delete=ON")  # who was erased is not left in free pages
            if mode != "wal" or self._one("PRAGMA synchronous") != FULL:
                raise DataError(f"The journal {self.path} cannot be made durable there; keep it on a local disk.")
        with self.write() as connection:
            version = self._one("PRAGMA user_version")
            if version == 0 and not self._one("SELECT count(*) FROM sqlite_master"):
                for statement in (*TABLES, *SECOND):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id={APPLICATION}")
                connection.execute(f"PRAGMA user_version={VERSION}")
                _sync_folder(self.path.parent)
            elif self._one("PRAGMA application_id") != APPLICATION:
                raise DataError(f"{self.path} is a database but no journal; name another file.")
            elif version > VERSION:
                raise DataError(f"The journal {self.path} was written by a newer Louver; install that version.")
            elif version < VERSION:
                for statement in SECOND:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version={VERSION}")

    def _one(self, sql: str) -> Any:
        return self._connection.execute(sql).fetchone()[0]

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """One state of the file, whatever others write meanwhile."""
        with self._turn, _sentences(self.path):
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                _undo(self._connection)

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing, on disk when it ends."""
        with self._turn, _sentences(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                _undo(self._connection)
                raise

    def empty_log(self) -> None:
        """What was deleted leaves the log of writes too; at the latest when the last process closes the journal."""
        with self._turn, _sentences(self.path):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def close(self) -> None:
        with self._turn:
            self._connection.close()


def _check_private(path: Path) -> None:
    """Who acknowledged what, and when, is for the owner's eyes; so are the files that SQLite keeps beside it."""
    for file in (path, *(path.with_name(f"{path.name}{ending}") for ending in ("-wal", "-shm"))):
        with suppress(FileNotFoundError):
            if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise DataError(f"The journal {file} can be used by others; make it yours alone: chmod 600 {file}.")


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    """Whatever SQLite reports, as one sentence."""
    try:
        yield
    except sqlite3.Error as fault:
        raise DataError(f"The journal {path} {_reason(fault)}.") from None


def _reason(fault: sqlite3.Error) -> str:
    code = getattr(fault, "sqlite_errorcode", None)
    basic = None if code is None else code & 0xFF
    if basic in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"was in use by others for {LONGEST_WAIT:.0f} seconds; nothing was written, so try again"
    if basic == sqlite3.SQLITE_FULL:
        return "cannot be written because its disk is full"
    if basic in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
        return "cannot be opened or written; check its folder and who may write there"
    if basic in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return "is damaged or no journal; restore it or name another file"
    if "closed" in str(fault):
        return "is closed"
    return f"could not be used: {getattr(fault, 'sqlite_errorname', type(fault).__name__)}"


def _undo(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _sync_folder(folder: Path) -> None:
    """A new name in a folder is safe only when the folder itself is on disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
