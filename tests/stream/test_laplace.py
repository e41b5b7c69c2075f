"""Fresh noise: its law, its price on neighbouring streams, and its band, which is a promise."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from louver.errors import ParameterError
from louver.stream.laplace import Laplace, reach
from tests.decide.auditor import audited
from tests.noise.laws import assert_follows, assert_rejects, laplace
from tests.stream.smoothing import halve_noise, seeded


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(1, 1), (Fraction(1, 4), 1), (2, 5)])
def test_the_noise_is_discrete_laplace_of_epsilon_over_sensitivity(epsilon: Fraction, sensitivity: int) -> None:
    rate = float(epsilon) / sensitivity
    stream = Laplace(epsilon, 100, sensitivity=sensitivity, bits=seeded(1))
    noise = (stream.run(np.full((1000, 100), 50)) - 50).ravel()
    assert_follows(noise, laplace(rate))
    assert_rejects(noise, laplace(1.1 * rate))


def test_an_audit_of_neighbouring_streams_finds_no_more_than_the_price_and_does_at_half_the_noise() -> None:
    """False alarm: 1e-6."""

    seeds = itertools.count()

    def draw(neighbour: bool) -> Counter[object]:
        stream = Laplace(Fraction(1, 2), 100_000, bits=seeded(next(seeds)))
        released = stream.run(np.tile([[3], [4 + neighbour], [5]], (1, 100_000)))
        return Counter(zip(*np.clip(released - [[3], [4], [5]], -2, 2).tolist(), strict=True))

    assert audited(draw, lambda _: Fraction(1, 2)) <= 0  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        halve_noise(patch)
        assert audited(draw, lambda _: Fraction(1, 2)) > 0  # type: ignore[arg-type]


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1), Fraction(5, 2)])
@pytest.mark.parametrize("share", [Fraction(1, 40), Fraction(1, 20), Fraction(1, 1000)])
def test_reach_is_the_least_distance_that_noise_passes_so_rarely(rate: Fraction, share: Fraction) -> None:
    a = math.exp(-rate)
    found = reach(rate, share)
    assert a ** (found + 1) / (1 + a) <= share
    assert found == 0 or a**found / (1 + a) > share


def test_a_band_holds_at_least_as_often_as_it_says() -> None:
    """The exact probability is 1 - 2 a^(s+1)/(1+a) = 0.9633; 200,000 ticks stay above 0.96 but for 1e-14."""
    stream = Laplace(1, 200, bits=seeded(4))
    released = stream.run(np.full((1000, 200), 9))
    assert stream.band(0.96) == 3 == stream.band(0.95)
    assert 0.96 < (np.abs(released - 9) <= stream.band(0.95)).mean() < 0.9803


@pytest.mark.parametrize("level", [0, 1, -1, math.nan, "x"])
def test_a_band_of_no_level_is_refused(level: object) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        Laplace(1).band(level)  # type: ignore[arg-type]
