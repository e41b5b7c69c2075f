"""Laws are compared with the false-alarm probability of `laws.FALSE_ALARM`, 1e-9, and audits with that of `tools`."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from louver.errors import LouverError
from louver.table import Gaussian, Invariants, Laplace, WholeTable
from louver.table.null_space import null_part
from tests.misuse import NOT_POSITIVE
from tests.noise import laws
from tests.noise.laws import assert_follows, assert_rejects
from tests.table.tools import margins, seeded, sum_zero_cell, surely_lost

RELEASES = 1_000_000


@pytest.mark.parametrize("cells", [2, 64])
def test_extension_shrinks_the_variance_of_a_cell_once_more_than_projection(cells: int) -> None:
    """(1-1/n)^2 against 1-1/n: halved for two cells, 1.5% less for 64."""
    rho, total = Fraction(1, 2), Invariants.total(cells)
    extended = Gaussian(total, rho, neighbours="presence").variances()
    projected = Gaussian(total, rho, neighbours="presence", way="projection").variances()
    assert extended == pytest.approx((1 - 1 / cells) ** 2, rel=1e-6)
    assert projected == pytest.approx(1 - 1 / cells, rel=1e-12)


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.integers(-3, 3), min_size=4, max_size=4), min_size=1, max_size=3),
    st.none() | st.lists(st.lists(st.integers(-5, 5), min_size=3, max_size=3), min_size=4, max_size=4),
    st.sampled_from(["presence", "change"]),
)
def test_extension_is_never_worse_than_projection(rows: list[list[int]], queries: object, neighbours: str) -> None:
    try:
        invariants = Invariants(rows, name="some sums")
        options = {"queries": queries, "neighbours": neighbours}
        extended = Gaussian(invariants, Fraction(1, 3), **options)  # type: ignore[arg-type]
    except LouverError:
        return
    projected = Gaussian(invariants, Fraction(1, 3), way="projection", **options)  # type: ignore[arg-type]
    assert extended.sensitivity_squared <= projected.sensitivity_squared
    assert (extended.variances() <= projected.variances() * (1 + 1e-12)).all()


@pytest.mark.parametrize("cells", [2, 3, 4, 10, 64, 200])
@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(1), Fraction(4)])
def test_conditioned_laplace_noise_is_never_wider_than_projected(cells: int, epsilon: Fraction) -> None:
    """Between tables that agree, where both have rate epsilon/2."""
    total = Invariants.total(cells)
    projected = Laplace(total, epsilon)
    assert projected.rate == WholeTable(total, epsilon).parameter == epsilon / 2
    assert sum_zero_cell(cells, float(epsilon / 2))[0] <= projected.variances()[0]


def test_an_orthonormal_basis_is_the_wrong_place_for_independent_laplace_noise() -> None:
    """One record's L1 length there is 2.85 for 10 cells and 7.88 for 64; in the cells themselves it stays below 2."""
    for cells, basis_length in ((10, 2.846), (64, 7.875)):
        basis = np.linalg.svd(np.ones((1, cells)))[2][1:]
        assert np.abs(basis).sum(axis=0).max() == pytest.approx(basis_length, abs=0.001)
        above, below = null_part(Invariants.total(cells), np.eye(cells, dtype=np.int64))
        assert np.abs(above / below).sum(axis=1).max() == pytest.approx(2 * (1 - 1 / cells))


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=1, max_size=2),
    st.lists(st.integers(-3, 3), min_size=3, max_size=3),
    st.sampled_from([1, 2, 4]),
)
def test_some_grid_shift_is_as_short_as_the_proof_says(rows: list[list[int]], change: list[int], parts: int) -> None:
    """min |d + r|^2, r combinations of the rows in steps of 1/parts, against |P_N d|^2 + sum |c|^2/(4 parts^2)."""
    try:
        invariants = Invariants(rows, name="some sums")
    except LouverError:
        return
    above, below = null_part(invariants, np.array(change))
    inside = sum(Fraction(int(a), int(b)) ** 2 for a, b in zip(above, below, strict=True))
    bound = inside + Fraction(int((np.array(rows) ** 2).sum()), 4 * parts**2)
    times = itertools.product(range(-6 * parts, 6 * parts + 1), repeat=len(rows))
    shifts = np.array(change) * parts + np.array(list(times)) @ np.array(rows)
    assert Fraction(int((shifts**2).sum(axis=1).min()), parts**2) <= bound


def test_a_coarse_grid_is_paid_for() -> None:
    """On a grid of halves, one record among three cells can be hidden by no shift shorter than (1/2, -1/2, -1/2)."""
    mechanism = Gaussian(Invariants.total(3), Fraction(1, 2), neighbours="presence")
    assert mechanism.inside_squared == Fraction(2, 3)
    assert mechanism.sensitivity_squared - Fraction(2, 3) <= Fraction(2, 3) * Fraction(1, 2**20)
    mechanism.step = Fraction(1, 2)
    assert Fraction(3, 4) <= mechanism.sensitivity_squared < 1
    mechanism.step = Fraction(1)
    assert mechanism.sensitivity_squared == 1


def null_space_law(mechanism: Gaussian) -> NDArray[np.float64]:
    """The law of z_1 - z_2 in steps, which is all that two cells with a fixed total show."""
    reach = 2**14
    steps = np.arange(-reach, reach)
    one = np.exp(-(steps**2) / (2 * float(mechanism.variance)))
    return np.fft.fftshift(np.fft.irfft(np.fft.rfft(np.fft.ifftshift(one / one.sum())) ** 2, 2 * reach))


def divergence(law: NDArray[np.float64], shift: int, order: float) -> float:
    here, there = law[shift:], law[:-shift]
    seen = (here > 1e-14) & (there > 1e-14)
    return math.log(np.sum(here[seen] ** order * there[seen] ** (1 - order))) / (order - 1)


@pytest.mark.parametrize("order", [1.5, 2, 3])
def test_one_record_in_the_null_space_costs_rho_and_more_where_noise_is_halved(order: float) -> None:
    """An audit by the exact law: a record moves z_1 - z_2 by 1, which is 1/step steps."""
    rho = Fraction(1, 8)
    honest = Gaussian(Invariants.total(2), rho, neighbours="presence")
    shift = int(1 / honest.step)
    assert divergence(null_space_law(honest), shift, order) == pytest.approx(float(rho) * order, rel=1e-4)
    assert divergence(null_space_law(honest), shift, order) <= float(rho) * order
    honest.variance /= 4
    assert divergence(null_space_law(honest), shift, order) > 3 * float(rho) * order


def test_released_cells_follow_the_law_of_the_null_space_and_not_one_10_percent_off() -> None:
    mechanism = Gaussian(Invariants.total(2), Fraction(1, 8), neighbours="presence", bits=seeded(1))
    above, below = null_part(mechanism.invariants, mechanism._noise(200_000))
    steps = above[:, 0]  # (z_1 - z_2) of 2 z_1 - (z_1 + z_2)
    assert (below == 2).all()
    variance = 2 * float(mechanism.variance)
    width = round(math.sqrt(variance) / 8)
    assert_follows(steps // width, laws.in_cells(laws.gaussian_reaches(variance), width))
    assert_rejects(steps // width, laws.in_cells(laws.gaussian_reaches(variance * 1.1), width))
    assert_rejects(steps // width, laws.in_cells(laws.gaussian_reaches(variance * 0.9), width))


@pytest.mark.parametrize("invariants", [Invariants.groups(["a", "a", "b", "b", "b"]), margins(2, 3)])
def test_noise_along_the_rows_leaves_no_trace(invariants: Invariants) -> None:
    noise = np.arange(invariants.cells) ** 2
    for row in invariants.matrix:
        first, second = null_part(invariants, noise), null_part(invariants, noise + 7 * row)
        assert first[0].tolist() == second[0].tolist()


@pytest.mark.parametrize("way", ["extension", "projection"])
@pytest.mark.parametrize("invariants", [Invariants.groups([0, 0, 1, 1, 1, None]), margins(2, 3)])
def test_invariants_are_exact_in_every_release(invariants: Invariants, way: str) -> None:
    table = [4, 0, 9, 1, 1, 30]
    mechanism = Gaussian(invariants, Fraction(1, 5), way=way, bits=seeded(2))  # type: ignore[arg-type]
    for release in (mechanism.release(table), Laplace(invariants, 1, bits=seeded(3)).release(table)):
        assert invariants.of(np.array(release.exact(), dtype=object)).tolist() == invariants.of(table).tolist()
        assert release.floats() == pytest.approx([float(value) for value in release.exact()])


def test_a_million_gaussian_releases_have_exact_totals() -> None:
    mechanism = Gaussian(Invariants.total(3), Fraction(1, 5), neighbours="presence", bits=seeded(4))
    above, _ = null_part(mechanism.invariants, mechanism._noise(RELEASES))
    assert not above.sum(axis=1).any()
    assert above.any(axis=1).mean() > 0.99


def test_releases_are_unbiased() -> None:
    """The mean of 10,000 releases is within 6.5 standard errors of the truth, for each of 4 cells."""
    mechanism = Gaussian(Invariants.total(4), Fraction(1, 50), bits=seeded(5))
    table = [0, 0, 1, 99]
    mean = np.mean([mechanism.release(table).floats() for _ in range(10_000)], axis=0)
    assert (np.abs(mean - table) < 6.5 * np.sqrt(mechanism.variances() / 10_000)).all()


def test_projected_laplace_noise_keeps_its_price_and_halved_noise_does_not() -> None:
    """The event that the first of two cells comes out at 2.5 or more, for the neighbours (3, 1) and (2, 2)."""

    def reports(first: int, factor: int, seed: int) -> NDArray[np.bool_]:
        mechanism = Laplace(Invariants.total(2), 1, bits=seeded(seed))
        mechanism.rate *= factor
        above, below = null_part(mechanism.invariants, mechanism._noise(400_000))
        return np.asarray(first + above[:, 0] / below[0] >= 4.0)

    assert surely_lost(reports(3, 1, 6), reports(2, 1, 7)) <= 1
    assert surely_lost(reports(3, 2, 8), reports(2, 2, 9)) > 1


def test_the_price_is_always_that_of_a_moved_record() -> None:
    total = Invariants.total(10, name="the headcount")
    assert Laplace(total, 1).price.epsilon == 1
    assert Laplace(total, 1, neighbours="presence").price.epsilon == 2
    moved, present = Gaussian.at_price(total, 1, 1e-6), Gaussian(total, Fraction(1, 50), neighbours="presence")
    assert 0.999 < moved.price(1e-6).epsilon <= 1
    as_if_moved = Gaussian(total, Fraction(1, 50) * 2 / (1 - Fraction(1, 10)))
    assert present.price(1e-6).epsilon == pytest.approx(float(as_if_moved.price(1e-6).epsilon), rel=1e-5)
    assert moved.price(1e-6).sentence().startswith("Exact, and so not protected: the headcount.")


def test_queries_of_any_kind_are_answered() -> None:
    """The mean of two pairs and their difference, with the sum of the first two answers exact."""
    queries = [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5], [1, 0, -1, 0]]
    mechanism = Gaussian(Invariants([[1, 1, 0]], name="the sum"), 1, queries=queries, bits=seeded(10))
    release = mechanism.release([1, 2, 3, 5]).exact()
    assert release[0] + release[1] == Fraction(11, 2)


@pytest.mark.parametrize("bad", NOT_POSITIVE)
def test_what_is_no_price_is_refused(bad: object) -> None:
    for attempt in (
        lambda: Gaussian(Invariants.total(3), bad),  # type: ignore[arg-type]
        lambda: Laplace(Invariants.total(3), bad),  # type: ignore[arg-type]
    ):
        with pytest.raises(LouverError, match=r"^(rho|epsilon) .*\.$"):
            attempt()


def test_other_bad_input_is_refused() -> None:
    total = Invariants.total(3)
    with pytest.raises(LouverError, match=r"nothing to protect"):
        Gaussian(Invariants([[1, 0], [0, 1]], name="everything"), 1)
    with pytest.raises(LouverError, match=r"^way must be 'projection' or 'extension'\.$"):
        Gaussian(total, 1, way="sideways")  # type: ignore[arg-type]
    with pytest.raises(LouverError, match=r"^neighbours must be"):
        Laplace(total, 1, neighbours="far")  # type: ignore[arg-type]
    with pytest.raises(LouverError, match=r"^Say what stays exact"):
        Laplace([[1, 1]], 1)  # type: ignore[arg-type]
    with pytest.raises(LouverError, match=r"does not fit"):
        Laplace(Invariants.total(2**20), Fraction(1, 2**40))
    with pytest.raises(LouverError, match=r"^The variance that rho asks for"):
        Gaussian(total, Fraction(1, 2**60))
