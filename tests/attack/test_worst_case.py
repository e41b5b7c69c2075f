from __future__ import annotations

import numpy as np
import pytest

from louver.attack import DiscreteLaplace, joint_posterior, single_posterior, worst_posterior
from louver.errors import ParameterError


@pytest.mark.parametrize(("epsilon", "one", "all_places"), [(1, 0.125, 0.280), (5, 0.887, 0.999)])
def test_the_published_numbers_are_met(epsilon: int, one: float, all_places: float) -> None:
    assert float(worst_posterior(0.05, epsilon, changed=1)) == pytest.approx(one, abs=5e-4)
    assert float(worst_posterior(0.05, epsilon, changed=2)) == pytest.approx(all_places, abs=5e-4)


@pytest.mark.parametrize("epsilon", [0, 1e-300, 1, 1e6])
def test_the_bound_is_between_the_prior_and_certainty(epsilon: float) -> None:
    prior = np.array([0.0, 1e-300, 0.05, 0.5, 1 - 1e-16, 1.0])
    bound = worst_posterior(prior, epsilon)
    assert ((prior <= bound) & (bound <= 1)).all()
    assert bound[[0, -1]].tolist() == [0, 1]


def test_no_release_of_one_place_passes_its_bound_for_the_last_unknown_person() -> None:
    """Everybody else is known; the bound is met where the release is far off."""
    released = np.arange(-30, 31).astype(float)
    found = single_posterior(released[:, None], [0.05], 1, DiscreteLaplace(0.7), known=4)
    bound = float(worst_posterior(0.05, 0.7, changed=1))
    assert found.max() == pytest.approx(bound, rel=1e-12)


def test_no_release_of_all_places_passes_its_bound_for_the_last_unknown_person() -> None:
    rng = np.random.default_rng(1)
    prior = rng.dirichlet(np.ones(4), 500)
    found = joint_posterior(rng.normal(0, 9, (500, 4)).round(), prior, 1, DiscreteLaplace(0.7))
    assert (found <= worst_posterior(prior, 0.7) + 1e-12).all()
    assert (found > worst_posterior(prior, 0.7, changed=1)).any()


def test_a_negative_price_is_refused() -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        worst_posterior(0.5, -1)
