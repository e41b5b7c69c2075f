"""Levels in equal ratios."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.privacy.calibrate.ladder import LARGEST_SPAN, geometric, short


@settings(max_examples=200)
@given(
    st.fractions(Fraction(1, 10**6), 100, max_denominator=10**6),
    st.fractions(Fraction(11, 10), LARGEST_SPAN, max_denominator=100),
    st.integers(2, 64),
)
def test_levels_rise_in_equal_ratios_from_first_to_last(first: Fraction, span: Fraction, size: int) -> None:
    levels = geometric(first, first * span, size)
    assert (levels[0], levels[-1], len(levels)) == (first, first * span, size)
    ratio = float(span) ** (1 / (size - 1))
    for level, clearer in pairwise(levels):
        assert level < clearer
        assert float(clearer / level) == pytest.approx(ratio, rel=1e-10)


@settings(max_examples=200)
@given(st.fractions(Fraction(1, 10**12), 10**12))
def test_a_short_level_is_close_and_short(level: Fraction) -> None:
    assert abs(short(level) / level - 1) < Fraction(1, 2**39)
    assert short(level).numerator.bit_length() <= 42 or short(level).denominator == 1
