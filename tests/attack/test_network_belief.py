from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.attack.network_belief import MOST_EXACT, exact, propagated, worst_leak
from louver.attack.network_graph import Network, small_world, star, tree
from louver.attack.network_prior import Friends, Prior, Pulled
from louver.errors import ParameterError
from louver.local import YesNo

COIN = YesNo.coin()
PRIORS = (Friends(0.3, 0.6), Friends(0.05, 0.9), Friends(0.5, 0.0), Pulled(0.3, -0.4, 1.5))


@pytest.mark.parametrize("prior", PRIORS)
@given(seed=st.integers(0, 10**6), people=st.integers(1, 9))
def test_propagation_is_bayes_rule_on_trees(prior: Prior, seed: int, people: int) -> None:
    network, said = tree(people, seed), np.random.default_rng(seed).random(people) < 0.5
    found, right = propagated(network, prior, said, COIN), exact(network, prior, said, COIN)
    assert found.settled
    assert found.both == pytest.approx(right.both, abs=1e-9)
    assert found.friends == pytest.approx(right.friends, abs=1e-9)


def test_propagation_is_near_bayes_rule_where_circles_are_weak() -> None:
    said = np.random.default_rng(1).random(12) < 0.5
    network, prior = small_world(12, 4, 0.2, 2), Friends(0.3, 0.2)
    found, right = propagated(network, prior, said, COIN), exact(network, prior, said, COIN)
    assert found.settled
    assert np.abs(found.both - right.both).max() < 0.05
    assert np.abs(found.both - found.own).max() > 0.1


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_the_own_report_moves_the_odds_by_the_price_at_most_whatever_friends_said(epsilon: float) -> None:
    """The promise, checked by enumeration on a network full of circles, with and without one person's report."""
    mechanism, prior = YesNo(epsilon), Friends(0.3, 0.6)
    network, said = small_world(9, 4, 0.3, 4), np.random.default_rng(2).random(9) < 0.5
    for person in range(9):
        other = said.copy()
        other[person] = not said[person]
        one, two = (exact(network, prior, each, mechanism) for each in (said, other))
        ratio = _odds(one.both[person]) - _odds(two.both[person])
        assert abs(ratio) == pytest.approx(2 * epsilon)
        assert abs(_odds(one.both[person]) - _odds(one.friends[person])) == pytest.approx(epsilon)
        assert one.friends[person] == pytest.approx(two.friends[person])


def test_friends_move_the_odds_by_far_more_than_the_price() -> None:
    prior = Friends(0.3, 0.6)
    yes, no = (propagated(star(12), prior, np.array([False] + [each] * 12), COIN) for each in (True, False))
    assert _odds(yes.friends[0]) - _odds(no.friends[0]) > 7 * float(COIN.price.epsilon)
    assert yes.both[0] > 0.9 > 0.2 > yes.own[0]


def test_friends_who_are_not_alike_tell_nothing() -> None:
    found = propagated(star(12), Friends(0.3, 0), np.array([False] + [True] * 12), COIN)
    assert found.friends[0] == pytest.approx(0.3)
    assert found.both[0] == pytest.approx(found.own[0])


def test_the_worst_ratio_is_reached_by_reports_that_all_say_the_same() -> None:
    prior = Friends(0.3, 0.4)
    for friends in (0, 1, 6):
        every = [propagated(star(friends), prior, np.full(friends + 1, each), COIN).both[0] for each in (True, False)]
        moved = [abs(_odds(each) - _odds(0.3)) for each in every]
        assert max(moved) == pytest.approx(worst_leak(friends, prior, COIN))


@given(friends=st.integers(0, 50), share=st.floats(0.01, 0.99), alike=st.floats(0, 0.99))
def test_the_worst_ratio_is_between_the_price_of_one_and_that_of_everybody(
    friends: int, share: float, alike: float
) -> None:
    price = float(COIN.price.epsilon)
    assert price - 1e-9 <= worst_leak(friends, Friends(share, alike), COIN) <= (friends + 1) * price + 1e-9


def test_reports_of_the_silent_are_not_looked_at() -> None:
    network, prior = tree(8, 1), Friends(0.3, 0.6)
    said = np.random.default_rng(3).random(8) < 0.5
    silent = np.arange(8) == 2
    turned = said ^ silent
    one, two = (propagated(network, prior, each, COIN, silent=silent).both for each in (said, turned))
    assert np.array_equal(one, two)


def test_certain_odds_do_not_overflow() -> None:
    mechanism, network = YesNo(64), star(40)
    found = propagated(network, Friends(0.5, 0.99), np.ones(41, dtype=np.bool_), mechanism)
    assert np.isfinite(found.both).all()
    assert found.both[0] == pytest.approx(1)


def test_too_many_people_are_not_enumerated() -> None:
    with pytest.raises(ParameterError, match="propagate"):
        exact(star(MOST_EXACT), PRIORS[0], np.zeros(MOST_EXACT + 1, dtype=np.bool_), COIN)


@pytest.mark.parametrize("said", [np.zeros(3, dtype=np.bool_), np.zeros(2), np.zeros((2, 2), dtype=np.bool_)])
def test_reports_of_other_people_are_refused(said: np.ndarray) -> None:
    with pytest.raises(ParameterError, match="one for each person"):
        propagated(Network.of(2, [(0, 1)]), PRIORS[0], said, COIN)


def _odds(chance: float) -> float:
    return float(np.log(chance) - np.log1p(-chance))
