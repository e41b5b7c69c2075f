from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from louver.errors import ParameterError
from louver.privacy import Among, Between, Scope, Unit
from louver.source import Counts, Table, View
from tests.misuse import NOT_COUNTS, Thing


def test_a_table_describes_a_file_and_reads_nothing() -> None:
    table = Table("nowhere/presence.parquet", dataset="building 7", unit=Unit("device"))
    assert (table.path, table.dataset, table.unit) == (Path("nowhere/presence.parquet"), "building 7", Unit("device"))


@pytest.mark.parametrize("path", ["presence", "rows.xlsx", "", 3, None, b"rows.csv", "a\0.csv", Thing()])
def test_a_table_is_a_csv_or_parquet_file(path: object) -> None:
    with pytest.raises(ParameterError, match="A table is a file"):
        Table(path, dataset="d", unit=Unit.row())  # type: ignore[arg-type]


@pytest.mark.parametrize("dataset", ["", " d", "a\nb", "x" * 129, None, 3])
def test_a_data_set_has_a_name(dataset: object) -> None:
    with pytest.raises(ParameterError, match="data set"):
        Table("a.csv", dataset=dataset, unit=Unit.row())  # type: ignore[arg-type]


def test_a_table_needs_a_unit() -> None:
    with pytest.raises(ParameterError, match="needs a Unit"):
        Table("a.csv", dataset="d", unit="row")  # type: ignore[arg-type]


def test_counts_come_back_from_plain_values() -> None:
    asked = Counts("room", ["b", "a"], Scope({"hour": Between(9, 10), "kind": {"guest"}}), 3)
    assert Counts.from_dict(asked.to_dict()) == asked
    assert asked.keys == ("b", "a")
    assert asked.columns() == ("room", "hour", "kind")


@pytest.mark.parametrize("keys", [[], ["a", "a"], [""], [1], "abc", 3, None, ["\ud800"], [None], ["x" * 2000]])
def test_keys_are_different_texts(keys: object) -> None:
    with pytest.raises(ParameterError):
        Counts("room", keys)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [*(each for each in NOT_COUNTS), 0])
def test_a_bound_is_a_whole_number_of_rows(wrong: object) -> None:
    with pytest.raises(ParameterError, match="rows_per_unit"):
        Counts("room", ["a"], rows_per_unit=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "within", [{"room": "a"}, "room", Scope({"room": "a"}), Scope({"n": Between(2**127, None)}), Scope({"n": 2**127})]
)
def test_a_scope_that_cannot_be_read_is_refused(within: object) -> None:
    with pytest.raises(ParameterError):
        Counts("room", ["a"], within)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "plain", [None, {}, [], {"by": "room"}, {"by": 1, "keys": [], "within": {}, "rows_per_unit": 1}]
)
def test_stored_counts_that_are_incomplete_are_refused(plain: object) -> None:
    with pytest.raises(ParameterError):
        Counts.from_dict(plain)


def test_a_view_never_shows_its_counts() -> None:
    view = View(np.array([41, 42]))
    for shown in (repr(view), str(view), f"{view}"):
        assert shown == "View(2 private counts)"


def test_a_category_of_whole_numbers_may_be_negative() -> None:
    assert Counts("room", ["a"], Scope({"n": Among({-5, 5})})).columns() == ("room", "n")
