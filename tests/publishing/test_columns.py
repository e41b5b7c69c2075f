"""Published columns leave as CSV, as frames and in files."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from louver.errors import DataError, ParameterError
from louver.publishing.columns import as_csv, as_frame, json_value, write

COLUMNS: dict[str, list[Any]] = {"room": ["hall", 'a "b", c'], "count": [10, None]}


def test_what_is_not_known_is_empty_in_csv() -> None:
    assert as_csv(COLUMNS) == 'room,count\nhall,10\n"a ""b"", c",\n'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (10.0, "10"),
        (2.5, "2.5"),
        (True, "true"),
        (date(2026, 1, 31), "2026-01-31"),
        (datetime(2026, 1, 31, 9, tzinfo=UTC), "2026-01-31T09:00:00+00:00"),
    ],
)
def test_a_cell_is_written_as_people_and_programs_read_it(value: object, text: str) -> None:
    assert as_csv({"value": [value]}) == f"value\n{text}\n"


def test_days_and_times_are_texts_in_json_and_nothing_else_is() -> None:
    assert json_value(date(2026, 1, 31)) == "2026-01-31"
    assert json_value(3) == 3


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_every_kind_of_frame_has_the_same_columns(kind: str) -> None:
    frame = as_frame(COLUMNS, kind, "A table")
    assert list(getattr(frame, "column_names", frame.columns)) == ["room", "count"]
    assert len(frame) == 2


def test_another_kind_of_frame_is_refused_by_what_it_should_hold() -> None:
    with pytest.raises(ParameterError, match=r"^A map becomes a frame of pandas, polars or arrow, not 'excel'\.$"):
        as_frame(COLUMNS, "excel", "A map")


def test_a_library_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match="A frame of arrow needs pyarrow; install it with"):
        as_frame(COLUMNS, "arrow", "A table")


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none/table.csv cannot be written: No such file or directory\.$"):
        write(tmp_path / "none" / "table.csv", as_csv(COLUMNS))
