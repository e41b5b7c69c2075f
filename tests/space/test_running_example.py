"""The running example of Maruseac et al. (Figure 2), with the noise that its numbers imply.

Level share 0.2, count share 0.5, epsilon 1.6. Eight readings lie 2, 1, 2 and 3 to a quarter. The noisy root is 14, and
the noisy quarters are 9, 2, 6 and -2; those with 9 and 6 are split, the others end, because 2 is not above N_t = 2.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from louver.space.decomposition import Decomposition
from louver.space.field import Field
from louver.space.measure import Price
from louver.space.released import Map
from tests.space.fields import script_noise, watch_looks

QUARTERS = {(25, 25): 2, (75, 25): 1, (25, 75): 2, (75, 75): 3}
STRUCTURE = Decomposition(
    Fraction(8, 5), depth=2, level_share=Fraction(1, 5), non_uniformity=5.05, stop="count", least=2
)
# Counts and sums of each look: the root, the quarters, the second look at those that end, and the 16ths.
NOISE = [[6], [0], [7, 1, 4, -5], [0] * 4, [1, -1], [0] * 2, [1, 0, -1, 2, 0, 1, 1, 0], [0] * 8]


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[tuple[np.ndarray[tuple[int, int], np.dtype[np.int64]], Price]]:
    left = script_noise(monkeypatch, NOISE)
    seen = watch_looks(monkeypatch)
    example()
    assert next(left, None) is None, "all of the noise is used"
    return seen


def example() -> Map:
    places = [place for place, count in QUARTERS.items() for _ in range(count)]
    x, y = np.array(places, dtype=np.float64).T
    return STRUCTURE.release(Field.of(x, y, np.zeros(8), (0, 0, 100, 100), high=100, atoms=4))


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> Map:
    script_noise(monkeypatch, NOISE)
    return example()


def test_the_levels_pay_what_the_paper_says(
    looks: list[tuple[np.ndarray[tuple[int, int], np.dtype[np.int64]], Price]],
) -> None:
    """0.16, 0.128 and 0.512 for the counts; a node that ends has 0.512 left for its second look."""
    assert [price.counts for _, price in looks] == [Fraction(each) for each in ("0.16", "0.128", "0.512", "0.512")]
    assert [len(rectangles) for rectangles, _ in looks] == [1, 4, 2, 8]


def test_the_noisy_tree_is_that_of_figure_2a(released: Map) -> None:
    assert released.noisy.counts[0] == 14
    assert released.noisy.counts[[1, 3]].tolist() == [9, 6]
    assert [np.count_nonzero(released.parents == quarter) for quarter in range(1, 5)] == [4, 0, 4, 0]


def spread(rate: float) -> float:
    return 2 * math.exp(-rate) / (1 - math.exp(-rate)) ** 2


def averaged(first: float, first_spread: float, second: float, second_spread: float) -> tuple[float, float]:
    """Equation 6, and the variance of what it gives."""
    both = first_spread + second_spread
    return (first * second_spread + second * first_spread) / both, first_spread * second_spread / both


def test_estimates_are_the_weighted_averages_made_consistent(released: Map) -> None:
    quarter, sixteenth = spread(0.128), spread(0.512)
    assert released.noisy.counts[2] == pytest.approx(averaged(2, quarter, 2, sixteenth)[0], abs=1e-6)
    assert released.noisy.counts[4] == pytest.approx(averaged(-2, quarter, 2, sixteenth)[0], abs=1e-6)
    up = [
        averaged(9, quarter, sum(released.noisy.counts[5:9]), 4 * sixteenth),
        averaged(2, quarter, 2, sixteenth),
        averaged(6, quarter, sum(released.noisy.counts[9:13]), 4 * sixteenth),
        averaged(-2, quarter, 2, sixteenth),
    ]
    total, total_spread = sum(value for value, _ in up), sum(variance for _, variance in up)
    root, _ = averaged(14, spread(0.16), total, total_spread)
    assert released.counts[0] == pytest.approx(root)
    for estimate, (value, variance) in zip(released.counts[1:5], up, strict=True):
        assert estimate == pytest.approx(value + variance / total_spread * (root - total), abs=1e-6)
    assert released.counts[5:9].sum() == pytest.approx(released.counts[1])
    assert np.ptp(released.counts[5:9] - released.noisy.counts[5:9]) == pytest.approx(0, abs=1e-9)


def test_the_root_has_four_children_by_equation_12() -> None:
    assert math.sqrt(1.6 * 5.05 / math.sqrt(2) * 0.25 * 0.8 * 14) == pytest.approx(4, abs=0.01)
