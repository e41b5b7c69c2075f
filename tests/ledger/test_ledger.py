"""What a ledger charges, settles, gives again and writes down, on each kind of store."""

from __future__ import annotations

import sqlite3
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest

from louver.errors import BudgetError, LedgerError, ParameterError
from louver.ledger import Cap, Ledger
from louver.privacy import Approximate, Between, Charge, Scope, Subspace, Unit, ZeroConcentrated
from tests.ledger.conftest import Make
from tests.ledger.plans import flat, priced, rooms

HALL, LAB = Scope({"room": "hall"}), Scope({"room": "lab"})


# What is spent


def test_a_reservation_counts_as_spent_at_once(ledger: Ledger) -> None:
    ledger.reserve(flat(Fraction(1, 4)))
    assert (ledger.spent(), ledger.remaining()) == (Fraction(1, 4), Fraction(3, 4))


def test_to_settle_at_the_worst_price_changes_nothing(ledger: Ledger) -> None:
    ledger.settle(ledger.reserve(flat(Fraction(1, 4))))
    assert ledger.spent() == Fraction(1, 4)
    assert ledger.reservations() == []


def test_prices_on_different_rooms_do_not_add_up_for_rows(ledger: Ledger) -> None:
    ledger.reserve(rooms(["hall", "lab"], Fraction(3, 4)))
    assert ledger.spent() == Fraction(3, 4)
    assert ledger.remaining(Scope({"room": "attic"})) == 1


def test_prices_that_meet_in_part_add_up_where_they_meet(ledger: Ledger) -> None:
    ledger.reserve(priced((Scope({"slot": Between(0, 10)}), 0.25)))
    ledger.reserve(priced((Scope({"slot": Between(5, 15)}), 0.5)))
    assert ledger.spent(Scope({"slot": Between(0, 5)})) == Fraction(1, 4)
    assert ledger.spent(Scope({"slot": Between(9, 11)})) == Fraction(3, 4)
    assert ledger.spent(Scope({"slot": Between(15, 20)})) == 0


def test_the_worst_prices_of_one_plan_add_up_where_they_meet(ledger: Ledger) -> None:
    with pytest.raises(BudgetError):
        ledger.reserve(priced((HALL, 0.75), (Scope.everything(), 0.5)))
    assert ledger.spent() == 0


def test_for_a_person_rooms_and_days_add_up(make: Make) -> None:
    ledger, _ = make(unit=Unit("person"))
    for room, day in (("hall", 1), ("lab", 2)):
        ledger.reserve(priced((Scope({"room": room, "day": Between(day, day + 1)}), 0.5), unit=Unit("person")))
    assert ledger.spent() == 1
    assert ledger.remaining(Scope({"room": "attic", "day": Between(9, 10)})) == 0
    with pytest.raises(BudgetError):
        ledger.reserve(priced((Scope({"room": "attic"}), 0.01), unit=Unit("person")))


def test_for_a_person_on_a_day_rooms_add_up_and_days_do_not(make: Make) -> None:
    unit = Unit("person", "day")
    ledger, _ = make(unit=unit)
    for room, day in (("hall", 1), ("lab", 1), ("hall", 2)):
        ledger.reserve(priced((Scope({"room": room, "day": Between(day, day + 1)}), 0.5), unit=unit))
    assert ledger.spent() == 1
    assert ledger.remaining(Scope({"day": Between(2, 3), "room": "attic"})) == Fraction(1, 2)


def test_a_plan_for_another_unit_is_refused(ledger: Ledger) -> None:
    with pytest.raises(ParameterError, match="protects"):
        ledger.reserve(flat(0.1, unit=Unit("person")))


def test_ten_tenths_fit_a_cap_of_one_exactly(ledger: Ledger) -> None:
    for _ in range(10):
        ledger.reserve(flat(Fraction(1, 10)))
    assert ledger.spent() == 1
    assert ledger.remaining() == 0
    with pytest.raises(BudgetError):
        ledger.reserve(flat(Fraction(1, 10**30)))


def test_three_thirds_fit_a_cap_of_one_exactly(ledger: Ledger) -> None:
    for _ in range(3):
        ledger.reserve(flat(Fraction(1, 3)))
    assert ledger.remaining() == 0


def test_a_column_keeps_the_kind_of_range_it_began_with(ledger: Ledger) -> None:
    """Nobody can say whether slot 3 and slots 3 to 4 are the same, so the second is refused and not missed."""
    ledger.reserve(priced((Scope({"slot": Between(3, 4)}), 1)))
    with pytest.raises(ParameterError):
        ledger.reserve(priced((Scope({"slot": 3}), 1)))
    assert ledger.head().number == 2
    assert ledger.verify().ok


def test_prices_far_beyond_every_usual_number_are_added_up_too(ledger: Ledger) -> None:
    far = Scope({"slot": Between(2**100, 2**100 + 1)})
    ledger.reserve(priced((far, 0.75)))
    assert ledger.spent(far) == ledger.spent() == Fraction(3, 4)
    with pytest.raises(BudgetError):
        ledger.reserve(priced((far, 0.5)))


# Settling


def test_a_gradual_plan_settles_below_and_frees_the_rest(ledger: Ledger) -> None:
    reservation = ledger.reserve(rooms(["hall", "lab"], 0.75, gradual=True))
    ledger.settle(reservation, [Charge(HALL, 0.25), Charge(LAB, 0.75)])
    assert (ledger.spent(HALL), ledger.spent(LAB), ledger.remaining(HALL)) == (
        Fraction(1, 4),
        Fraction(3, 4),
        Fraction(3, 4),
    )
    assert ledger.verify().ok


def test_a_plan_that_is_not_gradual_never_settles_below(ledger: Ledger) -> None:
    reservation = ledger.reserve(flat(0.75))
    with pytest.raises(ParameterError, match="not gradual"):
        ledger.settle(reservation, [Charge(Scope.everything(), 0.5)])
    assert ledger.spent() == Fraction(3, 4)
    assert [each.number for each in ledger.reservations()] == [reservation.number]


@pytest.mark.parametrize(
    "charged",
    [
        [Charge(HALL, 0.76)],
        [Charge(HALL, 0.5), Charge(HALL, 0.5)],
        [Charge(LAB, 0.01)],
        [Charge(Scope.everything(), 0.01)],
        [Charge(HALL, ZeroConcentrated(0.1))],
        [Charge(HALL, Approximate(0.1, 0.1))],
        [Charge(HALL, Subspace(0.1, 0.1, invariants="sums"))],
    ],
)
def test_nothing_settles_above_its_reservation_anywhere_or_in_another_kind(make: Make, charged: list[Charge]) -> None:
    ledger, _ = make(Cap(epsilon=1, delta=0.5, rho=1))
    reservation = ledger.reserve(rooms(["hall"], 0.75, gradual=True))
    before = ledger.head()
    with pytest.raises(ParameterError):
        ledger.settle(reservation, charged)
    assert ledger.head() == before
    assert ledger.spent() == Fraction(3, 4)
    assert ledger.spent_delta() == ledger.spent(kind="zero-concentrated") == 0
    assert len(ledger.reservations()) == 1


def test_a_long_reservation_may_settle_on_a_short_part_of_it(ledger: Ledger) -> None:
    ledger.reserve(priced((Scope({"slot": Between(7, 8)}), 0.125)))
    reservation = ledger.reserve(priced((Scope({"slot": Between(0, 10**6)}), 0.5), gradual=True))
    ledger.settle(reservation, [Charge(Scope({"slot": Between(5, 6)}), 0.5)])
    assert ledger.spent() == Fraction(1, 2)
    assert ledger.spent(Scope({"slot": Between(6, 10**6)})) == Fraction(1, 8)
    assert ledger.verify().ok


def test_a_gradual_plan_must_have_pure_prices(make: Make) -> None:
    ledger, _ = make(Cap(epsilon=1, rho=1))
    with pytest.raises(ParameterError, match="pure"):
        ledger.reserve(priced(Charge(HALL, ZeroConcentrated(0.1)), gradual=True))


def test_a_reservation_is_settled_once(ledger: Ledger) -> None:
    reservation = ledger.reserve(flat(0.75, gradual=True))
    ledger.settle(reservation, [Charge(Scope.everything(), 0.5)])
    with pytest.raises(LedgerError, match="settled before"):
        ledger.settle(reservation, [Charge(Scope.everything(), 0.25)])
    assert ledger.spent() == Fraction(1, 2)


def test_what_was_never_reserved_is_not_settled(ledger: Ledger) -> None:
    ledger.reserve(flat(0.1))
    for number in (0, 1, 3, -1):
        with pytest.raises(LedgerError, match="no reservation"):
            ledger.settle(number)


def test_a_release_that_json_cannot_carry_is_refused(ledger: Ledger) -> None:
    reservation = ledger.reserve(flat(0.1))
    for release in (object(), float("nan"), {1, 2}):
        with pytest.raises(ParameterError, match="JSON"):
            ledger.settle(reservation, release=release)
    assert len(ledger.reservations()) == 1


# The same request again


def test_the_same_key_gives_the_first_reservation_and_never_spends_twice(ledger: Ledger) -> None:
    first = ledger.reserve(flat(0.75), key="monday")
    again = ledger.reserve(flat(0.75), key="monday")
    assert (first.fresh, again.fresh, again.number) == (True, False, first.number)
    assert (ledger.spent(), ledger.head().number) == (Fraction(3, 4), 2)


def test_the_same_key_gives_the_release_that_was_settled(ledger: Ledger) -> None:
    ledger.settle(ledger.reserve(flat(0.75), key="monday"), release={"flagged": ["hall"]})
    again = ledger.reserve(flat(0.75), key="monday")
    assert (again.settled, again.release) == (True, {"flagged": ["hall"]})


def test_the_same_key_for_another_request_is_refused(make: Make) -> None:
    ledger, _ = make(audiences={"public": 1, "team": 1})
    ledger.reserve(flat(0.25), key="monday", audience="public")
    for plan, audience in ((flat(0.5), "public"), (flat(0.25), "team")):
        with pytest.raises(ParameterError, match="another plan"):
            ledger.reserve(plan, key="monday", audience=audience)
    assert ledger.spent() == Fraction(1, 4)


def test_a_key_whose_request_was_denied_may_be_used_again(make: Make) -> None:
    ledger, tokens = make()
    with pytest.raises(BudgetError):
        ledger.reserve(flat(1.5), key="monday")
    ledger.set_cap(Cap(epsilon=2), list(tokens.values()))
    assert ledger.reserve(flat(1.5), key="monday").fresh


# Entries


def test_entries_come_in_order_and_say_who_did_what(make: Make) -> None:
    ledger, tokens = make()
    reservation = ledger.reserve(flat(0.25), who="bob")
    ledger.settle(reservation, release={"answer": 1})
    ledger.set_cap(Cap(epsilon=0.5), list(tokens.values()))
    entries = list(ledger.entries())
    assert [(entry.number, entry.act, entry.who) for entry in entries] == [
        (1, "opened", "louver"),
        (2, "reserved", "bob"),
        (3, "settled", "bob"),
        (4, "cap set", "owner"),
    ]
    assert [entry.number for entry in ledger.entries(since=2)] == [3, 4]
    assert ledger.head().number == 4
    assert ledger.head().link == entries[-1].link


def test_a_reservation_survives_closing_and_opening(make: Make, where: str, tmp_path: Path) -> None:
    ledger, _ = make()
    number = ledger.reserve(flat(Fraction(1, 3), gradual=True), who="bob").number
    ledger.close()
    with Ledger.open(where, key=tmp_path / "key") as again:
        (kept,) = again.reservations()
        assert (kept.number, kept.who, kept.price, kept.gradual) == (number, "bob", Fraction(1, 3), True)
        again.settle(kept, [Charge(Scope.everything(), Fraction(1, 7))])
        assert again.spent() == Fraction(1, 7)


@pytest.mark.parametrize("change", ["UPDATE entries SET who = 'eve'", "DELETE FROM entries WHERE number = 2"])
def test_the_store_itself_refuses_to_change_entries(make: Make, where: str, change: str) -> None:
    ledger, _ = make()
    ledger.reserve(flat(0.25))
    ledger.close()
    if where.startswith("postgres"):
        with psycopg.connect(where, autocommit=True) as connection, pytest.raises(psycopg.Error, match="never changed"):
            connection.execute(change.replace("entries", "louver.entries").encode())
    else:
        opened = sqlite3.connect(where)
        with pytest.raises(sqlite3.Error, match="never changed"):
            opened.execute(change)
        opened.close()
