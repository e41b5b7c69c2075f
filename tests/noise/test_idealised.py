"""Each comparison with a law has the false-alarm probability `laws.FALSE_ALARM`, 1e-9; this file makes under 50."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import louver.noise
from louver.errors import LouverError
from louver.noise.idealised import Idealised, clearer, laplace
from tests.misuse import NOT_COUNTS, NOT_POSITIVE, anything
from tests.noise.laws import FALSE_ALARM, Law, assert_follows, assert_rejects, coin, same_law

DRAWS = 300_000
PAIRS = [(Fraction(1, 5), Fraction(4, 5)), (Fraction(1, 2), Fraction(1)), (Fraction(3, 10), Fraction(5, 4))]


def cumulative(rate: float, x: float) -> float:
    return math.exp(rate * x) / 2 if x < 0 else 1 - math.exp(-rate * x) / 2


def cells_of(rate: float, width: float) -> Law:
    """Laplace's own law of floor(x / width)."""
    return lambda cell: cumulative(rate, (cell + 1) * width) - cumulative(rate, cell * width)


def cells(values: NDArray[np.float64], width: float) -> NDArray[np.int64]:
    return np.floor(values / width).astype(np.int64)


@pytest.mark.parametrize("rate", [0.001, 0.05, 1.0, 10.0])
def test_laplace_draws_follow_their_law_and_not_one_10_percent_off(rate: float) -> None:
    width = 1 / (5 * rate)
    draws = cells(laplace(rate, DRAWS), width)
    assert_follows(draws, cells_of(rate, width))
    assert_rejects(draws, cells_of(rate * 1.1, width))
    assert_rejects(draws, cells_of(rate * 0.9, width))


@pytest.mark.parametrize(("noisy", "clear"), PAIRS)
def test_cleared_noise_follows_the_clearer_law_and_not_one_10_percent_off(noisy: Fraction, clear: Fraction) -> None:
    width = 1 / (5 * float(clear))
    draws = cells(clearer(laplace(noisy, DRAWS), noisy, clear), width)
    assert_follows(draws, cells_of(float(clear), width))
    assert_rejects(draws, cells_of(float(clear) * 1.1, width))
    assert_rejects(draws, cells_of(float(clear) * 0.9, width))


@pytest.mark.parametrize(("noisy", "clear"), PAIRS)
def test_noise_stays_with_the_square_of_the_ratio_of_rates(noisy: Fraction, clear: Fraction) -> None:
    """At rates 0.2 and 0.8 the mean is 0.0625."""
    first = laplace(noisy, DRAWS)
    stayed = clearer(first, noisy, clear) == first
    mean = float(noisy / clear) ** 2
    assert (mean == 0.0625) == (noisy == Fraction(1, 5))
    assert_follows(stayed, coin(mean))
    assert_rejects(stayed, coin(mean * 1.1))
    assert_rejects(stayed, coin(mean * 0.9))


@pytest.mark.parametrize("start", [0.0, 1.5, -1.5, 40.0])
def test_noise_at_one_place_stays_as_often_as_its_size_says(start: float) -> None:
    noisy, clear = 0.3, 0.4
    stayed = clearer(Idealised(np.full(DRAWS, start)), noisy, clear) == start
    assert_follows(stayed, coin(noisy / clear * math.exp(-(clear - noisy) * abs(start))))


@pytest.mark.parametrize("start", [0.0, 2.0, -2.0])
def test_noise_at_one_place_moves_by_the_transition_density(start: float) -> None:
    """Given y, the clearer x has density (1 - (e1/e2)^2) f1(y - x) f2(x) / f1(y) wherever x is not y."""
    noisy, clear, width, most = 0.5, 1.25, 0.25, 60

    def density(x: NDArray[np.float64]) -> NDArray[np.float64]:
        moved = 1 - (noisy / clear) ** 2
        return moved * clear / 2 * np.exp(-clear * np.abs(x) - noisy * np.abs(start - x) + noisy * abs(start))

    # Both kinks, 0 and y, lie on cell edges; Simpson's rule within a cell is exact to 2e-5 of its mass.
    edges = np.arange(-most, most + 1, dtype=np.float64) * width
    middle, low, high = density(edges[:-1] + width / 2), density(edges[:-1]), density(edges[1:])
    chances = dict(zip(range(-most, most), (width * (low + 4 * middle + high) / 6).tolist(), strict=True))
    whole = sum(chances.values())
    drawn = clearer(Idealised(np.full(DRAWS, start)), noisy, clear)
    moved = drawn[drawn != start]
    assert whole == pytest.approx(1 - noisy / clear * math.exp(-(clear - noisy) * abs(start)), abs=1e-5)
    assert_follows(np.clip(cells(moved, width), -most, most - 1), lambda cell: chances[cell] / whole)


def pairs_downwards(noisy: float, clear: float) -> NDArray[np.int64]:
    first = laplace(noisy, DRAWS)
    second = clearer(first, noisy, clear)
    return as_rows(first, second, noisy, clear)


def pairs_upwards(noisy: float, clear: float, stay: float) -> NDArray[np.int64]:
    """The reverse form: X1 = X2, or else X2 plus fresh noise of the smaller rate."""
    generator = np.random.default_rng(12)
    second = generator.laplace(scale=1 / clear, size=DRAWS)
    moved = generator.random(DRAWS) >= stay
    return as_rows(second + moved * generator.laplace(scale=1 / noisy, size=DRAWS), second, noisy, clear)


def as_rows(first: NDArray[np.float64], second: NDArray[np.float64], noisy: float, clear: float) -> NDArray[np.int64]:
    equal = (first == second).astype(np.int64)
    return np.stack((cells(first, 1 / noisy), cells(second, 1 / clear), equal), axis=1)


@pytest.mark.parametrize(("noisy", "clear"), [(0.2, 0.8), (0.5, 0.6)])
def test_both_directions_have_one_joint_law(noisy: float, clear: float) -> None:
    stay = (noisy / clear) ** 2
    downwards = pairs_downwards(noisy, clear)
    assert same_law(downwards, pairs_upwards(noisy, clear, stay)) >= FALSE_ALARM
    assert same_law(downwards, pairs_upwards(noisy, clear, stay * 1.3)) < FALSE_ALARM
    assert same_law(downwards, pairs_upwards(noisy, clear, stay * 0.7)) < FALSE_ALARM


def test_positive_and_negative_noise_are_treated_alike() -> None:
    up, down = (clearer(Idealised(np.full(DRAWS, start)), 0.5, 1) for start in (3.0, -3.0))
    assert same_law(cells(up, 0.25), cells(-down, 0.25)) >= FALSE_ALARM
    assert same_law(cells(up, 0.25), cells(down, 0.25)) < FALSE_ALARM


def test_rates_closer_than_floats_can_tell_give_no_gap_and_no_warning() -> None:
    noisy, clear = Fraction(2048) - Fraction(1, 2**48), Fraction(2048)
    assert float(noisy) == float(clear)
    first = laplace(noisy, 1000)
    assert (clearer(first, noisy, clear) == first).all()


def test_huge_noise_clears_without_a_warning() -> None:
    far = Idealised(np.array([1e308, -1e308, 1e300, 0.0, 5e-324]))
    for rates in ((1, 2), (Fraction(1, 2**48), Fraction(1, 2**47)), (1, 2048)):
        assert np.isfinite(clearer(far, *rates)).all()


def test_as_many_values_as_asked_for() -> None:
    for count in (0, 1, 9):
        assert laplace(1, count).shape == (count,)
        assert clearer(laplace(1, count), 1, 2).shape == (count,)
    assert clearer([1.0, 2], 1, 2).shape == (2,)  # type: ignore[arg-type]


def test_the_noise_that_was_passed_in_is_not_changed() -> None:
    first = laplace(1, 1000)
    kept = first.copy()
    clearer(first, 1, 2)
    assert (first == kept).all()


def test_idealised_noise_is_not_offered_with_the_exact_noise() -> None:
    assert not {"idealised", "Idealised", "laplace"} & set(louver.noise.__all__)


@pytest.mark.parametrize("bad", [*NOT_POSITIVE, Fraction(1, 2**49), 5000, 1e308])
def test_what_is_no_rate_is_refused(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^The rate .*\.$"):
        laplace(bad, 1)  # type: ignore[arg-type]
    for rates in ((bad, 1), (1, bad)):
        with pytest.raises(LouverError, match=r"rate .*\.$"):
            clearer(Idealised(np.zeros(1)), *rates)


def test_rates_that_do_not_rise_are_refused() -> None:
    for rates in ((1, 1), (2, 1), (0.5, 0.5)):
        with pytest.raises(LouverError, match="rise"):
            clearer(Idealised(np.zeros(1)), *rates)


@pytest.mark.parametrize("bad", NOT_COUNTS)
def test_what_is_no_number_of_draws_is_refused(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^The number of draws .*\.$"):
        laplace(1, bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "bad", [None, 1.0, "a", ["a"], [None], [math.nan], [math.inf], [[1.0]], {}, [10**400], [1j], object()]
)
def test_what_is_no_noise_is_refused(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^The noise .*\.$"):
        clearer(bad, 1, 2)  # type: ignore[arg-type]


@given(anything, st.integers(-1, 5) | anything)
def test_whatever_is_passed_gives_draws_or_a_sentence(rate: object, count: object) -> None:
    try:
        draws = laplace(rate, count if not isinstance(count, int) else min(count, 5))  # type: ignore[arg-type]
    except LouverError as refusal:
        assert str(refusal).endswith(".")
    else:
        assert np.isfinite(draws).all()
