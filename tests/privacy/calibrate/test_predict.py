"""Interval probabilities against known values, quadrature and simulation."""

from __future__ import annotations

import contextlib
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.errors import LouverError, ParameterError
from louver.privacy.calibrate import predict_fresh, predict_gradual
from louver.privacy.calibrate.predict import Floats
from tests.misuse import NOT_NUMBERS, NOT_POSITIVE, anything

# A true law leaves the band of 6 standard errors with probability 2e-9.
STANDARD_ERRORS = 6
NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)

rates = st.floats(1e-3, 1e3)
places = st.floats(-1e4, 1e4)


@pytest.mark.parametrize(
    ("mean", "rate", "next_rate", "centre", "reach", "probability"),
    [
        (3, 0.5, 1.5, 0, 2, 0.281089617126),
        (3, 1, 1, 0, 2, 0.264118173630),
        (-1, 0.2, 0.2, 0, 5, 0.444514355588),
        (3, 0.5, 1.5, 10, 2, 0.039889519085),
    ],
)
def test_fresh_noise_gives_the_known_probabilities(
    mean: float, rate: float, next_rate: float, centre: float, reach: float, probability: float
) -> None:
    found = predict_fresh(mean, rate, next_rate, centre - reach, centre + reach)
    assert float(found) == pytest.approx(probability, abs=5e-13)
    assert float(predict_fresh(mean, next_rate, rate, centre - reach, centre + reach)) == float(found)


@pytest.mark.parametrize(("value", "correlated", "independent"), [(0, 0.7241, 0.5546), (3, 0.1967, 0.2894)])
def test_gradual_noise_differs_from_fresh_noise(value: float, correlated: float, independent: float) -> None:
    assert float(predict_gradual(value, 0.5, 1, -2, 2)) == pytest.approx(correlated, abs=5e-5)
    assert float(predict_fresh(value, 0.5, 1, -2, 2)) == pytest.approx(independent, abs=5e-5)


def test_gradual_prediction_agrees_with_a_simulation_under_a_flat_prior() -> None:
    dice = np.random.default_rng(4)
    draws, width = 2_000_000, 25.0
    truth = dice.uniform(-width, width, draws)
    clear = dice.laplace(size=draws)
    noisy = clear + (dice.random(draws) >= 0.25) * dice.laplace(size=draws) / 0.5
    near = np.abs(truth + noisy - 3) < 0.05
    inside = np.abs((truth + clear)[near]) <= 2
    expected = float(predict_gradual(3, 0.5, 1, -2, 2))
    # The window's width and the prior's ends bend the law by less than .001.
    assert abs(inside.mean() - expected) < STANDARD_ERRORS * math.sqrt(expected / near.sum()) + 0.001


def laplace_below(z: Floats, rate: float) -> Floats:
    tail = np.exp(-rate * np.abs(z)) / 2
    return np.where(z < 0, tail, 1 - tail)


@settings(max_examples=300)
@given(st.floats(0.1, 10), st.floats(0.1, 10), st.floats(-5, 5), st.floats(0, 5))
def test_fresh_noise_agrees_with_quadrature(rate: float, next_rate: float, start: float, width: float) -> None:
    far = 8 + 50 / rate
    exact = 0.0
    for low, high in itertools.pairwise(sorted({-far, 0.0, start, start + width, far})):
        x = low + (high - low) * (NODES + 1) / 2
        inside = laplace_below(start + width - x, next_rate) - laplace_below(start - x, next_rate)
        exact += float(np.sum(WEIGHTS * rate / 2 * np.exp(-rate * np.abs(x)) * inside)) * (high - low) / 2
    assert float(predict_fresh(0, rate, next_rate, start, start + width)) == pytest.approx(exact, abs=1e-11)


@settings(max_examples=500)
@given(rates, st.floats(1, 100), places, places, places)
def test_predictions_are_probabilities_that_add_up(
    rate: float, ratio: float, value: float, first: float, second: float
) -> None:
    low, high = sorted((first, second))
    for law in (predict_fresh, predict_gradual):
        inside = float(law(value, rate, rate * ratio, low, high))
        assert 0 <= inside <= 1
        below, above = (
            float(law(value, rate, rate * ratio, -1e300, low)),
            float(law(value, rate, rate * ratio, high, 1e300)),
        )
        stays_at_an_end = law is predict_gradual and value in (low, high)
        assert stays_at_an_end or below + inside + above == pytest.approx(1, abs=1e-9)


def test_far_tails_keep_their_relative_precision() -> None:
    found = float(predict_fresh(0, 1, 1, 600, 700))
    assert found == pytest.approx(math.exp(-600) * (2 + 600) / 4, rel=1e-12)


@settings(max_examples=200)
@given(st.floats(0.01, 10), st.floats(0, 50))
def test_nearly_equal_rates_are_as_stable_as_equal_ones(rate: float, distance: float) -> None:
    equal = math.exp(-rate * distance) * (2 + rate * distance) / 4
    for other in (rate, math.nextafter(rate, math.inf), rate * (1 + 1e-12)):
        assert float(predict_fresh(0, rate, other, distance, 1e300)) == pytest.approx(equal, rel=1e-9)


def test_arrays_are_predicted_value_by_value() -> None:
    values, lows = np.array([-3.0, 0.0, 3.0]), [-2, -1, 0]
    found = predict_gradual(values, Fraction(1, 2), 1, lows, 2)
    single = [float(predict_gradual(value, 0.5, 1, low, 2)) for value, low in zip(values, lows, strict=True)]
    assert found.tolist() == single


def test_no_noise_left_means_the_value_stays() -> None:
    assert predict_gradual([1, 5], 1, 1, 0, 2).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("wrong", [*NOT_POSITIVE, 1e300, 1e-300])
def test_an_impossible_rate_is_refused(wrong: object) -> None:
    for law in (predict_fresh, predict_gradual):
        with pytest.raises(ParameterError, match="rate"):
            law(0, wrong, 1, -1, 1)
        with pytest.raises(ParameterError, match="rate"):
            law(0, 1, wrong, -1, 1)


@pytest.mark.parametrize(
    "wrong", [wrong for wrong in NOT_NUMBERS if not isinstance(wrong, list | tuple | np.ndarray)] + [[None], [math.nan]]
)
def test_an_impossible_place_is_refused(wrong: object) -> None:
    for law in (predict_fresh, predict_gradual):
        for places_given in ((wrong, -1, 1), (0, wrong, 1), (0, -1, wrong)):
            value, low, high = places_given
            with pytest.raises(ParameterError):
                law(value, 1, 2, low, high)


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(ParameterError, match="at most high"):
        predict_fresh(0, 1, 2, 1, -1)
    with pytest.raises(ParameterError, match="noisy to clear"):
        predict_gradual(0, 2, 1, -1, 1)
    with pytest.raises(ParameterError, match="one shape"):
        predict_fresh([1, 2, 3], 1, 2, [1, 2], 9)
    with pytest.raises(ParameterError, match="finite"):
        predict_fresh([[1], [2, 3]], 1, 2, 0, 9)


@settings(max_examples=1000)
@given(anything, anything, anything, anything, anything)
def test_nothing_but_a_louver_error_escapes(
    value: object, rate: object, next_rate: object, low: object, high: object
) -> None:
    for law in (predict_fresh, predict_gradual):
        for arguments in ((value, rate, next_rate, low, high), (value, 1, 2, low, high), (0, rate, next_rate, -1, 1)):
            with contextlib.suppress(LouverError):
                found = law(*arguments)
                assert np.all((found >= 0) & (found <= 1))
