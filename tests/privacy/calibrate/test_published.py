"""The published formulas, digit by digit, and how they compare with the least price."""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.errors import LouverError, ParameterError
from louver.noise.enclosure import exp
from louver.privacy.calibrate import mim_shift, mim_shift_in_text, one_shot, ppwlm, tslm
from tests.misuse import NOT_NUMBERS, NOT_POSITIVE, anything

rates = st.fractions(Fraction(1, 10**6), Fraction(499, 1000), max_denominator=10**6)
widths = st.fractions(Fraction(1, 100), 10**4, max_denominator=100)


@pytest.mark.parametrize(
    ("alpha", "published", "least", "saved"),
    [(1, 2.3026, 1.1513, 50), (2, 1.1513, 0.7675, 33), (5, 0.4605, 0.3838, 17), (10, 0.2303, 0.2093, 9)],
)
def test_one_look_costs_less_than_published(alpha: int, published: float, least: float, saved: int) -> None:
    shift, best = tslm(0.05, alpha), one_shot(0.05, 2 * alpha + 1)
    assert float(shift.epsilon) == pytest.approx(published, abs=5.1e-5)
    assert float(best.epsilon) == pytest.approx(least, abs=5.1e-5)
    assert round(100 * float(1 - best.epsilon / shift.epsilon)) == saved


def test_the_example_of_the_thesis() -> None:
    assert float(tslm(0.01, 80).epsilon) == pytest.approx(0.049, abs=5e-4)
    assert float(tslm(0.01, 40).epsilon) == pytest.approx(0.098, abs=5e-4)


@pytest.mark.parametrize("alpha", [Fraction(1, 10**300), Fraction(1), Fraction(10**300)])
@pytest.mark.parametrize("distance", [Fraction(1, 2**200), Fraction(1, 3)])
def test_extreme_rates_and_widths_are_computed_as_well(alpha: Fraction, distance: Fraction) -> None:
    found = tslm(Fraction(1, 2) - distance, alpha).epsilon * alpha
    assert float(found / distance) == pytest.approx(2 if distance < Fraction(1, 10) else 3 * math.log(3), rel=1e-9)


@settings(max_examples=300)
@given(rates, widths)
def test_a_shifted_threshold_misses_at_most_at_the_promised_rate(rate: Fraction, alpha: Fraction) -> None:
    found = tslm(rate, alpha)
    assert found.shift == alpha
    missed = exp(-found.epsilon * found.shift, 200) / 2
    assert missed.upper <= rate
    assert missed.lower > rate * (1 - Fraction(1, 2**30))


@pytest.mark.parametrize(("steps", "last"), [(2, 2.996), (4, 3.689), (8, 4.382)])
def test_the_progressive_schedule_is_geometric_as_printed(steps: int, last: float) -> None:
    found = ppwlm(0.05, 1, Fraction(1, 10**5), steps)
    assert found.levels[0] == Fraction(1, 10**5)
    assert float(found.levels[-1]) == pytest.approx(last, abs=5e-4)
    assert found.shifts[-1] == 1
    ratio = float(found.levels[-1] / found.levels[0]) ** (1 / (steps - 1))
    for level, clearer in pairwise(found.levels):
        assert float(clearer / level) == pytest.approx(ratio, rel=1e-9)
    scaled = [float(level * shift) for level, shift in zip(found.levels, found.shifts, strict=True)]
    assert scaled == pytest.approx([math.log(steps / 0.1)] * steps, rel=1e-9)


@settings(max_examples=200)
@given(rates, widths, st.integers(2, 12), st.fractions(Fraction(1, 10**4), Fraction(9, 10), max_denominator=10**4))
def test_every_progressive_step_keeps_its_share(rate: Fraction, alpha: Fraction, steps: int, part: Fraction) -> None:
    found = ppwlm(rate, alpha, part * tslm(rate / steps, alpha).epsilon, steps)
    assert list(found.levels) == sorted(set(found.levels))
    assert len(found.levels) == steps
    for level, shift in zip(found.levels, found.shifts, strict=True):
        assert (exp(-level * shift, 200) / 2).upper <= rate / steps


@settings(max_examples=200)
@given(rates, widths)
def test_the_first_paper_disagrees_with_itself(rate: Fraction, epsilon: Fraction) -> None:
    by_algorithm, by_text = mim_shift(rate, epsilon), mim_shift_in_text(rate, epsilon)
    assert (exp(-epsilon * by_algorithm, 200) / 2).upper <= rate
    assert float((by_text - by_algorithm) * epsilon) == pytest.approx(math.log(2), rel=1e-6)
    assert (exp(-epsilon * by_text, 200) / 2).upper <= rate / 2


@pytest.mark.parametrize("wrong", NOT_POSITIVE)
def test_what_must_be_positive_is(wrong: object) -> None:
    for call in (tslm, mim_shift, mim_shift_in_text):
        with pytest.raises(ParameterError, match=r"alpha|epsilon"):
            call(0.05, wrong)
    with pytest.raises(ParameterError, match="alpha"):
        ppwlm(0.05, wrong, 0.01, 4)
    with pytest.raises(ParameterError, match="first_epsilon"):
        ppwlm(0.05, 1, wrong, 4)


@pytest.mark.parametrize("wrong", [*NOT_NUMBERS, 0, 0.5, 1, -0.1])
def test_an_impossible_rate_is_refused(wrong: object) -> None:
    for call in (tslm, mim_shift, mim_shift_in_text):
        with pytest.raises(ParameterError, match="miss_rate"):
            call(wrong, 1)
    with pytest.raises(ParameterError, match="miss_rate"):
        ppwlm(wrong, 1, 0.01, 4)


@pytest.mark.parametrize(
    ("first", "steps"), [(3.7, 4), (10, 4), (1e-30, 4), (0.01, 1), (0.01, 0), (0.01, 10**6), (0.01, 2.0)]
)
def test_a_schedule_that_does_not_rise_is_refused(first: float, steps: int) -> None:
    with pytest.raises(ParameterError):
        ppwlm(0.05, 1, first, steps)


@settings(max_examples=1000)
@given(anything, anything, anything, anything)
def test_nothing_but_a_louver_error_escapes(rate: object, alpha: object, first: object, steps: object) -> None:
    for call in (tslm, mim_shift, mim_shift_in_text):
        for arguments in ((rate, alpha), (0.05, alpha), (rate, 1)):
            with contextlib.suppress(LouverError):
                assert call(*arguments)
    for four in ((rate, alpha, first, steps), (0.05, alpha, first, 4), (rate, 1, first, steps), (0.05, 1, 0.01, steps)):
        with contextlib.suppress(LouverError):
            assert ppwlm(*four).levels
