from __future__ import annotations

import numpy as np
import pytest

from louver.attack.network_graph import MOST_PEOPLE, Network, _pairs_of, blocks, small_world, star, tree
from louver.errors import ParameterError


def test_a_friendship_that_comes_twice_or_turned_around_is_one() -> None:
    network = Network.of(3, [(0, 1), (1, 0), (0, 1), (2, 1)])
    assert (network.one.tolist(), network.other.tolist()) == ([0, 1], [1, 2])


def test_the_way_back_of_each_direction_is_half_the_array_away() -> None:
    network = small_world(20, 4, 0.3, 1)
    start, to = network.directed
    half = len(network.one)
    assert np.array_equal(np.roll(start, half), to)


@pytest.mark.parametrize("pairs", [[(0, 3)], [(-1, 0)], [(1, 1)]])
def test_strangers_to_the_network_and_friends_of_themselves_are_refused(pairs: list[tuple[int, int]]) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        Network.of(3, pairs)


def test_trees_and_stars_have_no_circle_and_a_ring_has() -> None:
    assert tree(200, 3).is_forest
    assert star(9).is_forest
    assert Network.of(5, []).is_forest
    assert not Network.of(4, [(0, 1), (1, 2), (2, 0)]).is_forest
    assert not small_world(50, 2, 0, 1).is_forest


def test_friends_are_found_within_circles_and_between_them_at_their_chances() -> None:
    """Each number of friendships is within 6 standard deviations: a false alarm once in 10^8 seeds."""
    network = blocks([100, 200], 0.2, 0.05, seed=5)
    inside = (network.one < 100) == (network.other < 100)
    for found, pairs, chance in ((inside.sum(), 100 * 99 // 2 + 200 * 199 // 2, 0.2), ((~inside).sum(), 20_000, 0.05)):
        assert abs(found - pairs * chance) < 6 * np.sqrt(pairs * chance * (1 - chance))


def test_with_chance_one_everybody_of_a_circle_knows_everybody() -> None:
    assert blocks([7, 5], 1, 0, seed=1).degrees.tolist() == [6] * 7 + [4] * 5


def test_a_small_world_without_rewiring_is_a_ring_of_nearest_friends() -> None:
    assert small_world(30, 6, 0, 1).degrees.tolist() == [6] * 30


def test_the_same_seed_gives_the_same_network_and_another_gives_another() -> None:
    first, again, other = (small_world(200, 4, 0.5, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.other, again.other)
    assert len(first.other) != len(other.other) or not np.array_equal(first.other, other.other)


def test_the_number_of_a_pair_is_told_apart_from_its_neighbours_up_to_the_most_people() -> None:
    every = np.array([high for step in (2, 3, 1000, MOST_PEOPLE - 1) for high in (step, step - 1) if high > 0])
    first, last = every * (every - 1) // 2, every * (every + 1) // 2 - 1
    assert [each.tolist() for each in _pairs_of(first)] == [[0] * len(every), every.tolist()]
    assert [each.tolist() for each in _pairs_of(last)] == [(every - 1).tolist(), every.tolist()]
