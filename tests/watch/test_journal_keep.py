"""A watch forgets old releases with its rows, and keeps what it needs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from louver.watch.journal import Journal
from tests.watch.made import FULL, MINUTE, NINE, Given, events, house, watched

HALF = 30 * MINUTE


@pytest.mark.parametrize(("keep", "first"), [("", 0), ('keep = "1 hour"', 2)])
def test_releases_are_forgotten_with_the_rows_of_their_slots(tmp_path: Path, keep: str, first: int) -> None:
    rules = house(tmp_path, watch=f'slot = "30 minutes"\n{keep}')
    slots = [events({"aula": FULL}, start=NINE + at * HALF) for at in range(6)]
    asyncio.run(watched(rules, Given(*slots)))
    with Journal.open(rules.journal) as journal:
        kept = sorted({(each.slot - NINE) // HALF for each in journal.released("fire-limit")})
        assert kept == list(range(first, 6))
        assert journal.decided("fire-limit") == NINE + 5 * HALF
        assert [each.alarm.key for each in journal.alarms()] == ["aula"]
