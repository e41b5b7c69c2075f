"""Whatever befalls the file: one sentence, and nothing spent silently."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from louver.errors import LouverError
from louver.ledger import Ledger, schema, sqlite
from louver.privacy import Scope
from tests.ledger.forks import FINISHED, ending, forked
from tests.ledger.made import PRICE, create
from tests.ledger.plans import flat, rooms
from tests.ledger.sentences import one_sentence
from tests.ledger.tampering import look, tamper

NOBODY = 65534


def use(where: str | Path, key: Path | None = None) -> None:
    """Everything that is done with a ledger in a day."""
    with Ledger.open(where, key=key) as ledger:
        ledger.settle(ledger.reserve(rooms(["hall"], PRICE)))
        ledger.spent(Scope({"room": "hall"}))
        ledger.remaining()
        list(ledger.entries())
        ledger.reservations()
        assert ledger.verify().ok


@pytest.fixture
def path(tmp_path: Path) -> Path:
    create(tmp_path / "ledger.db")
    return tmp_path / "ledger.db"


# A disk that is full


def test_a_full_disk_is_one_sentence_and_spends_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check = sqlite._check_durable

    def no_more_pages(connection: sqlite3.Connection) -> None:
        check(connection)
        connection.execute("PRAGMA max_page_count = 1")  # SQLite takes the present size: not one page more

    monkeypatch.setattr(sqlite, "_check_durable", no_more_pages)
    with Ledger.open(path) as ledger:
        granted = 3
        with one_sentence() as refused:
            while True:
                ledger.reserve(rooms([f"room {granted}"], PRICE))
                granted += 1
        assert "full" in str(refused.value)
        acts = [entry.act for entry in ledger.entries()]
        assert acts.count("reserved") == granted
        assert ledger.verify().ok


def test_a_file_that_may_not_grow_is_one_sentence_and_spends_nothing(path: Path) -> None:
    """As a quota does it: the operating system refuses the write in the middle of a transaction."""

    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 40_000, resource.RLIM_INFINITY))
        granted = 3
        with Ledger.open(path) as ledger:
            with one_sentence():
                while True:
                    ledger.reserve(rooms([f"room {granted}"], PRICE))
                    granted += 1
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            assert [entry.act for entry in ledger.entries()].count("reserved") == granted
            assert ledger.verify().ok

    assert ending(forked(work)) == FINISHED


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk; the two tests above fill one without")
def test_a_small_disk_that_fills_up_is_one_sentence_and_spends_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", disk], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("root may not mount here, as in many containers; the two tests above fill a disk without")
    try:
        create(disk / "ledger.db")
        granted = 3
        with Ledger.open(disk / "ledger.db") as ledger:
            with one_sentence() as refused:
                while granted < 10_000:
                    ledger.reserve(rooms([f"room {granted}"], PRICE))
                    granted += 1
            assert "disk" in str(refused.value)
            assert [entry.act for entry in ledger.entries()].count("reserved") == granted
            assert ledger.verify().ok
        with pytest.raises(LouverError):
            create(disk / "another.db")
        assert not (disk / "another.db").exists()
        assert not (disk / "another.db.key").exists()
    finally:
        subprocess.run(["umount", disk], check=True)


# What may not be written or read


@pytest.fixture
def strangers() -> Iterator[Path]:
    """A ledger whose key somebody else may read, in a folder that everybody may enter."""
    folder = Path(tempfile.mkdtemp(prefix="louver-"))
    folder.chmod(0o755)
    create(folder / "ledger.db")
    for file in folder.iterdir():
        file.chmod(0o644)
    yield folder / "ledger.db"
    folder.chmod(0o755)
    shutil.rmtree(folder)


def as_nobody(work: Callable[[], object]) -> int:
    """How the work ends when somebody does it who may do nothing here."""

    def run() -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        with one_sentence():
            work()

    return ending(forked(run))


@pytest.mark.parametrize(("folder", "file"), [(0o555, 0o444), (0o777, 0o444), (0o000, 0o444)])
def test_what_may_not_be_written_is_one_sentence(strangers: Path, folder: int, file: int) -> None:
    strangers.chmod(file)
    strangers.parent.chmod(folder)
    assert as_nobody(lambda: use(strangers)) == FINISHED
    strangers.parent.chmod(0o755)
    strangers.chmod(0o644)
    assert len(look(str(strangers), "SELECT * FROM entries")) == 4


def test_a_ledger_cannot_be_made_where_nothing_may_be_written(strangers: Path) -> None:
    strangers.parent.chmod(0o555)
    assert as_nobody(lambda: create(strangers.parent / "another.db")) == FINISHED


def test_a_key_that_may_not_be_read_is_one_sentence(strangers: Path) -> None:
    Path(f"{strangers}.key").chmod(0o000)
    assert as_nobody(lambda: use(strangers)) == FINISHED


# Files that are damaged, or something else


def fill_with(content: bytes) -> Callable[[Path], None]:
    def fill(path: Path) -> None:
        path.write_bytes(content)

    return fill


def cut(keep: float) -> Callable[[Path], None]:
    return lambda path: os.truncate(path, int(path.stat().st_size * keep))


def header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"something else".ljust(100, b"?"))


def another_database(path: Path) -> None:
    path.unlink()
    opened = sqlite3.connect(path)
    opened.execute("CREATE TABLE people (name TEXT)")
    opened.commit()
    opened.close()


def newer_version(path: Path) -> None:
    tamper(str(path), f"UPDATE ledger SET version = {schema.VERSION + 1}")


def no_version(path: Path) -> None:
    tamper(str(path), "DELETE FROM ledger")


def no_entries(path: Path) -> None:
    tamper(str(path), "DELETE FROM entries")


def no_table(path: Path) -> None:
    tamper(str(path), "DROP TABLE totals")


def folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


def no_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def no_file(path: Path) -> None:
    path.unlink()


def no_key(path: Path) -> None:
    Path(f"{path}.key").unlink()


def damaged_key(path: Path) -> None:
    Path(f"{path}.key").write_text("0123")


def binary_key(path: Path) -> None:
    Path(f"{path}.key").write_bytes(b"\xff" * 32)


def other_key(path: Path) -> None:
    Path(f"{path}.key").write_text("ab" * 32)


DAMAGE: dict[str, Callable[[Path], None]] = {
    "empty": fill_with(b""),
    "text": fill_with(b"room,count\nhall,3\n" * 1000),
    "zeros": fill_with(b"\0" * 65536),
    "cut in the header": cut(0.001),
    "cut in half": cut(0.5),
    "cut a little": cut(0.95),
    **{
        each.__name__.replace("_", " "): each
        for each in (header, another_database, newer_version, no_version, no_entries, no_table, folder_instead)
    },
    **{
        each.__name__.replace("_", " "): each
        for each in (no_folder, no_file, no_key, damaged_key, binary_key, other_key)
    },
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_is_no_ledger_is_one_sentence(path: Path, damage: str) -> None:
    DAMAGE[damage](path)
    with one_sentence():
        use(path)


def test_the_sentences_say_what_is_the_matter(path: Path) -> None:
    for damage, said in (
        (other_key, "belongs to another ledger"),
        (damaged_key, "is no key"),
        (no_key, "is missing"),
        (newer_version, "newer Louver"),
        (header, "damaged or no ledger"),
        (another_database, "no ledger"),
        (no_file, "There is no ledger"),
    ):
        copy = path.parent / damage.__name__ / path.name
        shutil.copytree(path.parent, copy.parent, ignore=lambda *_: [each.__name__ for each in DAMAGE.values()])
        damage(copy)
        with pytest.raises(LouverError, match=said):
            use(copy)


@pytest.mark.parametrize("seed", range(60))
def test_random_bytes_over_a_page_are_one_sentence_or_found(path: Path, seed: int) -> None:
    dice = random.Random(seed)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(dice.randrange(100, size))
        file.write(dice.randbytes(dice.choice([1, 16, 512, 4096])))
    try:
        with Ledger.open(path) as ledger:
            if ledger.verify().ok:
                assert ledger.spent() == 3 * PRICE
                ledger.reserve(flat(PRICE))
            else:
                # Found by verifying; to use it all the same may go wrong, in one sentence.
                ledger.reserve(flat(PRICE))
    except LouverError as fault:
        assert str(fault).endswith(".")
