"""Segments: they read noisy counts only, err as little as the prototypes, and say how far off they may be."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import ParameterError
from louver.stream.laplace import Laplace
from louver.stream.runs import (
    CERTAIN,
    FADE,
    FOLLOWING,
    LEVEL_FIRST,
    RARE,
    SPREAD,
    TUNINGS,
    VOTE_FADE,
    Law,
    Run,
    Tuning,
)
from louver.stream.segment import BESIDE, Segment
from louver.stream.smoothed import Ticks
from tests.decide.auditor import audited
from tests.noise.laws import assert_follows, assert_rejects, laplace
from tests.stream.shapes import EPSILONS, MECHANISMS, OTHERS, STREAMS, drawn, errors, figure
from tests.stream.smoothing import halve_noise, seeded


def reference(noisy: list[int], law: Law, tuning: Tuning) -> list[float]:
    """The whole of it again, tick by tick from the definition, with nothing kept up to date."""
    b, released = law.scale, list[float]()
    run: list[int] = []
    up = down = vote = level = 0.0
    up_run: list[int] = []
    down_run: list[int] = []
    past: list[tuple[float, float, float]] = []  # whether it was no jump, and the squares missed, the latest first
    for seen in noisy:
        new: list[int] = []
        stays = share = 1.0
        if run:
            away = clamped((seen - statistics.median(run)) / b, tuning.clip)
            up, down = max(up + away - tuning.drift, 0), max(down - away - tuning.drift, 0)
            up_run = [*up_run, seen] if up else []
            down_run = [*down_run, seen] if down else []
            new = up_run if up > tuning.alarm else down_run if down > tuning.alarm else []
            value = released[-1]
            share = logistic(vote + LEVEL_FIRST)
            off = abs(seen - share * level - (1 - share) * value)
            often = RARE + (1 - 2 * RARE) * FADE * sum(
                (1 - FADE) ** age * (1 - kept) for age, (kept, _, _) in enumerate(past)
            )
            stays = 1 - logistic(
                math.log(often / (1 - often) * SPREAD) + min(law.slope * off + law.bend * off**2, CERTAIN)
            )
            new = new if stays >= 0.5 else [seen]
            squares = [((seen - guess) / b) ** 2 for guess in (level, value)]
            past = [(stays, squares[0] - 2 / len(run), squares[1]), *past]
            vote = (
                (1 - VOTE_FADE) * vote
                + min(abs(seen - value) / b, tuning.clip)
                - min(abs(seen - level) / b, tuning.clip)
            )
            share = logistic(vote + LEVEL_FIRST)
        if new:
            run, up, down, up_run, down_run = new, 0, 0, [], []
        else:
            run = [*run, seen]
        run = run[-tuning.window :]
        level = (statistics.fmean(run) + statistics.median(run)) / 2
        weights = [(1 - FADE) ** age * kept for age, (kept, _, _) in enumerate(past)]
        explained = 2 * sum(weights) + tuning.margin * math.sqrt(2 * sum(weights))
        missed = [sum(weight * each[which] for weight, each in zip(weights, past, strict=True)) for which in (1, 2)]
        gains = [max(0.0, 1 - explained / each) if each > 0 else 0.0 for each in missed]
        value = released[-1] if released else seen
        guess = share * (level + gains[0] * (seen - level))
        guess += (1 - share) * (value + max(gains[1], FOLLOWING) * (seen - value))
        released.append(stays * guess + (1 - stays) * seen)
    return released


def clamped(value: float, bound: float) -> float:
    return min(max(value, -bound), bound)


def logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))


LAWS = [Law.laplace(Fraction(1, 10)), Law.laplace(Fraction(1)), Law.laplace(Fraction(5)), Law.gaussian(Fraction(30))]


@given(
    st.lists(st.integers(-30, 30), max_size=80),
    st.integers(0, 60),
    st.sampled_from(LAWS),
    st.sampled_from([*TUNINGS.values()]),
)
def test_released_values_are_as_defined(noisy: list[int], step: int, law: Law, tuning: Tuning) -> None:
    noisy = [*noisy, *(value + step for value in noisy)]
    values, *_ = Run(law, tuning).advance(noisy, Ticks.none())
    np.testing.assert_allclose(values, reference(noisy, law, tuning), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("tuning", TUNINGS.values())
def test_released_values_are_as_defined_past_the_window(tuning: Tuning) -> None:
    noisy = Laplace(1, bits=seeded(1)).run([40] * 900).tolist() + [70] * 30 + [0] * 300
    values, _, lengths, _ = Run(LAWS[1], tuning).advance(noisy, Ticks.none())
    np.testing.assert_allclose(values, reference(noisy, LAWS[1], tuning), rtol=1e-6, atol=1e-6)
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
    again = [Run(stream.law).advance(column, Ticks.none())[0] for column in stream.trace.noisy.T.tolist()]
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


@pytest.mark.parametrize("fine", [True, False])
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", STREAMS)
def test_errors_are_as_small_as_the_prototypes(name: str, epsilon: float, fine: bool) -> None:
    """Bits and streams are fixed. Four standard errors of a mean of 30 streams that are drawn anew."""
    found = errors("segment", drawn(name, 30), epsilon, fine=fine, bits=seeded(3))
    assert found.mean() <= figure(name, "segment", epsilon) + 4 * found.std(ddof=1) / math.sqrt(30)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", STREAMS)
def test_pegasus_errs_as_published_within_a_tenth(name: str, epsilon: float) -> None:
    """On 64ths of a count, because the figures are for continuous noise; bits and streams are fixed."""
    found = errors("published", drawn(name, 30), epsilon, fine=True, bits=seeded(3))
    assert abs(found.mean() / figure(name, "published", epsilon) - 1) < 0.1


@pytest.mark.parametrize("name", STREAMS | OTHERS)
def test_segments_err_less_than_pegasus_as_published_and_no_more_than_the_better_split(name: str) -> None:
    counts = drawn(name, 20)
    for epsilon in EPSILONS:
        means = {each: errors(each, counts, epsilon, bits=seeded(4)).mean() for each in MECHANISMS}
        assert means["segment"] < 0.95 * means["published"]
        assert means["segment"] < 1.1 * means["optimal"]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", STREAMS | OTHERS)
def test_bands_hold_about_as_often_as_they_say(name: str, epsilon: float) -> None:
    """Not much less, and not always, which would be too wide; bits and streams are fixed."""
    counts = drawn(name, 20)
    stream = Segment(epsilon, 20, bits=seeded(5))
    off = np.abs(stream.run(counts) - counts)
    assert stream.trace.variances is not None
    deviations = np.sqrt(stream.trace.variances)
    assert 0.95 <= np.mean(off <= deviations * stream.factor(Fraction(19, 20))) <= 0.998
    assert 0.74 <= np.mean(off <= deviations * stream.factor(Fraction(4, 5))) <= 0.99


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", ["daily Poisson", "lecture blocks", "filling hall", "commuters", "queue", "decays"])
def test_bands_hold_nearly_as_often_where_anybody_is(name: str, epsilon: float) -> None:
    """Empty places are easy, and would make up for the others; bits and streams are fixed."""
    counts = drawn(name, 20)
    stream = Segment(epsilon, 20, bits=seeded(5))
    off = np.abs(stream.run(counts) - counts)
    assert stream.trace.variances is not None
    inside = off <= np.sqrt(stream.trace.variances) * stream.factor(Fraction(19, 20))
    assert inside[counts > 0].mean() >= 0.94


def test_the_band_of_the_last_tick_is_that_of_its_trace() -> None:
    stream = Segment(1, 20, bits=seeded(9))
    stream.run(drawn("daily Poisson", 20)[:70])
    assert stream.trace.variances is not None
    np.testing.assert_allclose(stream.variances(), stream.trace.variances[-1])


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": Fraction(1, 4)}])
def test_a_jump_is_seen_at_once_and_makes_no_value_worse_for_long(price: dict[str, Any]) -> None:
    """Mean error of 500 regions; bits are fixed."""
    stream = Segment(regions=500, bits=seeded(7), **price)
    counts = np.repeat([50, 66], 200)[:, None].repeat(500, axis=1)
    error = np.abs(stream.run(counts) - counts).mean(axis=1)
    assert error[199] < 0.4 * stream.scale
    assert error[200] < 1.3 * stream.scale
    assert error[230] < 0.5 * stream.scale


def test_a_single_outlier_does_not_hold_on() -> None:
    noisy = Laplace(1, bits=seeded(8)).run([40] * 200).tolist()
    noisy[150] += 60
    values = Run(LAWS[1]).advance(noisy, Ticks.none()).values
    assert values[150] > 90
    assert max(abs(value - 40) for value in values[151:]) < 5


def test_a_run_is_never_longer_than_its_window() -> None:
    """Also where the sum that alarms has been above zero for longer than that."""
    run = Run(LAWS[0], Tuning(clip=4.0, drift=0.1, alarm=6.0, window=3, margin=2.0))
    lengths = run.advance([3 * tick for tick in range(100)], Ticks.none()).lengths
    assert max(lengths) == 3


def test_a_band_narrows_where_counts_hold_still_and_is_never_wider_than_that_of_the_noise() -> None:
    still, moving = Segment(1, 100, bits=seeded(6)), Segment(1, 100, bits=seeded(6))
    still.run(np.full((500, 100), 50))
    moving.run(np.tile([[0], [90]], (250, 100)))
    widest = Laplace(1).band(0.95)
    assert still.band(0.95).mean() < 0.6 * widest
    np.testing.assert_allclose(moving.band(0.95), widest + BESIDE)
    np.testing.assert_allclose(Segment(1).band(0.95), widest + BESIDE)


@pytest.mark.parametrize("level", [0, 0.5, 1, math.nan, "x", None])
def test_a_band_of_no_level_is_refused(level: object) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        Segment(1).band(level)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [Fraction(1, 2**40), 100, 4096])
def test_any_price_works(epsilon: Fraction) -> None:
    stream = Segment(epsilon)
    assert np.isfinite(stream.run([5, 2**52, 0, 7])).all()
    assert np.isfinite(stream.band(0.95)).all()
