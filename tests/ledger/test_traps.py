"""Ways in which a ledger could be led astray, each closed."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from louver.errors import BudgetError, ParameterError
from louver.ledger import Cap, Ledger
from louver.privacy import Approximate, Between, Charge, Scope, Unit
from tests.ledger.plans import flat, priced, rooms
from tests.ledger.tampering import look, tamper

HALF = Fraction(1, 2)


@pytest.fixture
def ledger(where: str, tmp_path: Path) -> Iterator[Ledger]:
    made, _ = Ledger.create(
        where, dataset="house", unit=Unit.row(), caps=[Cap(epsilon=1)], owners=["ada"], key=tmp_path / "key"
    )
    with made:
        yield made


@pytest.mark.parametrize("name", ["=room", "room=", "=", "axis", "low", "%", "?", "'; --"])
def test_a_column_of_any_name_meets_the_others(ledger: Ledger, name: str) -> None:
    ledger.reserve(priced((Scope({name: Between(0, 10)}), 1)))
    for scope in (Scope({"room": "a"}), Scope({"room": "a", name: Between(0, 5)}), Scope({name: Between(9, 90)})):
        with pytest.raises(BudgetError):
            ledger.reserve(priced((scope, HALF)))
    assert ledger.spent() == 1
    assert ledger.verify().ok


def test_one_plan_cannot_use_a_column_with_two_kinds_of_values(ledger: Ledger) -> None:
    text, number = Scope({"room": "1", "hour": Between(0, 1)}), Scope({"room": 1, "hour": Between(0, 2)})
    with pytest.raises(ParameterError, match="'room' is a set of texts"):
        ledger.reserve(priced((text, 1), (number, 1)))
    ledger.reserve(priced((text, 1)))
    with pytest.raises(ParameterError, match="a set of whole numbers in the request"):
        ledger.reserve(priced((number, 1)))
    with pytest.raises(ParameterError, match="a set of whole numbers in the request"):
        ledger.remaining(number)


def test_a_cap_cannot_be_set_on_a_column_with_another_kind_of_values(where: str, tmp_path: Path) -> None:
    made, tokens = Ledger.create(
        where, dataset="house", unit=Unit.row(), caps=[Cap(epsilon=1)], owners=["ada"], key=tmp_path / "key"
    )
    with made:
        made.reserve(rooms(["a"], HALF))
        with pytest.raises(ParameterError, match="'room'"):
            made.set_cap(Cap(epsilon=HALF, scope=Scope({"room": 3})), [tokens["ada"]])


def test_looking_whether_the_ledger_is_the_newest_reads_few_entries(tmp_path: Path) -> None:
    path = tmp_path / "house"
    Ledger.create(path, dataset="house", unit=Unit.row(), caps=[Cap(epsilon=1)])[0].close()
    file = sqlite3.connect(path)
    sql = "SELECT number FROM entries WHERE act IN ('opened', 'recovered') ORDER BY number DESC LIMIT 1"
    (plan,) = file.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
    file.close()
    assert "INDEX epochs" in plan[-1]


def test_one_short_scope_among_many_long_ones_does_not_multiply_the_blocks(ledger: Ledger, where: str) -> None:
    for start in range(64):
        ledger.reserve(priced((Scope({"t": Between(start * 1000, start * 1000 + 1000)}), Fraction(1, 8))))
    ledger.reserve(priced((Scope({"t": Between(10, 12)}), Fraction(1, 64))))
    assert look(where, "SELECT count(*) FROM blocks")[0][0] <= 4096
    assert ledger.spent() == Fraction(1, 8) + Fraction(1, 64)
    assert ledger.spent(Scope({"t": Between(12, 10**9)})) == Fraction(1, 8)
    assert ledger.verify().ok


@pytest.mark.parametrize("table", ["caps", "totals"])
def test_spending_under_a_table_that_was_changed_and_put_back_is_found(ledger: Ledger, where: str, table: str) -> None:
    ledger.reserve(flat(1))
    edit, undo = {
        "caps": (
            """UPDATE caps SET cap = replace(cap, '"epsilon":"1"', '"epsilon":"9"')""",
            """UPDATE caps SET cap = replace(cap, '"epsilon":"9"', '"epsilon":"1"')""",
        ),
        "totals": ("UPDATE totals SET price = '0'", "UPDATE totals SET price = '2'"),
    }[table]
    tamper(where, edit)
    ledger.reserve(flat(1))
    tamper(where, undo)
    verdict = ledger.verify()
    assert not verdict.ok
    assert "More was spent on everything than its caps ever allowed" in verdict.sentence


def test_a_cap_set_by_somebody_who_was_made_an_owner_by_hand_is_found(ledger: Ledger, where: str) -> None:
    ((name, token),) = look(where, "SELECT name, token FROM people")
    hers = hashlib.sha256(b"hers").hexdigest()
    tamper(where, f"UPDATE people SET name = 'eve', token = '{hers}'")
    ledger.set_cap(Cap(epsilon=9), ["hers"])
    tamper(where, f"UPDATE people SET name = '{name}', token = '{token}'")
    verdict = ledger.verify()
    assert not verdict.ok
    assert verdict.sentence == "Entry 2 was allowed by somebody who was no owner."


@pytest.mark.parametrize("release", [{9: 1, 10: 2}, {9: 1, "a": 2}, [1, (2, 3)], {"a": None}])
def test_a_release_of_any_plain_values_keeps_the_chain_in_order(ledger: Ledger, release: object) -> None:
    ledger.settle(ledger.reserve(flat(HALF)), release=release)
    assert ledger.verify().ok


@pytest.mark.parametrize("release", [{1, 2}, object(), float("nan"), {(1, 2): 3}])
def test_a_release_that_json_cannot_carry_is_refused_and_settles_nothing(ledger: Ledger, release: object) -> None:
    reservation = ledger.reserve(flat(HALF))
    with pytest.raises(ParameterError, match="plain values"):
        ledger.settle(reservation, release=release)
    assert len(ledger.reservations()) == 1


def test_a_ledger_in_doubt_gives_no_head_that_would_vouch_for_it(ledger: Ledger) -> None:
    ledger._keys.see(99, "0" * 64)
    with pytest.raises(BudgetError, match="counts as wholly spent"):
        ledger.head()


def test_when_a_refusal_says_from_when_on_it_would_fit_it_does(ledger: Ledger) -> None:
    ledger.reserve(rooms(["a", "b"], 1, hour=Between(0, 1)))
    ledger.reserve(rooms(["b"], 1, hour=Between(1, 2)))
    with pytest.raises(BudgetError) as refused:
        ledger.reserve(rooms(["a", "b"], HALF, hour=Between(0, 1)))
    assert refused.value.ways[-1] == "the same question about hour from 2 on"
    ledger.reserve(rooms(["a", "b"], HALF, hour=Between(2, 3)))


def test_a_price_that_would_spoil_exact_sums_is_refused_and_spends_nothing(ledger: Ledger) -> None:
    for price in (Fraction(1, 2**500 + 1), Fraction(1, 10007), Approximate(HALF, Fraction(1, 10007))):
        with pytest.raises(ParameterError, match=r"multiple of 2\^-64"):
            ledger.reserve(priced(Charge(Scope({"room": "a"}), price)))
    for price in (Fraction(1, 97), Fraction(1, 10**9), Fraction(1, 2**300), Fraction("0.123456789")):
        ledger.reserve(priced((Scope({"room": "a"}), price)))
    reservation = ledger.reserve(rooms(["b"], HALF, gradual=True))
    with pytest.raises(ParameterError, match=r"multiple of 2\^-64"):
        ledger.settle(reservation, [Charge(Scope({"room": "b"}), Fraction(1, 10007))])
    assert ledger.verify().ok


def test_an_audience_that_is_not_there_has_not_spent_nothing(ledger: Ledger) -> None:
    with pytest.raises(ParameterError, match="no audience 'typo'"):
        ledger.spent(audience="typo")
