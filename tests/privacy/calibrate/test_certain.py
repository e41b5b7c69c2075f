"""Decisions that cannot be wrong, on numbers whose answers are known."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from louver.noise.enclosure import LARGEST_BITS, Enclosure, exp
from louver.privacy.calibrate.certain import (
    at_most,
    ceiling,
    decay,
    dyadic_step,
    least,
    narrowed,
    rounded_up,
    simplest_between,
)

positive = st.fractions(Fraction(1, 10**9), 10**9)


@settings(max_examples=300)
@given(st.fractions(Fraction(1, 100), 20, max_denominator=1000), st.integers(1, 300))
def test_a_comparison_is_right_however_close_the_limit(exponent: Fraction, bits: int) -> None:
    exact = exp(-exponent, bits + 64)
    close = Fraction(exact.low >> 32, 1 << (bits + 32))
    above = close + Fraction(2, 1 << (bits + 32))
    assert not at_most(lambda working: exp(-exponent, working), close)
    assert at_most(lambda working: exp(-exponent, working), above)
    assert ceiling(lambda working: exp(-exponent, working) * (1 << bits), 8) == -(-exact.low >> 64) + (
        exact.low % (1 << 64) == 0
    )


def test_an_interval_is_narrowed_as_far_as_asked() -> None:
    found = narrowed(lambda working: exp(Fraction(1, 3), working // 4) * 1, 500)
    assert found.upper - found.lower <= Fraction(1, 2**500)


def test_a_divisor_that_might_be_zero_asks_for_more_precision() -> None:
    tiny = Fraction(1, 2**300)
    assert not at_most(lambda working: 1 / Enclosure.of(tiny, working) * Enclosure.of(tiny, working), Fraction(1, 2))


def test_a_value_that_never_narrows_is_an_error_and_not_a_guess() -> None:
    with pytest.raises(ArithmeticError, match="narrow"):
        at_most(lambda working: Enclosure(0, 1 << working, working), Fraction(1, 2), LARGEST_BITS // 2)


@settings(max_examples=500)
@given(positive)
@example(Fraction(1, 2**4000))
@example(Fraction(2**4000))
def test_rounding_up_is_tight_and_short(value: Fraction) -> None:
    found = rounded_up(lambda working: Enclosure.of(value, working))
    assert value <= found < value * (1 + Fraction(1, 2**38))
    assert found.denominator & (found.denominator - 1) == 0
    assert (found / dyadic_step(found)).numerator.bit_length() <= 42


@settings(max_examples=500)
@given(st.integers(-1000, 1000), st.integers(1, 1000), st.integers(-1000, 1000), st.integers(1, 1000))
@example(-1, 2, 1, 2)
@example(1, 3, 1, 3)
@example(-2, 3, -1, 3)
def test_no_simpler_fraction_lies_between(p: int, q: int, r: int, s: int) -> None:
    low, high = sorted((Fraction(p, q), Fraction(r, s)))
    found = simplest_between(low, high)
    assert low <= found <= high
    for denominator in range(1, found.denominator):
        assert (low * denominator).__ceil__() > high * denominator


@settings(max_examples=1000)
@given(st.integers(1, 10**6), st.data(), st.none() | st.integers(-5, 2 * 10**6))
def test_the_least_number_that_suffices_is_found_from_any_guess(
    enough: int, data: st.DataObject, guess: int | None
) -> None:
    first = data.draw(st.integers(1, enough))
    tests: list[int] = []

    def suffices(number: int) -> bool:
        tests.append(number)
        return number >= first

    assert least(suffices, enough, guess) == first
    assert len(tests) <= 45
    assert all(1 <= number < enough for number in tests)


def test_a_good_guess_needs_two_tests() -> None:
    tests: list[int] = []

    def suffices(number: int) -> bool:
        tests.append(number)
        return number >= 777

    assert least(suffices, 10**12, 777) == 777
    assert tests == [777, 776]


def test_decay_of_a_huge_exponent_is_quick_and_right() -> None:
    assert decay(Fraction(10**30), 128) == Enclosure(0, 1, 128)
    assert decay(Fraction(80), 128).low > 0
