"""A dict of NumPy arrays as a table."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pytest

from louver.errors import DataError, ParameterError
from louver.privacy import Unit
from louver.source import Keys, Measure, Reading, Table, rows
from louver.source.filters import EVERY_ROW, Compare, Filter

TIMES = ["2024-01-01T10:00", "2024-01-01T11:00", "NaT", "2024-01-02T00:00"]


class Rude:
    """A value whose text and comparisons fail."""

    def __str__(self) -> str:
        raise RuntimeError("secret")

    def __ne__(self, other: object) -> bool:
        raise RuntimeError("secret")

    __hash__ = None  # type: ignore[assignment]


ARRAYS: dict[str, Any] = {
    "room": np.array(["a", "b", "a", None], dtype=object),
    "name": np.array(["x", "y", "x", "z"]),
    "at": np.array(TIMES, dtype="datetime64[us]"),
    "finer": np.array(TIMES, dtype="datetime64[ns]"),
    "floor": np.array([1, 2, 1, 2]),
    "swapped": np.array([1, 2, 1, 2], dtype=">i8"),
    "every second": np.array([1, 0, 2, 0, 1, 0, 2, 0])[::2],
    "watts": np.array([1.5, np.nan, 2, 3]),
    "guest": np.array([True, False, True, True]),
    "mixed": np.array([1, "1", Rude(), float("nan")], dtype=object),
}


def counts(column: str, values: list[Any], where: Filter = EVERY_ROW) -> list[int]:
    table = Table(ARRAYS, dataset="test", unit=Unit.row())
    reading = Reading((Keys((column,), tuple((value,) for value in values)),), (Measure("count", 0, where),))
    rows.check(table, reading)
    return [int(value) for value in rows.read(table, reading, bytes(32)).values[0]]


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        ("room", ["a", "b"], [2, 1]),
        ("name", ["x", "z"], [2, 1]),
        ("hour(at)", [10, 11, 0], [1, 1, 1]),
        ("day(finer)", [date(2024, 1, 1), date(2024, 1, 2)], [2, 1]),
        ("floor", [1, 2, 3], [2, 2, 0]),
        ("swapped", [1, 2, 3], [2, 2, 0]),
        ("every second", [1, 2, 0], [2, 2, 0]),
        ("guest", [True, False], [3, 1]),
        ("mixed", ["1", "nan"], [2, 0]),
    ],
)
def test_each_kind_of_array_is_a_column(column: str, values: list[Any], expected: list[int]) -> None:
    assert counts(column, values) == expected


def test_a_float_that_is_no_number_meets_no_condition() -> None:
    assert counts("room", ["a", "b"], Compare("watts", ">", 1)) == [2, 0]


def test_arrays_of_different_lengths_are_refused() -> None:
    for arrays in ({"a": np.zeros(2), "b": np.zeros(3)}, {"a": np.zeros((2, 2))}):
        table = Table(arrays, dataset="test", unit=Unit.row())
        with pytest.raises(DataError, match="one length"):
            rows.check(table, Reading((Keys((), ((),)),), (Measure("count"),)))


def test_a_dict_of_something_else_is_no_table() -> None:
    for given in ({}, {"a": [1, 2]}, {"a": np.zeros(2), "b": [1, 2]}):
        with pytest.raises(ParameterError, match="NumPy arrays, not a dict"):
            Table(given, dataset="test", unit=Unit.row())
