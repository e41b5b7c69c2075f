"""What a ledger grants and refuses, who may change that, and what has no sum, on each kind of store."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest

from louver.errors import AccessError, BudgetError, LouverError, ParameterError
from louver.ledger import Cap, Ledger
from louver.privacy import Approximate, Between, Charge, Pure, Scope, Subspace, Unit, ZeroConcentrated
from tests.ledger.conftest import Make
from tests.ledger.plans import Priced, flat, priced, rooms

HALL, LAB = Scope({"room": "hall"}), Scope({"room": "lab"})


def at(kind: Any, scope: Scope = HALL) -> Priced:
    return priced(Charge(scope, kind))


# Caps


def test_where_caps_meet_the_lowest_holds(make: Make) -> None:
    ledger, _ = make(Cap(epsilon=1), Cap(epsilon=0.5, scope=HALL), Cap(epsilon=2, scope=LAB))
    assert [ledger.remaining(scope) for scope in (HALL, LAB, Scope.everything())] == [Fraction(1, 2), 1, Fraction(1, 2)]
    ledger.reserve(rooms(["lab"], 0.75))
    with pytest.raises(BudgetError):
        ledger.reserve(rooms(["hall"], 0.75))


def test_a_price_everywhere_must_fit_every_cap(make: Make) -> None:
    ledger, _ = make(Cap(epsilon=1), Cap(epsilon=0.5, scope=HALL))
    with pytest.raises(BudgetError) as refused:
        ledger.reserve(flat(0.75))
    assert refused.value.scope == HALL


def test_a_ledger_needs_a_cap_that_holds_everywhere(make: Make) -> None:
    with pytest.raises(ParameterError, match="everywhere"):
        make(Cap(epsilon=1, scope=HALL))


def test_a_cap_by_a_column_that_the_unit_does_not_fix_is_refused(make: Make) -> None:
    with pytest.raises(ParameterError, match="room"):
        make(Cap(epsilon=1), Cap(epsilon=0.5, scope=HALL), unit=Unit("person"))


def test_an_audience_has_its_own_cap_and_shares_the_whole(make: Make) -> None:
    ledger, _ = make(Cap(epsilon=1), audiences={"public": 0.25, "team": 0.9})
    ledger.reserve(flat(0.25), audience="public")
    with pytest.raises(BudgetError, match="public"):
        ledger.reserve(flat(0.01), audience="public")
    assert ledger.remaining(audience="team") == Fraction(3, 4)
    with pytest.raises(BudgetError):
        ledger.reserve(flat(0.8), audience="team")
    ledger.reserve(flat(0.75), audience="team")
    assert ledger.spent() == 1
    assert ledger.spent(audience="public") == Fraction(1, 4)


@pytest.mark.parametrize("audience", [None, "strangers"])
def test_where_there_are_audiences_one_of_them_must_be_named(make: Make, audience: str | None) -> None:
    ledger, _ = make(Cap(epsilon=1), audiences={"public": 0.25})
    with pytest.raises(ParameterError, match="public"):
        ledger.reserve(flat(0.1), audience=audience)
    assert ledger.head().number == 1


@pytest.mark.parametrize("scope", [HALL, *(Scope({"room": "hall", "time": Between(0, end)}) for end in (2, 10**6))])
def test_what_costs_nothing_needs_no_room_where_a_cap_was_lowered(make: Make, scope: Scope) -> None:
    ledger, tokens = make(Cap(epsilon=2, delta=Fraction(1, 100), rho=1))
    ledger.reserve(at(ZeroConcentrated(1), LAB))
    for start in (0, 1000):
        one = Scope({"room": "hall", "time": Between(start, start + 1)})
        ledger.reserve(at(Approximate(1, Fraction(1, 100)), one))
    ledger.set_cap(Cap(epsilon=2), list(tokens.values()))
    ledger.reserve(at(Pure(Fraction(1, 2)), scope))  # no delta is left, and none is asked for
    ledger.set_cap(Cap(epsilon=1), list(tokens.values()))
    for nothing in (Pure(0), ZeroConcentrated(0)):
        ledger.reserve(at(nothing, scope))
    for least in (Pure(Fraction(1, 10**6)), Approximate(0, Fraction(1, 10**6))):
        with pytest.raises(BudgetError):
            ledger.reserve(at(least, scope))
    assert ledger.spent() == Fraction(3, 2)
    assert ledger.verify().ok


# Kinds of guarantees


def test_a_zero_concentrated_price_needs_a_cap_of_its_own_kind(ledger: Ledger) -> None:
    with pytest.raises(BudgetError, match="rho"):
        ledger.reserve(at(ZeroConcentrated(0.01)))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Pure(0.1), ZeroConcentrated(0.1)),
        (ZeroConcentrated(0.1), Approximate(0.1, 1e-9)),
        (Subspace(0.1, 0, invariants="sums"), Pure(0.1)),
        (Subspace(0.1, 0, invariants="sums"), Subspace(0.1, 0, invariants="rows")),
    ],
)
def test_kinds_without_a_proved_sum_are_refused_on_one_scope(make: Make, first: Any, second: Any) -> None:
    ledger, _ = make(Cap(epsilon=1, delta=1e-6, rho=1, exact=["sums", "rows"]))
    ledger.reserve(at(first))
    before = ledger.head()
    with pytest.raises(BudgetError, match="no proved sum"):
        ledger.reserve(at(second, Scope({"room": ["hall", "lab"]})))
    assert ledger.head() == before
    ledger.reserve(at(second, LAB))
    assert ledger.verify().ok


def test_exact_totals_need_a_cap_that_allows_them_by_name(make: Make) -> None:
    sums = at(Subspace(0.1, 0, invariants="sums"))
    ledger, tokens = make(Cap(epsilon=1), Cap(epsilon=0.5, scope=LAB))
    for cap in (Cap(epsilon=1), Cap(epsilon=1, exact=["rows"]), Cap(epsilon=0.5, scope=HALL)):
        ledger.set_cap(cap, list(tokens.values()))
        before = ledger.head()
        for ask in (ledger.reserve, ledger.refusal):
            with pytest.raises(BudgetError, match=r"without any protection: sums\. The cap.* does not allow"):
                ask(sums)
        assert ledger.head() == before
    for scope in (None, HALL):
        ledger.set_cap(Cap(epsilon=1, scope=scope, exact=["sums"]), list(tokens.values()))
    ledger.reserve(sums)
    assert ledger.spent(kind="subspace of sums") == Fraction(0.1)
    assert ledger.remaining(HALL, kind="subspace of sums") == 1 - Fraction(0.1)
    assert ledger.remaining(HALL) == 0  # nothing else adds up with it
    assert ledger.verify().ok


def test_an_audience_needs_its_own_leave_for_exact_totals(make: Make) -> None:
    ledger, _ = make(Cap(epsilon=1, exact=["sums"]), audiences={"public": 0.5, "team": Cap(0.5, exact=["sums"])})
    with pytest.raises(BudgetError, match="for public does not allow"):
        ledger.reserve(at(Subspace(0.1, 0, invariants="sums")), audience="public")
    ledger.reserve(at(Subspace(0.1, 0, invariants="sums")), audience="team")


def test_to_let_more_be_exact_takes_two_owners(make: Make) -> None:
    ledger, tokens = make(Cap(epsilon=1), owners=["ada", "eve"])
    more, both = Cap(epsilon=1, exact=["sums"]), list(tokens.values())
    with pytest.raises(AccessError):
        ledger.set_cap(more, both[:1])
    ledger.set_cap(more, both)
    assert ledger.caps == [more]
    assert Cap.from_dict(more.to_dict()) == more
    assert str(more) == "epsilon 1 with exact: sums"
    ledger.set_cap(Cap(epsilon=1), both[:1])


@pytest.mark.parametrize("wrong", ["sums", 3, [""], [3], ["x" * 129], ["a\nb"]])
def test_what_may_be_exact_is_a_list_of_names(wrong: Any) -> None:
    with pytest.raises(ParameterError):
        Cap(epsilon=1, exact=wrong)


def test_two_kinds_in_one_plan_are_refused_where_they_meet(make: Make) -> None:
    ledger, _ = make(Cap(epsilon=1, rho=1))
    with pytest.raises(BudgetError, match="no proved sum"):
        ledger.reserve(priced(Charge(HALL, Pure(0.1)), Charge(Scope.everything(), ZeroConcentrated(0.1))))


def test_pure_and_approximate_prices_add_up_under_a_cap_on_delta(make: Make) -> None:
    ledger, _ = make(Cap(epsilon=1, delta=Fraction(1, 10**6)))
    ledger.reserve(at(Pure(0.25)))
    ledger.reserve(at(Approximate(0.5, Fraction(1, 10**6))))
    assert (ledger.spent(), ledger.spent_delta()) == (Fraction(3, 4), Fraction(1, 10**6))
    with pytest.raises(BudgetError) as refused:
        ledger.reserve(at(Approximate(0.1, Fraction(1, 10**7))))
    assert refused.value.what == "delta"
    ledger.reserve(at(Pure(0.25)))


def test_without_a_cap_on_delta_every_delta_is_refused(ledger: Ledger) -> None:
    with pytest.raises(BudgetError, match="delta"):
        ledger.reserve(at(Approximate(0.1, 1e-30)))
    assert ledger.spent() == 0


def test_nothing_remains_for_a_kind_where_another_was_charged(make: Make) -> None:
    ledger, _ = make(Cap(epsilon=1, rho=1))
    ledger.reserve(at(ZeroConcentrated(Fraction(1, 10))))
    assert ledger.remaining(HALL) == 0
    assert ledger.remaining(LAB) == 1
    assert ledger.remaining(HALL, kind="zero-concentrated") == Fraction(9, 10)


# Refusals


def test_a_refusal_says_what_is_missing_where_and_what_would_fit(ledger: Ledger) -> None:
    scope = Scope({"room": "hall", "slot": Between(10, 12)})
    ledger.reserve(priced((scope, 0.75)))
    with pytest.raises(BudgetError) as refused:
        ledger.reserve(priced((scope, 0.5)))
    error, said = refused.value, str(refused.value)
    assert (error.requested, error.remaining, error.difference) == (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    assert (error.scope, error.what) == (scope, "epsilon")
    assert "room = hall" in said
    assert "0.5 of epsilon is asked for" in said
    assert "0.25 of 1 is left" in said
    assert "0.25 too little" in said
    assert "Nothing was read and nothing was spent" in said
    assert error.ways == ("a price of 0.25", "the same question about slot from 12 on")
    assert all(way in said for way in error.ways)


def test_a_refusal_finds_the_first_window_with_room(ledger: Ledger) -> None:
    for start in (0, 2, 4):
        ledger.reserve(priced((Scope({"slot": Between(start, start + 2)}), 0.75)))
    with pytest.raises(BudgetError, match="slot from 6 on"):
        ledger.reserve(priced((Scope({"slot": Between(0, 2)}), 0.5)))


def test_a_refusal_is_an_entry_and_spends_nothing(ledger: Ledger) -> None:
    with pytest.raises(BudgetError):
        ledger.reserve(flat(1.5), who="bob")
    (denied,) = ledger.entries(since=1)
    assert (denied.act, denied.who, denied.body["requested"], denied.body["remaining"]) == ("denied", "bob", "3/2", "1")
    assert ledger.spent() == 0
    assert ledger.remaining() == 1
    assert ledger.reservations() == []


def test_a_part_of_a_plan_that_does_not_fit_refuses_the_whole(ledger: Ledger) -> None:
    ledger.reserve(rooms(["hall"], 0.75))
    with pytest.raises(BudgetError):
        ledger.reserve(rooms(["attic", "hall", "lab"], 0.5))
    assert ledger.spent(Scope({"room": "attic"})) == ledger.spent(LAB) == 0


# People


@pytest.fixture
def shared(make: Make) -> tuple[Ledger, dict[str, str]]:
    return make(owners=["ada", "eve"], analysts=["bob"])


def test_to_raise_a_cap_takes_two_owners_where_there_are_two(shared: tuple[Ledger, dict[str, str]]) -> None:
    ledger, tokens = shared
    for given in (["ada"], ["ada", "ada"], ["ada", "bob"], ["bob"], []):
        with pytest.raises(AccessError):
            ledger.set_cap(Cap(epsilon=2), [tokens[name] for name in given])
    assert ledger.remaining() == 1
    ledger.set_cap(Cap(epsilon=2), [tokens["ada"], tokens["eve"]])
    entry = list(ledger.entries())[-1]
    assert (entry.act, entry.body["by"]) == ("cap set", ["ada", "eve"])
    assert ledger.remaining() == 2


@pytest.mark.parametrize(
    "raised", [Cap(epsilon=1, delta=0.1), Cap(epsilon=1, rho=0.1), Cap(epsilon=1, audience="public")]
)
def test_to_allow_more_in_any_way_takes_two_owners(shared: tuple[Ledger, dict[str, str]], raised: Cap) -> None:
    ledger, tokens = shared
    with pytest.raises(AccessError):
        ledger.set_cap(raised, [tokens["ada"]])


def test_one_owner_may_lower_a_cap(shared: tuple[Ledger, dict[str, str]]) -> None:
    ledger, tokens = shared
    ledger.set_cap(Cap(epsilon=0.5), [tokens["eve"]])
    ledger.set_cap(Cap(epsilon=5, scope=HALL), [tokens["eve"]])
    assert (ledger.remaining(), ledger.remaining(HALL)) == (Fraction(1, 2), Fraction(1, 2))


def test_a_single_owner_raises_a_cap_alone(make: Make) -> None:
    ledger, tokens = make(owners=["ada"], analysts=["bob"])
    for given in ([], [tokens["bob"]]):
        with pytest.raises(AccessError):
            ledger.set_cap(Cap(epsilon=2), given)
    ledger.set_cap(Cap(epsilon=2), [tokens["ada"]])
    assert ledger.remaining() == 2


def test_a_ledger_is_never_without_an_owner(make: Make) -> None:
    with pytest.raises(ParameterError, match="owner"):
        make(owners=[], analysts=["bob"])
    ledger, tokens = make(owners=["ada"])
    with pytest.raises(LouverError, match="owner"):
        ledger.add_person("ada", "analyst", [tokens["ada"]])
    assert ledger.person(tokens["ada"]).role == "owner"


def test_a_new_person_takes_two_owners_and_gets_a_token(shared: tuple[Ledger, dict[str, str]]) -> None:
    ledger, tokens = shared
    for given in ([], [tokens["ada"]], [tokens["ada"], tokens["bob"]]):
        with pytest.raises(AccessError):
            ledger.add_person("kim", "owner", given)
    token = ledger.add_person("kim", "owner", [tokens["ada"], tokens["eve"]])
    assert (ledger.person(token).name, ledger.person(token).role) == ("kim", "owner")
    ledger.set_cap(Cap(epsilon=2), [token, tokens["ada"]])


def test_a_new_token_ends_the_old_one(shared: tuple[Ledger, dict[str, str]]) -> None:
    ledger, tokens = shared
    ledger.add_person("bob", "analyst", [tokens["ada"], tokens["eve"]])
    with pytest.raises(AccessError, match="nobody's"):
        ledger.person(tokens["bob"])


def test_tokens_are_never_stored_in_clear(shared: tuple[Ledger, dict[str, str]], where: str, tmp_path: Path) -> None:
    ledger, tokens = shared
    added = ledger.add_person("kim", "analyst", [tokens["ada"], tokens["eve"]])
    ledger.set_cap(Cap(epsilon=2), [tokens["ada"], tokens["eve"]])
    ledger.close()
    stored = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    if where.startswith("postgres"):
        with psycopg.connect(where) as connection:
            for table in ("entries", "people"):
                stored += str(connection.execute(f"SELECT * FROM louver.{table}".encode()).fetchall()).encode()
    assert b"ada" in stored
    assert not any(token.encode() in stored for token in (*tokens.values(), added))
