"""What holds for every structure: what each reading pays, where the cells are, and what is done with odd input."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from louver.errors import LouverError
from louver.privacy import Pure
from louver.space.adaptive import Adaptive
from louver.space.bounds import Bounds
from louver.space.cut import Cut
from louver.space.decomposition import Decomposition
from louver.space.field import Field
from louver.space.released import Map
from louver.space.structure import Split, Structure, divide
from louver.space.two_level import TwoLevel
from louver.space.uniform import Uniform
from tests.decide.auditor import audited
from tests.space.fields import SQUARE, bump, halve_noise, no_noise, seeded, watch_looks

EPSILON = Fraction(7, 5)
EVERY: list[Structure] = [
    Uniform(EPSILON),
    Uniform(EPSILON, readings=3000, centred=True),
    Uniform(EPSILON, readings=0),
    TwoLevel(EPSILON, non_uniformity=1),
    TwoLevel(EPSILON, readings=3000, level_share=Fraction(1, 3)),
    Adaptive(EPSILON),
    Adaptive(EPSILON, readings=3000),
    Decomposition(EPSILON),
    Decomposition(EPSILON, depth=0),
    Decomposition(EPSILON, depth=5, non_uniformity=2, level_share=0.3, count_share=0.7),
    Decomposition(EPSILON, stop="count", least=40, centred=True),
    Cut(EPSILON),
    Cut(EPSILON, readings=3000),
]
every = pytest.mark.parametrize("structure", EVERY, ids=lambda each: f"{each.kind}-{EVERY.index(each)}")
FIELDS = {
    "a bump": bump(3000, atoms=32),
    "one point": Field.of([3.0] * 500, [3.0] * 500, [50.0] * 500, SQUARE, high=100, atoms=32),
    "nothing": Field.of([], [], [], SQUARE, high=100, atoms=32),
    "one atom": bump(50, atoms=1),
}


@every
@pytest.mark.parametrize("name", FIELDS)
def test_every_reading_pays_epsilon_exactly_wherever_it_is(
    structure: Structure, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    field = FIELDS[name]
    looks = watch_looks(monkeypatch)
    structure.release(field, bits=seeded(3))
    paid = np.full((field.rows, field.columns), Fraction(0))
    for rectangles, price in looks:
        covered = np.zeros(paid.shape, dtype=np.int64)
        for west, south, east, north in rectangles.tolist():
            covered[south:north, west:east] += 1
        assert covered.max() == 1, "no two rectangles of one look share an atom"
        paid[covered == 1] += price.counts + price.sums
    assert (paid == EPSILON).all()
    assert structure.price == Pure(EPSILON)
    assert sum((price.counts + price.sums for price in structure.levels), Fraction(0)) == EPSILON


@every
def test_leaves_cover_everything_once_and_children_fill_their_parents(structure: Structure) -> None:
    released = structure.release(FIELDS["a bump"], bits=seeded(4))
    covered = np.zeros((released.rows, released.columns), dtype=np.int64)
    for west, south, east, north in released.rectangles[released.tree.leaves].tolist():
        covered[south:north, west:east] += 1
    assert (covered == 1).all()
    assert Map.from_dict(released.to_dict()).to_dict() == released.to_dict()


@every
def test_without_noise_every_node_has_its_true_count_and_sum(
    structure: Structure, monkeypatch: pytest.MonkeyPatch
) -> None:
    field = FIELDS["a bump"]
    no_noise(monkeypatch)
    released = structure.release(field)
    counts, sums = field.totals(released.rectangles)
    assert np.allclose(released.counts, counts)
    assert np.allclose(released.sums, sums - released.centre * counts)


@every
def test_estimates_are_consistent(structure: Structure) -> None:
    released = structure.release(FIELDS["a bump"], bits=seeded(5))
    for node in np.setdiff1d(np.arange(len(released.parents)), released.tree.leaves):
        for estimates in (released.counts, released.sums):
            assert estimates[released.parents == node].sum() == pytest.approx(estimates[node], abs=1e-6)


def test_with_public_totals_a_single_grid_does_not_depend_on_the_data() -> None:
    for structure in (Uniform(1, readings=4000), Cut(1, readings=4000)):
        many, few = (structure.release(field, bits=seeded(1)).rectangles for field in (bump(3000), bump(2, seed=9)))
        assert np.array_equal(many, few)


def test_cuts_lie_on_the_nearest_lines_of_atoms() -> None:
    """Ten atoms in four: at 2.5, 5 and 7.5, halves upwards."""
    cells, parents = divide(Split(np.array([7]), np.array([[0, 0, 10, 1]]), np.array([[4, 1]])))
    assert cells[:, [0, 2]].tolist() == [[0, 3], [3, 5], [5, 8], [8, 10]]
    assert parents.tolist() == [7] * 4


def test_wide_bounds_get_more_columns_than_rows() -> None:
    field = Field.of([1.0], [1.0], [1.0], Bounds(0, 0, 400, 100), high=100, atoms=256)
    cells = Uniform(1, readings=22_600, mean_share=0).release(field).rectangles
    assert len(np.unique(cells[:, 0])) == 28 == 4 * len(np.unique(cells[:, 1]))


@pytest.mark.parametrize("name", ["epsilon", "count_share", "level_share", "non_uniformity", "readings"])
@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "x", None, [1], 10**3000])
def test_bad_parameters_are_refused_with_a_sentence(name: str, bad: Any) -> None:
    if (name, bad) in (("readings", 0), ("readings", None)):
        return
    with pytest.raises(LouverError, match=r"\.$"):
        TwoLevel(**{"epsilon": 1, name: bad})


@pytest.mark.parametrize("bad", [{"depth": -1}, {"depth": 99}, {"stop": "never"}, {"least": -1}, {"level_share": 1}])
def test_bad_parameters_of_a_decomposition_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(LouverError, match=r"\.$"):
        Decomposition(1, **bad)


def test_a_level_too_cheap_for_its_noise_is_refused_before_anything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = watch_looks(monkeypatch)
    with pytest.raises(LouverError, match="price of the sums"):
        Decomposition(Fraction(1, 2**30), depth=16, level_share=Fraction(9, 10)).release(bump(100))
    assert not looks


def test_an_audit_of_whole_trees_finds_no_more_than_epsilon_and_does_at_half_the_noise() -> None:
    """Neighbours differ in one reading of the largest value; an outcome is where the tree split, and coarse numbers.

    False alarm: 1e-6.
    """
    structure = Decomposition(2, depth=1, stop="count", least=2)
    bits = seeded(6)

    def draw(neighbour: bool) -> Counter[object]:
        size = 2 + neighbour
        field = Field.of([20.0] * size, [20.0] * size, [100.0] * size, SQUARE, high=100, atoms=2, step=4)
        return Counter(coarse(structure.release(field, bits=bits)) for _ in range(1500))

    assert audited(draw, lambda _: Fraction(2)) <= 0  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        halve_noise(patch)
        assert audited(draw, lambda _: Fraction(2)) > 0  # type: ignore[arg-type]


def coarse(released: Map) -> tuple[object, ...]:
    """Whether the root was split, and how many of the first numbers point to the third reading."""
    numbers = np.concatenate((released.noisy.counts[:2] - 2.5, released.noisy.sums[:2] / 25 - 2.5))
    return len(released.parents), int((numbers > 0).sum())


def test_only_a_field_makes_a_map() -> None:
    with pytest.raises(LouverError, match=r"Field\.of"):
        Uniform(1).release([[1, 2], [3, 4]])  # type: ignore[arg-type]
