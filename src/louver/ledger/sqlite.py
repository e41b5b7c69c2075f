"""A ledger in one SQLite file: write-ahead log, every commit on disk before it counts, several processes at once."""

from __future__ import annotations

import ctypes
import os
import sqlite3
import struct
import sys
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from louver.errors import LedgerError
from louver.ledger.store import Busy, Connection, StoreError, UncertainCommit

LONGEST_WAIT = 60.0
FULL = 2  # how SQLite numbers synchronous=FULL
OLDEST_SQLITE = (3, 24)  # ON CONFLICT DO UPDATE

_APPEND_ONLY = [
    f"CREATE TRIGGER entries_refuse_{act.lower()} BEFORE {act} ON entries "
    "BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END"
    for act in ("UPDATE", "DELETE")
]


class _SQLiteConnection:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, values).fetchall()

    def run(self, sql: str, *values: object) -> None:
        self._connection.execute(sql, values)

    def run_many(self, sql: str, several: Iterable[tuple[object, ...]]) -> None:
        self._connection.executemany(sql, several)


class SQLiteStore:
    """One file; threads take turns.

    SQLite's locks do not survive a fork: a child that opens a file which its parent has open, too, would lose commits.
    So connections are closed before a fork, and each process opens its own again.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._open: sqlite3.Connection | None = None
        self._process = os.getpid()
        self._turn = threading.RLock()
        _STORES.add(self)

    @property
    def address(self) -> str:
        return str(self.path)

    def exists(self) -> bool:
        try:
            return self.path.exists()
        except OSError as fault:
            raise StoreError(f"The ledger {self.address} cannot be read: {fault.strerror}.") from None

    @contextmanager
    def create(self, statements: Iterable[str]) -> Iterator[Connection]:
        """The file is made aside and takes its name when it is complete: half a ledger is never found."""
        if self.exists():
            raise LedgerError(f"{self.address} is there already; a ledger is never made over something else.")
        aside = self.path.with_name(f".{self.path.name}.{os.getpid()}.new")
        try:
            aside.touch(mode=0o600, exist_ok=False)  # who asked for what is for the owner's eyes; SQLite keeps the mode
            self._connect(aside, create=True)
            with self.write() as connection:
                for statement in [*statements, *_APPEND_ONLY]:
                    connection.run(statement)
                yield connection
            self.close()
            try:
                os.link(aside, self.path)  # unlike a rename, this never replaces a ledger made meanwhile
            except FileExistsError:
                raise LedgerError(
                    f"{self.address} is there already; a ledger is never made over something else."
                ) from None
            try:
                _sync_folder(self.path.parent)
            except OSError:
                self.path.unlink()
                raise
        except OSError as fault:
            raise StoreError(f"The ledger {self.address} cannot be made: {fault.strerror}.") from None
        finally:
            self.close()
            for left in (aside, Path(f"{aside}-wal"), Path(f"{aside}-shm")):
                with suppress(OSError):
                    left.unlink()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self._turn:
            connection = self._begun("BEGIN")
            try:
                with self._sentences():
                    yield _SQLiteConnection(connection)
            finally:
                _undo(connection)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        with self._turn:
            connection = self._begun("BEGIN IMMEDIATE")
            try:
                with self._sentences():
                    yield _SQLiteConnection(connection)
                    connection.execute("COMMIT")
            except BaseException:
                _undo(connection)
                raise

    def _begun(self, begin: str) -> sqlite3.Connection:
        connection = self._connected()
        if connection.in_transaction:
            raise StoreError(f"The ledger {self.address} is being read or written here already; finish that first.")
        with self._sentences():
            connection.execute(begin)
        return connection

    def identity(self, connection: Connection) -> str:  # noqa: ARG002 the file says it
        """The file's inode and when it was made: a copy has others, a file that was moved keeps them."""
        number, born = self._file_identity()
        return f"file {number} {born}"

    def _file_identity(self) -> tuple[int, str]:
        aside = self.path.with_name(f".{self.path.name}.{os.getpid()}.new")
        path = self.path if self.path.exists() else aside
        try:
            return path.stat().st_ino, _birth(path)
        except OSError as fault:
            raise StoreError(f"The ledger {self.address} cannot be read: {fault.strerror}.") from None

    def close(self) -> None:
        if self._process == os.getpid():
            with self._turn:
                if self._open is not None:
                    self._open.close()
                self._open = None

    def before_fork(self) -> None:
        """Wait for other threads to finish, and close; what this thread itself has begun stays open."""
        self._turn.acquire()
        if self._open is not None and not self._open.in_transaction:
            self.close()

    def after_fork(self) -> None:
        if self._process == os.getpid():
            self._turn.release()
        else:
            self._turn = threading.RLock()

    def _connected(self) -> sqlite3.Connection:
        if self._open is not None:
            if self._process != os.getpid():
                raise StoreError(
                    f"The ledger {self.address} was in use when this process was forked; fork between uses."
                )
            return self._open
        if not self.exists():
            raise StoreError(f"There is no ledger at {self.address}; make one with: louver ledger init.")
        return self._connect(self.path, create=False)

    def _connect(self, path: Path, create: bool) -> sqlite3.Connection:
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise StoreError(f"Louver needs SQLite 3.24 or newer; this Python has {sqlite3.sqlite_version}.")
        with self._sentences():
            connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode={'rwc' if create else 'rw'}",
                uri=True,
                timeout=LONGEST_WAIT,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                _check_durable(connection)
            except BaseException:
                connection.close()
                raise
        self._open, self._process = connection, os.getpid()
        return connection

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Whatever SQLite reports, as one sentence."""
        try:
            yield
        except sqlite3.Error as fault:
            raise self._sentence(fault) from None

    def _sentence(self, fault: sqlite3.Error) -> StoreError:
        code = getattr(fault, "sqlite_errorcode", None)
        basic = None if code is None else code & 0xFF
        where = f"The ledger {self.address}"
        if basic in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return Busy(f"{where} was in use by others for {LONGEST_WAIT:.0f} seconds; nothing was written. Try again.")
        if basic == sqlite3.SQLITE_FULL:
            return StoreError(f"{where} cannot be written because its disk is full; nothing was spent.")
        if basic in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM) or _is_unwritable(self.path, basic):
            return StoreError(f"{where} may not be written by this user; nothing was spent.")
        if basic in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return StoreError(f"{where} is damaged or no ledger; restore it and supply its newer entries.")
        if basic == sqlite3.SQLITE_CANTOPEN:
            return StoreError(f"{where} cannot be opened; check that its folder is there and may be written.")
        if basic == sqlite3.SQLITE_IOERR:
            return UncertainCommit(f"{where} could not be read or written by the operating system; check its disk.")
        if "no such table" in str(fault):
            return StoreError(f"{where} is a database but no ledger.")
        return StoreError(f"{where} could not be used: {_reason(fault)}.")


_STORES: weakref.WeakSet[SQLiteStore] = weakref.WeakSet()
_HELD_FOR_FORK: list[SQLiteStore] = []


def _before_fork() -> None:
    _HELD_FOR_FORK[:] = _STORES
    for store in _HELD_FOR_FORK:
        store.before_fork()


def _after_fork() -> None:
    for store in _HELD_FOR_FORK:
        store.after_fork()
    _HELD_FOR_FORK.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


def _check_durable(connection: sqlite3.Connection) -> None:
    mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA fullfsync=ON")  # where the system has a stronger flush, on macOS, use it
    connection.execute("PRAGMA trusted_schema=OFF")
    level = connection.execute("PRAGMA synchronous").fetchone()[0]
    if mode != "wal" or level != FULL:
        raise StoreError(
            "This file system does not let SQLite make every commit durable (it needs a write-ahead log and "
            "synchronous=FULL); keep the ledger on a local disk, or in PostgreSQL."
        )


def _undo(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _is_unwritable(path: Path, code: int | None) -> bool:
    return code == sqlite3.SQLITE_CANTOPEN and path.exists() and not os.access(path, os.W_OK)


def _reason(fault: sqlite3.Error) -> str:
    return str(getattr(fault, "sqlite_errorname", type(fault).__name__))


def _sync_folder(folder: Path) -> None:
    """A new name in a folder is safe only when the folder itself is on disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _birth(path: Path) -> str:
    """When the file was made, to the nanosecond; empty where the system does not tell.

    An inode's number is used again after a file is deleted, so that a restored file could have the old one's.
    """
    born = getattr(path.stat(), "st_birthtime_ns", None) or getattr(path.stat(), "st_birthtime", None)
    if born is not None:
        return str(born)
    if not sys.platform.startswith("linux"):
        return ""
    at_current_folder, everything, has_birth = -100, 0xFFF, 0x800
    filled = ctypes.create_string_buffer(256)
    try:
        failed = ctypes.CDLL(None).statx(at_current_folder, os.fsencode(path), 0, everything, filled)
    except (AttributeError, OSError):
        return ""
    if failed or not struct.unpack_from("I", filled, 0)[0] & has_birth:
        return ""
    seconds, nanoseconds = struct.unpack_from("qI", filled, 80)  # stx_btime
    return f"{seconds}.{nanoseconds:09}"
