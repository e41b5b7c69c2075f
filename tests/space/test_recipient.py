"""What a recipient does with a map: votes, averages and probabilities for any grid and threshold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from louver.errors import ParameterError
from louver.privacy import Pure
from louver.space import evidence
from louver.space.bounds import Bounds
from louver.space.cut import Cut
from louver.space.decomposition import Decomposition
from louver.space.field import Field, scale
from louver.space.measure import Measured
from louver.space.recipient import averages, heatmap, posterior
from louver.space.released import Map
from louver.space.uniform import Uniform
from tests.space.fields import SQUARE, bump, no_noise, seeded


def handmade(
    rectangles: list[list[int]], parents: list[int], counts: list[float], averages: list[float], atoms: int = 4
) -> Map:
    """A map whose noisy counts and averages are given, of values from 0 to 100 in steps of 1."""
    sums = np.array(counts) * np.array(averages)
    spread = np.full(len(counts), 1e-9)
    noisy = Measured(np.array(counts, dtype=np.float64), sums, spread, spread)
    bounds = Bounds(0, 0, 100, 100)
    return Map(
        "test", Pure(1), bounds, atoms, atoms, scale(0, 100, 1), 0, np.array(rectangles), np.array(parents), noisy
    )


def nested(counts: list[float], sums: list[float]) -> Map:
    """Three levels of which the cell in the south-west corner lies in one node each, and their estimates."""
    west = [[0, 0, 4, 4], [0, 0, 2, 4], [2, 0, 4, 4], [0, 0, 1, 4], [1, 0, 2, 4]]
    spread = np.full(5, 1.0)
    made = handmade(west, [-1, 0, 0, 1, 1], [1.0] * 5, [1.0] * 5)
    made.__dict__.update(counts=np.array(counts), sums=np.array(sums))
    assert len(made.tree.levels) == len(spread)
    return made


# Figure 3 of Maruseac et al.: averages 35, 85 and 100 on the path of the cell; the nodes beside it are cool.
FIGURE_3 = nested([30, 20, 10, 8, 12], [1050, 1700, 0, 800, 0])


@pytest.mark.parametrize(("rule", "expected"), [("one vote", True), ("two votes", True), ("majority", True)])
def test_the_cell_of_figure_3_gets_two_votes_of_three(rule: str, expected: bool) -> None:
    assert heatmap(FIGURE_3, 80, 4, rule=rule)[0, 0] == expected


def test_votes_are_counted_level_by_level() -> None:
    """At a threshold of 90 only the deepest level says yes."""
    assert [bool(heatmap(FIGURE_3, 90, 4, rule=rule)[0, 0]) for rule in ("one vote", "two votes", "majority")] == [
        True,
        False,
        False,
    ]


def test_a_level_with_no_readings_abstains() -> None:
    """The deepest level says nothing, and one of two is no majority; with the root silent too, one of one is."""
    silent = nested([30, 20, 10, -1, 21], [1050, 1700, 0, 800, 0])
    assert heatmap(silent, 80, 4, rule="one vote")[0, 0]
    assert not heatmap(silent, 80, 4, rule="two votes")[0, 0]
    assert not heatmap(silent, 80, 4, rule="majority")[0, 0]
    alone = nested([0, 20, 10, -1, 21], [1050, 1700, 0, 800, 0])
    assert heatmap(alone, 80, 4, rule="majority")[0, 0]


def test_a_leaf_votes_once() -> None:
    """The eastern half is a leaf of level 1: with the root it has two voters, not three."""
    warm = nested([30, 20, 10, 8, 12], [0, 0, 1000, 0, 0])
    assert heatmap(warm, 80, 4, rule="one vote")[0, 3]
    assert not heatmap(warm, 80, 4, rule="two votes")[0, 3]
    assert not heatmap(warm, 80, 4, rule="majority")[0, 3]


def test_a_cell_over_two_leaves_takes_each_in_proportion() -> None:
    """Half of a leaf with 20 readings at 90 and a quarter of one with 8 at 30: 10 and 2, on average 80."""
    halves = handmade([[0, 0, 2, 4], [2, 0, 4, 4]], [-1, -1], [20, 8], [90, 30])
    assert averages(halves, 1)[0, 0] == pytest.approx((20 * 90 + 8 * 30) / 28)
    odd = handmade([[0, 0, 1, 4], [1, 0, 4, 4]], [-1, -1], [20, 12], [90, 30])
    assert averages(odd, 2, 1)[0, 0] == pytest.approx((20 * 90 + 4 * 30) / 24)
    assert averages(odd, 2, 1)[0, 1] == pytest.approx(30)


def test_a_cell_may_be_read_at_its_centre() -> None:
    odd = handmade([[0, 0, 1, 4], [1, 0, 4, 4]], [-1, -1], [20, 12], [90, 30])
    assert heatmap(odd, 60, 2, 1).tolist() == [[True, False]]
    assert heatmap(odd, 60, 2, 1, read="centre").tolist() == [[False, False]]


def test_rows_go_from_south_to_north() -> None:
    north = handmade([[0, 0, 4, 2], [0, 2, 4, 4]], [-1, -1], [9, 9], [10, 90])
    assert heatmap(north, 50, 1, 2).tolist() == [[False], [True]]


def test_without_noise_a_fine_grid_gives_the_true_heatmap(monkeypatch: pytest.MonkeyPatch) -> None:
    no_noise(monkeypatch)
    field = bump(20_000, atoms=64)
    released = Uniform(1, readings=10**6, centred=True).release(field)
    truth = field.sums > 80 * 16 * field.counts
    assert truth.any()
    assert np.array_equal(heatmap(released, 80, 64, sure=0), truth)


def test_any_lowest_value_gives_the_same_heatmap(monkeypatch: pytest.MonkeyPatch) -> None:
    no_noise(monkeypatch)
    x, y, value = np.random.default_rng(1).uniform(0, 100, (3, 5000))
    maps = [
        Uniform(1, readings=5000).release(
            Field.of(x, y, value + low, SQUARE, low=low, high=100 + low, atoms=32, step=1)
        )
        for low in (0, -40)
    ]
    plain, shifted = (heatmap(each, 50 + low, 20) for each, low in zip(maps, (0, -40), strict=True))
    assert np.array_equal(plain, shifted)
    assert plain.any()
    assert not plain.all()


def test_where_nobody_is_nothing_is_flagged() -> None:
    """Of 1,600 empty cells noise would flag a part; 3 standard errors of Laplace noise are passed by 0.7%."""
    empty = Cut(1, readings=50_000).release(bump(0), bits=seeded(1))
    assert 0.1 < heatmap(empty, 60, 40, sure=0).mean() < 0.6
    assert heatmap(empty, 60, 40).mean() < 0.02


def test_an_outline_does_not_reach_where_nobody_is() -> None:
    empty = Cut(1, readings=50_000).release(bump(0), bits=seeded(1))
    assert heatmap(empty, 45, 40, rule="cut", sure=0).mean() > 0.1
    assert heatmap(empty, 45, 40, rule="cut").mean() < 0.02


def test_the_posterior_is_right_about_the_noise() -> None:
    """Cells said to be above with probability p are, in p of the cases, when nothing is known beforehand.

    40,000 cells with averages spread evenly, and far, around the threshold; within 5 standard errors and 0.01.
    """
    side = 200
    sums = 2000 + np.random.default_rng(1).integers(-700, 701, (side, side))
    field = Field(np.full_like(sums, 40), sums, SQUARE, scale(0, 100, 1))
    released = Uniform(1, readings=10**9, centred=True).release(field, bits=seeded(2))
    believed, above = posterior(released, 50, side), sums > 2000
    for low, high in ((0.05, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 0.95)):
        group = (believed >= low) & (believed < high)
        error = 5 * math.sqrt(0.25 / group.sum())
        assert abs(above[group].mean() - believed[group].mean()) < error + 0.01


def test_the_posterior_of_a_grid_and_of_a_tree_are_computed_alike() -> None:
    released = Cut(1, readings=2000).release(bump(2000), bits=seeded(4))
    as_grid = posterior(released, 70, 13)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evidence, "_grid_moments", evidence._tree_moments)
        assert np.allclose(posterior(released, 70, 13), as_grid)


def test_the_posterior_of_a_tree_agrees_with_its_means() -> None:
    released = Decomposition(1, centred=True).release(bump(20_000), bits=seeded(3))
    believed = posterior(released, 80, 20)
    assert believed.shape == (20, 20)
    assert np.array_equal(believed > 0.5, heatmap(released, 80, 20, sure=0))
    assert believed[10, 10] > 0.9
    assert believed[0, 0] < 0.1


def test_averages_without_readings_are_unknown() -> None:
    empty = handmade([[0, 0, 2, 4], [2, 0, 4, 4]], [-1, -1], [0, 5], [0, 30])
    assert np.isnan(averages(empty, 2, 1)[0, 0])


@pytest.mark.parametrize(
    "bad",
    [
        {"threshold": 101},
        {"threshold": -1},
        {"threshold": math.nan},
        {"threshold": "hot"},
        {"columns": 0},
        {"columns": 2.5},
        {"rows": -1},
        {"rule": "three votes"},
        {"read": "corner"},
        {"sure": -1},
    ],
)
def test_bad_questions_are_refused_with_a_sentence(bad: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        heatmap(FIGURE_3, **{"threshold": 80, "columns": 4, **bad})
