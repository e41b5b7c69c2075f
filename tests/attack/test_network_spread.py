from __future__ import annotations

import numpy as np
import pytest

from louver.attack.network_graph import Network, blocks, small_world, tree
from louver.attack.network_prior import Friends, Pulled, averaged, likeness
from louver.attack.network_spread import alike, caught, followed
from louver.errors import ParameterError
from louver.local import YesNo
from tests.table.tools import seeded


def test_what_is_caught_or_followed_reaches_just_the_wanted_share_and_makes_friends_alike() -> None:
    network = small_world(1000, 8, 0.1, 1)
    for truth in (caught(network, 0.3, 0.2, 2), followed(network, 0.3, 0.4, 2)):
        assert truth.sum() == 300
        assert likeness(network, truth) > 0.3


def test_it_spreads_also_where_friendships_end() -> None:
    alone = Network.of(50, [])
    assert caught(alone, 0.5, 1, 1).sum() == followed(alone, 0.5, 0.5, 1).sum() == 25


def test_without_passing_on_friends_are_not_alike() -> None:
    """The likeness of 20,000 friendships of strangers scatters by 0.004; 0.05 is 12 times that."""
    network = small_world(5000, 8, 0.5, 1)
    assert likeness(network, caught(network, 0.3, 0, 3)) < 0.05


def test_a_draw_from_the_model_has_its_share_and_its_likeness_on_a_tree() -> None:
    """One tree's share scatters by 0.013 and its likeness by 0.023, means of ten by a third; 0.05 is 6 times that."""
    prior = Friends(0.3, 0.4)
    drawn = [(network, alike(network, prior, seed)) for seed in range(10) for network in [tree(3000, seed)]]
    assert np.mean([truth.mean() for _, truth in drawn]) == pytest.approx(0.3, abs=0.05)
    assert np.mean([likeness(network, truth) for network, truth in drawn]) == pytest.approx(0.4, abs=0.05)


def test_share_and_likeness_are_found_from_randomized_reports() -> None:
    """The share scatters by 0.015 here and the likeness by 0.05; 6 times that is let pass."""
    network = blocks([50] * 80, 0.2, 0.0005, 1)
    truth = followed(network, 0.3, 0.3, 2)
    coin = YesNo.coin(bits=seeded(3))
    found = averaged(network, coin.report(truth), coin)
    assert found.share == pytest.approx(0.3, abs=0.09)
    assert found.alike == pytest.approx(likeness(network, truth), abs=0.3)
    assert found.alike > 0.2


def test_the_pairs_of_the_prior_are_a_law_with_its_share_and_its_correlation() -> None:
    prior = Friends(0.3, 0.5)
    alone = np.array([0.7, 0.3])
    pairs = np.exp(prior.bonds()) * np.outer(alone, alone)
    assert pairs.sum() == pytest.approx(1)
    assert pairs.sum(axis=1) == pytest.approx(alone)
    assert (pairs[1, 1] - 0.09) / 0.21 == pytest.approx(0.5)


@pytest.mark.parametrize(("share", "likely"), [(0, 0.1), (1, 0.1), (float("nan"), 0.1), (0.5, 1), (0.5, -0.1)])
def test_a_prior_that_is_none_is_refused(share: float, likely: float) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        Friends(share, likely)


def test_a_pulled_prior_needs_a_share() -> None:
    with pytest.raises(ParameterError):
        Pulled(0, 1, 1)
