"""A clock that is set while a watch runs: nothing is decided that is not known, and nothing twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from louver.errors import DataError
from louver.watch.clock import Clock, Step
from louver.watch.deciding import Decided
from louver.watch.journal import Journal
from louver.watch.rules import WALL
from tests.watch.made import MINUTE, NINE, STEP, Given, house, paid_keys, told, watched

SECOND = 1_000_000


class Hands:
    """A wall clock and a steady one, which go on by some seconds at each look at the wall; `step` sets the wall."""

    def __init__(self, pace: int = 0) -> None:
        self.passed, self.set, self.pace = 0, 0, pace
        self.looks = 0
        self.steps: dict[int, int] = {}

    def wall(self) -> int:
        self.looks += 1
        self.passed += self.pace
        self.set += self.steps.pop(self.looks, 0)
        return NINE + self.passed + self.set

    def steady(self) -> int:
        return self.passed

    def clock(self) -> Clock:
        return Clock(self.wall, self.steady)


def test_time_goes_on_as_the_wall_says() -> None:
    hands = Hands()
    clock = hands.clock()
    hands.passed += 5 * MINUTE
    assert clock.now() == NINE + 5 * MINUTE
    assert clock.step() is None


@pytest.mark.parametrize("by", [STEP, -STEP, 3 * SECOND, -3 * SECOND])
def test_a_step_counts_once_it_is_taken_note_of(by: int) -> None:
    hands = Hands()
    clock = hands.clock()
    hands.passed += MINUTE
    hands.set += by
    assert clock.now() == NINE + MINUTE
    assert clock.step() == Step(NINE + MINUTE, NINE + MINUTE + by)
    assert clock.now() == NINE + MINUTE + by
    assert clock.step() is None


def test_clocks_that_drift_apart_slowly_are_no_step() -> None:
    hands = Hands()
    clock = hands.clock()
    for _ in range(100):
        hands.passed += MINUTE
        hands.set += SECOND
        assert clock.step() is None
    assert clock.now() == NINE + 100 * (MINUTE + SECOND)


def test_a_step_says_what_happened() -> None:
    assert str(Step(NINE, NINE + STEP)) == "The clock was set forward from 09:00:00 to 09:05:00 UTC"
    assert str(Step(NINE + STEP, NINE)) == "The clock was set back from 09:05:00 to 09:00:00 UTC"
    assert Step(NINE + STEP, NINE).span == (NINE, NINE + STEP)


def seen(folder: Path, hands: Hands, enough: Callable[[list[Decided]], bool]) -> list[Decided]:
    """What a live watch of an empty house decides, until it is enough."""
    found: list[Decided] = []

    def until(decided: list[Decided]) -> bool:
        found[:] = decided
        return enough(decided)

    rules = house(folder, watch='no_data_after = "9 days"')
    feed = Given(ends=False)
    asyncio.run(asyncio.wait_for(watched(rules, feed, until, clock=WALL, now=hands.clock(), tick=0.001), 60))
    return found


def slots(decided: list[Decided]) -> list[int]:
    return [(each.slot - NINE) // STEP for each in decided if each.of_a_slot]


def test_a_clock_that_is_set_forward_leaves_the_slots_between_undecided_and_unpaid(tmp_path: Path) -> None:
    hands = Hands(pace=10 * SECOND)
    hands.steps = {200: 12 * STEP}
    decided = seen(tmp_path, hands, lambda decided: slots(decided)[-1:] == [24])
    unknown = [each for each in decided if each.undecided]
    assert len(unknown) >= 12
    assert {each.reason.split(" from ")[0] for each in unknown} == {"The clock was set forward"}
    assert all(each.paid == 0 for each in unknown)
    assert slots(decided) == list(range(slots(decided)[0], 25))
    with Journal.open(tmp_path / "store.journal") as journal:
        raised = [each.alarm.state for each in journal.alarms(open_only=False)]
    assert raised == ["undecided", "clear"]  # told once, and that it is over


def test_a_clock_that_is_set_back_decides_nothing_twice_and_says_that_it_waits(tmp_path: Path) -> None:
    hands = Hands(pace=10 * SECOND)
    hands.steps = {400: -9 * STEP}

    def enough(decided: list[Decided]) -> bool:
        waits = [number for number, each in enumerate(decided) if not each.of_a_slot]
        return bool(waits) and len(decided) > waits[0] + 4

    decided = seen(tmp_path, hands, enough)
    waiting = [each for each in decided if not each.of_a_slot]
    assert len(waiting) == 1
    assert "so it was set back" in waiting[0].reason
    found = slots(decided)
    assert found == sorted(set(found))
    after = [each for each in decided[decided.index(waiting[0]) + 1 :] if each.of_a_slot]
    assert "The clock was set back" in after[0].reason  # what came in the hours that came twice was late
    assert not after[-1].undecided


def test_a_clock_that_is_set_back_by_hours_ends_the_watch(tmp_path: Path) -> None:
    hands = Hands(pace=10 * SECOND)
    hands.steps = {400: -30 * STEP}
    with pytest.raises(DataError, match="Set it right and start the watch again"):
        seen(tmp_path, hands, lambda _: False)


def test_a_watch_that_starts_with_a_clock_of_yesterday_ends(tmp_path: Path) -> None:
    rules = house(tmp_path)
    times = iter(range(NINE, NINE + 10_000 * STEP, MINUTE))
    given: dict[str, Any] = {"clock": WALL, "tick": 0.001}
    asyncio.run(watched(rules, Given(ends=False), bool, now=lambda: next(times), **given))
    paid = paid_keys(rules)
    with pytest.raises(DataError, match="so it was set back"):
        asyncio.run(watched(rules, Given(ends=False), now=lambda: NINE - 288 * STEP, **given))
    assert paid_keys(rules) == paid
    assert told(rules)[-1][2] == "no data"
