"""What can be found out before there is a ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from louver.decide import Shift
from louver.errors import DataError, ParameterError
from louver.privacy import Unit
from louver.source import Table, rows
from louver.steward import check
from tests.counting import counting
from tests.steward.house import LIMITS, ROWS

PLAN = counting(Shift, "room", LIMITS, unit=Unit.row(), miss_rate=0.05, slack=10)


def table(folder: Path, text: str, unit: Unit | None = None) -> Table:
    (folder / "presence.csv").write_text(text)
    return Table(folder / "presence.csv", dataset="house", unit=unit or Unit.row())


def test_a_plan_that_could_run_passes_and_no_row_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "read", lambda *_: pytest.fail("rows were read"))
    check(table(tmp_path, ROWS), PLAN)


@pytest.mark.parametrize(("text", "said"), [("", "presence.csv"), ("device,rom\n1,hall\n", "no column 'room'")])
def test_rows_that_do_not_fit_the_plan_are_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        check(table(tmp_path, text), PLAN)


def test_a_plan_of_another_unit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"The plan's unit is row, but the table's is \(device\)"):
        check(table(tmp_path, ROWS, Unit("device")), PLAN)


@pytest.mark.parametrize("given", [("table", PLAN), (None, "plan")])
def test_what_is_no_table_or_no_plan_is_refused(tmp_path: Path, given: tuple[Any, Any]) -> None:
    with pytest.raises(ParameterError):
        check(given[0] or table(tmp_path, ROWS), given[1])
