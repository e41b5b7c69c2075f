"""Who sees what: an analyst releases, promises and what remains; an owner everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from louver.decide import Progressive, Shift
from louver.errors import AccessError, BudgetError
from louver.ledger import Cap
from louver.privacy import Scope, Unit, largest_total, total_at
from louver.steward import Analyst, Owner
from tests.counting import counting
from tests.steward.house import LIMITS, House, house

PLAN = counting(Shift, "room", LIMITS, unit=Unit.row(), miss_rate=0.05, slack=10)
GRADUAL = counting(Progressive, "room", LIMITS, unit=Unit.row(), miss_rate=0.05, slack=10)
PRICE = largest_total(PLAN.worst).price


def owner(made: House, name: str = "ada") -> Owner:
    signed_in = made.steward.sign_in(made.tokens[name])
    assert isinstance(signed_in, Owner)
    return signed_in


def test_a_token_says_who_somebody_is(tmp_path: Path) -> None:
    with house(tmp_path) as made:
        bob = made.steward.sign_in(made.tokens["bob"])
        assert (type(bob), bob.name, type(owner(made)), owner(made).name) == (Analyst, "bob", Owner, "ada")


@pytest.mark.parametrize("token", ["", "ada", "x" * 32, None, 3])
def test_a_wrong_token_is_nobodys(tmp_path: Path, token: object) -> None:
    with house(tmp_path) as made, pytest.raises(AccessError):
        made.steward.sign_in(token)  # type: ignore[arg-type]


def test_an_analyst_asks_in_their_own_name(tmp_path: Path) -> None:
    with house(tmp_path) as made:
        made.steward.sign_in(made.tokens["bob"]).run(PLAN, key="monday")
        assert [entry.who for entry in owner(made).entries() if entry.act != "opened"] == ["bob", "bob"]


def test_an_analyst_sees_releases_and_what_remains(tmp_path: Path) -> None:
    with house(tmp_path) as made:
        bob = made.steward.sign_in(made.tokens["bob"])
        first, second = bob.run(PLAN), owner(made).run(GRADUAL)
        kept = bob.releases()
        assert [(each.number, each.promise, each.answer) for each in kept] == [
            (release.number, release.promise, release.answer) for release in (first, second)
        ]
        assert all(each.at.endswith("Z") for each in kept)
        assert bob.remaining() == 1 - PRICE - second.charged
        assert bob.remaining(Scope({"room": "cellar"})) == 1


def test_an_analyst_has_no_way_to_entries_and_charges(tmp_path: Path) -> None:
    with house(tmp_path) as made:
        bob = made.steward.sign_in(made.tokens["bob"])
        public = {name for name in dir(bob) if not name.startswith("_")}
        assert public == {"name", "releases", "remaining", "run"}
        assert {name for name in dir(owner(made)) if not name.startswith("_")} == public | {
            "charges",
            "entries",
            "raise_cap",
            "reservations",
        }


def test_an_owner_sees_what_was_denied(tmp_path: Path) -> None:
    with house(tmp_path, cap=0.1) as made:
        with pytest.raises(BudgetError):
            made.steward.run(PLAN, who="eve")
        assert [(entry.act, entry.who) for entry in owner(made).entries()][-1] == ("denied", "eve")


def test_an_owner_sees_charges_scope_by_scope(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with house(tmp_path, cap=5) as made:
        made.steward.run(PLAN, who="the panel")
        gradual = made.steward.run(GRADUAL)
        with monkeypatch.context() as patch:
            patch.setattr("louver.source.rows.read", lambda *_: 1 / 0)
            with pytest.raises(Exception, match="stays reserved"):
                made.steward.run(PLAN)
        paid, stepped, opened = owner(made).charges()
        assert (paid.who, paid.mechanism, paid.settled, paid.charges) == ("the panel", PLAN.mechanism, True, PLAN.worst)
        (grid,), (levels,) = GRADUAL.grids, gradual.answer["levels"]
        for key, level in zip(LIMITS, levels, strict=True):
            assert total_at(stepped.charges, {"room": key}) == grid.levels[level]
        assert (opened.settled, opened.charges) == (False, PLAN.worst)
        assert [each.number for each in owner(made).reservations()] == [opened.number]


def test_raising_a_cap_takes_two_owners_where_there_are_two(tmp_path: Path) -> None:
    with house(tmp_path, cap=0.5, owners=["ada", "eve"]) as made:
        ada = owner(made)
        for too_few in ([], [made.tokens["ada"]], [made.tokens["bob"]]):
            with pytest.raises(AccessError):
                ada.raise_cap(Cap(epsilon=2), *too_few)
        assert ada.remaining() == 0.5
        ada.raise_cap(Cap(epsilon=2), made.tokens["eve"])
        assert ada.remaining() == 2


def test_one_owner_alone_may_raise_a_cap(tmp_path: Path) -> None:
    with house(tmp_path, cap=0.5) as made:
        owner(made).raise_cap(Cap(epsilon=1))
        assert owner(made).remaining() == 1


def test_nobody_asks_in_the_name_of_somebody_with_a_token_without_it(tmp_path: Path) -> None:
    with house(tmp_path) as made:
        with pytest.raises(AccessError, match="sign in"):
            made.steward.run(PLAN, who="bob")
        assert made.ledger.spent() == 0
