"""The report: every number in it follows from the entries, and nobody's name can change the page."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from louver.errors import BudgetError, LedgerError
from louver.ledger import Cap, Ledger, chain
from louver.ledger.report import report
from louver.privacy import Approximate, Charge, Pure, Scope, Subspace, Unit, ZeroConcentrated
from tests.ledger.plans import Priced, flat, priced, rooms

HALL, LAB = Scope({"room": "hall"}), Scope({"room": "lab"})


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets the year in which entries are written."""

    def set_year(year: int) -> None:
        monkeypatch.setattr(chain, "now", lambda: f"{year}-06-01T09:30:00.000Z")

    return set_year


@pytest.fixture
def made(tmp_path: Path, clock: Callable[[int], None]) -> Iterator[tuple[Ledger, dict[str, str]]]:
    clock(2025)
    caps = [Cap(epsilon=2, delta=Fraction(1, 10**6), rho=1, exact=["the totals"])]
    ledger, tokens = Ledger.create(
        tmp_path / "house", dataset="house", unit=Unit.row(), caps=caps, owners=["ada"], analysts=["bob"]
    )
    yield ledger, tokens
    ledger.close()


@pytest.fixture
def ledger(made: tuple[Ledger, dict[str, str]]) -> Ledger:
    return made[0]


def pay(ledger: Ledger, plan: Priced, who: str = "bob", charges: Any = None) -> None:
    ledger.settle(ledger.reserve(plan, who=who), charges)


def test_each_year_counts_its_own_charges_alone(ledger: Ledger, clock: Callable[[int], None]) -> None:
    pay(ledger, rooms(["hall"], Fraction(1, 2)))
    clock(2026)
    pay(ledger, rooms(["hall", "lab"], Fraction(1, 4)))
    pay(ledger, rooms(["lab"], Fraction(1, 8)))
    made = report(ledger)
    assert {year: spent[0].price for year, spent in made.by_year.items()} == {
        2025: Fraction(1, 2),
        2026: Fraction(3, 8),
    }
    assert made.overall[0].price == ledger.spent() == Fraction(3, 4)


def test_one_year_leaves_out_what_was_asked_in_others(ledger: Ledger, clock: Callable[[int], None]) -> None:
    pay(ledger, flat(Fraction(1, 2)), who="ada")
    clock(2026)
    pay(ledger, flat(Fraction(1, 4)))
    made = report(ledger, year=2026, keys=True)
    assert [asker.name for asker in made.askers] == ["bob"]
    assert [times for _, times in made.promises] == [1]
    assert list(made.by_year) == [2026]
    assert [paid.charge.price for paid in made.charges or ()] == [Fraction(1, 4)]
    assert made.overall[0].price == Fraction(3, 4)


def test_a_charge_belongs_to_the_year_in_which_it_was_reserved(ledger: Ledger, clock: Callable[[int], None]) -> None:
    reservation = ledger.reserve(flat(Fraction(1, 2)))
    clock(2026)
    ledger.settle(reservation)
    assert list(report(ledger).by_year) == [2025]


def test_what_settled_lower_counts_lower_also_when_it_is_nothing(ledger: Ledger) -> None:
    pay(ledger, rooms(["hall", "lab"], Fraction(1, 2), gradual=True), charges=[Charge(HALL, Fraction(1, 8))])
    assert report(ledger).overall[0].price == Fraction(1, 8)
    pay(ledger, rooms(["hall"], Fraction(1, 2), gradual=True), charges=[])
    assert report(ledger).overall[0].price == Fraction(1, 8)


def test_what_never_settled_is_listed_and_counts_in_full(ledger: Ledger) -> None:
    ledger.reserve(rooms(["hall"], Fraction(1, 2)), who="bob")
    made = report(ledger)
    assert [(each.number, each.who, each.price) for each in made.unsettled] == [(2, "bob", Fraction(1, 2))]
    assert made.overall[0].price == Fraction(1, 2)


def test_each_person_is_counted_with_what_was_granted_denied_and_spent(ledger: Ledger) -> None:
    pay(ledger, rooms(["hall"], Fraction(1, 2)))
    pay(ledger, rooms(["lab"], Fraction(1, 4)))
    pay(ledger, rooms(["hall"], Fraction(1, 8)), who="ada")
    with pytest.raises(BudgetError):
        ledger.reserve(flat(9), who="bob")
    ada, bob = report(ledger).askers
    assert (ada.name, ada.asked, ada.granted, ada.denied, ada.spent[0].price) == ("ada", 1, 1, 0, Fraction(1, 8))
    assert (bob.name, bob.asked, bob.granted, bob.denied, bob.spent[0].price) == ("bob", 3, 2, 1, Fraction(1, 2))


def test_promises_are_counted_and_the_most_frequent_comes_first(ledger: Ledger) -> None:
    for promise in ("Rarely.", "Often.", "Often."):
        ledger.reserve(Priced((Charge(HALL, 0),), promise=promise))
    assert report(ledger).promises == (("Often.", 2), ("Rarely.", 1))


def test_what_owners_did_is_listed_with_who_allowed_it(made: tuple[Ledger, dict[str, str]]) -> None:
    ledger, tokens = made
    ledger.set_cap(Cap(3), [tokens["ada"]])
    ledger.add_person("carl", "analyst", [tokens["ada"]])
    head = ledger.head()
    ledger._keys.witness_path.unlink()
    ledger.recover([tokens["ada"]], heads=[head])
    whole = report(ledger)
    assert [change.by for change in whole.changes] == ["louver", "ada", "ada", "ada"]
    assert whole.changes[1].what == "set a cap: epsilon 3"
    assert whole.changes[2].what == "gave carl a token as analyst"
    assert whole.changes[3].what.startswith("began epoch 2")
    assert whole.epoch == 2


def test_each_kind_of_price_has_its_own_total_and_meaning(ledger: Ledger) -> None:
    pay(ledger, priced((HALL, Approximate(Fraction(1, 2), Fraction(1, 10**7)))))
    pay(ledger, priced((LAB, ZeroConcentrated(Fraction(1, 8)))))
    pay(ledger, priced((Scope({"room": "attic"}), Subspace(Fraction(1, 4), 0, "the totals"))))
    pure, subspace, concentrated = sorted(report(ledger).overall, key=lambda spent: spent.kind)
    assert pure.sentence() == Approximate(Fraction(1, 2), Fraction(1, 10**7)).sentence()
    assert subspace.sentence() == Subspace(Fraction(1, 4), 0, "the totals").sentence()
    assert (concentrated.measure, concentrated.sentence()) == ("rho", ZeroConcentrated(Fraction(1, 8)).sentence())


def test_the_page_says_what_the_total_and_the_cap_mean(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "a", dataset="a", unit=Unit("person"), caps=[Cap(1)])[0] as ledger:
        ledger.reserve(flat(Fraction(1, 2), unit=Unit("person")))
        page = re.sub(r"\s+", " ", report(ledger).to_text())
    assert "Protected: everything recorded about one person." in page
    assert f"(epsilon 0.5): {Pure(Fraction(1, 2)).sentence()}" in page
    assert f"(epsilon 1): {Pure(1).sentence()}" in page


def test_the_report_says_whether_the_ledger_verifies_and_with_which_head(ledger: Ledger) -> None:
    made = report(ledger, heads=[ledger.head()])
    assert made.head == ledger.head()
    assert (made.verdict.ok, made.verdict.compared) == (True, True)
    assert made.verdict.sentence in made.to_text()
    assert made.head.link in made.to_text()


def test_single_charges_are_there_only_when_they_are_asked_for(ledger: Ledger) -> None:
    pay(ledger, rooms(["hall", "lab"], Fraction(1, 8)))
    assert report(ledger).charges is None
    assert "Every charge" not in report(ledger).to_text()
    listed = report(ledger, keys=True)
    assert [(paid.number, str(paid.charge.scope)) for paid in listed.charges or ()] == [
        (2, "room = hall"),
        (2, "room = lab"),
    ]
    assert "Every charge" in listed.to_markdown()


def test_the_same_report_is_plain_data(ledger: Ledger) -> None:
    pay(ledger, rooms(["hall"], Fraction(1, 8)))
    plain = json.loads(json.dumps(report(ledger, keys=True).to_dict()))
    assert plain["spent"][0]["epsilon"] == "1/8"
    assert plain["spent_by_year"]["2025"][0]["epsilon"] == "1/8"
    assert plain["most_used"] == [{"kind": "pure", "scope": HALL.to_dict(), "spent": "1/8"}]
    assert plain["verified"]["ok"] is True


def test_an_audience_is_shown_with_what_was_spent_in_its_name(tmp_path: Path) -> None:
    caps = [Cap(1), Cap(Fraction(1, 2), audience="public"), Cap(Fraction(1, 2), audience="team")]
    with Ledger.create(tmp_path / "a", dataset="a", unit=Unit.row(), caps=caps)[0] as ledger:
        ledger.reserve(flat(Fraction(1, 8)), audience="team")
        made = report(ledger)
    assert made.by_audience["public"] == ()
    assert made.by_audience["team"][0].price == Fraction(1, 8)


def test_an_empty_ledger_has_a_report(ledger: Ledger) -> None:
    for page in (report(ledger).to_text(), report(ledger, year=1999).to_markdown()):
        assert "Nothing was spent yet." in page
        assert "Nobody asked." in page


def test_a_name_cannot_change_the_page(ledger: Ledger) -> None:
    ledger.reserve(rooms(["<b>|# x\n| hall | [a](b)\033[2J"], Fraction(1, 8)), who="*eve*|_x_")
    page = report(ledger, keys=True).to_markdown()
    assert not re.search(r"(?<!\\)[<>]", page)
    assert r"\<b\>\|\# x\\n\| hall \| \[a\](b)\\x1b\[2J" in page
    assert r"| \*eve\*\|\_x\_ | 1 | 1 | 0 |" in page
    assert "\033" not in report(ledger).to_text()


def test_no_token_and_no_token_hash_is_in_a_report(made: tuple[Ledger, dict[str, str]]) -> None:
    ledger, tokens = made
    hashes = [person["token"] for person in next(iter(ledger.entries())).body["people"]]
    whole = report(ledger, keys=True)
    shown = whole.to_text() + whole.to_markdown() + json.dumps(whole.to_dict())
    assert not any(secret in shown for secret in [*tokens.values(), *hashes])


def test_a_damaged_ledger_has_no_report_but_a_sentence(ledger: Ledger) -> None:
    pay(ledger, flat(Fraction(1, 8)))
    with sqlite3.connect(ledger.address) as connection:
        connection.execute("DROP TRIGGER entries_refuse_update")
        connection.execute("UPDATE entries SET body = 'x' WHERE number = 2")
    connection.close()
    with pytest.raises(LedgerError, match="no report on a damaged ledger: Entry 2 was changed"):
        report(ledger)
