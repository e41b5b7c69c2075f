"""Counts, sums and averages of rectangles: right on average, and as far off as they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from louver.errors import ParameterError
from louver.privacy import Pure
from louver.space.bounds import Bounds
from louver.space.cut import Cut
from louver.space.decomposition import Decomposition
from louver.space.field import Field, scale
from louver.space.measure import Measured
from louver.space.regions import _inside_bounds, region
from louver.space.released import Map
from louver.space.structure import Structure
from louver.space.two_level import TwoLevel
from tests.space.fields import SQUARE, bump, no_noise, seeded

RUNS = 300


@pytest.mark.parametrize(
    "structure", [Decomposition(1), Decomposition(1, stop="count", least=600), TwoLevel(1, readings=4000), Cut(1)]
)
def test_errors_are_as_large_as_stated(structure: Structure) -> None:
    """Over 300 maps, count, sum and average in multiples of their errors have mean 0 and variance 1.

    What is compared with is the truth of the leaves. Means within 5/sqrt(300); variances of 300 numbers of kurtosis at
    most 6 within 6 sqrt(5/300), 0.77.
    """
    field = bump(4000, atoms=16)
    rectangle = (0, 0, 45, 70)
    scores = []
    for seed in range(RUNS):
        released = structure.release(field, bits=seeded(seed))
        parts = _inside_bounds(released, Bounds.of(rectangle))
        count, total = (parts @ each for each in field.totals(released.rectangles[released.tree.leaves]))
        found = region(released, rectangle)
        scores.append(
            [
                (found.count.value - count) / found.count.error,
                (found.total.value - total / 16) / found.total.error,
                (found.average.value - total / 16 / count) / found.average.error,
            ]
        )
    assert np.abs(np.mean(scores, axis=0)).max() < 5 / math.sqrt(RUNS)
    assert np.abs(np.var(scores, axis=0) - 1).max() < 0.77


def test_an_average_is_as_unsure_as_its_count_and_its_sum() -> None:
    """40 readings that sum to 1,200: 30 each. To first order the variance is (900 v_n + v_s) / 1,600."""
    noisy = Measured(np.array([40.0]), np.array([1200.0]), np.array([4.0]), np.array([100.0]))
    square = np.array([[0, 0, 4, 4]])
    one = Map("test", Pure(1), Bounds(0, 0, 1, 1), 4, 4, scale(0, 100, 1), 0, square, np.array([-1]), noisy)
    assert region(one).average.value == pytest.approx(30)
    assert region(one).average.error == pytest.approx(math.sqrt((900 * 4 + 100) / 1600))
    assert region(one).total.error == pytest.approx(10)


def test_without_noise_everything_has_the_true_average(monkeypatch: pytest.MonkeyPatch) -> None:
    no_noise(monkeypatch)
    field = Field.of([5.0, 95.0], [5.0, 95.0], [-10.0, 30.0], SQUARE, low=-50, high=50, atoms=8, step=1)
    found = region(Decomposition(1, centred=True).release(field))
    assert found.count.value == pytest.approx(2)
    assert found.total.value == pytest.approx(20)
    assert found.average.value == pytest.approx(10)


def test_part_of_a_leaf_counts_in_proportion(monkeypatch: pytest.MonkeyPatch) -> None:
    no_noise(monkeypatch)
    whole = Decomposition(1, depth=0).release(bump(1000, atoms=4))
    quarter = region(whole, (0, 0, 50, 50))
    assert quarter.count.value == pytest.approx(250)
    assert quarter.count.error == pytest.approx(region(whole).count.error / 4)
    assert quarter.average.value == pytest.approx(region(whole).average.value)


def test_bounds_may_reach_beyond_the_map() -> None:
    released = Decomposition(1).release(bump(1000), bits=seeded(1))
    assert region(released, Bounds(-50, -50, 500, 500)).count.value == pytest.approx(region(released).count.value)


def test_a_rectangle_outside_the_map_is_refused() -> None:
    released = Decomposition(1).release(bump(1000), bits=seeded(1))
    with pytest.raises(ParameterError, match="outside the map"):
        region(released, (100, 100, 200, 200))


def test_the_average_of_nobody_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    no_noise(monkeypatch)
    found = region(Decomposition(1).release(bump(0)))
    assert math.isnan(found.average.value)
    assert found.average.error == math.inf
