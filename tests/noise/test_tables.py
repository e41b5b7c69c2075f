"""Tie path, table ends and the cache. The laws themselves are tested with their samplers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from louver.errors import ParameterError
from louver.noise.bits import SYSTEM, Bits
from louver.noise.enclosure import Enclosure, certain_floor, exp
from louver.noise.laplace import _digit_law, _signed_top_law, _top_law
from louver.noise.tables import CumulativeLaw, Inversion, TableCache, _first_at_or_above
from tests.noise.laws import assert_follows


def law_of(*cumulative: Fraction) -> CumulativeLaw:
    return lambda working: iter([Enclosure.of(value, working) for value in cumulative])


def geometric_law(rate: Fraction) -> CumulativeLaw:
    return _top_law(rate)


def scripted(*parts: bytes) -> Bits:
    """A byte source that gives these parts, one per request, and fails if asked for more or for another length."""
    left = list(parts)

    def source(count: int) -> bytes:
        part = left.pop(0)
        assert len(part) == count
        return part

    return Bits._from(source)


def word(prefix: int) -> tuple[bytes, bytes]:
    """The two requests by which a table reads a 64-bit prefix: 16 bits, then 48 more at the top of a word."""
    return (prefix >> 48).to_bytes(2, "little"), ((prefix << 16) & (2**64 - 1)).to_bytes(8, "little")


def floor_of(law: CumulativeLaw, index: int, bits: int) -> int:
    def value(working: int) -> Enclosure:
        return next(enclosed for at, enclosed in enumerate(law(working)) if at == index)

    return certain_floor(value, bits)


def test_a_tie_reads_64_more_bits_and_decides_by_them() -> None:
    law = geometric_law(Fraction(1))
    table = Inversion(law)
    for index in (0, 1, 5, 20):
        tie, fine = floor_of(law, index, 64), floor_of(law, index, 128) & (2**64 - 1)
        below, above = (fine - 1).to_bytes(8, "little"), (fine + 1).to_bytes(8, "little")
        assert table.draw(1, scripted(*word(tie), below)).tolist() == [index]
        assert table.draw(1, scripted(*word(tie), above)).tolist() == [index + 1]


def test_a_tie_of_128_bits_reads_on() -> None:
    law = geometric_law(Fraction(1))
    tie, fine = floor_of(law, 0, 64), floor_of(law, 0, 128) & (2**64 - 1)
    finer = floor_of(law, 0, 192) & (2**64 - 1)
    for last, expected in ((finer - 1, 0), (finer + 1, 1)):
        parts = (*word(tie), fine.to_bytes(8, "little"), last.to_bytes(8, "little"))
        assert Inversion(law).draw(1, scripted(*parts)).tolist() == [expected]


def test_next_to_a_tie_no_further_bits_are_read() -> None:
    law = geometric_law(Fraction(1))
    tie = floor_of(law, 3, 64)
    assert Inversion(law).draw(1, scripted(*word(tie - 1))).tolist() == [3]
    assert Inversion(law).draw(1, scripted(*word(tie + 1))).tolist() == [4]


def test_forced_ties_fall_below_with_the_fractional_part_of_the_scaled_probability() -> None:
    """Rate 1, first value: the fraction of 2^64 F_0 past its floor is .2700."""
    law = geometric_law(Fraction(1))
    tie = floor_of(law, 0, 64)
    fraction = (floor_of(law, 0, 128) & (2**64 - 1)) / 2**64
    assert round(fraction, 4) == 0.2700
    table, trials = Inversion(law), 4000
    low = sum(table._settle_slowly(tie, SYSTEM) == 0 for _ in range(trials))
    # Six standard deviations: false-alarm probability 2e-9.
    assert abs(low / trials - fraction) < 6 * (fraction * (1 - fraction) / trials) ** 0.5


def test_a_law_past_its_tables_end_goes_on_exactly() -> None:
    law = geometric_law(Fraction(1))
    table = Inversion(law)
    end = len(table._floors)
    assert end < 60
    far = 80
    prefix = floor_of(law, far, 192) + 1
    parts = [(prefix >> shift) & (2**64 - 1) for shift in (128, 64, 0)]
    drawn = table.draw(1, scripted(*word(parts[0]), *(part.to_bytes(8, "little") for part in parts[1:])))
    assert drawn.tolist() == [far + 1]


def test_a_short_prefix_settles_a_draw_only_where_all_its_continuations_agree() -> None:
    for law in (geometric_law(Fraction(1, 3)), _digit_law(Fraction(1, 100)), law_of(Fraction(1, 3), Fraction(1, 2))):
        table = Inversion(law)
        for prefix in range(0, 65536, 97):
            settled = int(table._by_prefix[prefix])
            ends = [_first_at_or_above(law, (prefix << 48) | tail, 64) for tail in (0, 2**48 - 1)]
            if settled >= 0:
                assert ends == [settled, settled]
            else:
                assert ends[0] is None or ends[1] is None or ends[0] != ends[1]


def test_every_table_entry_is_the_floor_of_its_probability() -> None:
    for rate in (Fraction(1), Fraction(1, 10), Fraction(5, 2)):
        for law in (_digit_law(rate), _signed_top_law(rate, rate)):
            table = Inversion(law)
            precise = list(zip(range(len(table._floors)), law(600), strict=False))
            assert [int(floor) for floor in table._floors] == [enclosed.low >> 536 for _, enclosed in precise]


def test_a_finite_law_with_rational_chances_is_exact() -> None:
    table = Inversion(law_of(Fraction(1, 3), Fraction(1, 2), Fraction(7, 8)))
    chances = {0: 1 / 3, 1: 1 / 6, 2: 3 / 8, 3: 1 / 8}
    assert_follows(table.draw(400_000, SYSTEM), lambda value: chances[value])


def test_a_chance_nearer_to_0_or_1_than_64_bits_can_tell_is_still_drawn() -> None:
    tiny = Inversion(law_of(Fraction(1, 2**100)))
    assert tiny.draw(1, scripted(*word(0), bytes(8))).tolist() == [0]
    assert tiny.draw(1, scripted(*word(0), (2**28 + 1).to_bytes(8, "little"))).tolist() == [1]
    sure = Inversion(law_of(1 - Fraction(1, 2**100)))
    ones = b"\xff" * 8
    assert sure.draw(1, scripted(*word(2**64 - 1), bytes(8))).tolist() == [0]
    assert sure.draw(1, scripted(*word(2**64 - 1), ones)).tolist() == [1]


def test_a_law_too_wide_for_a_table_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("louver.noise.tables.LARGEST_TABLE", 1000)
    with pytest.raises(ParameterError, match="use a larger rate"):
        Inversion(geometric_law(Fraction(1, 1000)))


def test_the_cache_forgets_the_least_recently_used_and_stays_within_its_bytes() -> None:
    built: list[int] = []

    def counted(number: int) -> CumulativeLaw:
        def law(working: int) -> Iterator[Enclosure]:
            built.append(number)
            return iter([exp(Fraction(-number, 7), working)])

        return law

    one = Inversion(counted(1)).nbytes
    cache = TableCache(most_bytes=3 * one)
    built.clear()
    for number in (1, 2, 3, 1, 4, 1, 2):
        cache.get(number, counted(number))
        assert cache.nbytes <= 3 * one
    assert built == [1, 2, 3, 4, 2]


def test_the_cache_keeps_a_table_larger_than_its_limit_while_it_is_in_use() -> None:
    cache = TableCache(most_bytes=1)
    table = cache.get("only", law_of(Fraction(1, 2)))
    assert cache.get("only", law_of(Fraction(1, 2))) is table


def test_draws_of_any_number_have_that_number() -> None:
    table = Inversion(law_of(Fraction(1, 2)))
    for count in (0, 1, 2**15 - 1, 2**15, 2**15 + 1):
        assert table.draw(count, SYSTEM).shape == (count,)
        assert table.draw(count, SYSTEM).dtype == np.int64
