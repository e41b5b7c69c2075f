from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from louver import parameters
from louver.errors import LouverError, ParameterError
from tests.misuse import NOT_COUNTS, NOT_NUMBERS, anything


def test_numbers_of_every_kind_become_the_same_exact_fraction() -> None:
    for half in (0.5, Fraction(1, 2), Decimal("0.5"), np.float64(0.5), np.float32(0.5)):
        assert parameters.fraction("x", half) == Fraction(1, 2)
    for three in (3, np.int8(3), np.uint64(3), 3.0, Decimal(3)):
        assert parameters.fraction("x", three) == 3
    assert type(parameters.fraction("x", np.int8(3)).numerator) is int
    assert parameters.fraction("x", np.longdouble(1) / 3) != Fraction(1 / 3)


def test_a_float_is_taken_for_the_binary_fraction_that_it_is() -> None:
    assert parameters.fraction("x", 0.1) == Fraction(3602879701896397, 2**55)


@pytest.mark.parametrize("bad", NOT_NUMBERS)
def test_what_is_no_number_is_refused_in_one_short_sentence(bad: object) -> None:
    with pytest.raises(ParameterError, match=r"^The price .*\.$") as caught:
        parameters.fraction("The price", bad)
    assert len(str(caught.value)) < 160


@pytest.mark.parametrize("bad", [0, -1, -0.0, Fraction(-1, 10**9)])
def test_what_is_not_positive_is_refused(bad: object) -> None:
    with pytest.raises(ParameterError, match="greater than 0"):
        parameters.positive("x", bad)


@pytest.mark.parametrize("bad", [0, 0.5, 1, -0.05, 50])
def test_an_error_rate_lies_strictly_between_0_and_a_half(bad: object) -> None:
    with pytest.raises(ParameterError, match="1 in 20"):
        parameters.error_rate("x", bad)
    assert parameters.error_rate("x", 0.05) == Fraction(0.05)


def test_ranges_include_their_ends() -> None:
    assert parameters.within("x", 1, 0, 1) == 1
    assert parameters.probability("x", 0) == 0
    with pytest.raises(ParameterError, match=r"between 0 and 1, not 1\.1\."):
        parameters.probability("x", 1.1)


@pytest.mark.parametrize("bad", NOT_COUNTS)
def test_what_is_no_count_is_refused(bad: object) -> None:
    with pytest.raises(ParameterError, match=r"^x must be .*\.$"):
        parameters.count("x", bad)


def test_arrays_of_whole_numbers_keep_their_values() -> None:
    for good in ([1, -2], np.array([1, -2], dtype=np.int8), (1, -2)):
        assert parameters.integers("x", good).tolist() == [1, -2]
    assert parameters.integers("x", []).dtype == np.int64
    assert parameters.integers("x", [2**70, -(2**70)]).tolist() == [2**62, -(2**62)]


@pytest.mark.parametrize(
    "bad", [[1.5], [[1]], 1, None, "12", [math.nan], [True], [[1], [1, 2]], ["a"], np.array([1], np.uint8)]
)
def test_what_is_no_array_of_whole_numbers_is_refused(bad: object) -> None:
    with pytest.raises(ParameterError, match=r"^x must be one array of signed whole numbers; .*\.$"):
        parameters.integers("x", bad)


def test_a_value_that_cannot_be_printed_still_gets_its_sentence() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError

    with pytest.raises(ParameterError, match="not a Broken"):
        parameters.fraction("x", Broken())
    with pytest.raises(ParameterError, match="round it first"):
        parameters.fraction("x", 10**5000)


@given(anything)
def test_anything_is_either_exact_or_refused(value: object) -> None:
    for check in (parameters.fraction, parameters.positive, parameters.probability, parameters.error_rate):
        try:
            assert isinstance(check("x", value), Fraction)
        except LouverError as error:
            assert str(error).endswith(".")


def test_masked_whole_numbers_are_0() -> None:
    assert parameters.integers("Values", np.ma.array([7, 8], mask=[True, False])).tolist() == [0, 8]
