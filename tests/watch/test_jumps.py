"""A replay without a range: one device with a wrong clock, and gaps that are real."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from louver.sense.admitted import Admitted
from louver.sense.events import Event
from louver.watch.jumps import DEVICES, MOST_HELD, Jumps
from tests.watch.made import FULL, NINE, STEP, Given, events, house, paid_keys, told, watched

DAY = 288 * STEP


def at(*pairs: tuple[int, int]) -> Admitted:
    """Events of these people at these times."""
    return Admitted.of([person for person, _ in pairs], ["ap"] * len(pairs), [time for _, time in pairs])


def times(events: Admitted) -> list[int]:
    return events.time.tolist()  # type: ignore[no-any-return]


def test_what_is_never_far_ahead_passes_as_it_is() -> None:
    jumps, made = Jumps(DAY), at((1, NINE), (2, NINE + DAY), (1, NINE + 2 * DAY), (3, NINE))
    assert jumps.passed(made) is made
    assert jumps.refused == 0


def test_one_event_that_is_far_ahead_is_of_the_future() -> None:
    jumps = Jumps(DAY)
    found = jumps.passed(at((1, NINE), (2, NINE + 3 * DAY), (3, NINE + STEP)))
    assert times(found) == [NINE, NINE + STEP]
    assert jumps.refused == 1


def test_one_device_is_not_believed_however_often_it_says_so() -> None:
    jumps = Jumps(DAY)
    found = jumps.passed(at((1, NINE), *[(2, NINE + 3 * DAY + each) for each in range(3 * MOST_HELD)]))
    assert times(found) == [NINE]
    jumps.finish()
    assert jumps.refused == 3 * MOST_HELD


def test_a_gap_like_a_weekend_is_believed_when_three_devices_come_after_it_and_none_of_them_is_lost() -> None:
    jumps = Jumps(DAY)
    monday = [NINE + 3 * DAY + each * STEP for each in range(5)]
    made = at((1, NINE), *enumerate(monday))
    found = times(jumps.passed(made[:2])) + times(jumps.passed(made[2:3])) + times(jumps.passed(made[3:]))
    assert found == [NINE, *monday]
    assert jumps.refused == 0
    assert DEVICES == 3


def test_devices_that_are_far_ahead_by_different_times_do_not_agree() -> None:
    jumps = Jumps(DAY)
    found = jumps.passed(at((1, NINE), (2, NINE + 3 * DAY), (3, NINE + 9 * DAY), (4, NINE + 20 * DAY)))
    assert times(found) == [NINE]


def test_wrong_clocks_between_right_ones_do_not_add_up() -> None:
    jumps = Jumps(DAY)
    made = [pair for each in range(9) for pair in ((each, NINE + each), (100 + each, NINE + 3 * DAY))]
    assert times(jumps.passed(at(*made))) == [NINE + each for each in range(9)]
    jumps.finish()
    assert jumps.refused == 9


def test_nothing_is_believed_that_is_more_than_a_month_ahead() -> None:
    jumps = Jumps(DAY)
    found = jumps.passed(at((1, NINE), *[(each, NINE + 40 * DAY) for each in range(50)]))
    assert times(found) == [NINE]
    assert jumps.refused == 50


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_what_passes_does_not_depend_on_how_events_are_grouped(size: int) -> None:
    dice = np.random.default_rng(3)
    steps = dice.choice([0, STEP, -STEP, 3 * DAY, -3 * DAY], p=[0.3, 0.4, 0.1, 0.1, 0.1], size=300)
    made = Admitted.of(dice.integers(0, 5, 300), ["ap"] * 300, NINE + 30 * DAY + np.cumsum(steps))
    whole, parts = Jumps(DAY), Jumps(DAY)
    expected = times(whole.passed(made))
    found = [time for begin in range(0, 300, size) for time in times(parts.passed(made[begin : begin + size]))]
    assert (found, parts.refused) == (expected, whole.refused)
    assert whole.refused > 0


def test_a_replay_goes_on_though_one_device_is_days_ahead(tmp_path: Path) -> None:
    rules = house(tmp_path)
    stray = [Event("stray", "ap-lab", NINE + 3 * DAY)]
    made = asyncio.run(watched(rules, Given(events({"aula": FULL}), stray, events({"aula": FULL}, start=NINE + STEP))))
    assert made.tally.to_dict() == {"accepted": 2 * FULL, "from the future": 1}
    assert told(rules) == [("fire-limit", "aula", "firing", 0)]
    assert len(paid_keys(rules)) == 2


def test_how_far_ahead_an_event_may_be_is_for_the_rules_to_say(tmp_path: Path) -> None:
    rules = house(tmp_path, watch='jump = "10 minutes"')
    made = asyncio.run(watched(rules, Given(events({"aula": 1}), events({"aula": 1}, start=NINE + 3 * STEP))))
    assert made.tally["from the future"] == 1
