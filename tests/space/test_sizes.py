"""How fine each structure is: the formulas of the papers, on noise that is scripted."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from louver.space.adaptive import Adaptive
from louver.space.cut import Cut, count_share_for
from louver.space.decomposition import Decomposition
from louver.space.measure import Price
from louver.space.released import Map
from louver.space.two_level import TwoLevel
from louver.space.uniform import Uniform
from tests.space.fields import bump, no_noise

FIELD = bump(0, atoms=256)


def side(released: Map) -> int:
    """The columns of the first grid."""
    return len(np.unique(released.rectangles[released.parents < 0][:, 0]))


@pytest.mark.parametrize(("readings", "epsilon", "constant"), [(10_000, 1, 1), (50_000, 0.1, 1), (50_000, 1, 0.05)])
def test_a_uniform_grid_is_sized_by_equation_3(readings: int, epsilon: float, constant: float) -> None:
    expected = math.sqrt(epsilon * constant / math.sqrt(2) * 0.25 * (readings + 0.3 * readings))
    made = Uniform(epsilon, readings=readings, mean_share=0.3, non_uniformity=constant).release(FIELD)
    assert side(made) == math.floor(expected + 0.5)


def test_a_grid_is_never_finer_than_the_atoms() -> None:
    assert side(Uniform(10, readings=10**9, non_uniformity=10).release(bump(0, atoms=16))) == 16


def test_two_grids_are_sized_by_equations_10_and_11(monkeypatch: pytest.MonkeyPatch) -> None:
    no_noise(monkeypatch)
    field = bump(4000, atoms=256)
    released = TwoLevel(2, readings=4000, mean_share=0, level_share=Fraction(1, 5), non_uniformity=0.4).release(field)
    cells = np.flatnonzero(released.tree.levels == 0)
    factor = 2 * 0.4 / math.sqrt(2) * 0.25
    assert len(cells) == round(math.sqrt(factor * 0.2 * 4000)) ** 2
    counts, sums = field.totals(released.rectangles[cells])
    for cell, count, total in zip(cells, counts, sums, strict=True):
        expected = math.floor(math.sqrt(factor * 0.8 * (count + total / field.span)) + 0.5)
        assert np.count_nonzero(released.parents == cell) == (expected**2 if expected > 1 else 0)


def test_an_adaptive_grid_is_sized_by_its_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """N = 160,000 at epsilon 1: ceil(sqrt(16,000) / 4) = 32 columns; 5,000 give the least, 10."""
    assert side(Adaptive(1, readings=160_000).release(FIELD)) == 32
    assert side(Adaptive(1, readings=5000).release(FIELD)) == 10
    no_noise(monkeypatch)
    field = bump(5000, atoms=256)
    released = Adaptive(1, readings=5000).release(field)
    for cell, count in enumerate(field.totals(released.rectangles[:100])[0].tolist()):
        expected = math.ceil(math.sqrt(count * 0.5 / 5))
        assert np.count_nonzero(released.parents == cell) == (expected**2 if expected > 1 else 0)


@pytest.mark.parametrize(
    ("readings", "epsilon", "expected"), [(10_000, 0.1, 8), (10_000, 1, 18), (50_000, 1, 40), (10**6, 1, 50)]
)
def test_a_cut_has_0_18_sqrt_n_epsilon_columns_from_8_to_50(readings: int, epsilon: float, expected: int) -> None:
    assert side(Cut(epsilon, readings=readings).release(FIELD)) == expected


def test_the_counts_share_for_a_threshold_makes_the_decision_scatter_least() -> None:
    """var = 2 (1/2)^2 / (1-b)^2 + 2 (T-C)^2 / b^2 in multiples of the range."""

    def spread(share: float, threshold: float) -> float:
        return 0.25 / (1 - share) ** 2 + (threshold / 100 - 0.5) ** 2 / share**2

    for threshold in (10, 30, 60, 80, 95):
        best = float(count_share_for(threshold, high=100))
        least = min(spread(share, threshold) for share in np.linspace(0.01, 0.99, 9801))
        assert spread(best, threshold) == pytest.approx(least, rel=1e-4)
    assert count_share_for(50, high=100) == Fraction(1, 20)
    assert count_share_for(-10, low=-20, high=0) == count_share_for(50, high=100)


def test_sizing_totals_that_are_not_public_are_paid_for() -> None:
    above, grid = Uniform(1).levels
    assert above == Price(Fraction(1, 40), Fraction(1, 40))
    assert grid == Price(Fraction(19, 40), Fraction(19, 40))


def test_a_decomposition_splits_each_node_by_equation_12(monkeypatch: pytest.MonkeyPatch) -> None:
    no_noise(monkeypatch)
    field = bump(20_000, atoms=256)
    released = Decomposition(1, depth=3).release(field)
    counts, sums = field.totals(released.rectangles)
    for node, level in enumerate(released.tree.levels.tolist()):
        weight = float(counts[node] + sums[node] / field.span)
        children = math.sqrt(0.8**level * 0.1 / math.sqrt(2) * 0.25 * 0.8 * weight)
        expected = max(2, math.floor(math.sqrt(children) + 0.5)) ** 2 if children >= 2 and level < 3 else 0
        assert np.count_nonzero(released.parents == node) == expected
    assert released.depth == 3
