"""Each comparison with a law has the false-alarm probability `laws.FALSE_ALARM`, 1e-9; this file makes under 10."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import LouverError
from louver.privacy import Approximate
from louver.stream.smooth_quantile import Ladder, SmoothQuantile, _steepest, ladder
from louver.stream.smooth_sensitivity import Spread, rung
from tests.misuse import NOT_POSITIVE
from tests.noise.laws import assert_follows, assert_rejects, laplace_reaches
from tests.stream.picked import hockey_stick, replaced
from tests.stream.real_bits import seeded

MISS = Fraction(3, 500)
EVEN = np.arange(0, 100)


def found(public: Ladder, values: tuple[int, ...], k: int, high: int, noise: float) -> tuple[float, float]:
    """Centre and scale, in fine steps, of what `find` rounds; at such rates noise is all but continuous."""
    spread = Spread(np.array(values), k, high)
    at = rung(spread, public.tops)
    centre = public.fineness * spread.value + int(public.offsets[at])
    return float(centre), noise * int(public.spans[at]) / float(public.half)


def worst_delta(epsilon: Fraction, delta: Fraction, noise: float = 1.0) -> float:
    high, size, k = 3, 4, 3
    public = ladder(epsilon, delta, high, MISS)
    pairs = [[found(public, each, k, high, noise) for each in pair] for pair in replaced(size, high)]
    return max(max(hockey_stick(a, b, float(epsilon)), hockey_stick(b, a, float(epsilon))) for a, b in pairs)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1, Fraction(1, 10**4)), (Fraction(1, 5), Fraction(1, 10**6)), (4, Fraction(1, 10**9))]
)
def test_neighbours_are_within_epsilon_and_delta_and_not_with_half_the_noise(
    epsilon: Fraction, delta: Fraction
) -> None:
    assert worst_delta(Fraction(epsilon), delta) <= float(delta) * (1 + 1e-4)
    assert worst_delta(Fraction(epsilon), delta, noise=0.5) > float(delta)


def test_the_stated_delta_is_that_of_one_step_on_the_ladder() -> None:
    public = ladder(Fraction(1), Fraction(1, 10**6), 1000, MISS)
    ratio = float(public.growth)
    one_step = hockey_stick((0.0, ratio), (0.0, 1.0), float(public.half))
    assert one_step == pytest.approx(float(public.delta), rel=1e-4)
    assert hockey_stick((0.0, 1.0), (0.0, ratio), float(public.half)) == 0


BREAKS: list[Callable[[Ladder], Ladder]] = [
    lambda public: dataclasses.replace(public, spans=public.spans // 2),
    lambda public: dataclasses.replace(public, offsets=public.offsets * 2),
    lambda public: dataclasses.replace(public, tops=public.tops * 2),
    lambda public: dataclasses.replace(public, half=public.half / 2),
    lambda public: Ladder(public.half, public.fineness, public.tops[::2], public.spans[::2], public.offsets[::2]),
]


@pytest.mark.parametrize("spoiled", BREAKS)
def test_a_ladder_that_does_not_keep_its_promise_is_told(spoiled: Callable[[Ladder], Ladder]) -> None:
    delta = Fraction(1, 10**9)
    public = ladder(Fraction(1), delta, 1000, MISS)
    assert public.keeps(delta)
    assert not spoiled(public).keeps(delta)


@given(
    st.fractions(Fraction(1, 20), 8),
    st.integers(2, 40).map(lambda places: Fraction(1, 2**places)),
    st.integers(1, 2**20),
)
def test_every_ladder_that_is_made_keeps_its_promise(epsilon: Fraction, delta: Fraction, high: int) -> None:
    public = ladder(epsilon, delta, high, MISS)
    assert public.keeps(delta)
    assert public.tops[-1] == high
    assert (np.diff(public.tops) >= 0).all()


def test_the_falloff_is_steeper_than_the_published_one() -> None:
    delta = 1 / 250_000**2
    quantile = math.log(1 / 0.012)
    assert _steepest(0.4, delta, quantile) > 1.2 * 0.8 / (2 * math.log(2 / delta))


@functools.cache
def released(factor: Fraction = Fraction(1)) -> tuple[SmoothQuantile, np.ndarray]:
    asked = SmoothQuantile(Fraction(4), Fraction(1, 1000), 400, share=Fraction(1, 2), factor=factor)
    bits = seeded(1)
    return asked, np.array([asked.find(EVEN, bits=bits) for _ in range(4000)])


def law_of(asked: SmoothQuantile, noise: float = 1.0) -> Callable[[int], float]:
    public = asked._ladder
    spread = Spread(EVEN, 50, asked.high)
    at = rung(spread, public.tops)
    centre = public.fineness * spread.value + int(public.offsets[at])
    reaches = laplace_reaches(float(public.half) / (noise * int(public.spans[at])))

    def at_least(value: int) -> float:
        if value <= 1:
            return 1.0
        return 0.0 if value > asked.high else reaches(public.fineness * (value - 1) + 1 - centre)

    return lambda value: at_least(value) - at_least(value + 1)


def test_thresholds_follow_the_law_of_the_noise_and_not_of_half_of_it() -> None:
    asked, drawn = released()
    assert_follows(drawn, law_of(asked))
    assert_rejects(drawn, law_of(asked, noise=0.5))


def test_the_quantile_is_missed_as_rarely_as_stated() -> None:
    """Of 4000, 24 are expected below; more than 70 come with probability under 1e-9."""
    _, drawn = released()
    assert (drawn < EVEN[49]).sum() <= 70


def test_a_factor_stretches_the_threshold() -> None:
    _, plain = released()
    _, stretched = released(Fraction(3, 2))
    assert np.median(stretched) > 1.3 * np.median(plain)


def test_the_price_is_approximate() -> None:
    assert SmoothQuantile(Fraction(1), Fraction(1, 10**9), 100).price == Approximate(1, Fraction(1, 10**9))


@pytest.mark.parametrize("values", [[0] * 50, [10**6] * 50, [-5, 3, 2**62], [7]])
def test_any_values_give_a_threshold_within_bounds(values: list[int]) -> None:
    assert 1 <= SmoothQuantile(Fraction(1), Fraction(1, 10**6), 100).find(np.array(values)) <= 100


@pytest.mark.parametrize("epsilon", NOT_POSITIVE)
def test_an_epsilon_that_is_none_is_refused(epsilon: object) -> None:
    with pytest.raises(LouverError, match=r"\.$"):
        SmoothQuantile(epsilon, Fraction(1, 100), 100)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        {"delta": 0},
        {"delta": 1},
        {"high": 0},
        {"high": 2**60},
        {"share": 0},
        {"factor": 0.5},
        {"miss": 0.5},
        {"high": 2**40},
    ],
)
def test_other_absurd_parameters_are_refused(wrong: dict[str, object]) -> None:
    given = {"epsilon": Fraction(1, 10), "delta": Fraction(1, 10**6), "high": 100, **wrong}
    with pytest.raises(LouverError, match=r"\.$"):
        SmoothQuantile(**given)  # type: ignore[arg-type]


def test_no_values_are_refused() -> None:
    with pytest.raises(LouverError, match="There must be values"):
        SmoothQuantile(Fraction(1), Fraction(1, 100), 100).find(np.array([], dtype=np.int64))
