"""Bounded contributions: NumPy and SQL choose the same rows, each unit by itself, and never too many."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings

from louver.privacy import Unit
from louver.source import Bound, Keys, Measure, Reading, Table, rows
from louver.source.engines import sampled
from tests.engines import places
from tests.engines.cases import asked
from tests.engines.reference import TEXT, WHOLE, Data, expected
from tests.engines.test_same_numbers import SECRET, SETTINGS
from tests.often import often

KINDS = {"person": TEXT, "room": TEXT, "n": WHOLE}
ROOMS = Keys(("room",), tuple((f"room {number}",) for number in range(6)))


def read(data: Data, reading: Reading, secret: bytes = SECRET) -> list[list[int]]:
    table = Table(places.arrow(data), dataset="test", unit=Unit(*data.unit))
    return [[int(value) for value in each] for each in rows.read(table, reading, secret).values]


def crowd(size: int, dice: random.Random) -> Data:
    people, rooms = [f"p{number}" for number in range(9)], [f"room {number}" for number in range(8)]
    listed = [{"person": dice.choice(people), "room": dice.choice(rooms), "n": dice.randrange(5)} for _ in range(size)]
    return Data(KINDS, listed, ("person",))


def test_numpy_and_sql_choose_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    @settings(SETTINGS, max_examples=often(25, 60))
    @given(asked())
    def same(case: tuple[Data, Reading]) -> None:
        data, reading = case
        assume(bool(data.unit) and reading.bound is not None)
        # Texts have no bands: test_same_numbers sees that refused.
        assume(not any(column.startswith("band(room") for keys in reading.keys for column in keys.columns))
        by_numpy = read(data, reading)
        with monkeypatch.context() as patch:
            patch.setattr(sampled, "sampled", lambda *_: None)
            assert read(data, reading) == by_numpy

    same()


@pytest.mark.parametrize("piece", [1, 7, 100])
def test_the_size_of_a_piece_does_not_matter(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    data = crowd(300, random.Random(1))
    for bound in (Bound(3), Bound(2, 2)):
        reading = Reading((ROOMS,), (Measure("count"), Measure("distinct", column="n")), bound=bound)
        whole = read(data, reading)
        with monkeypatch.context() as patch:
            patch.setattr(sampled, "PIECE", piece)
            assert read(data, reading) == whole == expected(data, reading, SECRET)


def test_a_reading_too_wide_for_one_number_is_left_to_sql(monkeypatch: pytest.MonkeyPatch) -> None:
    data = crowd(200, random.Random(2))
    reading = Reading((ROOMS,), (Measure("count"),), bound=Bound(3))
    whole = read(data, reading)
    monkeypatch.setattr(sampled, "MOST_BITS", 6)
    assert read(data, reading) == whole


@pytest.mark.parametrize("bound", [Bound(1), Bound(4), Bound(2, 1), Bound(1, 3)])
def test_a_unit_counts_by_itself_and_within_its_bound(bound: Bound) -> None:
    """The counts of all are the sums of the counts of each unit alone."""
    data = crowd(250, random.Random(3))
    reading = Reading((ROOMS,), (Measure("count"),), bound=bound)
    total = np.zeros(len(ROOMS), dtype=np.int64)
    for person in {row["person"] for row in data.rows}:
        own = Data(KINDS, [row for row in data.rows if row["person"] == person], data.unit)
        (alone,) = read(own, reading)
        seen = Counter(row["room"] for row in own.rows if (row["room"],) in ROOMS.values)
        assert all(found <= seen[room] for found, (room,) in zip(alone, ROOMS.values, strict=True))
        if bound.keys is None:
            assert sum(alone) == min(bound.rows, seen.total())
        else:
            assert sum(found > 0 for found in alone) == min(bound.keys, len(seen))
            assert max(alone) <= bound.rows
        total += alone
    assert read(data, reading) == [list(total)]


def test_every_row_has_the_same_chance() -> None:
    """Each of a unit's 10 rows is among the 3 that are taken with probability 3/10; there are 4,000 units.

    So each count is binomial with mean 1200. One is 200 or more away with probability at most
    20 exp(-2 200^2 / 4000) = 4.2e-8, by Hoeffding's inequality and a union bound over ten counts.
    """
    rows_of_all = [
        {"person": f"p{person}", "room": f"room {place}", "n": 0} for person in range(4000) for place in range(10)
    ]
    keys = Keys(("room",), tuple((f"room {place}",) for place in range(10)))
    (found,) = read(Data(KINDS, rows_of_all, ("person",)), Reading((keys,), (Measure("count"),), bound=Bound(3)))
    assert sum(found) == 12_000
    assert all(abs(each - 1200) < 200 for each in found)
