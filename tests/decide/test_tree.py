"""Trees against their truth tables: who gets which rate, what is decided, and what is still needed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.decide import tree
from louver.decide.tree import NO, OPEN, YES, All, Any, Cost, Tree

LEAVES = 4
RATE = Fraction(1, 20)

trees = st.recursive(
    st.integers(0, LEAVES - 1),
    lambda parts: st.builds(
        lambda kind, given: kind(tuple(given)), st.sampled_from([All, Any]), st.lists(parts, min_size=1, max_size=3)
    ),
    max_leaves=8,
)
weights = st.lists(st.integers(1, 9), min_size=LEAVES, max_size=LEAVES)


def table() -> list[tuple[bool, ...]]:
    return list(itertools.product((True, False), repeat=LEAVES))


def flags(columns: Iterable[Sequence[int]]) -> list[tree.Flags]:
    return [np.array(column, dtype=np.int8) for column in zip(*columns, strict=True)]


def together(parts: Sequence[Tree]) -> bool:  # noqa: ARG001
    return False


def apart(parts: Sequence[Tree]) -> bool:  # noqa: ARG001
    return True


@given(trees)
def test_a_flattened_tree_means_the_same(shape: Tree) -> None:
    flat = tree.flattened(shape)
    assert all(tree.holds(flat, given) == tree.holds(shape, given) for given in table())
    assert set(tree.leaves(flat)) == set(tree.leaves(shape))


def test_a_flattened_tree_has_no_idle_nodes() -> None:
    assert tree.flattened(All((0, All((1, All((0,)))), Any((2,))))) == All((0, 1, 2))
    assert tree.flattened(Any((0, 0))) == 0


@given(trees)
def test_a_value_is_open_exactly_where_both_answers_are_possible(shape: Tree) -> None:
    states = list(itertools.product((YES, NO, OPEN), repeat=LEAVES))
    found = tree.value(shape, flags(states))
    for state, value in zip(states, found.tolist(), strict=True):
        fitting = [
            tree.holds(shape, given)
            for given in table()
            if all(known == OPEN or (known == YES) == one for known, one in zip(state, given, strict=True))
        ]
        # A leaf that comes twice may leave a tree open although one answer is impossible; never the reverse.
        if value != OPEN:
            assert set(fitting) == {value == YES}
        if len(set(fitting)) == 2:
            assert value == OPEN


@given(trees)
def test_a_leaf_that_is_not_needed_cannot_change_the_answer(shape: Tree) -> None:
    states = list(itertools.product((YES, NO, OPEN), repeat=LEAVES))
    needed = tree.needed(shape, flags(states))
    for at, state in enumerate(states):
        for leaf in set(tree.leaves(shape)):
            if needed[leaf][at]:
                assert state[leaf] == OPEN
            elif state[leaf] == OPEN:
                for given in table():
                    fits = all(known == OPEN or (known == YES) == one for known, one in zip(state, given, strict=True))
                    other = [not one if number == leaf else one for number, one in enumerate(given)]
                    assert not fits or tree.holds(shape, given) == tree.holds(shape, other)


@given(trees)
def test_deciding_what_is_needed_comes_to_an_end(shape: Tree) -> None:
    """Asking for any needed leaf, over and over, ends with the answer of the truth table."""
    rows = table()
    decided = [np.full(len(rows), OPEN, dtype=np.int8) for _ in range(LEAVES)]
    for _ in range(LEAVES):
        needed = tree.needed(shape, decided)
        if not any(keys.any() for keys in needed.values()):
            break
        leaf = next(leaf for leaf, keys in needed.items() if keys.any())
        truth = np.array([YES if row[leaf] else NO for row in rows], dtype=np.int8)
        decided[leaf] = np.where(needed[leaf], truth, decided[leaf]).astype(np.int8)
    expected = [YES if tree.holds(shape, row) else NO for row in rows]
    assert tree.value(shape, decided).tolist() == expected


def implicants(shape: Tree, dual: bool) -> list[set[int]]:
    """The smallest sets of leaves that make the tree true when they hold (or false when they do not, for the dual)."""
    found: list[set[int]] = []
    for size in range(LEAVES + 1):
        for chosen in itertools.combinations(range(LEAVES), size):
            given = [(at in chosen) != dual for at in range(LEAVES)]
            if tree.holds(shape, given) != dual and not any(known <= set(chosen) for known in found):
                found.append(set(chosen))
    return found


@given(trees, weights, st.sampled_from([together, apart]))
def test_no_way_to_hold_or_to_fail_is_given_more_than_the_whole_rate(
    shape: Tree, sizes: list[int], kept: object
) -> None:
    """Over each prime implicant miss rates add up to at most the whole, over each clause false alarms do."""
    costs = [Cost(float(size), 1.0 / size) for size in sizes]
    for split, dual in ((All, False), (Any, True)):
        rates = tree.rates(shape, RATE, split, costs, kept)  # type: ignore[arg-type]
        assert set(rates) == set(tree.leaves(shape))
        assert all(rate > 0 for rate in rates.values())
        for leaves in implicants(shape, dual):
            assert sum(rates[leaf] for leaf in leaves) <= RATE


@given(weights)
def test_a_flat_split_is_in_proportion_to_the_weights_and_uses_everything(sizes: list[int]) -> None:
    costs = [Cost(float(size), 1.0) for size in sizes]
    rates = tree.rates(All((0, 1, 2, 3)), RATE, All, costs, together)
    assert sum(rates.values()) == RATE
    for leaf, size in enumerate(sizes):
        assert float(rates[leaf]) == pytest.approx(float(RATE) * size / sum(sizes), rel=1e-8)


@given(st.lists(st.integers(1, 200), min_size=2, max_size=4))
def test_parts_that_are_apart_get_rates_of_equal_price(steps: list[int]) -> None:
    """The price of a rate r at s steps is about ln(1/r)/s. Shares are whole parts of 2**32, so none is smaller."""
    costs = [Cost(1.0, float(step)) for step in steps]
    rates = tree.rates(Any(tuple(range(len(steps)))), RATE, Any, costs, apart)
    assert sum(rates.values()) == RATE
    prices = [-np.log(float(rate)) / step for rate, step in zip(rates.values(), steps, strict=True)]
    roomy = [price for rate, price in zip(rates.values(), prices, strict=True) if rate > RATE * 2**-24]
    assert max(prices) <= 1.05 * max(roomy)
    assert max(roomy) - min(roomy) <= 1e-4 * max(roomy)


def test_the_smallest_share_is_not_nothing() -> None:
    rates = tree.rates(All((0, 1)), RATE, All, [Cost(1e-12, 1.0), Cost(1.0, 1.0)], together)
    assert rates[0] == RATE / 2**32
    assert rates[0] + rates[1] == RATE
