"""Tables whose totals cross. Laws are compared with the false-alarm probability `laws.FALSE_ALARM`, 1e-9."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from louver.errors import LouverError
from louver.table import CrossedTable, Invariants, WholeTable
from louver.table.completion import Completion
from louver.table.lattice import lattice_basis
from louver.table.lattice_mixture import LatticeMixture
from louver.table.smooth_laplace import SmoothLaplace, log_density, smooth_laplace
from tests.misuse import NOT_POSITIVE
from tests.table.tools import margins, seeded


def test_ten_by_ten_margins_are_exact_in_every_release() -> None:
    two_way = margins(10, 10)
    mechanism = CrossedTable(two_way, epsilon=1, moved=2, bits=seeded(1))
    table = np.arange(100)
    noise = mechanism.draw(8)
    assert not two_way.of(noise).any()
    assert noise.any(axis=0).all()
    assert two_way.of(mechanism.release(table)).tolist() == two_way.of(table).tolist()


def test_the_refusal_of_completion_names_the_table_that_can_do_it() -> None:
    with pytest.raises(LouverError, match=r"take louver\.table\.CrossedTable"):
        WholeTable(margins(10, 10), epsilon=1, moved=2)


def test_gaussian_noise_on_large_margins_keeps_its_price() -> None:
    """Given margins, 81 directions of variance 200 are left; within 6.5 standard errors, a false alarm of 1e-10."""
    mechanism = WholeTable(margins(10, 10), rho=Fraction(1, 50), noise="gaussian", moved=2, bits=seeded(2))
    assert mechanism.parameter == 200
    draws = mechanism.draw(200)
    assert not margins(10, 10).of(draws).any()
    assert abs((draws**2).sum() / (200 * 200 * 81) - 1) < 6.5 * math.sqrt(2 / (200 * 81))


def test_bits_that_agents_share_go_to_the_sampler_that_is_alike_on_every_machine() -> None:
    mechanism = WholeTable(margins(5, 5), rho=Fraction(1, 50), noise="gaussian", moved=2)
    assert isinstance(mechanism._sampler, LatticeMixture)
    alike = Completion(margins(5, 5).matrix, "gaussian", mechanism.parameter)
    assert mechanism.draw(1, bits=seeded(6)).tolist() == alike.draw(1, seeded(6)).tolist()


def worst_loss(noise: SmoothLaplace, moved: int, rate_factor: float = 1.0) -> float:
    """ln of the largest ratio between neighbours within reach, from the law itself, at 2 x 3 margins."""
    basis = lattice_basis(margins(2, 3).matrix)
    times = np.array(list(itertools.product(range(-30, 31), repeat=2)))
    tables = times @ basis
    heights = log_density(noise.mixture, np.arange(200)) * rate_factor
    shifts = [shift for shift in np.concatenate([basis, basis[:1] - basis[1:]]) if np.abs(shift).sum() <= 2 * moved]
    return max(
        float(np.abs(heights[np.abs(tables)].sum(axis=1) - heights[np.abs(tables + shift)].sum(axis=1)).max())
        for shift in shifts
    )


def test_between_neighbours_the_law_changes_by_the_price_at_most_and_by_more_where_noise_is_a_tenth_narrower() -> None:
    mechanism = CrossedTable(margins(2, 3), epsilon=1, moved=2)
    assert mechanism.noise.reach > 62
    assert 0.9 < worst_loss(mechanism.noise, 2) <= 1
    assert worst_loss(mechanism.noise, 2, 1.1) > 1


@pytest.mark.parametrize("rate", [Fraction(1, 40), Fraction(1, 4), Fraction(3, 2)])
def test_the_slope_is_the_rate_at_most_within_reach_and_little_lies_beyond(rate: Fraction) -> None:
    noise = smooth_laplace(rate, smallest=1.5, shift=2, beyond=1e-14)
    heights = log_density(noise.mixture, np.arange(4 * noise.reach))
    slopes = heights[:-1] - heights[1:]
    assert 0.8 * rate < slopes[: noise.reach].max() <= rate
    assert 2 * np.exp(heights[noise.reach - 2 :] - heights[0]).sum() <= noise.beyond <= 1e-14


def test_noise_is_hardly_wider_than_laplace_noise_on_the_same_margins() -> None:
    """Sums of squares at 3 x 3 cells, from 4,000 draws each: the ratio is 1.13 and scatters by 0.025, so that it lies
    within 6.5 standard errors of that but for a false alarm of 1e-10."""
    both = margins(3, 3)
    crossed = CrossedTable(both, epsilon=1, moved=2, bits=seeded(3)).draw(4000)
    whole = WholeTable(both, epsilon=1, moved=2, bits=seeded(4)).draw(4000)
    assert 0.96 < (crossed**2).sum() / (whole**2).sum() < 1.30


def test_noise_has_no_bias() -> None:
    """The mean of each of 20 cells is 0, within 6.5 standard errors: a false alarm of 2e-9."""
    noise = CrossedTable(margins(4, 5), epsilon=1, moved=2, bits=seeded(5)).draw(1000)
    assert (np.abs(noise.mean(axis=0)) < 6.5 * noise.std(axis=0) / math.sqrt(1000)).all()


def test_a_smallest_variance_beyond_what_epsilon_asks_for_is_refused() -> None:
    with pytest.raises(LouverError, match=r"^epsilon is too large here"):
        smooth_laplace(Fraction(10), smallest=1e6, shift=1, beyond=1e-12)


def test_the_price_says_what_is_exact_and_what_delta_is() -> None:
    price = CrossedTable(margins(2, 3), epsilon=Fraction(1, 2), delta=1e-9, moved=2).price()
    assert (price.epsilon, price.delta, price.invariants) == (Fraction(1, 2), Fraction(1e-9), "the margins")
    assert price.sentence().startswith("Exact, and so not protected: the margins.")


def test_a_table_with_other_totals_than_declared_is_refused() -> None:
    rows = margins(2, 2).matrix
    known = Invariants(rows, name="the margins", totals=[10, 10, 9])
    mechanism = CrossedTable(known, epsilon=1, moved=2)
    assert known.of(mechanism.release([7, 3, 2, 8])).tolist() == [10, 10, 9]
    with pytest.raises(LouverError, match=r"does not agree with the declared totals"):
        mechanism.release([7, 4, 2, 8])


@pytest.mark.parametrize("bad", NOT_POSITIVE)
def test_a_price_that_is_none_is_refused(bad: object) -> None:
    with pytest.raises(LouverError):
        CrossedTable(margins(2, 3), epsilon=bad, moved=2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilon": 1}, r"^No single record can move"),
        ({"epsilon": 1, "moved": 0}, r"^moved must be"),
        ({"epsilon": 1, "moved": 2, "delta": 0}, r"^delta must be"),
        ({"epsilon": 1, "moved": 2, "delta": 0.5}, r"^delta must be"),
        ({"epsilon": Fraction(1, 2**10), "moved": 2}, r"at least 2\*\*-10"),
    ],
)
def test_parameters_that_promise_nothing_are_refused_in_one_sentence(options: dict[str, object], words: str) -> None:
    with pytest.raises(LouverError, match=words) as refused:
        CrossedTable(margins(2, 3), **options)  # type: ignore[arg-type]
    assert str(refused.value).endswith(".")


def test_what_is_exact_must_be_said_by_invariants() -> None:
    with pytest.raises(LouverError, match=r"^Say what stays exact"):
        CrossedTable([[1, 1]], epsilon=1)  # type: ignore[arg-type]
