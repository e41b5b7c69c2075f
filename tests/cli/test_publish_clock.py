"""The time that a live stream goes by, where somebody sets the clock of the machine."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from louver.cli.publish_clock import LONGEST_NAP, steady_clock
from tests.cli.clocks import Clocks

NINE = datetime(2018, 2, 1, 9, tzinfo=UTC)
WAITS = "the stream waits until it is as late again"
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def waited(leaps: Mapping[float, timedelta], until: timedelta = 10 * MINUTE) -> tuple[timedelta, list[str]]:
    """How long a stream waits from nine o'clock on, and what it says meanwhile."""
    clocks, said = Clocks(NINE, leaps), list[str]()
    clock = clocks.live(said.append)
    clock.wait_until(NINE + until)
    return clocks.passed, said


def test_it_waits_in_short_naps_and_says_nothing() -> None:
    clocks, said = Clocks(NINE), list[str]()
    clocks.live(said.append).wait_until(NINE + 10 * MINUTE)
    assert (clocks.passed, said) == (10 * MINUTE, [])
    assert max(clocks.naps) <= LONGEST_NAP


@pytest.mark.parametrize("leap", [MINUTE, 5 * MINUTE, timedelta(days=3650)])
def test_a_clock_set_forward_is_not_followed(leap: timedelta) -> None:
    passed, said = waited({120: leap})
    assert passed == 10 * MINUTE
    assert [one.startswith("The clock was set from 2018-02-01 09:02:00 UTC to ") for one in said] == [True]
    assert "start the stream again" in said[0]


def test_a_clock_set_forward_twice_is_not_followed() -> None:
    passed, said = waited({120: HOUR, 240: HOUR})
    assert passed == 10 * MINUTE
    assert len(said) == 2


def test_a_clock_set_forward_and_put_right_is_followed_again() -> None:
    passed, said = waited({120: HOUR, 240: -HOUR, 300: 30 * timedelta(seconds=1)})
    assert passed == 10 * MINUTE - timedelta(seconds=30)
    assert said[1].endswith("the stream goes on by it.")


def test_a_clock_set_back_is_waited_for() -> None:
    passed, said = waited({120: -HOUR})
    assert passed == 10 * MINUTE + HOUR
    assert said == [f"The clock was set from {NINE:%Y-%m-%d} 09:02:00 UTC to {NINE:%Y-%m-%d} 08:02:00 UTC; {WAITS}."]


def test_a_clock_set_back_may_be_put_right_and_no_further() -> None:
    assert waited({120: -HOUR, 240: HOUR})[0] == 10 * MINUTE
    assert waited({120: -HOUR, 240: 3 * HOUR})[0] == 10 * MINUTE


def test_less_than_a_minute_is_followed() -> None:
    assert waited({120: timedelta(seconds=50)}) == (10 * MINUTE - timedelta(seconds=50), [])
    assert waited({120: -timedelta(seconds=50)}) == (10 * MINUTE + timedelta(seconds=50), [])


def test_clocks_that_drift_apart_are_no_leap() -> None:
    drifting = {30.0 * nap: timedelta(seconds=1) for nap in range(1, 600)}
    passed, said = waited(drifting, until=4 * HOUR)
    assert said == []
    assert passed < 4 * HOUR - 7 * MINUTE


def test_the_steady_clock_goes_on() -> None:
    assert steady_clock() <= steady_clock()
