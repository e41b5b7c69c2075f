"""The prototypes' figures, in small: Jaccard's index of heatmaps of a bump. The bench has all of them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from bench.maps import BY_MEANS, COLUMNS, FIGURES, ROWS, apart, bump, scores

from tests.space.fields import seeded

RUNS = 8


@pytest.mark.parametrize("row", [2, 5], ids=["10,000 readings", "50,000 readings"])
def test_figures_are_those_of_the_prototypes_within_4_standard_errors(row: int) -> None:
    """Seeded, so that a red run is a change in the code."""
    found = scores(bump, *ROWS[row], RUNS, columns=COLUMNS, bits=seeded(1))
    for place, (column, figure) in enumerate(zip(COLUMNS, FIGURES[row], strict=True)):
        assert not apart(found[:, place], column, figure, row), (column, figure, found[:, place].mean())


def test_the_comparison_can_fail() -> None:
    """A twentieth of the budget gives other figures."""
    found = scores(bump, 50_000, Fraction(1, 20), RUNS, columns=["U .05", "cut"], bits=seeded(2))
    assert apart(found[:, 0], "U .05", 0.79, 5)
    assert apart(found[:, 1], "cut", 0.85, 5)


def test_centred_sums_read_by_their_means_find_as_much_as_a_cut() -> None:
    """Means over 8 runs scatter by 0.01."""
    cut, *means = scores(bump, 50_000, Fraction(1), RUNS, columns=["cut", *BY_MEANS], bits=seeded(3)).mean(axis=0)
    assert min(means) > cut - 0.04
