"""Consistency is weighted least squares: compared with the dense solution on trees of uneven depth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from louver.space.inference import Tree

Floats = NDArray[np.float64]


def grown(sizes: list[int]) -> NDArray[np.int64]:
    """Parents of a tree: the i-th size is the number of children of node i, none for 1."""
    parents = [-1]
    for node, size in enumerate(sizes):
        if node < len(parents) and size > 1:
            parents += [node] * size
    return np.array(parents)


def dense(tree: Tree, variances: Floats) -> tuple[Floats, Floats]:
    """What each node is of the leaves, and the covariance of the leaves' best estimates."""
    members = np.zeros((len(tree.parents), len(tree.leaves)))
    for place, leaf in enumerate(tree.leaves.tolist()):
        node = leaf
        while node >= 0:
            members[node, place] = 1
            node = int(tree.parents[node])
    return members, np.asarray(np.linalg.inv(members.T @ (members / variances[:, None])), dtype=np.float64)


trees = st.lists(st.integers(1, 4), max_size=9).map(grown)


@given(trees, st.integers(0, 10**6))
def test_estimates_are_the_least_squares_ones(parents: NDArray[np.int64], seed: int) -> None:
    draw = np.random.default_rng(seed)
    tree = Tree(parents)
    values, variances = draw.normal(0, 9, len(parents)), draw.uniform(0.1, 9, len(parents))
    members, covariance = dense(tree, variances)
    best = members @ covariance @ members.T @ (values / variances)
    assert np.allclose(tree.consistent(values, variances), best)


@given(trees, st.integers(0, 10**6))
def test_variances_are_the_least_squares_ones(parents: NDArray[np.int64], seed: int) -> None:
    draw = np.random.default_rng(seed)
    tree = Tree(parents)
    variances = draw.uniform(0.1, 9, len(parents))
    weights = draw.normal(0, 1, (len(tree.leaves), 3))
    members, covariance = dense(tree, variances)
    assert np.allclose(tree.variances(variances), np.diag(members @ covariance @ members.T))
    assert np.allclose(tree.influence(weights, variances).sum(axis=0), np.diag(weights.T @ covariance @ weights))


def test_influence_is_what_each_node_adds() -> None:
    """Weights of the noisy values are (A H^-1 w) / v, so each adds its square over v."""
    draw = np.random.default_rng(1)
    tree = Tree(grown([3, 2, 1, 4]))
    variances, weights = draw.uniform(0.1, 9, len(tree.parents)), draw.normal(0, 1, (len(tree.leaves), 1))
    members, covariance = dense(tree, variances)
    used = members @ covariance @ weights / variances[:, None]
    assert np.allclose(tree.influence(weights, variances), used**2 * variances[:, None])


@given(trees, st.integers(0, 10**6))
def test_fourths_are_the_squares_of_what_each_node_adds(parents: NDArray[np.int64], seed: int) -> None:
    tree = Tree(parents)
    variances = np.random.default_rng(seed).uniform(0.1, 9, len(parents))
    added = tree.influence(np.eye(len(tree.leaves)), variances)
    assert np.allclose(tree.fourths(variances)[tree.leaves], (added**2).sum(axis=0))


def test_several_nodes_may_be_without_a_parent() -> None:
    tree = Tree(np.array([-1, -1, 1, 1]))
    assert tree.levels.tolist() == [0, 0, 1, 1]
    found = tree.consistent(np.array([5.0, 8.0, 1.0, 1.0]), np.array([1.0, 1.0, 0.5, 0.5]))
    assert found.tolist() == pytest.approx([5, 5, 2.5, 2.5])


def test_nodes_out_of_order_are_no_tree() -> None:
    with pytest.raises(ValueError, match="level by level"):
        Tree(np.array([-1, 2, 0]))
