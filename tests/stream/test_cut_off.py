"""What a plan with a private threshold says before it is paid: its wait, its noise, and what would be better."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from louver.noise.bits import SYSTEM
from louver.source.measures import Bound, View
from louver.stream.means import PresentMean, RunningMean, WindowMean
from louver.stream.threshold import PenalisedThreshold
from louver.stream.truncated import TruncatedSum
from tests.stream.published import TICKS, TRUTH, planned
from tests.stream.real_bits import seeded

LONG: dict[str, Any] = {"every": "5m", "begin": "2018-02-01", "end": "2018-03-01"}
CUT: dict[str, Any] = {"mechanism": "truncated", "tick_bound": 64}


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ({"mechanism": "truncated", "options": {"lag": 4}}, 4),
        ({"mechanism": "running-mean", "options": {"lag": 1}}, 1),
        ({"mechanism": "present-mean", "options": {"lag": 4}}, 4),
        ({"mechanism": "window-mean", "options": {"lag": 4, "over": 3}}, 7),
        ({"mechanism": "window-mean", "options": {"lag": 4, "over": 4}}, 4),
    ],
)
def test_a_plan_says_with_which_tick_the_first_number_comes(asked: dict[str, Any], first: int) -> None:
    plan = planned(tick_bound=64, **asked)
    answer: Any = plan.run(View((TRUTH.T.reshape(-1),)), SYSTEM).answer
    values = answer["values"][0]
    assert values.index(next(value for value in values if value is not None)) == first - 1
    assert f"the first number comes at the end of tick {first}, after {5 * first} minutes" in plan.promise


def test_a_plan_that_never_releases_a_number_says_so() -> None:
    plan = planned(mechanism="window-mean", tick_bound=64, options={"lag": TICKS - 2, "over": 5})
    assert "no number comes before the end" in plan.promise
    assert any("no number is released" in said for said in plan.warnings)


@pytest.mark.parametrize("kind", [TruncatedSum, RunningMean, WindowMean])
def test_noise_at_the_bound_has_the_stated_deviation(kind: Any) -> None:
    """All values are 0, so that what is released is noise; within 15%, far more than 4000 draws scatter."""
    over = {"window": 4} if kind is WindowMean else {}
    stream = kind(epsilon=50, high=8, horizon=12, lag=3, regions=4000, bits=seeded(3), **over)
    stream._finder = type("Always", (), {"find": lambda *_, **__: 8})()
    released = stream.run(np.zeros((12, 4000), dtype=np.int64))[-1]
    assert released.std() <= 1.15 * stream.error_at_bound(12)
    if kind is not WindowMean:  # whose two sums have more noise in common than that of the first values
        assert released.std() >= 0.85 * stream.error_at_bound(12)


def test_noise_of_the_mean_of_what_is_there_is_about_as_stated() -> None:
    """All values are at the bound, so that noise of the count weighs most; 4000 draws scatter by under 2%."""
    stream = PresentMean(epsilon=20, high=8, horizon=40, lag=3, regions=4000, bits=seeded(3))
    stream._finder = type("Always", (), {"find": lambda *_, **__: 8})()
    released = stream.run(np.full((40, 4000), 8))[-1]
    assert 0.85 * stream.error_at_bound(40) <= released.std() <= 1.15 * stream.error_at_bound(40)


def test_no_other_mechanism_is_named_where_missing_ticks_are_told() -> None:
    plan = planned(mechanism="present-mean", tick_bound=64, **LONG)
    assert not any("for the same price" in said for said in plan.warnings)
    assert "Which ticks have rows is protected too" in plan.promise


def test_a_short_stream_is_warned_about_and_a_long_one_is_not() -> None:
    assert any("too few to find a threshold" in said for said in planned(**CUT).warnings)
    assert not any("too few" in said for said in planned(**{**CUT, **LONG}).warnings)


@pytest.mark.parametrize(("horizon", "is_heard"), [(60, False), (120, False), (1000, True), (10_000, True)])
def test_too_few_values_are_those_that_cannot_find_a_threshold(horizon: int, is_heard: bool) -> None:
    """Values about 14 with a bound of 60; where they are too few some thresholds are far below, else none is."""
    values = np.random.default_rng(1).poisson(14, (horizon, 20))
    stream = TruncatedSum(epsilon=Fraction(3, 10), high=60, horizon=horizon, regions=20, bits=seeded(1))
    stream.run(values)
    assert stream.is_found is is_heard
    assert (min(stream.thresholds or ()) > 10) is is_heard


def test_more_values_are_never_heard_less() -> None:
    heard = [PenalisedThreshold(Fraction(1), 5000, 10**4, 9.0).hears(count) for count in range(1, 10**4, 7)]
    assert heard == sorted(heard)
    assert {*heard} == {True, False}


@pytest.mark.parametrize(
    ("asked", "instead"),
    [
        ({"mechanism": "truncated"}, "'kary' has"),
        ({"mechanism": "running-mean"}, "'kary' over the number of ticks has"),
        ({"mechanism": "window-mean", "options": {"over": 3}}, "'laplace', with the last 3 ticks over 3, has"),
    ],
)
def test_a_mechanism_with_less_noise_at_the_bound_is_named(asked: dict[str, Any], instead: str) -> None:
    assert any(instead in said for said in planned(tick_bound=64, **asked, **LONG).warnings)


def test_noise_as_large_as_all_that_there_can_be_is_warned_about() -> None:
    assert any("as large as all" in said for said in planned(**CUT, epsilon=Fraction(1, 50)).warnings)
    assert not any("as large as all" in said for said in planned(**CUT, epsilon=50).warnings)


def test_no_other_is_named_where_one_unit_can_weigh_far_more_than_the_bound() -> None:
    loose = planned(bound=Bound(1000, 1), mechanism="truncated", sum_of="watts", tick_bound=64, **LONG)
    assert loose.warnings == ()
