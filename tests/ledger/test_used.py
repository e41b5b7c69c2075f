"""Where most was spent: the same as looking at every scope, without doing so."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from louver.errors import ParameterError
from louver.ledger import Cap, Ledger
from louver.ledger.totals import Total
from louver.ledger.used import Usage
from louver.privacy import Between, Scope, Unit, ZeroConcentrated
from tests.ledger.plans import priced, rooms


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    caps = [Cap(100, rho=100), Cap(100, rho=100, audience="a"), Cap(100, audience="b")]
    with Ledger.create(tmp_path / "house", dataset="house", unit=Unit.row(), caps=caps)[0] as made:
        yield made


def some_scope(dice: random.Random) -> Scope:
    """Slots and longer periods along two axes, open ends, rooms alone, everything."""
    ranges: dict[str, Any] = {}
    if dice.random() < 0.6:
        ranges["room"] = dice.sample("abcd", dice.choice([1, 1, 2]))
    for column in ("slot", "day"):
        kind = dice.random()
        if kind < 0.4:
            start = dice.randrange(60)
            ranges[column] = Between(start, start + dice.choice([1, 1, 1, 5, 2000]))
        elif kind < 0.45:
            ranges[column] = Between(dice.randrange(60), None)
    return Scope(ranges)


@pytest.mark.parametrize("seed", range(4))
def test_the_most_used_scopes_are_those_with_the_largest_totals(ledger: Ledger, seed: int) -> None:
    dice = random.Random(seed)
    charged = {some_scope(dice) for _ in range(40)}
    for scope in charged:
        ledger.reserve(priced((scope, Fraction(dice.randrange(1, 9), 8))), audience=dice.choice("ab"))
    for audience in (None, "a"):
        spent = {scope: ledger.spent(scope, audience) for scope in charged}
        used = ledger.most_used(7, audience)
        assert all(spent[scope] == total for scope, total in used)
        assert [total for _, total in used] == sorted(spent.values(), reverse=True)[:7]


def test_few_blocks_are_looked_at_where_slots_are_many(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    for slot in range(200):
        ledger.reserve(rooms(["a", "b"], Fraction(1, 8), slot=Between(slot, slot + 1)), audience="a")
    ledger.reserve(rooms(["b"], Fraction(1, 8), slot=Between(77, 78)), audience="a")
    looked: list[int] = []
    original = Usage._in_block

    def watched(usage: Usage, axis: str, block: int) -> list[Total]:
        looked.append(block)
        return original(usage, axis, block)

    monkeypatch.setattr(Usage, "_in_block", watched)
    used = ledger.most_used(4)
    assert used[0] == (Scope({"room": "b", "slot": Between(77, 78)}), Fraction(1, 4))
    assert [total for _, total in used[1:]] == [Fraction(1, 8)] * 3
    assert len(looked) < 10


def test_the_narrowest_of_equal_scopes_comes_first(ledger: Ledger) -> None:
    ledger.reserve(priced((Scope.everything(), Fraction(1))), audience="a")
    ledger.reserve(rooms(["a"], 1), audience="a")
    assert ledger.most_used() == [(Scope({"room": "a"}), Fraction(2)), (Scope.everything(), Fraction(2))]


def test_kinds_are_kept_apart(ledger: Ledger) -> None:
    assert ledger.kinds() == []
    ledger.reserve(rooms(["a"], 1), audience="a")
    ledger.reserve(priced((Scope({"room": "b"}), ZeroConcentrated(2))), audience="a")
    assert ledger.kinds() == ["pure", "zero-concentrated"]
    assert ledger.most_used() == [(Scope({"room": "a"}), Fraction(1))]
    assert ledger.most_used(kind="zero-concentrated") == [(Scope({"room": "b"}), Fraction(2))]


def test_nothing_is_used_before_anything_is_spent(ledger: Ledger) -> None:
    assert ledger.most_used() == []
    with pytest.raises(ParameterError, match="limit"):
        ledger.most_used(0)
