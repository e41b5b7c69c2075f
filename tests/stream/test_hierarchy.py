"""Hierarchies: totals add up, weights are the best linear ones, and a unit pays for each level it is counted at."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import ParameterError
from louver.privacy import Pure
from louver.stream.hierarchy import INNER, Hierarchy, children_of, consistent
from louver.stream.segment import Segment
from tests.decide.auditor import audited
from tests.noise.laws import assert_follows, assert_rejects, laplace
from tests.stream.shapes import drawn
from tests.stream.smoothing import halve_noise, seeded

BUILDING = [None, 0, 0, 1, 1, 1, 2, 2]
trees = st.integers(1, 12).flatmap(
    lambda size: st.tuples(
        *(st.none() | st.integers(0, max(node - 1, 0)) if node else st.none() for node in range(size))
    )
)


def leaves(parents: tuple[int | None, ...] | list[int | None]) -> list[int]:
    return [node for node in range(len(parents)) if node not in parents]


def counting(parents: tuple[int | None, ...] | list[int | None]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Nodes by leaves: which node counts which leaf."""
    matrix = np.zeros((len(parents), len(leaves(parents))))
    for column, leaf in enumerate(leaves(parents)):
        node: int | None = leaf
        while node is not None:
            matrix[node, column] = 1
            node = parents[node]
    return matrix


@given(trees, st.data())
def test_consistent_values_are_the_weighted_least_squares_estimate(
    parents: tuple[int | None, ...], data: st.DataObject
) -> None:
    size = len(parents)
    values = np.array(data.draw(st.lists(st.integers(-50, 50), min_size=size, max_size=size)), dtype=np.float64)
    variances = np.array(data.draw(st.lists(st.integers(1, 9), min_size=size, max_size=size)), dtype=np.float64)
    matrix, root = counting(parents), 1 / np.sqrt(variances)
    best = matrix @ np.linalg.lstsq(matrix * root[:, None], values * root, rcond=None)[0]
    np.testing.assert_allclose(consistent(values, variances, children_of(parents)), best, atol=1e-8)


@pytest.mark.parametrize("inner", INNER)
def test_children_sum_to_their_parent_at_every_tick(inner: str) -> None:
    stream = Hierarchy(1, BUILDING, inner=inner, bits=seeded(1))
    counts = np.random.default_rng(1).integers(0, 60, (200, 5))
    released = stream.run(counts)
    assert released.shape == (200, 8)
    np.testing.assert_allclose(released[:, 0], released[:, 1] + released[:, 2])
    np.testing.assert_allclose(released[:, 1], released[:, 3:6].sum(axis=1))
    np.testing.assert_allclose(released[:, 2], released[:, 6:].sum(axis=1))


def test_a_node_sees_the_sum_of_its_leaves() -> None:
    released = Hierarchy(300, BUILDING).update([1, 2, 3, 4, 5])
    np.testing.assert_allclose(released, [15, 6, 9, 1, 2, 3, 4, 5], atol=1e-6)


@pytest.mark.parametrize(("inner", "name"), [("laplace", "white"), ("segment", "white"), ("segment", "10 steps")])
def test_joining_makes_totals_better(inner: str, name: str) -> None:
    stream = Hierarchy(1, BUILDING, inner=inner, bits=seeded(2))
    alone = INNER[inner](Fraction(1, 3), len(BUILDING), bits=seeded(2))
    counts = drawn(name, 5)
    truth = counts @ counting(BUILDING).T
    joined = np.abs(stream.run(counts) - truth).mean(axis=0)
    assert joined[0] < np.abs(alone.run(truth.astype(np.int64)) - truth).mean(axis=0)[0]


def test_each_level_gets_its_share_and_a_unit_pays_for_all_it_is_counted_at() -> None:
    stream = Hierarchy(Fraction(3, 2), BUILDING)
    assert stream.height == 3
    assert stream._stream.price == Pure(Fraction(1, 2))
    assert stream.price == Pure(Fraction(3, 2))
    assert Hierarchy(1, [None, 0, None]).height == 2


def test_every_node_has_noise_of_its_share() -> None:
    stream = Hierarchy(Fraction(3, 2), BUILDING, bits=seeded(3))
    noise = []
    for _ in range(3000):
        stream.update([1, 2, 3, 4, 5])
        assert isinstance(stream._stream, Segment)
        noise.append(stream._stream.trace.noisy[0] - [15, 6, 9, 1, 2, 3, 4, 5])
    assert_follows(np.ravel(noise), laplace(0.5))
    assert_rejects(np.ravel(noise), laplace(0.55))


def test_an_audit_of_neighbours_finds_no_more_than_the_price_and_does_at_half_the_noise() -> None:
    """4000 trees of a root and a leaf, by the noisy counts that all releases follow from. False alarm: 1e-6."""
    pairs = [None if node % 2 == 0 else node - 1 for node in range(8000)]

    seeds = itertools.count()

    def draw(neighbour: bool) -> Counter[object]:
        stream = Hierarchy(1, pairs, bits=seeded(next(seeds)))
        stream.update(np.full(4000, 4 + neighbour))
        assert isinstance(stream._stream, Segment)
        seen = np.clip(stream._stream.trace.noisy[0] - 4, -1, 2)
        return Counter(zip(seen[::2].tolist(), seen[1::2].tolist(), strict=True))

    assert audited(draw, lambda _: Fraction(1)) <= 0  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        halve_noise(patch)
        assert audited(draw, lambda _: Fraction(1)) > 0  # type: ignore[arg-type]


@pytest.mark.parametrize("parents", [[], [0], [None, 1], [None, 5], [None, -1], [None, "0"], [None, True], None, 3])
def test_what_is_no_tree_is_refused(parents: object) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        Hierarchy(1, parents)  # type: ignore[arg-type]


def test_a_tree_with_too_many_levels_is_refused() -> None:
    with pytest.raises(ParameterError, match="levels"):
        Hierarchy(1, [None, *range(40)])


def test_an_inner_stream_that_is_none_is_refused() -> None:
    with pytest.raises(ParameterError, match="segment"):
        Hierarchy(1, [None, 0], inner="tree")
