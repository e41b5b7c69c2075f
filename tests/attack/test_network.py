from __future__ import annotations

import numpy as np
import pytest

from louver.attack.network import LOOKS, exposed
from louver.attack.network_fit import foretold, learnt
from louver.attack.network_graph import Network, small_world, tree
from louver.attack.network_prior import Friends, Pulled
from louver.attack.network_spread import alike, caught, followed
from louver.errors import ParameterError
from louver.local import YesNo
from tests.table.tools import seeded


def coin() -> YesNo:
    return YesNo.coin(bits=seeded(5))


def test_friends_answers_find_more_people_than_the_own_answer() -> None:
    """Shares of right guesses scatter by 0.007 around 0.75 and 0.82, of sure ones by 0.02 around 0.39."""
    mechanism, network, prior = coin(), tree(5000, 1), Friends(0.3, 0.6)
    truth = alike(network, prior, 2)
    found = exposed(network, truth, mechanism.report(truth), mechanism, prior)
    assert found.by("nothing").right == pytest.approx(0.7, abs=0.1)
    assert found.by("own answer").right == pytest.approx(0.75, abs=0.035)
    assert found.by("all answers").right > 0.785
    assert found.by("own answer").sure == 0
    assert found.by("all answers").sure > 0.25
    assert found.beyond > 0.25


def test_where_friends_are_not_alike_their_answers_add_nothing() -> None:
    mechanism, network = coin(), small_world(1000, 8, 0.1, 1)
    truth = np.random.default_rng(2).random(1000) < 0.3
    found = exposed(network, truth, mechanism.report(truth), mechanism, Friends(0.3, 0))
    assert found.by("all answers").right == found.by("own answer").right
    assert found.beyond == 0


def test_the_attacker_is_as_sure_as_it_may_be_where_its_model_is_the_truth() -> None:
    """Of its sure guesses 0.948 are right, which scatters by 0.006: the bounds are 7 times that away."""
    mechanism, network, prior = coin(), tree(5000, 1), Friends(0.3, 0.6)
    truth = alike(network, prior, 1)
    found = exposed(network, truth, mechanism.report(truth), mechanism, prior).by("all answers")
    assert found.sure > 0.2
    assert 0.9 < found.trusty < 1
    assert sum(found.classes) == pytest.approx(found.right)


def test_bonds_as_strong_as_friends_are_alike_fail_in_circles_and_fitted_ones_do_not() -> None:
    """The fitted one finds 0.84 of people, which scatters by 0.04, and 0.956 of its sure guesses, by 0.017."""
    mechanism, network = coin(), small_world(1000, 8, 0.1, 1)
    truth = caught(network, 0.3, 0.2, 4)
    reports = mechanism.report(truth)
    naive = exposed(network, truth, reports, mechanism, Friends(0.3, 0.5)).by("all answers")
    fitted = exposed(network, truth, reports, mechanism).by("all answers")
    assert naive.right < 0.6 < fitted.right
    assert fitted.trusty > 0.85


def test_the_fit_foretells_put_aside_reports_better_than_no_bonds_do() -> None:
    mechanism, network = coin(), small_world(1000, 8, 0.1, 1)
    reports = mechanism.report(followed(network, 0.3, 0.4, 2))
    prior = learnt(network, reports, mechanism)
    aside = np.random.default_rng(9).random(1000) < 0.5
    assert isinstance(prior, Pulled)
    assert prior.pull > 0
    nothing = foretold(network, Pulled(prior.share, np.log(3 / 7), 0), reports, mechanism, aside)
    assert foretold(network, prior, reports, mechanism, aside) > nothing


def test_people_without_friends_are_known_by_their_own_answer_only() -> None:
    mechanism, network = coin(), Network.of(100, [])
    truth = np.arange(100) < 30
    found = exposed(network, truth, mechanism.report(truth), mechanism)
    assert found.by(LOOKS[1]).right == found.by(LOOKS[3]).right


def test_a_truth_of_other_people_is_refused() -> None:
    mechanism = coin()
    with pytest.raises(ParameterError, match="each person"):
        exposed(tree(3, 1), np.zeros(2, dtype=np.bool_), np.zeros(3, dtype=np.bool_), mechanism)
