"""The closed form of stopping against plain convolution, the chain of noise itself, and the promise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from louver.decide.stopping import stops
from louver.privacy import LevelGrid, grid_levels
from tests.decide.stepping import by_convolution, simulated

TWENTIETH = Fraction(1, 20)
MARGINS = np.array([-700, -150, -40, -21, -20, -11, -10, -1, 0, 1, 2, 30, 90, 400])
# A true figure leaves the band of 6 standard errors with probability 2e-9.
STANDARD_ERRORS = 6

GRIDS = [
    grid_levels(TWENTIETH, 21),
    grid_levels(TWENTIETH, 10, levels=10),
    grid_levels(Fraction(1, 100), 20, Fraction(1, 5), levels=4, span=8),
    grid_levels(TWENTIETH, 0, levels=3, span=8),
    grid_levels(TWENTIETH, 6, levels=10, span=3),
    grid_levels(TWENTIETH, 30, sensitivity=4, levels=5),
    grid_levels(TWENTIETH, 10, levels=1),
    grid_levels(TWENTIETH, 10, levels=2),
]


@pytest.mark.parametrize("grid", GRIDS)
def test_the_closed_form_is_the_law(grid: LevelGrid) -> None:
    found = stops(grid, MARGINS)
    at, flagged = by_convolution(grid, MARGINS)
    assert np.abs(found.at - at).max() < 1e-12
    assert np.abs(found.flagged - flagged).max() < 1e-12


@pytest.mark.parametrize("grid", GRIDS)
def test_every_key_stops_somewhere(grid: LevelGrid) -> None:
    found = stops(grid, MARGINS)
    assert found.at.sum(axis=0) == pytest.approx(1, abs=1e-12)
    assert found.at.min() >= 0


@pytest.mark.parametrize("grid", GRIDS)
def test_errors_stay_within_what_the_grid_proves_at_every_margin(grid: LevelGrid) -> None:
    over, under = np.arange(1, 2000), np.arange(-2000, 2 - grid.steps)
    assert (1 - stops(grid, over).flagged).max() <= float(grid.miss) + 1e-12
    assert stops(grid, under).flagged.max() <= float(grid.false_alarm) + 1e-12


def test_the_worst_margins_are_the_nearest_ones() -> None:
    grid = grid_levels(TWENTIETH, 21)
    missed = 1 - stops(grid, np.arange(1, 500)).flagged
    assert missed.argmax() == 0
    assert missed[0] == pytest.approx(0.04894, abs=5e-6)


def test_wide_grids_take_no_longer_and_lose_nothing() -> None:
    """A slack of a million: the law in units of the slack is nearly that of a slack of ten thousand."""
    small, large = grid_levels(TWENTIETH, 10_000), grid_levels(TWENTIETH, 1_000_000)
    places = np.array([-50_000, -10_000, -5_000, 1, 20_000])
    near, far = stops(small, places), stops(large, 100 * places)
    assert np.abs(near.at - far.at).max() < 2e-3
    assert np.abs(near.flagged - far.flagged).max() < 2e-3


@pytest.mark.parametrize("margin", [-60, 1])
def test_the_chain_of_noise_stops_as_foretold_and_not_10_percent_off(margin: int) -> None:
    grid, keys = grid_levels(TWENTIETH, 10, levels=5), 400_000
    foretold = stops(grid, np.array([margin])).at[:, 0]
    seen = np.bincount(simulated(grid, np.full(keys, margin)), minlength=5) / keys
    error = np.sqrt(foretold * (1 - foretold) / keys)
    assert (np.abs(seen - foretold) <= STANDARD_ERRORS * error).all()
    assert (np.abs(seen - 0.9 * foretold) > STANDARD_ERRORS * error).any()
    assert math.isclose(seen.sum(), 1)
