"""What a watch keeps of presence, and of which times it says that it is not known."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from louver.errors import DataError
from louver.sense import Event, Store
from louver.watch.journal import Journal
from louver.watch.pipeline import Pipeline
from louver.watch.rules import Rules
from tests.watch.made import MINUTE, NINE, Given, house, watched

HOUR = 60 * MINUTE


def seen(minutes: range) -> list[Event]:
    return [Event("ann", "ap-lab", NINE + minute * MINUTE) for minute in minutes]


def stays(rules: Rules, begin: int, end: int) -> list[tuple[int, int]]:
    """From which minute after nine to which."""
    with Store.open(rules.store) as store:
        found = store.presence(NINE + begin * MINUTE, NINE + end * MINUTE)
    minutes = [((each - NINE) // MINUTE).tolist() for each in (found.start, found.end)]
    return list(zip(*minutes, strict=True))


def test_the_time_that_a_feed_was_away_is_not_answered_as_if_nobody_had_been_there(tmp_path: Path) -> None:
    rules, now = house(tmp_path), [NINE]
    validity, lateness = (each // MINUTE for each in (rules.timing.validity, rules.timing.lateness))
    with Journal.open(rules.journal) as journal, Pipeline.open(rules, journal, now=lambda: now[0]) as pipeline:
        for minute in (*range(20), *range(100, 200)):
            now[0] = NINE + minute * MINUTE
            pipeline.take(seen(range(minute, minute + 1)))
            if minute == 100:
                pipeline.away(NINE + 20 * MINUTE, NINE + 100 * MINUTE)
            pipeline.advance(by_clock=True)
    with pytest.raises(DataError, match="Presence is not known from"):
        stays(rules, validity, 180)
    known = (validity, 20 - lateness), (100 + validity, 180)
    assert [stays(rules, *each) for each in known] == [[each] for each in known]
    with pytest.raises(DataError, match="Presence is kept from"):  # somebody from before may have been there
        stays(rules, 0, 10)


def test_presence_of_a_range_is_known_from_its_begin_on(tmp_path: Path) -> None:
    rules = replace(house(tmp_path), begin=NINE, end=NINE + 3 * HOUR)
    asyncio.run(watched(rules, Given(seen(range(-5, 100)))))
    assert stays(rules, 0, 120) == [(0, 99 + rules.timing.validity // MINUTE)]
    with pytest.raises(DataError, match="Presence is kept from"):
        stays(rules, -1, 120)


def test_where_pseudonyms_change_a_day_of_presence_is_not_sold_as_one_persons(tmp_path: Path) -> None:
    rules = house(tmp_path, watch='rotate = "10 minutes"\n')
    asyncio.run(watched(rules, Given(seen(range(0, 200, 3)))))
    with pytest.raises(DataError, match="Presence is not kept where pseudonyms change"):
        stays(rules, 0, 120)
