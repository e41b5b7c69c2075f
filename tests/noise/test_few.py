"""Draws one by one: the same tables, looked at without arrays, must follow the same exact laws."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from louver.errors import LouverError
from louver.noise import discrete_gaussian, discrete_laplace
from louver.noise.bits import SYSTEM, Bits
from louver.noise.gaussian import LARGEST_VARIANCE, one_gaussian
from louver.noise.laplace import (
    SMALLEST_RATE,
    _digit_law,
    _reach_tables,
    _signed_top_law,
    _top_law,
    geometric_reaches,
    one_geometric_reaches,
    one_laplace,
)
from louver.noise.tables import CHUNK, FEW, CumulativeLaw, Inversion, _first_at_or_above
from tests.noise import laws
from tests.noise.laws import assert_follows, assert_rejects
from tests.noise.test_tables import floor_of, law_of, scripted, word

LAWS: dict[str, CumulativeLaw] = {
    "top": _top_law(Fraction(1, 2)),
    "signed top": _signed_top_law(Fraction(1, 100), Fraction(64, 25)),
    "digit": _digit_law(Fraction(1, 100)),
    "finite": law_of(Fraction(1, 3), Fraction(1, 2), Fraction(7, 8)),
}
every = pytest.mark.parametrize("name", LAWS)


@every
def test_each_of_the_first_16_bits_that_settles_a_draw_settles_it_by_the_law(name: str) -> None:
    """All 65,536 of them: those that give an outcome have its probability, but for what further bits decide."""
    law, table = LAWS[name], Inversion(LAWS[name])
    given: dict[int, int] = {}
    open_prefixes = 0
    for prefix in range(1 << 16):
        try:
            outcome = table.one(scripted(prefix.to_bytes(2, "little")))
        except IndexError:  # it asks for more bits
            open_prefixes += 1
            continue
        given[outcome] = given.get(outcome, 0) + 1
    cumulative = [0.0, *(float(each.low >> 64) / 2**64 for _, each in zip(range(600), law(128), strict=False)), 1.0]
    for outcome, count in given.items():
        exactly = (cumulative[outcome + 1] - cumulative[outcome]) * 2**16
        assert exactly - 2 < count <= exactly + 1e-9
    assert open_prefixes < 600


@every
def test_where_more_bits_are_needed_they_decide_by_the_first_probability_above_them(name: str) -> None:
    """At each entry of a table: just below it, at it, where 64 bits more decide, and just above it."""
    law, table = LAWS[name], Inversion(LAWS[name])
    for index, floor in list(enumerate(table._floors[:300].tolist()))[:: 1 if len(table._floors) < 100 else 9]:
        for prefix in (floor - 1, floor + 1):
            first = _first_at_or_above(law, prefix, 64) if 0 <= prefix < 2**64 else None
            if first is not None:
                assert table.one(_asked(*word(prefix))) == first
        fine = floor_of(law, index, 128) & (2**64 - 1)
        if 0 < fine < 2**64 - 1:
            for tail, outcome in ((fine - 1, index), (fine + 1, index + 1)):
                assert table.one(scripted(*word(floor), tail.to_bytes(8, "little"))) == outcome


def _asked(short: bytes, long: bytes) -> Bits:
    """The two parts of a word, of which the second need not be asked for."""
    left = [short, long]
    return Bits._from(lambda _: left.pop(0))


@every
def test_one_draw_is_the_draw_of_an_array_of_one_from_the_same_bits(name: str) -> None:
    table, one, many = Inversion(LAWS[name]), random.Random(3), random.Random(3)
    drawn = [table.one(Bits._from(one.randbytes)) for _ in range(5000)]
    assert drawn == [int(table.draw(1, Bits._from(many.randbytes))[0]) for _ in range(5000)]


@pytest.mark.parametrize("rate", [Fraction(5, 2), Fraction(1), Fraction(1, 10), Fraction(1, 1000)])
@pytest.mark.parametrize("count", [1, 2, FEW])
def test_few_draws_follow_the_exact_law_and_not_one_20_percent_off(rate: Fraction, count: int) -> None:
    draws = np.concatenate([discrete_laplace(rate, count) for _ in range(40_000 // count)])
    cells, law = draws, laws.laplace
    if rate < Fraction(1, 100):
        width = int(Fraction(1, 20) / rate)
        cells, law = draws // width, lambda rate: laws.in_cells(laws.laplace_reaches(rate), width)
    assert_follows(cells, law(float(rate)))
    assert_rejects(cells, law(float(rate) * 1.2))
    assert_rejects(cells, law(float(rate) * 0.8))


@pytest.mark.parametrize("rate", [Fraction(1, 1000), Fraction(1, 2**30), SMALLEST_RATE])
def test_the_lowest_digit_of_single_draws_follows_its_own_law(rate: Fraction) -> None:
    draws = np.array([one_laplace(rate, SYSTEM) for _ in range(40_000)])
    low = np.where(draws < 0, ~draws, draws) & 255
    total = -math.expm1(-256 * float(rate))
    assert_follows(low, lambda digit: math.exp(-float(rate) * digit) * -math.expm1(-float(rate)) / total)


def test_array_draws_with_few_or_many_open_prefixes_follow_the_law() -> None:
    """In arrays, a few draws that 16 bits do not settle are settled one by one, and many together."""
    table = Inversion(_digit_law(Fraction(1, 100)))
    ratio, total = math.exp(-0.01), -math.expm1(-2.56)
    for size in (100, CHUNK):
        draws = np.concatenate([table.draw(size, SYSTEM) for _ in range(300_000 // size)])
        assert_follows(draws, lambda digit: ratio**digit * (1 - ratio) / total)


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(10), Fraction(20_000), Fraction(2**30)])
def test_few_gaussian_draws_follow_the_exact_law_and_not_one_20_percent_off(variance: Fraction) -> None:
    draws = np.concatenate([discrete_gaussian(variance, count) for _ in range(3000) for count in (1, 3, FEW)])
    cells, law = draws, laws.gaussian
    if variance > 100:
        width = round(math.sqrt(variance) / 10)
        cells, law = draws // width, lambda variance: laws.in_cells(laws.gaussian_reaches(variance), width)
    assert_follows(cells, law(float(variance)))
    assert_rejects(cells, law(float(variance) * 1.2))
    assert_rejects(cells, law(float(variance) * 0.8))


LEVELS = [0, 1, 200, 255, 256, 1000, 70_000]


def together(rate: Fraction, level: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.asarray(geometric_reaches(rate, np.full(count, level), SYSTEM))


def apart(rate: Fraction, level: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array([one_geometric_reaches(rate, level, SYSTEM) for _ in range(count)])


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("reaches", [together, apart])
def test_a_level_is_reached_as_often_as_the_law_says(level: int, reaches: Callable[..., object]) -> None:
    for rate in (Fraction(1, 2 * max(level, 1)), Fraction(3, 2 * max(level, 1))):
        found = reaches(rate, level, 40_000)
        chance = math.exp(-float(rate) * level)
        if level == 0:
            assert np.all(found)  # type: ignore[call-overload]
            continue
        assert_follows(found, laws.coin(chance))  # type: ignore[arg-type]
        assert_rejects(found, laws.coin(0.9 * chance))  # type: ignore[arg-type]


def test_whether_a_level_is_reached_is_what_all_digits_say() -> None:
    """The digits that are drawn are those of one variable: here the same bits, one digit after the other."""
    for rate, seed in itertools.product([Fraction(1, 5000), Fraction(1, 2**12), Fraction(3), SMALLEST_RATE], range(99)):
        script = random.Random(seed).randbytes(128)
        every_digit = _value(rate, _read(script))
        for level in (every_digit - 256, every_digit - 1, every_digit, every_digit + 1, every_digit + 256):
            if level >= 0:
                reached = one_geometric_reaches(rate, math.ceil(level), _read(script))
                assert reached == (every_digit >= math.ceil(level))


def _read(script: bytes) -> Bits:
    left = bytearray(script)

    def source(count: int) -> bytes:
        part = bytes(left[:count])
        del left[:count]
        return part

    return Bits._from(source)


def _value(rate: Fraction, bits: Bits) -> Fraction:
    """In units of a level: the variable is finer than that by some bits."""
    top, digits, shift = _reach_tables(rate.numerator, rate.denominator)
    value = top.one(bits)
    for digit in digits:
        value = value << 8 | digit.one(bits)
    return Fraction(value, 2 ** (8 * len(digits) - shift))


@pytest.mark.parametrize(
    "rate", [Fraction(1, 3), Fraction(1, 5000), Fraction(1, 2**12), Fraction(1, 2**40), SMALLEST_RATE]
)
def test_the_first_digits_of_a_variable_that_decides_are_as_many_as_its_rate_asks_for(rate: Fraction) -> None:
    """Its top is no coarser than an eighth of the law, so that few levels are tied with it; nor is its table long."""
    top, digits, shift = _reach_tables(rate.numerator, rate.denominator)
    assert len(top._floors) < 800
    assert not digits or Fraction(1, 16) <= rate * 2**shift < Fraction(1, 8)


def test_few_draws_of_what_is_out_of_range_are_refused() -> None:
    for rate in (SMALLEST_RATE / 2, Fraction(4097)):
        with pytest.raises(LouverError, match=r"^The rate .*\.$"):
            one_laplace(rate, SYSTEM)
    for variance in (LARGEST_VARIANCE + 1, Fraction(1, 2**20)):
        with pytest.raises(LouverError, match=r"^The variance .*\.$"):
            one_gaussian(variance, SYSTEM)
        with pytest.raises(LouverError, match=r"^The variance .*\.$"):
            discrete_gaussian(variance, 1)


def test_single_draws_keep_no_bits_back() -> None:
    """Each request is for what is used: a buffer would be copied by a fork (decision 2)."""
    asked: list[int] = []

    def zeros(count: int) -> bytes:
        asked.append(count)
        return bytes(count)

    one_laplace(Fraction(1), Bits._from(zeros))
    assert asked in ([2], [2, 8], [2, 8, 8])
