"""The closed form of the chain's law against convolution, simulation and special cases."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from louver.errors import LouverError, ParameterError
from louver.noise.enclosure import Enclosure, exp
from louver.privacy.calibrate import failure_probability
from louver.privacy.calibrate.chain import first_failures
from tests.misuse import NOT_COUNTS, NOT_POSITIVE, anything
from tests.privacy.calibrate.brute import convolved_failures, simulated_chain

# A true law leaves the band of 6 standard errors with probability 2e-9.
STANDARD_ERRORS = 6
NEVER = Fraction(0)
LARGE = next(wrong for wrong in NOT_COUNTS if isinstance(wrong, int) and wrong == 2**32 + 1)

levels_of = st.lists(st.fractions(Fraction(1, 5), 3, max_denominator=50), min_size=1, max_size=4, unique=True).map(
    sorted
)


@st.composite
def chains(draw: st.DrawFn) -> tuple[list[Fraction], list[int]]:
    levels = draw(levels_of)
    thresholds = draw(st.lists(st.integers(1, 40), min_size=len(levels), max_size=len(levels)))
    return levels, sorted(thresholds, reverse=True)


@settings(max_examples=60)
@given(chains())
def test_the_closed_form_is_the_convolution(chain: tuple[list[Fraction], list[int]]) -> None:
    levels, thresholds = chain
    expected = convolved_failures(levels, thresholds)
    found = list(first_failures(levels, thresholds, NEVER, 400))[::-1]
    for exact, enclosure in zip(expected, found, strict=True):
        middle = Fraction(enclosure.low + enclosure.high, 2 << enclosure.bits)
        assert abs(middle - Fraction(exact)) < Fraction(1, 10**40)


def test_the_law_agrees_with_a_simulation() -> None:
    levels, thresholds = [0.05, 0.2, 0.8, 2.0], [60, 14, 4, 2]
    exact = failure_probability([Fraction(str(level)) for level in levels], thresholds)
    draws = 400_000
    noise = simulated_chain(levels, draws, np.random.default_rng(1))
    seen = np.any(noise <= -np.array(thresholds)[:, None], axis=0).mean()
    probability = float(exact.upper)
    assert abs(seen - probability) < STANDARD_ERRORS * math.sqrt(probability / draws)


def test_one_level_fails_with_its_tail() -> None:
    found = failure_probability([Fraction(1, 2)], [6])
    tail = exp(Fraction(-3), 200) / (1 + exp(Fraction(-1, 2), 200))
    assert found.lower <= tail.upper
    assert tail.lower <= found.upper


def test_a_level_that_cannot_fail_changes_nothing() -> None:
    noisy, clear = Fraction(1, 3), Fraction(2)
    noisy_cannot = failure_probability([noisy, clear], [10**6, 3])
    assert abs(noisy_cannot.upper - failure_probability([clear], [3]).upper) < Fraction(1, 2**90)
    clear_cannot = failure_probability([noisy, clear], [500, 500], bits=400)
    alone = failure_probability([noisy], [500], bits=400)
    assert float(clear_cannot.lower / alone.lower) == pytest.approx(1, rel=1e-12)


@settings(max_examples=200)
@given(chains(), st.data())
def test_a_wider_threshold_fails_less_often(chain: tuple[list[Fraction], list[int]], data: st.DataObject) -> None:
    levels, thresholds = chain
    place = data.draw(st.integers(0, len(levels) - 1))
    wider = list(thresholds)
    wider[place] += 1
    assume(place == 0 or wider[place] <= wider[place - 1])
    assert failure_probability(levels, wider, bits=200).upper < failure_probability(levels, thresholds, bits=200).lower


@settings(max_examples=200)
@given(chains(), st.fractions(0, 1, max_denominator=100))
def test_a_coin_mixes_two_laws(chain: tuple[list[Fraction], list[int]], coin: Fraction) -> None:
    levels, thresholds = chain
    mixed = failure_probability(levels, thresholds, coin)
    without = failure_probability(levels, thresholds)
    with_it = failure_probability(levels, [*thresholds[:-1], thresholds[-1] - 1])
    expected = without * (1 - coin) + with_it * coin
    assert abs(mixed.upper - expected.upper) < Fraction(1, 2**90)


@settings(max_examples=200)
@given(chains())
def test_the_whole_is_between_the_largest_part_and_their_sum(chain: tuple[list[Fraction], list[int]]) -> None:
    levels, thresholds = chain
    whole = failure_probability(levels, thresholds)
    parts = [failure_probability([level], [t]) for level, t in zip(levels, thresholds, strict=True)]
    assert max(part.lower for part in parts) <= whole.upper
    assert whole.lower <= sum(part.upper for part in parts)


def test_the_width_is_as_asked_even_for_tiny_levels_close_together() -> None:
    levels = [Fraction(1, 10**9) + Fraction(i, 10**12) for i in range(8)]
    found = failure_probability(levels, [5 * 10**9] * 8, bits=150)
    assert found.upper - found.lower <= Fraction(1, 2**150)
    assert 0.003 < float(found.lower) < 0.004


def test_huge_levels_take_no_time_and_never_fail() -> None:
    found = failure_probability([Fraction(10**9), Fraction(10**9 + 1)], [2, 1])
    assert found.upper < Fraction(1, 2**90)


@pytest.mark.parametrize(
    ("levels", "thresholds"),
    [
        ([], []),
        ([1], []),
        ([1, 2], [3]),
        ([2, 1], [3, 3]),
        ([1, 1], [3, 3]),
        ([1, 2], [3, 4]),
        ([1], [-1]),
        ([1], [2**128 + 1]),
        ("12", "21"),
        (1, 1),
        (None, None),
        (range(1, 1000), [1] * 999),
        *(([wrong], [1]) for wrong in NOT_POSITIVE),
        *(([1], [wrong]) for wrong in NOT_COUNTS if wrong is not LARGE),
    ],
)
def test_wrong_levels_and_thresholds_are_refused(levels: list[Fraction], thresholds: list[int]) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        failure_probability(levels, thresholds)


def test_a_coin_needs_a_value_to_fall_on() -> None:
    with pytest.raises(ParameterError, match="one step short"):
        failure_probability([Fraction(1)], [0], Fraction(1, 2))


@settings(max_examples=3000)
@given(anything, anything, anything, anything)
def test_nothing_but_a_louver_error_escapes(levels: object, thresholds: object, coin: object, bits: object) -> None:
    try:
        found = failure_probability(levels, thresholds, coin, bits)  # type: ignore[arg-type]
    except LouverError:
        return
    assert isinstance(found, Enclosure)
