"""Disks, files, keys and servers that fail: one sentence each, nothing spent silently, nothing released unpaid."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest

from louver.errors import LedgerError, LouverError
from louver.ledger import Cap, Ledger
from louver.ledger.sqlite import SQLiteStore
from louver.privacy import Between, Scope, Unit
from tests.ledger.plans import flat, rooms
from tests.ledger.raw import opened
from tests.ledger.server import Server

TENTH = flat(Fraction(1, 10))
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A ledger in a file, with two reservations, closed."""
    return made_in(tmp_path)


def made_in(folder: Path) -> Path:
    path = folder / "house.ledger"
    ledger, _ = Ledger.create(path, dataset="house", unit=Unit.row(), caps=[Cap(epsilon=1)])
    with ledger:
        ledger.settle(ledger.reserve(TENTH))
        ledger.reserve(TENTH)
    return path


def sentence(attempt: Callable[[], object]) -> str:
    """What a LouverError says; any other error comes through and fails the test."""
    with pytest.raises(LouverError) as caught:
        attempt()
    said = str(caught.value)
    assert said.endswith(".")
    assert "Traceback" not in said
    assert "sqlite3." not in said
    assert "psycopg" not in said
    return said


def reserving(path: Path) -> Callable[[], object]:
    def attempt() -> object:
        with Ledger.open(path) as ledger:
            return ledger.reserve(TENTH)

    return attempt


# Files that are not what they should be


@pytest.mark.parametrize("keep", [0, 1, 100, 4096, 9000])
def test_a_file_cut_short_is_refused_in_one_sentence(file: Path, keep: int) -> None:
    file.write_bytes(file.read_bytes()[:keep])
    sentence(reserving(file))


@pytest.mark.parametrize("place", [0, 16, 4096, 8192, 12288])
def test_a_file_with_a_damaged_page_is_refused_or_found_by_verifying(file: Path, place: int) -> None:
    content = bytearray(file.read_bytes())
    content[place : place + 2048] = bytes(range(256)) * 8
    file.write_bytes(content)
    try:
        with Ledger.open(file) as ledger:
            assert not ledger.verify().ok
    except LouverError as refusal:
        assert str(refusal).endswith(".")


def test_any_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("The quick brown fox. " * 500)
    shutil.copy(made_in(tmp_path).with_name("house.ledger.key"), tmp_path / "notes.txt.key")
    assert "damaged or no ledger" in sentence(reserving(path))


def test_another_database_is_refused(file: Path) -> None:
    file.unlink()
    other = sqlite3.connect(file)
    other.execute("CREATE TABLE people (name TEXT)")
    other.commit()
    other.close()
    assert "no ledger" in sentence(reserving(file))


def test_a_ledger_of_a_newer_version_is_refused_and_says_so(file: Path) -> None:
    with opened(str(file)) as raw:
        raw("UPDATE ledger SET version = 999")
    assert "newer Louver (format 999" in sentence(reserving(file))


def test_a_ledger_that_is_not_there_is_refused_with_what_to_do(tmp_path: Path) -> None:
    assert "louver ledger init" in sentence(reserving(tmp_path / "missing.ledger"))


def test_a_ledger_is_never_made_over_another_file(file: Path) -> None:
    before = file.read_bytes()
    assert "there already" in sentence(lambda: made_in(file.parent))
    assert file.read_bytes() == before


# Keys


def test_a_missing_key_is_named(file: Path) -> None:
    key = file.with_name("house.ledger.key")
    key.unlink()
    assert str(key) in sentence(reserving(file))


@pytest.mark.parametrize("content", ["", "not hex", "abcd", "00" * 31, "é" * 32, "00" * 33])
def test_a_damaged_key_is_refused(file: Path, content: str) -> None:
    file.with_name("house.ledger.key").write_text(content, encoding="utf-8")
    assert "no key of a ledger" in sentence(reserving(file))


def test_the_key_of_another_ledger_is_refused(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    made_in(other)
    shutil.copy(other / "house.ledger.key", file.with_name("house.ledger.key"))
    assert "belongs to another ledger" in sentence(reserving(file))


def test_a_key_is_readable_by_its_owner_only_and_never_replaced(file: Path) -> None:
    key = file.with_name("house.ledger.key")
    assert key.stat().st_mode & 0o077 == 0
    before = key.read_text()
    file.unlink()
    assert "already a key" in sentence(lambda: made_in(file.parent))
    assert key.read_text() == before


# Disks


def test_a_full_disk_spends_nothing_and_says_so(file: Path) -> None:
    """SQLite's own limit of pages makes it report a full disk, as the file system would."""
    with Ledger.open(file) as ledger:
        store = ledger._store
        assert isinstance(store, SQLiteStore)
        before = ledger.spent()
        pages = store._connected().execute("PRAGMA page_count").fetchone()[0]
        store._connected().execute(f"PRAGMA max_page_count = {pages}")
        many = rooms([f"room {number}" for number in range(2000)], Fraction(1, 10), day=Between(1, 2))
        said = sentence(lambda: ledger.reserve(many))
        assert "disk is full; nothing was spent" in said
        store._connected().execute("PRAGMA max_page_count = 1000000")
        assert ledger.spent() == before
        assert ledger.verify().ok
        ledger.reserve(TENTH)


FULL_DISK = """
import resource, signal, sys
from fractions import Fraction
from pathlib import Path
from louver.errors import LouverError
from louver.ledger import Ledger
from tests.ledger.plans import flat
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1])
with Ledger.open(path) as ledger:
    size = max(file.stat().st_size for file in path.parent.glob("house.ledger*"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 4096, size + 4096))
    granted = 0
    try:
        for _ in range(500):
            ledger.reserve(flat(Fraction(1, 1000)))
            granted += 1
    except LouverError as refusal:
        print(granted, refusal)
"""


def test_a_file_that_may_not_grow_keeps_every_reservation_it_granted(file: Path) -> None:
    """The operating system refuses to write on, as on a full disk, in the middle of the write-ahead log."""
    shown = run_python(FULL_DISK, file)
    granted, said = shown.split(" ", 1)
    assert said.strip().endswith(".")
    with Ledger.open(file) as ledger:
        assert ledger.verify().ok
        assert ledger.spent() - Fraction(1, 5) >= Fraction(int(granted), 1000)
        assert ledger.spent() - Fraction(1, 5) <= Fraction(int(granted) + 1, 1000)


AS_NOBODY = """
import os, sys
from pathlib import Path
from louver.errors import LouverError
from louver.ledger import Ledger
from fractions import Fraction
from tests.ledger.plans import flat
with Ledger.open(Path(sys.argv[1])) as ledger:
    ledger.remaining()  # loads whatever only this user may load
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    with Ledger.open(Path(sys.argv[1])) as ledger:
        ledger.reserve(flat(Fraction(1, 10)))
    print("granted")
except LouverError as refusal:
    print(refusal)
"""


@pytest.mark.parametrize("what", ["file", "folder", "key"])
def test_what_may_not_be_written_or_read_is_said_and_nothing_is_spent(what: str) -> None:
    folder = Path("/tmp") / f"louver-unwritable-{os.getpid()}-{what}"  # noqa: S108 the folders of tests are closed to others
    folder.mkdir(mode=0o777)
    try:
        path = made_in(folder)
        for each in folder.iterdir():
            each.chmod(0o666)
        folder.chmod(0o777)
        shut = {"file": path, "folder": folder, "key": path.with_name("house.ledger.key")}[what]
        shut.chmod({"file": 0o444, "folder": 0o555, "key": 0o000}[what])
        shown = run_python(AS_NOBODY, path)
        assert shown.strip() != "granted"
        assert shown.strip().endswith(".")
        folder.chmod(0o777)
        path.with_name("house.ledger.key").chmod(0o600)
        path.chmod(0o600)
        with Ledger.open(path) as ledger:
            assert ledger.spent() == Fraction(1, 5)
    finally:
        shutil.rmtree(folder)


def test_a_witness_that_cannot_be_written_keeps_the_reservation(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger.open(file) as ledger:
        witness = ledger._keys.witness_path
        kept = witness.read_bytes()
        monkeypatch.setattr(os, "pwrite", no_space)
        assert "witness" in sentence(lambda: ledger.reserve(TENTH))
        assert witness.read_bytes() == kept
        assert ledger.spent() == Fraction(3, 10)


# Versions


def test_a_ledger_of_version_1_opens_and_has_the_same_totals(where: str, tmp_path: Path) -> None:
    """Version 1 had entries alone; what is made from them is made when it is opened."""
    ledger, _ = Ledger.create(
        where, dataset="house", unit=Unit.row(), caps=[Cap(epsilon=1)], owners=["ada"], key=tmp_path / "key"
    )
    with ledger:
        plan = rooms(["hall", "lab"], Fraction(1, 4), day=Between(1, 2))
        ledger.settle(ledger.reserve(plan), release={"flagged": []})
        ledger.reserve(plan, key="again")
    with opened(where) as raw:
        for table in ("reservations", "caps", "people", "totals", "classes", "columns", "axes", "blocks"):
            raw(f"DROP TABLE {table}")
        raw("UPDATE ledger SET version = 1")
    with Ledger.open(where, key=tmp_path / "key") as ledger:
        assert ledger.spent() == Fraction(1, 2)
        assert ledger.spent(Scope({"room": "cafe"})) == 0
        assert [each.number for each in ledger.reservations()] == [4]
        assert not ledger.reserve(plan, key="again").fresh
        assert ledger.verify().ok


# Servers


@pytest.fixture
def remote(database: str, tmp_path: Path) -> Iterator[Ledger]:
    ledger, _ = Ledger.create(database, dataset="house", unit=Unit.row(), caps=[Cap(epsilon=1)], key=tmp_path / "key")
    with ledger:
        yield ledger


def test_a_server_that_stops_is_one_sentence_and_a_reservation_survives_it(tmp_path: Path) -> None:
    server = Server()
    try:
        url = server.new_database()
        ledger, _ = Ledger.create(url, dataset="house", unit=Unit.row(), caps=[Cap(epsilon=1)], key=tmp_path / "key")
        with ledger:
            reservation = ledger.reserve(TENTH)
            server.stop("immediate")
            sentence(lambda: ledger.reserve(TENTH))
            sentence(lambda: ledger.settle(reservation))
            server.start()
            assert ledger.spent() == Fraction(1, 10)
            ledger.settle(reservation)
            assert ledger.verify().ok
    finally:
        server.remove()


def test_a_connection_cut_between_reserving_and_settling_keeps_the_reservation(remote: Ledger, database: str) -> None:
    reservation = remote.reserve(TENTH)
    with psycopg.connect(database, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    assert remote.spent() == Fraction(1, 10)
    remote.settle(reservation)
    assert remote.reservations() == []


@pytest.mark.parametrize("kept", [True, False])
def test_a_commit_whose_answer_is_lost_is_looked_up(
    remote: Ledger, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    """The answer to COMMIT never comes: if it was kept there is one reservation, if not there is none."""
    original = psycopg.Connection.execute
    lose = [True]

    def execute(connection: Any, query: Any, *arguments: Any, **named: Any) -> Any:
        if "COMMIT" in str(query) and lose.pop():
            lose.append(False)
            original(connection, "COMMIT" if kept else "ROLLBACK")
            connection.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        return original(connection, query, *arguments, **named)

    monkeypatch.setattr(psycopg.Connection, "execute", execute)
    if kept:
        reservation = remote.reserve(TENTH)
        assert reservation.fresh
        assert remote.spent() == Fraction(1, 10)
        remote.settle(reservation)
    else:
        with pytest.raises(LedgerError, match="nothing was reserved"):
            remote.reserve(TENTH)
        assert remote.spent() == 0
    assert remote.verify().ok


def no_space(*_: object) -> int:
    raise OSError(28, "No space left on device")


def run_python(code: str, *arguments: object) -> str:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"}
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        cwd="/",
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout
