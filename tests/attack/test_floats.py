"""Bits are seeded. False alarms: 1e-6 for each measurement."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from louver.attack.floats import InverseLaplace, by_possibility, possible
from louver.attack.membership import measure
from louver.errors import LouverError
from louver.noise import discrete_laplace
from louver.privacy import Pure
from tests.attack.broken import seeded

SAMPLER = InverseLaplace(1.0)


@pytest.mark.parametrize("count", [0, 1, 10, 1000])
def test_what_a_count_released_is_possible_for_it(count: int) -> None:
    released = SAMPLER.release(count)(5000, seeded(1))
    assert possible(SAMPLER, released, count).all()


@pytest.mark.parametrize("count", [0, 10, 100])
def test_float_noise_is_caught_by_which_floats_are_possible(count: int) -> None:
    score = by_possibility(SAMPLER, count, count + 1)
    both = SAMPLER.release(count), SAMPLER.release(count + 1)
    assert measure(*both, Pure(1), scores=[score], trials=40_000, bits=seeded(2)).is_broken


def test_float_noise_on_no_people_is_caught_without_knowing_the_sampler() -> None:
    assert measure(SAMPLER.release(0), SAMPLER.release(1), Pure(1), trials=4000, bits=seeded(3)).lost > 2


def test_a_smaller_epsilon_does_not_hide_it() -> None:
    """Most releases of 0 at epsilon 1/100 are impossible for 1."""
    wide = InverseLaplace(0.01)
    released = wide.release(0)(4000, seeded(4))
    assert possible(wide, released, 1).mean() < 0.5
    both, score = (wide.release(0), wide.release(1)), by_possibility(wide, 0, 1)
    assert measure(*both, Pure(Fraction(1, 100)), scores=[score], trials=4000, bits=seeded(5)).lost > 2


def test_whole_number_noise_has_no_floats_to_betray_it() -> None:
    found = measure(
        lambda size, bits: 10 + discrete_laplace(1, size, bits=bits),
        lambda size, bits: 11 + discrete_laplace(1, size, bits=bits),
        Pure(1),
        bits=seeded(6),
    )
    assert not found.is_broken


def test_only_finite_releases_can_be_turned_back() -> None:
    with pytest.raises(LouverError, match=r"\.$"):
        possible(SAMPLER, np.array([np.inf]), 0)
