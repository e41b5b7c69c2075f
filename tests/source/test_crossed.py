"""Lists of every region at every tick: read as if they were written out, and each value converted once."""

from __future__ import annotations

import csv
import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from louver.errors import ParameterError
from louver.privacy import Unit
from louver.source import Table, conditions, key_lists, rows
from louver.source.crossed import Crossed
from louver.source.measures import Bound, Keys, Measure, Reading
from louver.source.query import Query

COLUMNS = ("room", "slot(time, 5)")
ROOMS = (("hall",), ("lab",), ("it's",))
BEGIN = datetime(2026, 1, 31, 9, tzinfo=UTC)
SLOTS = tuple(BEGIN + number * timedelta(minutes=5) for number in range(50))
CROSSED = Keys(COLUMNS, Crossed(ROOMS, SLOTS))
WRITTEN = Keys(COLUMNS, tuple((*room, slot) for room in ROOMS for slot in SLOTS))
SECRET = bytes(range(32))


def presence(folder: Path, unit: Unit | None = None) -> tuple[Table, list[tuple[str, datetime]]]:
    """Rows in and around the keys: other rooms, times before, after and of no form."""
    draw = random.Random(8)
    moments = [BEGIN + timedelta(seconds=draw.randrange(-3600, 6 * 3600)) for _ in range(3000)]
    found = [(draw.choice(["hall", "lab", "it's", "attic"]), moment) for moment in moments]
    path = folder / "presence.csv"
    with path.open("w", newline="") as file:
        written = csv.writer(file)
        written.writerow(["person", "room", "time"])
        written.writerows((draw.randrange(40), room, moment.isoformat()) for room, moment in found)
        written.writerows([(1, "hall", "noon"), (1, "lab", "")])
    return Table(path, dataset="test", unit=unit or Unit.row()), found


def read(table: Table, keys: Keys, bound: Bound | None = None) -> list[int]:
    return [
        int(each) for each in rows.read(table, Reading((keys,), (Measure("count"),), bound=bound), SECRET).values[0]
    ]


@pytest.mark.parametrize("many", [1, 10**6])
def test_a_crossed_list_reads_as_one_that_is_written_out_whether_rows_are_grouped_first_or_not(
    many: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_lists, "MANY_KEYS", many)
    used = list[int]()
    original = Query._grouped_first

    def seen(*given: Any) -> Any:
        used.append(1)
        return original(*given)

    monkeypatch.setattr(Query, "_grouped_first", seen)
    table, found = presence(tmp_path)
    slots = Counter(
        (room, moment - timedelta(seconds=(moment - BEGIN).total_seconds() % 300)) for room, moment in found
    )
    expected = [slots[room, slot] for (room,) in ROOMS for slot in SLOTS]
    assert sum(expected) > 1000
    assert read(table, CROSSED) == expected
    assert read(table, WRITTEN) == expected
    assert bool(used) == (many == 1)


def test_slots_far_apart_are_joined_row_by_row_because_there_may_be_many_between_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(key_lists, "MANY_KEYS", 1)
    monkeypatch.setattr(Query, "_grouped_first", refused)
    table, found = presence(tmp_path)
    apart = (SLOTS[0], SLOTS[0] + timedelta(days=3000))
    in_first = sum(room == "hall" and timedelta() <= moment - BEGIN < timedelta(minutes=5) for room, moment in found)
    assert read(table, Keys(COLUMNS, Crossed((("hall",),), apart))) == [in_first, 0]


def test_a_bound_counts_the_same_rows_of_each_unit_in_both(tmp_path: Path) -> None:
    table, _ = presence(tmp_path, Unit("person"))
    bounded = read(table, CROSSED, Bound(2))
    assert bounded == read(table, WRITTEN, Bound(2))
    assert 0 < sum(bounded) <= 2 * 40


def test_each_value_is_converted_once_however_many_keys_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, _ = presence(tmp_path)
    converted = list[int]()
    original = conditions.matched

    def counted(column: Any, values: Any) -> Any:
        converted.append(len(values))
        return original(column, values)

    monkeypatch.setattr(key_lists, "matched", counted)
    read(table, CROSSED)
    read(table, WRITTEN)
    assert converted == [len(ROOMS), len(SLOTS)] * 2


@pytest.mark.parametrize("keys", [Crossed((("hall",), ("hall",)), SLOTS), Crossed(ROOMS, (*SLOTS, SLOTS[3]))])
def test_a_key_that_comes_twice_is_refused(keys: Crossed, tmp_path: Path) -> None:
    table, _ = presence(tmp_path)
    with pytest.raises(ParameterError, match="one comes twice"):
        read(table, Keys(COLUMNS, keys))


def test_a_time_in_two_zones_is_one_key_that_comes_twice(tmp_path: Path) -> None:
    table, _ = presence(tmp_path)
    naive = SLOTS[0].replace(tzinfo=None)
    with pytest.raises(ParameterError, match="one comes twice"):
        read(table, Keys(COLUMNS, Crossed(ROOMS, (naive, SLOTS[0]))))


def test_true_and_1_are_two_values_and_not_of_one_kind(tmp_path: Path) -> None:
    table, _ = presence(tmp_path)
    with pytest.raises(ParameterError, match="of one kind"):
        read(table, Keys(("room",), ((1,), (True,))))


def test_what_was_checked_is_read_with_the_secret_of_the_reading(tmp_path: Path) -> None:
    """A place that is held keeps the query that was checked, without the secret that chooses rows."""
    table, _ = presence(tmp_path, Unit("person"))
    asked = Reading((CROSSED,), (Measure("count"),), bound=Bound(1))
    chosen = []
    for secret in (SECRET, bytes(32)):
        with rows.checked(table, asked) as held:
            chosen.append(rows.read(table, asked, secret, held).values[0].tolist())
        assert chosen[-1] == rows.read(table, asked, secret).values[0].tolist()
    assert chosen[0] != chosen[1]


def test_a_crossed_list_is_a_sequence_of_keys() -> None:
    crossed = Crossed(ROOMS, SLOTS)
    assert list(crossed) == list(WRITTEN.values)
    assert [crossed[at] for at in range(len(crossed))] == list(WRITTEN.values)
    assert crossed[-1] == WRITTEN.values[-1]
    assert crossed[3:60:7] == tuple(WRITTEN.values[3:60:7])
    with pytest.raises(IndexError):
        crossed[len(crossed)]
    assert (crossed == Crossed(ROOMS, SLOTS), crossed == Crossed(ROOMS, SLOTS[1:])) == (True, False)
