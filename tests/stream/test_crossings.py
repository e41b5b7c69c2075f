"""Events: the promise at one tick, from the exact law and from trials, and what the least price for it would be."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from louver.errors import ParameterError
from louver.privacy import one_shot
from louver.stream.crossings import Crossings
from louver.stream.pegasus import Pegasus
from louver.stream.segment import Segment
from tests.stream.smoothing import seeded


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
@pytest.mark.parametrize(("missed", "flagged"), [(0.05, 0.05), (0.01, 0.2)])
def test_both_rates_hold_at_their_worst_counts_by_the_exact_law(
    epsilon: Fraction, missed: float, flagged: float
) -> None:
    crossings = Crossings(Segment(epsilon), 50, missed, flagged)
    a = math.exp(-epsilon)
    misses = a ** (crossings.shift + 1) / (1 + a)
    alarms = a ** (crossings.slack + 1 - crossings.shift) / (1 + a)
    assert misses <= missed
    assert alarms <= flagged
    assert crossings.shift == 0 or misses / a > missed


@pytest.mark.parametrize("made", [Segment, Pegasus])
def test_a_count_over_its_threshold_is_missed_as_rarely_as_promised(made: type[Segment] | type[Pegasus]) -> None:
    """Just after a jump, where smoothed values lag. 0.05 is passed by five standard errors in 3e-7 of cases."""
    stream = made(1, 20_000, bits=seeded(1))
    crossings = Crossings(stream, 50, 0.05)
    for _ in range(3):
        stream.update(np.full(20_000, 20))
    stream.update(np.full(20_000, 51))
    assert 1 - crossings.promised(stream.trace).mean() <= 0.05 + 5 * math.sqrt(0.05 * 0.95 / 20_000)
    stream.update(np.full(20_000, 50 - crossings.slack))
    assert crossings.promised(stream.trace).mean() <= 0.05 + 5 * math.sqrt(0.05 * 0.95 / 20_000)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1)])
def test_the_price_is_never_below_the_least_there_is(epsilon: Fraction) -> None:
    crossings = Crossings(Segment(epsilon), 50, 0.05)
    assert one_shot(0.05, crossings.slack).epsilon <= epsilon
    assert one_shot(0.05, crossings.slack - 3).epsilon > epsilon


def test_smoothed_values_cross_more_steadily_where_counts_hold_still() -> None:
    stream = Segment(0.2, 200, bits=seeded(2))
    crossings = Crossings(stream, 50, 0.05)
    stream.run(np.full((200, 200), 56))
    last = stream.trace.released[100:] > 50
    assert (crossings.smoothed(stream.trace)[100:] == last).all()
    assert last.mean() > (stream.trace.noisy[100:] > 50).mean() + 0.1


def test_each_region_has_its_own_threshold() -> None:
    stream = Segment(50, 2)
    crossings = Crossings(stream, [5, 500], 0.05)
    stream.update([100, 100])
    assert crossings.promised(stream.trace).tolist() == [[True, False]]
    assert crossings.smoothed(stream.trace).tolist() == [[True, False]]


@pytest.mark.parametrize("thresholds", [0.5, [1, 2, 3], "x", None, [[1, 2]]])
def test_thresholds_that_are_none_are_refused(thresholds: object) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        Crossings(Segment(1, 2), thresholds, 0.05)  # type: ignore[arg-type]
