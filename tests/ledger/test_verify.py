"""Whatever somebody changes behind the ledger's back is found, and named."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from louver.errors import BudgetError, LouverError
from louver.ledger import Cap, Head, Ledger, chain
from louver.privacy import Between, Charge, Scope, Unit
from tests.ledger.plans import flat, priced, rooms
from tests.ledger.tampering import look, tamper


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return tmp_path / "key"


@pytest.fixture
def used(where: str, key: Path) -> str:
    """A ledger of seven entries, one of each kind: opened, reserved twice, settled, cap, person, denied."""
    ledger, tokens = Ledger.create(where, key=key, dataset="house", unit=Unit.row(), caps=[Cap(epsilon=1)])
    with ledger:
        first = ledger.reserve(rooms(["hall", "lab"], 0.5, gradual=True, slot=Between(0, 4)))
        ledger.reserve(priced((Scope({"slot": Between(2, 3)}), 0.125)), key="monday")
        ledger.settle(first, [Charge(Scope({"room": "hall", "slot": Between(0, 4)}), 0.25)], release={"flagged": 1})
        ledger.set_cap(Cap(epsilon=0.75), list(tokens.values()))
        ledger.add_person("bob", "analyst", list(tokens.values()))
        with pytest.raises(BudgetError):
            ledger.reserve(flat(0.75))
        assert ledger.verify().ok
    return where


def check(where: str, key: Path, *heads: Head) -> tuple[bool, int | None, str]:
    with Ledger.open(where, key=key) as ledger:
        verdict = ledger.verify(heads)
    assert verdict.sentence.endswith(".")
    return verdict.ok, verdict.entry, verdict.sentence


def exported(where: str, key: Path) -> Head:
    with Ledger.open(where, key=key) as ledger:
        return ledger.head()


CHANGES = {
    "epoch": "epoch + 1",
    "at": "'2020-01-01T00:00:00.000Z'",
    "who": "'mallory'",
    "act": "'settled'",
    "body": "replace(body, '\"', '\"\"')",
    "link": "'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff'",
}


@pytest.mark.parametrize("number", range(2, 8))
@pytest.mark.parametrize("column", CHANGES)
def test_a_changed_field_of_any_entry_is_found(used: str, key: Path, column: str, number: int) -> None:
    if column == "act" and number == 4:
        tamper(used, "UPDATE entries SET act = 'reserved' WHERE number = 4")
    else:
        tamper(used, f"UPDATE entries SET {column} = {CHANGES[column]} WHERE number = {number}")
    ok, entry, said = check(used, key)
    assert (ok, entry) == (False, number)
    assert f"Entry {number}" in said


@pytest.mark.parametrize("column", ["at", "who", "epoch", "link"])
def test_a_changed_field_of_the_first_entry_is_found(used: str, key: Path, column: str) -> None:
    tamper(used, f"UPDATE entries SET {column} = {CHANGES[column]} WHERE number = 1")
    assert check(used, key)[:2] == (False, 1)


def test_a_changed_price_is_found(used: str, key: Path) -> None:
    tamper(used, "UPDATE entries SET body = replace(body, '1/2', '1/9') WHERE number = 2")
    assert check(used, key)[:2] == (False, 2)


@pytest.mark.parametrize("body", ["replace(body, ':', ': ')", "'{\"x\":1,' || substr(body, 2)", "body || ' '"])
def test_a_body_written_another_way_is_found(used: str, key: Path, body: str) -> None:
    tamper(used, f"UPDATE entries SET body = {body} WHERE number = 3")
    assert check(used, key)[:2] == (False, 3)


@pytest.mark.parametrize("link", ["''", "'\u00e9'", "upper(link)"])
def test_a_link_that_is_no_link_is_found(used: str, key: Path, link: str) -> None:
    tamper(used, f"UPDATE entries SET link = {link} WHERE number = 3")
    assert check(used, key)[:2] == (False, 3)


def test_two_entries_that_changed_places_are_found(used: str, key: Path) -> None:
    tamper(
        used,
        "UPDATE entries SET number = 100 WHERE number = 3",
        "UPDATE entries SET number = 3 WHERE number = 5",
        "UPDATE entries SET number = 5 WHERE number = 100",
    )
    assert check(used, key)[:2] == (False, 3)


def test_an_entry_that_is_missing_in_the_middle_is_named(used: str, key: Path) -> None:
    tamper(used, "DELETE FROM entries WHERE number = 4")
    ok, entry, said = check(used, key)
    assert (ok, entry, said) == (False, 4, "Entry 4 is missing.")


def test_an_entry_put_in_is_found(used: str, key: Path) -> None:
    copied = "SELECT 8, epoch, at, who, act, body, link FROM entries WHERE number = 7"
    tamper(used, f"INSERT INTO entries (number, epoch, at, who, act, body, link) {copied}")
    assert check(used, key)[:2] == (False, 8)


def cut_off(where: str, last: int) -> None:
    """As a thief would: entries after this one are gone, and nothing in the tables tells of them."""
    tamper(where, f"DELETE FROM entries WHERE number > {last}")


def test_an_end_that_was_cut_off_is_found_by_the_witness(used: str, key: Path) -> None:
    cut_off(used, 6)
    ok, _, said = check(used, key)
    assert not ok
    assert "entry 7, which was written" in said


def test_an_end_that_was_cut_off_is_found_by_an_exported_head(used: str, key: Path) -> None:
    head = exported(used, key)
    cut_off(used, 6)
    Path(f"{key}.witness").unlink()
    ok, entry, said = check(used, key, head)
    assert (ok, entry) == (False, 7)
    assert "cut off" in said


def rewrite(where: str, key: Path, number: int, who: str) -> None:
    """Whoever has the key can make all links anew."""
    secret = bytes.fromhex(key.read_text().strip())
    previous = chain.START
    for row in look(where, "SELECT number, epoch, at, who, act, body, link FROM entries ORDER BY number"):
        values = [*row[:3], who if row[0] == number else row[3], *row[4:6]]
        previous = chain.link(secret, previous, *values)
        tamper(where, f"UPDATE entries SET who = '{values[3]}', link = '{previous}' WHERE number = {row[0]}")


def test_a_history_rewritten_with_the_key_is_found_with_a_head_that_names_the_entry(used: str, key: Path) -> None:
    head = exported(used, key)
    rewrite(used, key, 3, "mallory")
    ok, entry, said = check(used, key, head)
    assert (ok, entry) == (False, 7)
    assert "Entry 7" in said
    assert "exported" in said


def test_two_heads_of_one_number_must_both_agree(used: str, key: Path) -> None:
    head = exported(used, key)
    other = replace(head, link="f" * 64)
    for heads in ((head, other), (other, head)):
        assert check(used, key, *heads)[:2] == (False, 7)


def test_without_a_head_it_says_what_cannot_be_seen(used: str, key: Path) -> None:
    ok, _, said = check(used, key)
    assert ok
    assert "Without an exported head" in said
    ok, _, said = check(used, key, exported(used, key))
    assert ok
    assert "lead to every exported head" in said


TABLES = {
    "a lower total": "UPDATE totals SET price = '1/100'",
    "a total that is gone": "DELETE FROM totals",
    "a total of another kind": "UPDATE totals SET family = 'zero-concentrated'",
    "a total in another name": "UPDATE totals SET audience = 'public'",
    "a total that is no number": "UPDATE totals SET price = 'much'",
    "a total with a delta": "UPDATE totals SET delta = '1/2'",
    "a total filed elsewhere": "UPDATE totals SET low = low + 1000, high = high + 1000",
    "a total filed under another reach": "UPDATE totals SET reach = reach + 1",
    "a total filed under another category": "UPDATE totals SET keyed = 'room', category = 5",
    "a total on no scope": "UPDATE totals SET scope = '{'",
    "a lower bound": "UPDATE blocks SET price = '0'",
    "a bound that is no number": "UPDATE blocks SET price = 'little'",
    "no bounds": "DELETE FROM blocks",
    "no axes": "DELETE FROM axes",
    "no classes": "DELETE FROM classes",
    "no columns": "DELETE FROM columns",
    "a column of another kind": "UPDATE columns SET kind = 'a set of texts' WHERE name = 'slot'",
    "a higher cap": "UPDATE caps SET cap = replace(cap, '3/4', '300')",
    "a cap that is none": "UPDATE caps SET cap = 'none'",
    "no caps": "DELETE FROM caps",
    "another role": "UPDATE people SET role = 'owner' WHERE name = 'bob'",
    "another token": "UPDATE people SET token = 'ab' WHERE name = 'bob'",
    "one more person": "INSERT INTO people (name, role, token) VALUES ('eve', 'owner', 'ab')",
    "nobody": "DELETE FROM people WHERE name = 'bob'",
    "a reservation that is settled": "UPDATE reservations SET settled = 4",
    "a reservation that is open again": "UPDATE reservations SET settled = NULL",
    "another key": "UPDATE reservations SET idempotency = 'key tuesday' WHERE number = 3",
    "no reservations": "DELETE FROM reservations",
}


@pytest.mark.parametrize("change", TABLES)
def test_a_table_that_was_changed_is_found(used: str, key: Path, change: str) -> None:
    tamper(used, TABLES[change])
    ok, _, said = check(used, key)
    assert not ok, said


def test_a_damaged_entry_is_one_sentence_when_the_ledger_is_used(used: str, key: Path) -> None:
    tamper(used, "UPDATE entries SET body = 'x' WHERE number IN (2, 3)")
    with Ledger.open(used, key=key) as ledger:
        for use in (lambda: ledger.settle(3), ledger.reservations, lambda: ledger.reserve(flat(0.1), key="monday")):
            with pytest.raises(LouverError):
                use()


def test_a_damaged_opening_is_one_sentence(used: str, key: Path) -> None:
    for body in ("x", "{}", "[]", json.dumps({"key": 1})):
        tamper(used, f"UPDATE entries SET body = '{body}' WHERE number = 1")
        with pytest.raises(LouverError):
            Ledger.open(used, key=key)


def test_a_raised_bound_is_harmless(used: str, key: Path) -> None:
    """Bounds spare looking; one that is too high only makes the ledger look."""
    tamper(used, "UPDATE blocks SET price = '1000'")
    with Ledger.open(used, key=key) as ledger:
        assert ledger.verify().ok
        assert ledger.spent() == Fraction(3, 8)
        ledger.reserve(flat(0.25))
