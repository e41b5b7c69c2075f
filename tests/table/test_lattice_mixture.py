"""Laws are compared with the false-alarm probability `laws.FALSE_ALARM`, 1e-9."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.errors import LouverError
from louver.noise import enclosure
from louver.noise.enclosure import Enclosure
from louver.table import centred, lattice_mixture
from louver.table.centred import centred_gaussian
from louver.table.lattice import lattice_basis
from louver.table.lattice_mixture import LatticeMixture, Mixture
from louver.table.smooth_laplace import log_density
from louver.table.sure_coins import sure_coins
from tests.noise.laws import Law, assert_follows, assert_rejects, coin
from tests.table.tools import margins, seeded

MIXED = Mixture((1.5, 6.0, 20.0), (1.0, 0.5, 0.1))
MATRICES = {
    "two by two": margins(2, 2).matrix,
    "two by three": margins(2, 3).matrix,
    "one cell with fractions": np.array([[2, 3, 5]]),
    "unlike entries": np.array([[1, -1, 0, 1], [0, 2, 1, 1]]),
}


def sampler(matrix: NDArray[np.int64], mixture: Mixture) -> LatticeMixture:
    return LatticeMixture(matrix, lattice_basis(matrix), mixture)


def exact_law(matrix: NDArray[np.int64], mixture: Mixture, factor: float = 1.0, reach: int = 40) -> Law:
    """All tables that up to `reach` of each move make, one by one; `factor` makes every variance wrong."""
    basis = lattice_basis(matrix)
    times = np.array(list(itertools.product(range(-reach, reach + 1), repeat=len(basis))))
    tables = times @ basis
    tables = tables[np.abs(tables).max(axis=1) <= reach]
    wrong = Mixture(tuple(factor * each for each in mixture.variances), mixture.weights)
    heights = log_density(wrong, np.arange(np.abs(tables).max() + 1))
    weights = np.exp(heights[np.abs(tables)].sum(axis=1))
    table = dict(zip(map(tuple, tables.tolist()), (weights / weights.sum()).tolist(), strict=True))
    return lambda vector: table.get(vector, 0.0)


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("mixture", [Mixture((6.0,), (1.0,)), MIXED])
def test_draws_follow_the_exact_law_on_the_lattice_and_not_one_15_percent_off(name: str, mixture: Mixture) -> None:
    matrix = MATRICES[name]
    if max((lattice_basis(matrix) ** 2).sum(axis=1)) / 4 > min(mixture.variances):
        mixture = Mixture(tuple(4 * each for each in mixture.variances), mixture.weights)
    draws = sampler(matrix, mixture).draw(30_000, seeded(1))
    assert not (draws @ matrix.T).any()
    assert_follows(draws, exact_law(matrix, mixture))
    assert_rejects(draws, exact_law(matrix, mixture, 1.15))
    assert_rejects(draws, exact_law(matrix, mixture, 0.85))


def test_noise_as_narrow_as_the_moves_follows_the_exact_law() -> None:
    """Along a move the variance is 1/8, so that R is far from 1 for some draws."""
    matrix, narrow = margins(2, 3).matrix, Mixture((0.5,), (1.0,))
    draws = sampler(matrix, narrow).draw(30_000, seeded(2))
    assert_follows(draws, exact_law(matrix, narrow, reach=8))
    assert_rejects(draws, exact_law(matrix, narrow, 1.1, reach=8))


def test_hidden_variances_far_apart_follow_the_exact_law() -> None:
    """Where they are, most do not stand in step 2: without its coin, p would be below 1e-40 here."""
    matrix, apart = margins(2, 3).matrix, Mixture((2.0, 200.0), (1.0, 0.1))
    draws = sampler(matrix, apart).draw(20_000, seeded(10))
    near = draws[np.abs(draws).max(axis=1) <= 50]
    assert len(near) > 0.99 * len(draws)
    assert_follows(near, exact_law(matrix, apart, reach=50))


def test_three_by_three_margins_follow_the_exact_law() -> None:
    matrix = margins(3, 3).matrix
    mixture = Mixture((1.5, 4.0), (1.0, 0.2))
    draws = sampler(matrix, mixture).draw(30_000, seeded(3))
    near = draws[np.abs(draws).max(axis=1) <= 4]
    assert len(near) > 0.9 * len(draws)
    assert_follows(near, exact_law(matrix, mixture, reach=4))
    assert_rejects(near, exact_law(matrix, mixture, 1.15, reach=4))


def test_coins_that_floats_leave_open_are_decided_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """With floats trusted for nothing, every coin is decided in whole numbers, and the law is the same."""
    monkeypatch.setattr(lattice_mixture, "_CLOSE", 60.0)
    monkeypatch.setattr(centred, "_CLOSE", 60.0)
    matrix, mixture = margins(2, 2).matrix, Mixture((1.0, 4.0), (1.0, 0.5))
    draws = sampler(matrix, mixture).draw(120, seeded(4))
    assert_follows(draws, exact_law(matrix, mixture))
    assert_rejects(draws, exact_law(matrix, mixture, 6.0))


def test_the_exact_chance_is_the_one_that_floats_find(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[tuple[float, float]] = []

    def watched(low: NDArray[np.float64], high: NDArray[np.float64], exact: object, _: object) -> NDArray[np.bool_]:
        if not np.array_equal(low, high):
            enclosed = exact(0)(64)  # type: ignore[operator]
            found.append((float(low[0] + high[0]) / 2, float(enclosed.lower)))
        return np.ones(len(low), dtype=np.bool_)

    mixed = sampler(margins(3, 3).matrix, MIXED)
    monkeypatch.setattr(lattice_mixture, "sure_coins", watched)
    mixed.draw(20, seeded(5))
    assert found
    assert all(abs(floats - exact) < 1e-9 for floats, exact in found)


def test_rounding_that_went_too_far_releases_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    mixed = sampler(margins(3, 3).matrix, MIXED)
    monkeypatch.setattr(mixed, "_log_most", mixed._log_most - 0.1)
    with pytest.raises(LouverError, match=r"nothing is released\.$"):
        mixed.draw(200, seeded(6))


@pytest.mark.parametrize(("centre", "variance"), [(0.3, 0.25), (-7.5, 2.0), (1000.49, 30.0)])
def test_centred_draws_follow_their_law_and_not_one_beside_it(centre: float, variance: float) -> None:
    draws = centred_gaussian(np.full(40_000, centre), np.full(40_000, variance), seeded(7))

    def law(middle: float) -> Law:
        near = np.arange(round(middle) - 60, round(middle) + 61)
        weights = np.exp(-((near - middle) ** 2) / (2 * variance))
        table = dict(zip(near.tolist(), (weights / weights.sum()).tolist(), strict=True))
        return lambda value: table.get(value, 0.0)

    assert_follows(draws, law(centre))
    assert_rejects(draws, law(centre + 0.1 * math.sqrt(variance)))


def test_a_sure_coin_between_any_two_floats_has_the_exact_chance() -> None:
    third = Fraction(1, 3)
    for low, high in ((0.0, 1.0), (0.33, 0.34), (1 / 3 - 1e-12, 1 / 3 + 1e-12)):
        coins = sure_coins(
            np.full(20_000, low),
            np.full(20_000, high),
            lambda _: lambda working: Enclosure.of(third, working),
            seeded(8),
        )
        assert_follows(coins, coin(1 / 3))


def test_a_coin_whose_first_bits_are_those_of_its_chance_asks_for_more() -> None:
    chance = enclosure.exp(Fraction(-1), 64)
    script = [chance.low.to_bytes(8, "little"), bytes(8)]
    bits = type(seeded(0))._from(lambda _: script.pop(0))
    low, high = np.zeros(1), np.ones(1)
    assert sure_coins(low, high, lambda _: lambda working: enclosure.exp(Fraction(-1), working), bits).tolist() == [
        True
    ]
    assert not script


def test_a_chance_that_floats_take_for_0_is_decided_exactly() -> None:
    """A uniform number whose bits are all 0 lies below every chance."""
    zeros = type(seeded(0))._from(bytes)
    chance = np.exp(np.array([-800.0]))
    assert chance == 0
    assert sure_coins(chance, chance, lambda _: lambda working: enclosure.exp(Fraction(-800), working), zeros).all()


def test_large_margins_stay_exact_and_keep_a_gaussian_variance() -> None:
    """Given margins, a share (1 - 1/10)^2 of a wide Gaussian's variance is left; within 6.5 standard errors, 1e-10."""
    matrix = margins(10, 10).matrix
    draws = sampler(matrix, Mixture((400.0,), (1.0,))).draw(300, seeded(9))
    assert not (draws @ matrix.T).any()
    # Sums of squares of 81 independent directions.
    assert abs((draws**2).sum() / (400 * 300 * 81) - 1) < 6.5 * math.sqrt(2 / (300 * 81))


def test_what_would_take_too_long_or_is_too_narrow_is_refused() -> None:
    with pytest.raises(LouverError, match=r"narrower than their moves"):
        sampler(margins(3, 3).matrix, Mixture((0.3,), (1.0,)))
    wide = Mixture((1.0, 100.0, 1e4, 1e6, 1e8), (1.0, 0.1, 0.01, 1e-3, 1e-4))
    with pytest.raises(LouverError, match=r"^Too many of these invariants overlap"):
        sampler(margins(16, 16).matrix, wide)


@pytest.mark.parametrize("name", MATRICES)
def test_a_basis_leaves_invariants_as_they_are_and_reaches_every_table(name: str) -> None:
    """The lattice has no finer one inside its space: the moves' minors have no common divisor."""
    matrix = MATRICES[name]
    basis = lattice_basis(matrix)
    assert not (basis @ matrix.T).any()
    assert len(basis) == matrix.shape[1] - len(matrix)
    minors = [
        round(np.linalg.det(basis[:, list(columns)]))
        for columns in itertools.combinations(range(matrix.shape[1]), len(basis))
    ]
    assert math.gcd(*minors) == 1


def test_moves_of_margins_are_two_by_two_cells() -> None:
    basis = lattice_basis(margins(10, 10).matrix)
    assert basis.shape == (81, 100)
    assert ((basis**2).sum(axis=1) == 4).all()


def test_invariants_too_large_for_a_basis_are_refused() -> None:
    with pytest.raises(LouverError, match=r"at most 1024 cells"):
        lattice_basis(margins(33, 33).matrix)
    chain = np.tril(np.ones((20, 20), dtype=np.int64))[1:, :]
    with pytest.raises(LouverError, match=r"keep fewer exact"):
        lattice_basis(np.concatenate([3 * chain, np.ones((19, 90), dtype=np.int64)], axis=1) + np.eye(19, 110, 5, int))
