"""Segments: they read noisy counts only, err as little as the prototypes, and say how far off they may be."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import ParameterError
from louver.stream.laplace import Laplace
from louver.stream.segment import GUARDED, TUNINGS, Run, Segment, Tuning
from louver.stream.smoothed import Ticks
from tests.decide.auditor import audited
from tests.noise.laws import assert_follows, assert_rejects, laplace
from tests.stream.shapes import EPSILONS, MECHANISMS, STREAMS, drawn, errors, figure
from tests.stream.smoothing import halve_noise, seeded


def reference(noisy: list[int], b: float, tuning: Tuning) -> list[float]:
    """The whole of it again, tick by tick from the definition, with nothing kept up to date."""
    run: list[int] = []
    up = down = 0.0
    up_run: list[int] = []
    down_run: list[int] = []
    squares: list[float] = []
    released = []
    for seen in noisy:
        alarmed: list[int] = []
        if run:
            away = min(max((seen - statistics.median(run)) / b, -tuning.clip), tuning.clip)
            up, down = max(up + away - tuning.drift, 0), max(down - away - tuning.drift, 0)
            up_run = [*up_run, seen] if up else []
            down_run = [*down_run, seen] if down else []
            alarmed = up_run if up > tuning.alarm else down_run if down > tuning.alarm else []
        if alarmed:
            run, up, down, up_run, down_run = alarmed, 0, 0, [], []
        else:
            run = [*run, seen]
        run = run[-tuning.window :]
        level = (statistics.fmean(run) + statistics.median(run)) / 2
        squares = [*squares, (seen - level) ** 2][-GUARDED:]
        scatter = statistics.fmean(squares)
        weight = max(0.0, 1 - 2 * b * b * (1 + tuning.margin / math.sqrt(len(squares))) / scatter) if scatter else 0.0
        released.append(level + weight * (seen - level))
    return released


@given(
    st.lists(st.integers(-30, 30), max_size=80),
    st.integers(0, 60),
    st.sampled_from([0.5, 1.0, 10.0]),
    st.sampled_from([*TUNINGS.values()]),
)
def test_released_values_are_as_defined(noisy: list[int], step: int, scale: float, tuning: Tuning) -> None:
    noisy = [*noisy, *(value + step for value in noisy)]
    values, *_ = Run(scale, tuning).advance(noisy, Ticks.none())
    np.testing.assert_allclose(values, reference(noisy, scale, tuning), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("tuning", TUNINGS.values())
def test_released_values_are_as_defined_past_the_window(tuning: Tuning) -> None:
    noisy = Laplace(1, bits=seeded(1)).run([40] * 900).tolist() + [70] * 30 + [0] * 300
    values, _, lengths, _ = Run(1.0, tuning).advance(noisy, Ticks.none())
    np.testing.assert_allclose(values, reference(noisy, 1.0, tuning), rtol=1e-5, atol=1e-5)
    assert max(lengths) == tuning.window


def test_the_noise_is_discrete_laplace_and_all_of_epsilon_is_in_it() -> None:
    stream = Segment(Fraction(1, 2), 200, sensitivity=2, bits=seeded(2))
    counts = drawn("white", 200)
    stream.run(counts)
    noise = (stream.trace.noisy - counts).ravel()
    assert_follows(noise, laplace(0.25))
    assert_rejects(noise, laplace(0.275))


def test_what_is_released_follows_from_the_noisy_counts_alone() -> None:
    stream = Segment(1, 5)
    released = stream.run(drawn("lecture blocks", 5))
    again = [Run(stream.scale).advance(column, Ticks.none())[0] for column in stream.trace.noisy.T.tolist()]
    np.testing.assert_array_equal(released.T, again)


def test_an_audit_of_neighbouring_streams_finds_no_more_than_the_price_and_does_at_half_the_noise() -> None:
    """From released values only. False alarm: 1e-6."""

    seeds = itertools.count()

    def draw(neighbour: bool) -> Counter[object]:
        stream = Segment(1, 20_000, bits=seeded(next(seeds)))
        released = stream.run(np.tile([[4 + neighbour], [4]], (1, 20_000)))
        return Counter(zip(*np.clip(np.round(released - 4), -3, 3).tolist(), strict=True))

    assert audited(draw, lambda _: Fraction(1)) <= 0  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        halve_noise(patch)
        assert audited(draw, lambda _: Fraction(1)) > 0  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", STREAMS)
def test_errors_are_as_small_as_the_prototypes(name: str, epsilon: float) -> None:
    """Bits and streams are fixed. Four standard errors of a mean of 30 streams that are drawn anew."""
    found = errors("segment", drawn(name, 30), epsilon, bits=seeded(3))
    assert found.mean() <= figure(name, "segment", epsilon) + 4 * found.std(ddof=1) / math.sqrt(30)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", STREAMS)
def test_pegasus_errs_as_published_within_a_tenth(name: str, epsilon: float) -> None:
    """On 64ths of a count, because the figures are for continuous noise; bits and streams are fixed."""
    found = errors("published", drawn(name, 30), epsilon, fine=True, bits=seeded(3))
    assert abs(found.mean() / figure(name, "published", epsilon) - 1) < 0.1


@pytest.mark.parametrize("name", STREAMS)
def test_segments_err_less_than_pegasus_as_published_and_no_more_than_the_better_split(name: str) -> None:
    counts = drawn(name, 20)
    for epsilon in EPSILONS:
        means = {each: errors(each, counts, epsilon, bits=seeded(4)).mean() for each in MECHANISMS}
        assert means["segment"] < 0.95 * means["published"]
        assert means["segment"] < 1.1 * means["optimal"]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", STREAMS)
def test_bands_hold_about_as_often_as_they_say(name: str, epsilon: float) -> None:
    """At 95 of 100 ticks, less 3, and at 80 less 6; bits and streams are fixed."""
    counts = drawn(name, 10)
    stream = Segment(epsilon, 10, bits=seeded(5))
    held = []
    for tick in counts:
        off = np.abs(stream.update(tick) - tick)
        held.append([off <= stream.band(0.95), off <= stream.band(0.8)])
    often, less_often = np.mean(held, axis=(0, 2))
    assert often >= 0.92
    assert less_often >= 0.74


def test_a_band_narrows_where_counts_hold_still_and_is_never_wider_than_that_of_the_noise() -> None:
    still, moving = Segment(1, 100, bits=seeded(6)), Segment(1, 100, bits=seeded(6))
    still.run(np.full((500, 100), 50))
    moving.run(np.tile([[0], [90]], (250, 100)))
    widest = -math.log(0.05) * moving.scale
    assert still.band(0.95).mean() < 0.6 * widest
    np.testing.assert_allclose(moving.band(0.95), widest)
    np.testing.assert_allclose(Segment(1).band(0.95), widest)


@pytest.mark.parametrize("level", [0, 0.5, 1, math.nan, "x", None])
def test_a_band_of_no_level_is_refused(level: object) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        Segment(1).band(level)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [Fraction(1, 2**40), 100, 4096])
def test_any_price_works(epsilon: Fraction) -> None:
    stream = Segment(epsilon)
    assert np.isfinite(stream.run([5, 2**52, 0, 7])).all()
    assert np.isfinite(stream.band(0.95)).all()
