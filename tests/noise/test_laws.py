"""The tests' own measure: it must not cry wolf, and must not sleep."""

from __future__ import annotations

import numpy as np
import pytest

from tests.noise import laws
from tests.noise.laws import chi_square, p_value, same_law

CALIBRATION_DRAWS = 2_000
LEVEL = 1e-2
# Counts of rejections are binomial: seven standard deviations over the level, false-alarm probability under 1e-9.
MOST_REJECTED = LEVEL * CALIBRATION_DRAWS + 7 * (LEVEL * CALIBRATION_DRAWS) ** 0.5


@pytest.mark.parametrize("cells", [[0.5, 0.5], [0.9975, 0.0025], [0.4, 0.3, 0.2, 0.0975, 0.0025], [0.0025] * 400])
def test_a_true_law_is_rejected_as_rarely_as_stated(cells: list[float]) -> None:
    generator = np.random.default_rng(7)
    counts = generator.multinomial(10_000, cells, size=CALIBRATION_DRAWS)
    assert sum(chi_square(row, cells) < LEVEL for row in counts) < MOST_REJECTED


def test_two_samples_of_one_law_are_told_apart_as_rarely_as_stated() -> None:
    generator = np.random.default_rng(8)
    samples = generator.geometric(0.3, size=(CALIBRATION_DRAWS, 2, 1_000))
    assert sum(same_law(first, second) < LEVEL for first, second in samples) < MOST_REJECTED


def test_two_samples_of_different_laws_are_told_apart() -> None:
    generator = np.random.default_rng(9)
    assert same_law(generator.geometric(0.3, 100_000), generator.geometric(0.33, 100_000)) < laws.FALSE_ALARM


def test_an_impossible_outcome_is_enough() -> None:
    draws = np.append(np.random.default_rng(10).geometric(-np.expm1(-0.5), 100_000) - 1, -1)
    assert p_value(draws[:-1], laws.geometric(0.5)) > laws.FALSE_ALARM
    assert p_value(draws, laws.geometric(0.5)) == 0


def test_an_outcome_that_never_came_counts() -> None:
    draws = np.random.default_rng(11).integers(0, 9, 10_000)
    assert p_value(draws, lambda _: 1 / 9) > laws.FALSE_ALARM
    assert p_value(draws, lambda _: 1 / 10) < laws.FALSE_ALARM


def test_too_few_draws_are_no_test() -> None:
    with pytest.raises(AssertionError, match="too few"):
        chi_square([10, 10], [0.5, 0.5])


def test_what_is_no_law_is_no_test() -> None:
    with pytest.raises(AssertionError, match="sum to 1"):
        chi_square([100, 100], [0.5, 0.4])
    with pytest.raises(AssertionError, match="more than 1"):
        p_value(np.repeat([0, 1], 100), lambda _: 0.6)


@pytest.mark.parametrize("variance", [0.1, 1.0, 100.0])
def test_the_reference_laws_sum_to_1(variance: float) -> None:
    for law in (laws.gaussian(variance), laws.laplace(variance), laws.in_cells(laws.laplace_reaches(variance), 3)):
        assert abs(sum(law(value) for value in range(-500, 501)) - 1) < 1e-12


def test_the_reference_tail_of_a_wide_gaussian_is_its_sum() -> None:
    law, reaches = laws.gaussian(200.0), laws.gaussian_reaches(200.0)
    for edge in (-30, 0, 5, 40):
        assert abs(reaches(edge) - sum(law(value) for value in range(edge, 200))) < 1e-6
