"""Streams, maps and tables are paid for in one way."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from louver.errors import ParameterError
from louver.ledger import Cap, Ledger
from louver.publishing.paying import paid, short_name
from louver.source import Domain, Source
from louver.table import table
from tests.steward.house import House, house

ROOMS = Domain({"room": ["hall", "attic"]}, keys=["room"])
NOBODY: dict[str, Any] = {"who": "local", "token": None, "audience": None, "key": None}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as made:
        yield made


@pytest.mark.parametrize("what", ["A stream", "A map", "A table"])
def test_without_a_ledger_nothing_is_published_and_it_is_said_what(home: House, what: str) -> None:
    plan = table(Source(home.table, domains=ROOMS), epsilon=0.5)
    with pytest.raises(ParameterError, match=f"^{what} is paid for by a ledger; name one"):
        paid(home.table, plan, what, ledger=None, **NOBODY)


def test_a_receipt_says_what_is_left_and_what_was_spent(home: House) -> None:
    plan = table(Source(home.table, domains=ROOMS), epsilon=0.25)
    first, second = (paid(home.table, plan, "A table", ledger=home.ledger, **NOBODY) for _ in range(2))
    assert (first.remaining, first.spent) == (Fraction(3, 4), Fraction(1, 4))
    assert (second.remaining, second.spent) == (Fraction(1, 2), Fraction(1, 2))


def test_what_remains_is_of_the_kind_that_was_paid_and_kinds_without_a_sum_have_none(tmp_path: Path) -> None:
    with house(tmp_path) as home:
        plan = table(Source(home.table, domains=ROOMS), exact="all", epsilon=0.25)
        home.ledger.set_cap(Cap(epsilon=1, exact=(plan.invariants,)), tokens=[home.tokens["ada"]])
        receipt = paid(home.table, plan, "A table", ledger=home.ledger, **NOBODY)
        assert (receipt.remaining, receipt.spent) == (Fraction(3, 4), None)


def test_a_ledger_that_was_open_is_not_closed(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[Ledger] = []
    monkeypatch.setattr(Ledger, "close", closed.append)
    paid(home.table, table(Source(home.table, domains=ROOMS), epsilon=0.25), "A table", ledger=home.ledger, **NOBODY)
    assert not closed


def test_the_ledger_of_the_source_pays_where_none_is_given(
    tmp_path: Path, home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOUVER_LEDGER_KEY", str(tmp_path / "key"))
    source = Source(home.table, domains=ROOMS, ledger=tmp_path / "house.ledger")
    receipt = paid(source, table(source, epsilon=0.25), "A table", ledger=None, **NOBODY)
    assert receipt.ledger == "house.ledger"
    assert home.ledger.remaining() == Fraction(3, 4)


def test_somebody_with_a_token_pays_in_their_own_name(home: House) -> None:
    plan = table(Source(home.table, domains=ROOMS), epsilon=0.25)
    paid(home.table, plan, "A table", ledger=home.ledger, **{**NOBODY, "token": home.tokens["bob"]})
    assert [entry.who for entry in home.ledger.entries() if entry.act == "reserved"] == ["bob"]


def test_a_ledger_is_called_by_the_name_of_its_file(home: House) -> None:
    assert short_name(home.ledger) == "house.ledger"
