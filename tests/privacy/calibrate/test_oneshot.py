"""One look: the promise at the worst counts, privacy, and that no cheaper test exists."""

from __future__ import annotations

import contextlib
import itertools
import math
from array import array
from collections import deque
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from louver.errors import LouverError, ParameterError
from louver.noise.enclosure import exp, ln
from louver.noise.laplace import LARGEST_RATE
from louver.parameters import SMALLEST_ERROR_RATE
from louver.privacy.calibrate import OneShot, one_shot
from louver.privacy.calibrate.oneshot import LARGEST_SLACK, aligned, reach
from tests.misuse import NOT_COUNTS, NOT_NUMBERS, anything

TWENTIETH = Fraction(1, 20)

rates = st.one_of(
    st.fractions(Fraction(1, 1000), Fraction(499, 1000), max_denominator=1000),
    st.sampled_from([Fraction(1, 10**9), Fraction(1, 10**30), Fraction(2, 5), Fraction(1, 2) - Fraction(1, 10**5)]),
)
slacks = st.one_of(st.integers(0, 40), st.sampled_from([10**3, 10**6, 10**8]))


def end_of_fastest_descent(epsilon: float, miss: float, steps: int) -> float:
    """The least acceptance probability an ε-DP test can have that many counts below one it accepts with 1 - miss."""
    growth, accept, reject = math.exp(epsilon), 1 - miss, miss
    for _ in range(steps):
        if accept / growth >= 1 - reject * growth:
            accept = accept / growth
            reject = 1 - accept
        else:
            reject = reject * growth
            accept = 1 - reject
    return accept


@pytest.mark.parametrize(
    ("slack", "sensitivity", "epsilon"),
    [
        (2, 1, 1.3863),
        (3, 1, 1.1513),
        (5, 1, 0.7675),
        (10, 1, 0.4148),
        (11, 1, 0.3838),
        (21, 1, 0.2093),
        (20, 5, 0.8832),
        (2, 3, 2.944),
    ],
)
def test_the_least_epsilon_is_the_known_one(slack: int, sensitivity: int, epsilon: float) -> None:
    found = one_shot(TWENTIETH, slack, sensitivity=sensitivity).epsilon
    assert float(found) == pytest.approx(epsilon, abs=6e-5 if epsilon < 2 else 6e-4)


def test_at_slack_two_the_acceptance_descends_through_known_values() -> None:
    shot = one_shot(TWENTIETH, 2)
    assert float(shot.epsilon) == pytest.approx(math.log(4), rel=1e-11)
    values = [float(shot.acceptance(margin).lower) for margin in (1, 0, -1, -2)]
    assert values == pytest.approx([0.95, 0.8, 0.2, 0.05], abs=1e-11)


@pytest.mark.parametrize(("slack", "sensitivity", "scaled"), [(20, 5, 1.094), (2, 3, 4.159)])
def test_dividing_first_is_cheaper_than_wider_noise(slack: int, sensitivity: int, scaled: float) -> None:
    wider = sensitivity * one_shot(TWENTIETH, slack).epsilon
    assert float(wider) == pytest.approx(scaled, abs=6e-4)
    assert one_shot(TWENTIETH, slack, sensitivity=sensitivity).epsilon < wider


@settings(max_examples=200)
@given(rates, rates, st.integers(0, 60), st.integers(1, 70))
def test_dividing_first_never_costs_more(miss: Fraction, alarm: Fraction, slack: int, sensitivity: int) -> None:
    divided, wider = one_shot(miss, slack, alarm, sensitivity), one_shot(miss, slack, alarm)
    # Both are rounded up, by less than 2**-38 of themselves.
    assert divided.epsilon <= sensitivity * wider.epsilon * (1 + Fraction(1, 2**38))


@settings(max_examples=100)
@given(rates, st.integers(0, 300).map(lambda half: 2 * half + 1))
def test_odd_slack_has_a_closed_form(rate: Fraction, slack: int) -> None:
    shot = one_shot(rate, slack)
    exact = ln(1 / (2 * rate), 300) * 2 / (slack + 1)
    assert exact.lower <= shot.epsilon <= exact.upper * (1 + Fraction(1, 2**38))
    assert shot.cut == Fraction(1 - slack, 2)
    assert shot.coin == Fraction(1, 2)


@settings(max_examples=100)
@given(rates, st.integers(0, 300).map(lambda half: 2 * half))
def test_even_slack_solves_a_known_equation_and_needs_no_coin(rate: Fraction, slack: int) -> None:
    """With a = exp(-ε), a^(s/2+1) = rate (1+a); a noisy count of at least c - s/2 + 1 is accepted."""
    shot = one_shot(rate, slack)
    assert shot.boundary == 1 - slack // 2
    assert shot.coin == 1

    def keeps(epsilon: Fraction) -> bool:
        a = exp(-epsilon, 600)
        return (a ** (slack // 2 + 1)).upper <= (rate * (1 + a)).lower

    assert keeps(shot.epsilon)
    assert not keeps(shot.epsilon * (1 - Fraction(1, 2**38)))


@settings(max_examples=400)
@given(rates, rates, slacks, st.integers(1, 50))
@example(Fraction(1, 10**9), Fraction(2, 5), 10**6, 1)
@example(Fraction(2, 5), Fraction(1, 10**9), 0, 1)
def test_the_promise_holds_at_both_worst_counts(miss: Fraction, alarm: Fraction, slack: int, sensitivity: int) -> None:
    shot = one_shot(miss, slack, alarm, sensitivity)
    assert shot.acceptance(1, bits=256).lower >= 1 - miss
    assert shot.acceptance(-slack, bits=256).upper <= alarm


@settings(max_examples=100)
@given(rates, rates, st.integers(0, 12), st.integers(1, 5))
def test_acceptance_grows_with_the_count(miss: Fraction, alarm: Fraction, slack: int, sensitivity: int) -> None:
    shot = one_shot(miss, slack, alarm, sensitivity)
    values = [shot.acceptance(margin) for margin in range(-slack - 12, 12)]
    assert all(low.lower <= high.upper for low, high in itertools.pairwise(values))


@settings(max_examples=100)
@given(rates, rates, st.integers(0, 12), st.integers(1, 6))
def test_one_unit_changes_either_answer_by_at_most_epsilon(
    miss: Fraction, alarm: Fraction, slack: int, sensitivity: int
) -> None:
    shot = one_shot(miss, slack, alarm, sensitivity)
    growth = exp(shot.epsilon, 256)
    for margin in range(-slack - 15, 15):
        some, more = shot.acceptance(margin, bits=200), shot.acceptance(margin + sensitivity, bits=200)
        assert more.lower <= growth.upper * some.upper
        assert 1 - some.upper <= growth.upper * (1 - more.lower)


def test_too_little_noise_would_be_caught_by_the_privacy_test() -> None:
    shot = one_shot(TWENTIETH, 5)
    loud = OneShot(shot.epsilon * Fraction(101, 100), shot.cut, 1, shot.steps)
    growth = exp(shot.epsilon, 256)
    assert loud.acceptance(-20).lower > growth.upper * loud.acceptance(-21).upper


@settings(max_examples=300)
@given(rates.filter(lambda rate: rate < 0.4999), rates.filter(lambda rate: rate < 0.4999), st.integers(0, 200))
@example(Fraction(1, 10**9), Fraction(2, 5), 10**6)
@example(Fraction(2, 5), Fraction(1, 10**9), 10**5)
@example(Fraction(1, 10**9), Fraction(1, 10**9), 10**5)
def test_no_private_test_keeps_the_promise_for_less(miss: Fraction, alarm: Fraction, slack: int) -> None:
    epsilon = float(one_shot(miss, slack, alarm).epsilon)
    assert end_of_fastest_descent(epsilon * (1 - 1e-6), float(miss), slack + 1) > float(alarm)
    assert end_of_fastest_descent(epsilon * (1 + 1e-6), float(miss), slack + 1) < float(alarm)


@settings(max_examples=300)
@given(rates, st.fractions(Fraction(1, 500), 6, max_denominator=500))
def test_reach_is_the_quantile_of_the_noise(rate: Fraction, epsilon: Fraction) -> None:
    found = reach(epsilon, rate, 256)
    width = Fraction(1, 2**60)
    beyond = [OneShot(epsilon, end, 1, 1).acceptance(0, bits=220) for end in (found.lower - width, found.upper + width)]
    assert beyond[0].lower > rate > beyond[1].upper


@settings(max_examples=300)
@given(rates, rates, slacks)
def test_epsilon_and_cut_are_short_to_write(miss: Fraction, alarm: Fraction, slack: int) -> None:
    shot = one_shot(miss, slack, alarm)
    assert shot.epsilon.denominator & (shot.epsilon.denominator - 1) == 0
    assert shot.epsilon.numerator.bit_length() <= 42
    assert shot.cut.denominator.bit_length() <= 64
    assert 0 < shot.coin <= 1


@settings(max_examples=100)
@given(rates, rates, st.integers(0, 50))
def test_the_two_kinds_of_error_are_mirror_images(miss: Fraction, alarm: Fraction, slack: int) -> None:
    assert one_shot(miss, slack, alarm).epsilon == one_shot(alarm, slack, miss).epsilon


def test_the_largest_slack_is_as_quick_as_a_small_one() -> None:
    shot = one_shot(0.05, LARGEST_SLACK)
    assert float(shot.epsilon * LARGEST_SLACK) == pytest.approx(2 * math.log(10), rel=1e-9)


def test_floats_and_fractions_mean_the_same() -> None:
    assert one_shot(0.25, 4) == one_shot(Fraction(1, 4), np.int64(4), np.float64(0.25), np.int32(1))


@settings(max_examples=2000)
@given(st.integers(-(2**62), 2**62), st.integers(-(2**20), 2**20), st.integers(1, 2**20))
def test_alignment_has_sensitivity_one_and_keeps_the_sign(margin: int, change: int, sensitivity: int) -> None:
    moved = margin + max(-sensitivity, min(sensitivity, change))
    assert abs(aligned(margin, sensitivity) - aligned(moved, sensitivity)) <= 1
    assert (aligned(margin, sensitivity) >= 1) == (margin >= 1)
    assert aligned(margin, 1) == margin


@settings(max_examples=500)
@given(st.lists(st.integers(-(2**62), 2**62), max_size=20), st.integers(1, 2**40))
def test_arrays_align_as_integers_do(margins: list[int], sensitivity: int) -> None:
    found = aligned(np.array(margins, dtype=np.int64), sensitivity)
    assert found.dtype == np.int64
    assert found.tolist() == [-(-margin // sensitivity) for margin in margins]


@pytest.mark.parametrize("wrong", [*NOT_NUMBERS, 0, -1, 0.5, 1, 2, Fraction(1, 2), -0.05])
def test_an_impossible_rate_is_refused(wrong: object) -> None:
    with pytest.raises(ParameterError, match="miss_rate"):
        one_shot(wrong, 5)
    if wrong is not None:
        with pytest.raises(ParameterError, match="false_alarm_rate"):
            one_shot(0.05, 5, wrong)


@pytest.mark.parametrize("wrong", [wrong for wrong in NOT_COUNTS if not (isinstance(wrong, int) and wrong > 1)])
def test_an_impossible_slack_or_sensitivity_is_refused(wrong: object) -> None:
    with pytest.raises(ParameterError, match="slack"):
        one_shot(0.05, wrong)
    with pytest.raises(ParameterError, match="sensitivity"):
        one_shot(0.05, 5, sensitivity=wrong)


@pytest.mark.parametrize(("slack", "sensitivity"), [(LARGEST_SLACK + 1, 1), (5, 0), (5, LARGEST_SLACK + 1)])
def test_what_is_out_of_range_is_refused(slack: int, sensitivity: int) -> None:
    with pytest.raises(ParameterError, match="must be between"):
        one_shot(0.05, slack, sensitivity=sensitivity)


@pytest.mark.parametrize("rate", [Fraction(1, 2) - Fraction(1, 2**60), Fraction(1, 2) - Fraction(1, 2**4000)])
def test_rates_next_to_one_half_ask_for_too_wide_noise(rate: Fraction) -> None:
    with pytest.raises(ParameterError, match="no exact noise"):
        one_shot(rate, 0)


def test_the_smallest_rates_have_exact_noise_and_smaller_ones_are_refused() -> None:
    shot = one_shot(SMALLEST_ERROR_RATE, 0)
    assert shot.acceptance(1, bits=1100).lower >= 1 - SMALLEST_ERROR_RATE
    assert shot.epsilon <= LARGEST_RATE
    with pytest.raises(ParameterError, match="at least 1e-30"):
        one_shot(SMALLEST_ERROR_RATE / 2, 0)


@pytest.mark.parametrize(("margin", "bits"), [(1.0, 96), ("1", 96), (2**62, 96), (1, 0), (1, 2**20), (1, None)])
def test_acceptance_refuses_what_is_not_a_margin(margin: int, bits: int) -> None:
    with pytest.raises(ParameterError):
        one_shot(0.05, 5).acceptance(margin, bits)


@settings(max_examples=2000)
@given(anything, anything, anything, anything)
def test_nothing_but_a_louver_error_escapes(miss: object, slack: object, alarm: object, sensitivity: object) -> None:
    for arguments in ((miss, slack, alarm, sensitivity), (0.05, slack, None, sensitivity), (miss, 3, alarm, 1)):
        with contextlib.suppress(LouverError):
            assert one_shot(*arguments).acceptance(1, bits=64).upper > Fraction(1, 2)


@pytest.mark.parametrize(
    "margins", [[212.5], 212.5, array("d", [212.5]), deque([212.5]), np.array([212], np.uint8), ["212"], {212}]
)
def test_an_error_never_shows_a_margin(margins: object) -> None:
    with pytest.raises(LouverError) as caught:
        one_shot(0.05, 10).aligned(margins)  # type: ignore[call-overload]
    assert "212" not in str(caught.value)


def test_margins_past_what_fits_are_clamped_and_not_refused() -> None:
    test = one_shot(0.05, 10)
    assert test.aligned([2**70, -(2**70)]).tolist() == [2**62, -(2**62)]  # type: ignore[call-overload]
    assert test.aligned(2**70) == 2**70
