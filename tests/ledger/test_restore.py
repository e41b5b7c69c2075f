"""A copied or restored ledger refunds nothing: it counts as wholly spent until an owner supplies the newer entries."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from louver.errors import BudgetError, LedgerError, LouverError
from louver.ledger import Cap, Entry, Head, Ledger
from louver.ledger.verify import read_entries
from louver.privacy import Unit
from tests.ledger.plans import flat
from tests.ledger.server import OWNER, PORT, Server
from tests.ledger.tampering import everything, tamper

PRICE = Fraction(1, 8)


@dataclass
class Older:
    """An older state in place of the newer one: where it is, its key, and what the newer one had."""

    where: str
    key: Path
    token: str
    newer: list[Entry]
    head: Head

    def open(self) -> Ledger:
        return Ledger.open(self.where, key=self.key)


def create(where: str, key: Path) -> str:
    """A ledger with one reservation, closed."""
    ledger, tokens = Ledger.create(where, key=key, dataset="house", unit=Unit.row(), caps=[Cap(epsilon=1)])
    with ledger:
        ledger.reserve(flat(PRICE))
    return tokens["owner"]


def go_on(where: str, key: Path) -> tuple[list[Entry], Head]:
    """Three more reservations; gives all entries and the head."""
    with Ledger.open(where, key=key) as ledger:
        for _ in range(3):
            ledger.reserve(flat(PRICE))
        return list(ledger.entries()), ledger.head()


def copied_before(tmp_path: Path) -> Older:
    """A copy of the file from before, beside a copy of the newer key and witness."""
    where, key = tmp_path / "ledger.db", tmp_path / "key"
    token = create(str(where), key)
    backup = tmp_path / "backup.db"
    shutil.copy(where, backup)
    newer, head = go_on(str(where), key)
    return Older(str(backup), key, token, newer, head)


def put_back_in_place(tmp_path: Path) -> Older:
    """The bytes of a backup written over the file: the same inode."""
    where, key = tmp_path / "ledger.db", tmp_path / "key"
    token = create(str(where), key)
    backup = where.read_bytes()
    newer, head = go_on(str(where), key)
    number = where.stat().st_ino
    with where.open("r+b") as file:
        file.write(backup)
        file.truncate()
    assert where.stat().st_ino == number
    return Older(str(where), key, token, newer, head)


def moved_over(tmp_path: Path) -> Older:
    """A backup that takes the name of the file."""
    older = copied_before(tmp_path)
    where = tmp_path / "ledger.db"
    Path(older.where).replace(where)
    return replace(older, where=str(where))


def folder_copied(tmp_path: Path) -> Older:
    """The whole folder, with key and witness as they were."""
    folder = tmp_path / "one"
    folder.mkdir()
    token = create(str(folder / "ledger.db"), folder / "key")
    shutil.copytree(folder, tmp_path / "two")
    newer, head = go_on(str(folder / "ledger.db"), folder / "key")
    return Older(str(tmp_path / "two" / "ledger.db"), tmp_path / "two" / "key", token, newer, head)


def witness_deleted(tmp_path: Path) -> Older:
    older = put_back_in_place(tmp_path)
    Path(f"{older.key}.witness").unlink()
    return older


def witness_damaged(tmp_path: Path) -> Older:
    older = put_back_in_place(tmp_path)
    Path(f"{older.key}.witness").write_bytes(b"\x00\xff" * 512)
    return older


def in_another_database(server: Server, tmp_path: Path, copy: Callable[[str, str], None]) -> Older:
    where, key = server.new_database(), tmp_path / "key"
    token = create(where, key)
    name = f"copy_of_{urlsplit(where).path[1:]}"
    copy(urlsplit(where).path[1:], name)
    newer, head = go_on(where, key)
    return Older(server.dsn(name), key, token, newer, head)


def template(server: Server, tmp_path: Path) -> Older:
    """A copy that PostgreSQL makes."""
    return in_another_database(
        server, tmp_path, lambda one, other: server.run(f"CREATE DATABASE {other} TEMPLATE {one}")
    )


def dump(server: Server, tmp_path: Path) -> Older:
    """A dump, restored."""

    def copy(one: str, other: str) -> None:
        common = ["-h", str(server.folder), "-p", str(PORT), "-U", OWNER]
        said = subprocess.run([server.binary("pg_dump"), *common, one], check=True, capture_output=True)
        server.run(f"CREATE DATABASE {other}")
        subprocess.run(
            [server.binary("psql"), *common, "-q", "-v", "ON_ERROR_STOP=1", other],
            input=said.stdout,
            check=True,
            capture_output=True,
        )

    return in_another_database(server, tmp_path, copy)


def restored_in_place(server: Server, tmp_path: Path) -> Older:
    """A dump put back into the database it came from."""
    older = dump(server, tmp_path)
    one = urlsplit(older.where).path[1:].removeprefix("copy_of_")
    server.run(f"DROP DATABASE {one} WITH (FORCE)")
    server.run(f"ALTER DATABASE copy_of_{one} RENAME TO {one}")
    return replace(older, where=server.dsn(one))


def rows_removed(server: Server, tmp_path: Path) -> Older:
    """The newest rows deleted by somebody who may do everything."""
    where, key = server.new_database(), tmp_path / "key"
    token = create(where, key)
    newer, head = go_on(where, key)
    tamper(where, "DELETE FROM entries WHERE number > 2", "DELETE FROM reservations WHERE number > 2")
    tamper(where, "UPDATE totals SET price = '1/8'")
    return Older(where, key, token, newer, head)


FILES = (copied_before, put_back_in_place, moved_over, folder_copied, witness_deleted, witness_damaged)
DATABASES = (template, dump, restored_in_place, rows_removed)


@pytest.fixture(params=[*FILES, *DATABASES], ids=lambda way: way.__name__)
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Older:
    if request.param in FILES:
        return request.param(tmp_path)  # type: ignore[no-any-return]
    return request.param(request.getfixturevalue("server"), tmp_path)  # type: ignore[no-any-return]


def test_an_older_ledger_counts_as_wholly_spent(older: Older) -> None:
    with older.open() as ledger:
        assert ledger.remaining() == 0
        assert ledger.doubt() is not None
        assert not ledger.verify().ok


def test_an_older_ledger_refuses_everything_and_writes_nothing(older: Older) -> None:
    before = everything(older.where)
    with older.open() as ledger:
        for act in (
            lambda: ledger.reserve(flat(PRICE)),
            lambda: ledger.settle(2),
            lambda: ledger.set_cap(Cap(epsilon=9), [older.token]),
            lambda: ledger.add_person("eve", "owner", [older.token]),
        ):
            with pytest.raises(BudgetError, match=r"counts as wholly spent, because .*\.$"):
                act()
    assert everything(older.where) == before


def test_the_newer_entries_bring_an_older_ledger_up_to_date(older: Older) -> None:
    with older.open() as ledger:
        assert ledger.recover([older.token], older.newer, [older.head]) == 3
        assert (ledger.spent(), ledger.remaining(), ledger.doubt()) == (4 * PRICE, 1 - 4 * PRICE, None)
        assert ledger.head().epoch == 2
        assert ledger.verify([older.head]).ok
        ledger.reserve(flat(PRICE))
        assert ledger.spent() == 5 * PRICE


def test_only_an_owner_can_bring_it_up_to_date(older: Older) -> None:
    before = everything(older.where)
    with older.open() as ledger:
        for tokens in ([], ["nobody's"]):
            with pytest.raises(LouverError, match="token"):
                ledger.recover(tokens, older.newer, [older.head])
    assert everything(older.where) == before


def forged(entries: list[Entry], number: int, **changes: object) -> list[Entry]:
    return [replace(entry, **changes) if entry.number == number else entry for entry in entries]  # type: ignore[arg-type]


def test_wrong_missing_and_forged_entries_are_refused_and_change_nothing(older: Older) -> None:
    entries = older.newer
    cheaper = {**entries[3].body, "charges": []}
    supplied = {
        "one is missing": [entry for entry in entries if entry.number != 4],
        "too few": entries[:4],
        "none": [],
        "one has another price": forged(entries, 4, body=cheaper),
        "one has another author": forged(entries, 3, who="mallory"),
        "one has another link": forged(entries, 3, link="f" * 64),
        "one has a link in other letters": forged(entries, 3, link="\u00e9" * 64),
        "an old one is not the ledger's": forged(entries, 2, link="f" * 64),
        "they come in another order": [*entries[:2], *entries[:1:-1]],
        "the last one comes twice, changed": [*entries, replace(entries[-1], number=6)],
    }
    before = everything(older.where)
    with older.open() as ledger:
        for what, given in supplied.items():
            with pytest.raises(LedgerError, match=r"\.$"):
                pytest.fail(f"{what}: {ledger.recover([older.token], given, [older.head])}")
            assert ledger.remaining() == 0
    assert everything(older.where) == before


def test_too_few_entries_are_refused_by_the_witness_alone(tmp_path: Path) -> None:
    older = put_back_in_place(tmp_path)
    with older.open() as ledger:
        for given in ([], older.newer[:4]):
            with pytest.raises(LedgerError, match="5 entries"):
                ledger.recover([older.token], given)
        assert ledger.recover([older.token], older.newer) == 3


def test_without_a_witness_and_a_head_nothing_is_recovered(tmp_path: Path) -> None:
    older = witness_deleted(tmp_path)
    with older.open() as ledger:
        with pytest.raises(LedgerError, match="exported head"):
            ledger.recover([older.token], older.newer)
        assert ledger.remaining() == 0


def test_a_moved_ledger_goes_on(tmp_path: Path) -> None:
    where = tmp_path / "ledger.db"
    create(str(where), Path(f"{where}.key"))
    (tmp_path / "other").mkdir()
    for suffix in ("", ".key", ".key.witness"):
        Path(f"{where}{suffix}").rename(tmp_path / "other" / f"moved.db{suffix}")
    with Ledger.open(tmp_path / "other" / "moved.db") as ledger:
        assert ledger.doubt() is None
        ledger.reserve(flat(PRICE))
        assert ledger.spent() == 2 * PRICE


def test_each_recovery_begins_another_epoch(tmp_path: Path) -> None:
    older = folder_copied(tmp_path)
    with older.open() as ledger:
        ledger.recover([older.token], older.newer)
    shutil.copytree(tmp_path / "two", tmp_path / "three")
    with Ledger.open(tmp_path / "three" / "ledger.db", key=tmp_path / "three" / "key") as ledger:
        ledger.recover([older.token])
        assert [entry.epoch for entry in ledger.entries()] == [1, 1, 1, 1, 1, 2, 3]


def test_the_ledger_that_was_copied_goes_on_itself(tmp_path: Path) -> None:
    folder_copied(tmp_path)
    with Ledger.open(tmp_path / "one" / "ledger.db", key=tmp_path / "one" / "key") as ledger:
        assert ledger.doubt() is None
        assert ledger.remaining() == 1 - 4 * PRICE


def test_a_copy_made_while_the_ledger_is_open_is_noticed(tmp_path: Path) -> None:
    """The file is replaced under a process that has it open."""
    where, key = tmp_path / "ledger.db", tmp_path / "key"
    create(str(where), key)
    shutil.copy(where, tmp_path / "backup.db")
    with Ledger.open(where, key=key) as ledger:
        ledger.reserve(flat(PRICE))
        os.replace(tmp_path / "backup.db", where)  # noqa: PTH105
        with pytest.raises(BudgetError, match="copied or restored"):
            ledger.reserve(flat(PRICE))


def test_entries_come_back_from_lines_of_json(tmp_path: Path) -> None:
    older = put_back_in_place(tmp_path)
    lines = [json.dumps(entry.to_dict()) for entry in older.newer]
    with older.open() as ledger:
        assert ledger.recover([older.token], read_entries(lines)) == 3


@pytest.mark.parametrize("line", ["x", "[]", "{}", "1", '{"number": 1}'])
def test_a_line_that_is_no_entry_is_named(tmp_path: Path, line: str) -> None:
    good = json.dumps(put_back_in_place(tmp_path).newer[0].to_dict())
    for wrong in (line, good.replace('"number": 1', '"number": "1"'), good.replace('"link": "', '"link": 5, "x": "')):
        with pytest.raises(LedgerError, match="Line 2 of the entries"):
            read_entries([good, wrong])
