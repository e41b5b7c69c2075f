from __future__ import annotations

import itertools
import math
import operator
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.noise.enclosure import Enclosure, _enclosed_by, certain_floor, exp, ln

precisions = st.integers(min_value=0, max_value=200)
rationals = st.fractions(min_value=-1000, max_value=1000, max_denominator=10**6)
positives = st.fractions(min_value=Fraction(1, 10**6), max_value=1000, max_denominator=10**6)
slack = st.integers(min_value=0, max_value=3)


def holds(enclosure: Enclosure, value: Fraction) -> bool:
    return enclosure.lower <= value <= enclosure.upper


def around(value: Fraction, bits: int, below: int, above: int) -> Enclosure:
    """An enclosure of a value that need not be tight, and need not have the value in its middle."""
    tight = Enclosure.of(value, bits)
    return Enclosure(tight.low - below, tight.high + above, bits)


@settings(max_examples=400)
@given(rationals, rationals, precisions, slack, slack, slack, slack)
def test_sums_differences_and_products_hold_the_true_value(
    x: Fraction, y: Fraction, bits: int, a: int, b: int, c: int, d: int
) -> None:
    left, right = around(x, bits, a, b), around(y, bits, c, d)
    assert holds(left + right, x + y)
    assert holds(left - right, x - y)
    assert holds(left * right, x * y)
    assert holds(-left, -x)
    for plain in (y, math.floor(y)):
        assert holds(left + plain, x + plain)
        assert holds(plain + left, x + plain)
        assert holds(left - plain, x - plain)
        assert holds(plain - left, plain - x)
        assert holds(left * plain, x * plain)
        assert holds(plain * left, x * plain)


@settings(max_examples=400)
@given(rationals, positives, st.integers(min_value=24, max_value=200), slack, slack, slack, slack)
def test_quotients_hold_the_true_value(x: Fraction, y: Fraction, bits: int, a: int, b: int, c: int, d: int) -> None:
    left, right = around(x, bits, a, b), around(y, bits, c, d)
    assert holds(left / right, x / y)
    assert holds(left / y, x / y)
    assert holds(x / right, x / y)
    assert holds(math.ceil(x) / right, math.ceil(x) / y)


@settings(max_examples=150)
@given(rationals, rationals, st.data())
def test_every_point_of_the_operands_is_covered(x: Fraction, y: Fraction, data: st.DataObject) -> None:
    """Not the middle alone: all pairs of points in the two intervals have their result inside."""
    bits = 24
    left, right = around(x, bits, 5, 9), around(abs(y) + 1, bits, 7, 2)
    point = data.draw(st.fractions(min_value=left.lower, max_value=left.upper))
    other = data.draw(st.fractions(min_value=right.lower, max_value=right.upper))
    assert holds(left + right, point + other)
    assert holds(left - right, point - other)
    assert holds(left * right, point * other)
    assert holds(left / right, point / other)


@settings(max_examples=150)
@given(st.fractions(min_value=0, max_value=3, max_denominator=10**6), st.integers(0, 40), precisions)
def test_powers_hold_the_true_value(x: Fraction, exponent: int, bits: int) -> None:
    assert holds(Enclosure.of(x, bits) ** exponent, x**exponent)


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_numbers_that_the_precision_can_write_stay_exact(x: int, y: int) -> None:
    left, right = Enclosure.of(Fraction(x, 1024), 20), Enclosure.of(Fraction(y, 1024), 20)
    for result, true in ((left + right, x + y), (left - right, x - y), (left * right, Fraction(x * y, 1024))):
        assert result.lower == result.upper == Fraction(true, 1024)


@given(rationals, positives, st.integers(min_value=64, max_value=200))
def test_enclosures_stay_tight(x: Fraction, y: Fraction, bits: int) -> None:
    """Without this, an interval from minus to plus infinity would pass the tests above."""
    left, right = Enclosure.of(x, bits), Enclosure.of(y, bits)
    assert left.high - left.low <= 1
    unit = Fraction(1, 1 << bits)
    assert (left + right).upper - (left + right).lower <= 2 * unit
    assert (left * right).upper - (left * right).lower <= (abs(x) + abs(y) + 3) * unit
    assert (left / right).upper - (left / right).lower <= (1 / y + abs(x) / y**2 + 3) * unit


@given(st.integers(-(10**9), 10**9), st.integers(0, 10**6), st.integers(0, 40), st.integers(0, 40))
def test_a_floor_is_given_only_where_it_is_the_same_for_all(low: int, width: int, bits: int, fewer: int) -> None:
    places = max(0, bits - fewer)
    found = Enclosure(low, low + width, bits).floor(places)
    ends = [math.floor(Fraction(end, 1 << bits) * (1 << places)) for end in (low, low + width)]
    assert found == (ends[0] if ends[0] == ends[1] else None)


def test_different_precisions_do_not_mix() -> None:
    for mix in (operator.add, operator.sub, operator.mul, operator.truediv):
        with pytest.raises(ValueError, match="precision"):
            mix(Enclosure.of(1, 10), Enclosure.of(1, 11))


@pytest.mark.parametrize(("low", "high"), [(0, 0), (0, 5), (-1, 1), (-5, 0), (-5, -1)])
def test_a_divisor_that_may_be_0_is_refused(low: int, high: int) -> None:
    with pytest.raises(ZeroDivisionError):
        Enclosure.of(1, 8) / Enclosure(low, high, 8)
    with pytest.raises(ZeroDivisionError):
        1 / Enclosure(low, high, 8)


def test_a_divisor_too_small_for_the_precision_is_refused() -> None:
    with pytest.raises(ZeroDivisionError):
        Enclosure.of(1, 8) / Fraction(1, 1000)


def exponential(exponent: Fraction, terms: int = 100) -> tuple[Fraction, Fraction]:
    """Rational bounds on exp by its series at a point of size at most 1/8, and squarings; nothing of `decimal`."""
    if exponent < 0:
        low, high = exponential(-exponent, terms)
        return 1 / high, 1 / low
    halvings = max(0, math.ceil(exponent).bit_length() + 3)
    point = exponent / 2**halvings
    series = term = Fraction(1)
    for index in range(1, terms):
        term *= point / index
        series += term
    low, high = series, series + 2 * term * point / terms
    for _ in range(halvings):
        low, high = _rounded(low * low, down=True), _rounded(high * high, down=False)
    return low, high


def _rounded(value: Fraction, down: bool) -> Fraction:
    scaled = value * (1 << 1200)
    return Fraction(math.floor(scaled) if down else math.ceil(scaled), 1 << 1200)


@settings(max_examples=150)
@given(st.fractions(min_value=-40, max_value=40, max_denominator=10**6), st.integers(min_value=0, max_value=300))
def test_exp_holds_the_true_value_and_is_tight(exponent: Fraction, bits: int) -> None:
    low, high = exponential(exponent)
    enclosed = exp(exponent, bits)
    assert enclosed.lower <= low
    assert high <= enclosed.upper
    assert enclosed.high - enclosed.low <= 2


@pytest.mark.parametrize("exponent", [Fraction(-4096), Fraction(-1, 2**48), Fraction(1, 2**48), Fraction(300)])
def test_exp_holds_the_true_value_at_the_ends_of_what_the_samplers_ask(exponent: Fraction) -> None:
    low, high = exponential(exponent)
    enclosed = exp(exponent, 200)
    assert enclosed.lower <= low
    assert high <= enclosed.upper
    assert enclosed.high - enclosed.low <= 2
    assert enclosed.low >= 0


@settings(max_examples=150)
@given(st.fractions(min_value=-40, max_value=40, max_denominator=10**6), st.integers(min_value=2, max_value=12))
def test_few_decimal_digits_still_bound_the_true_value(exponent: Fraction, digits: int) -> None:
    """Without the spare digits that hide which way the last one was rounded."""
    true_low, true_high = exponential(exponent)
    low, high = _enclosed_by("exp", exponent, digits)
    assert low <= true_low
    assert true_high <= high
    if exponent > 0 and exponent != 1:
        low, high = _enclosed_by("ln", exponent, digits)
        assert exponential(low)[1] <= exponent <= exponential(high)[0]


def test_exp_of_0_holds_1() -> None:
    assert holds(exp(Fraction(0), 100), Fraction(1))


@settings(max_examples=60)
@given(positives.filter(lambda value: value != 1), st.integers(min_value=0, max_value=100))
def test_ln_holds_the_true_value_and_is_tight(value: Fraction, bits: int) -> None:
    enclosed = ln(value, bits)
    assert enclosed.high - enclosed.low <= 2
    assert exponential(enclosed.lower)[1] <= value <= exponential(enclosed.upper)[0]


@given(st.fractions(min_value=-1000, max_value=1000, max_denominator=10**9), st.integers(0, 100))
def test_a_certain_floor_of_a_rational_is_its_floor(value: Fraction, bits: int) -> None:
    assert certain_floor(lambda working: Enclosure.of(value, working), bits) == math.floor(value * 2**bits)


@given(st.fractions(min_value=-30, max_value=3, max_denominator=1000).filter(bool), st.integers(0, 200))
def test_a_certain_floor_of_an_exponential_is_its_floor(exponent: Fraction, bits: int) -> None:
    low, high = (math.floor(bound * 2**bits) for bound in exponential(exponent))
    assert low == high
    assert certain_floor(lambda working: exp(exponent, working), bits) == low


@pytest.mark.parametrize("offset", [Fraction(1, 2**300), Fraction(-1, 2**300)])
def test_a_certain_floor_widens_until_it_is_certain(offset: Fraction) -> None:
    asked: list[int] = []

    def value(working: int) -> Enclosure:
        asked.append(working)
        tight = Enclosure.of(1 + offset, working)
        return Enclosure(tight.low - 1, tight.high + 1, working)

    assert certain_floor(value, 0) == (1 if offset > 0 else 0)
    assert len(asked) > 1
    assert all(later > earlier for earlier, later in itertools.pairwise(asked))
    assert max(asked) > 300


def test_a_value_that_never_narrows_is_an_error_and_no_endless_loop() -> None:
    with pytest.raises(ArithmeticError, match="narrow"):
        certain_floor(lambda working: Enclosure(-1, 1, working), 0)


@pytest.mark.parametrize("value", [Fraction(1), 1 + Fraction(1, 2**3000), 1 - Fraction(1, 2**3000)])
def test_the_logarithm_of_1_and_its_close_neighbours_is_found_at_once(value: Fraction) -> None:
    found = ln(value, 128)
    assert found.low <= 0 <= found.high
    assert found.high - found.low <= 4


def test_the_exponential_of_a_hugely_negative_number_is_found_at_once() -> None:
    found = exp(Fraction(-(10**7)), 128)
    assert found.low == 0
    assert 0 < found.high <= 2
