"""Sliding windows: the sum over groups of how much of each lies in the window, times its level."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.errors import ParameterError
from louver.stream.pegasus import Pegasus
from louver.stream.recent import Anchored, Recent
from louver.stream.segment import Segment
from louver.stream.smoothed import Trace
from tests.stream.shapes import EPSILONS, OTHERS, STREAMS, Counts, drawn
from tests.stream.smoothing import seeded


def by_groups(trace: Trace, region: int, end: int, window: int) -> float:
    """The sum by its definition: each tick counts with the last level of a group that holds it."""
    levels: dict[int, float] = {}
    for tick in range(end + 1):
        for held in range(tick - int(trace.lengths[tick, region]) + 1, tick + 1):
            levels[held] = float(trace.levels[tick, region])
    return sum(levels[tick] for tick in range(max(0, end - window + 1), end + 1))


@pytest.mark.parametrize("made", [Pegasus, Segment])
@pytest.mark.parametrize("window", [1, 7, 50])
def test_a_sum_is_the_sum_over_groups_of_their_part_in_the_window(
    made: type[Pegasus] | type[Segment], window: int
) -> None:
    stream = made(1, 3, bits=seeded(1))
    stream.run(drawn("10 steps", 3)[:120])
    sums = Recent(stream, window).sums(stream.trace)
    for tick in (0, 1, 30, 119):
        for region in range(3):
            np.testing.assert_allclose(sums[tick, region], by_groups(stream.trace, region, tick, window))


def test_sums_go_on_from_batch_to_batch() -> None:
    stream = Segment(1, 3, bits=seeded(2))
    whole, parts = Recent(stream, 20), Recent(stream, 20)
    stream.run(drawn("ramp 0-200", 3)[:90])
    trace = stream.trace
    cut = [
        Trace(*(getattr(trace, name)[part] for name in ("released", "noisy", "levels", "lengths")))
        for part in (slice(0, 30), slice(30, 31), slice(31, 90))
    ]
    np.testing.assert_array_equal(whole.sums(trace), np.concatenate([parts.sums(each) for each in cut]))


def test_sums_over_a_window_err_less_than_sums_of_noisy_counts() -> None:
    counts = drawn("10 steps", 40)
    stream = Segment(0.1, 40, bits=seeded(3))
    stream.run(counts)
    window = 20
    kernel = np.ones(window)
    true, noisy = (
        np.apply_along_axis(lambda column: np.convolve(column, kernel)[: len(column)], 0, each)
        for each in (counts, stream.trace.noisy)
    )
    smoothed = Recent(stream, window).sums(stream.trace)
    assert np.abs(smoothed - true).mean() < 0.9 * np.abs(noisy - true).mean()


def test_a_second_look_a_few_ticks_later_errs_less() -> None:
    counts = drawn("10 steps", 40)
    stream = Segment(0.1, 40, bits=seeded(4))
    released = stream.run(counts)
    later = Recent(stream, 11).lagged(stream.trace)
    assert np.abs(later[10:] - counts[:-10]).mean() < 0.8 * np.abs(released - counts).mean()


def over_window(counts: NDArray[Any], window: int) -> NDArray[Any]:
    kernel = np.ones(window)
    return np.apply_along_axis(lambda column: np.convolve(column, kernel)[: len(column)], 0, counts)


def anchored(counts: Counts, epsilon: float, window: int, seed: int) -> tuple[Anchored, Segment, NDArray[np.float64]]:
    stream = Segment(epsilon, counts.shape[1], bits=seeded(seed))
    stream.run(counts)
    recent = Anchored(stream, window)
    return recent, stream, recent.sums(stream.trace)


@pytest.mark.parametrize("window", [1, 12])
def test_an_anchored_sum_is_the_nearest_to_that_of_levels_that_the_noisy_counts_allow(window: int) -> None:
    recent, stream, sums = anchored(drawn("daily Poisson", 3), 1, window, 5)
    levels, noisy = Recent(stream, window).sums(stream.trace), over_window(stream.trace.noisy, window)
    np.testing.assert_allclose(sums, np.clip(levels, noisy - recent.allowed, noisy + recent.allowed))
    assert np.abs(levels - noisy).max() > recent.allowed


def test_anchored_sums_go_on_from_batch_to_batch_and_from_a_stored_window() -> None:
    counts = drawn("ramp 0-200", 3)[:90]
    _, stream, whole = anchored(counts, 1, 20, 6)
    trace, recent, found = stream.trace, Anchored(stream, 20), []
    for part in (slice(0, 7), slice(7, 8), slice(8, 90)):
        cut = Trace(*(getattr(trace, name)[part] for name in ("released", "noisy", "levels", "lengths")))
        found.append(recent.sums(cut))
        again = Anchored(stream, 20)
        again.take(recent.to_dict())
        recent = again
    np.testing.assert_array_equal(whole, np.concatenate(found))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", STREAMS | OTHERS)
def test_an_anchored_sum_errs_hardly_more_than_that_of_noisy_counts_on_any_stream(name: str, epsilon: float) -> None:
    """Levels alone err up to 3 times as much where counts rise or fall; bits and streams are fixed."""
    counts = drawn(name, 20)
    _, stream, sums = anchored(counts, epsilon, 48, 7)
    truth = over_window(counts, 48)
    noisy = np.abs(over_window(stream.trace.noisy, 48) - truth).mean()
    assert np.abs(sums - truth).mean() < 1.2 * noisy


def test_an_anchored_sum_errs_less_than_that_of_noisy_counts_where_counts_hold_still() -> None:
    counts = drawn("10 steps", 20)
    _, stream, sums = anchored(counts, 1, 12, 8)
    truth = over_window(counts, 12)
    assert np.abs(sums - truth).mean() < 0.75 * np.abs(over_window(stream.trace.noisy, 12) - truth).mean()


@pytest.mark.parametrize("window", [0, -1, 2.5, None, 2**40])
def test_a_window_of_no_ticks_is_refused(window: object) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        Recent(Segment(1), window)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [Segment, Pegasus])
def test_an_empty_batch_is_in_no_window(kind: type[Segment] | type[Pegasus]) -> None:
    stream = kind(100)
    recent = Recent(stream, 3)
    stream.run([5, 5])
    recent.sums(stream.trace)
    stream.run([])
    assert recent.sums(stream.trace).shape == (0, 1)
    stream.run([0])
    assert recent.sums(stream.trace).ravel() == pytest.approx([10])
