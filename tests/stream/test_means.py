from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from louver.errors import LouverError
from louver.noise import Bits
from louver.privacy import Approximate, Pure
from louver.stream.means import PresentMean, RunningMean, WindowMean
from louver.stream.present import present
from louver.stream.truncated import TruncatedSum
from tests.stream.real_bits import seeded

VALUES = np.random.default_rng(4).integers(0, 30, 24)
SOME = [None if place % 3 == 1 else int(value) for place, value in enumerate(VALUES)]


def sums_of(**given: Any) -> TruncatedSum:
    return TruncatedSum(1, 32, 20, lag=6, **given)


def test_a_running_mean_is_the_released_sum_over_the_ticks() -> None:
    sums = sums_of(bits=seeded(1)).run(VALUES)
    means = RunningMean(1, 32, 20, lag=6, bits=seeded(1)).run(VALUES)
    np.testing.assert_allclose(means, sums / np.arange(1, 25))


@pytest.mark.parametrize("window", [1, 2, 5, 24, 100])
def test_a_window_mean_is_a_difference_of_released_sums(window: int) -> None:
    sums = np.append(0, sums_of(bits=seeded(1)).run(VALUES))
    ends = np.arange(1, 25)
    starts = np.maximum(ends - window, 0)
    expected = (sums[ends] - sums[starts]) / (ends - starts)
    np.testing.assert_allclose(WindowMean(1, 32, 20, lag=6, window=window, bits=seeded(1)).run(VALUES), expected)
    assert math.isfinite(expected[-1])


def made(kind: str, bits: Bits) -> TruncatedSum:
    if kind == "window":
        return WindowMean(1, 32, 20, lag=6, window=5, counting="tree", bits=bits)
    return (RunningMean if kind == "running" else PresentMean)(1, 32, 20, lag=6, counting="signed", bits=bits)


@pytest.mark.parametrize("kind", ["running", "window", "present"])
def test_a_mean_restored_at_any_tick_goes_on_as_if_nothing_had_been(kind: str) -> None:
    whole = made(kind, seeded(7))
    expected = [whole.update(value) for value in SOME]
    for stop in range(len(SOME)):
        bits = seeded(7)
        stream = made(kind, bits)
        before = [stream.update(value) for value in SOME[:stop]]
        restored = type(stream).from_dict(json.loads(json.dumps(stream.to_dict())), bits=bits)
        np.testing.assert_array_equal(before + [restored.update(value) for value in SOME[stop:]], expected)


def test_missing_values_do_not_count_in_the_mean_of_what_was_there() -> None:
    values = [None if place % 2 else 40.0 for place in range(4000)]
    stream = PresentMean(200, 1000, 4000, bits=seeded(1))
    assert stream.run(values)[-1] == pytest.approx(40, abs=2)  # type: ignore[arg-type]
    assert RunningMean(200, 1000, 4000, bits=seeded(2)).run(values)[-1] == pytest.approx(20, abs=2)  # type: ignore[arg-type]


def test_the_mean_of_what_was_there_pays_for_sum_and_count() -> None:
    stream = PresentMean(1, 100, 1000)
    assert stream.price == Pure(1)
    assert stream._counts.price == Pure(Fraction(1, 4))
    assert stream.epsilon == Fraction(3, 4)
    smooth = PresentMean(1, 100, 1000, threshold="smooth", delta=Fraction(1, 10**9))
    assert smooth.price == Approximate(1, Fraction(1, 10**9))


def test_present_tells_numbers_from_what_is_none() -> None:
    odd = [1, None, math.nan, math.inf, "x", "3", -(10**400)]
    assert present(odd, (7,)).tolist() == [True, False, False, True, False, True, True]
    assert present(None, (1, 3)).tolist() == [[False] * 3]


@pytest.mark.parametrize("odd", [None, math.nan, -5, 10**30, "much"])
@pytest.mark.parametrize("kind", ["running", "window", "present"])
def test_no_value_stops_a_mean(kind: str, odd: object) -> None:
    stream = made(kind, seeded(3))
    released = [stream.update(odd) for _ in range(12)]
    assert math.isfinite(released[-1])


@pytest.mark.parametrize("regions", [1, 3])
def test_means_of_regions_keep_their_shape(regions: int) -> None:
    stream = PresentMean(1, 32, 20, lag=6, regions=regions)
    assert stream.run(np.ones((8, regions))).shape == (8, regions)
    assert stream.update(None).shape == (regions,)


@pytest.mark.parametrize("window", [0, -1, 2.0, None, 2**30])
def test_a_window_that_is_none_is_refused(window: Any) -> None:
    with pytest.raises(LouverError, match=r"\.$"):
        WindowMean(1, 32, 20, window=window)
