"""From a source to a published stream, in one line: the columns, the files, the picture and the account."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as Xml
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from louver.errors import AccessError, BudgetError, DataError, ParameterError
from louver.ledger import Cap, Ledger
from louver.privacy import Unit
from louver.source import Domain, Source, Table
from louver.stream.publishing import publish
from louver.stream.released import Released, rounded_up
from tests.stream.published import HOUR, NINE, ROOMS, SLOTTED, TICKS, TRUTH, House, house, planned, source, values_of

LOUD: dict[str, Any] = {**HOUR, "mechanism": "laplace", "epsilon": 500}


@pytest.fixture
def made(tmp_path: Path) -> Any:
    with house(tmp_path, cap=2000) as found:
        yield found


def test_a_stream_is_published_in_one_line(made: House) -> None:
    stream = publish(made.source, ledger=made.ledger, **LOUD)
    assert values_of(stream.release.answer).tolist() == TRUTH.tolist()
    assert stream.protected == SLOTTED.sentence()
    assert stream.remaining == 1500
    assert stream.spent == 500
    assert repr(stream) == "Stream(12 ticks of 2 regions, number 2)"


def test_columns_have_a_row_for_each_tick_and_region(made: House) -> None:
    columns = publish(made.source, ledger=made.ledger, **LOUD).columns
    assert list(columns) == ["room", "tick", "value", "low", "high"]
    assert columns["room"] == list(ROOMS) * TICKS
    assert columns["tick"][:3] == [NINE, NINE, columns["tick"][2]]
    assert columns["value"] == TRUTH.ravel().tolist()
    assert columns["low"] == columns["high"] == columns["value"]  # at this price the band has no width


def test_csv_json_and_frames_hold_the_same(made: House, tmp_path: Path) -> None:
    stream = publish(made.source, ledger=made.ledger, **HOUR, epsilon=1)
    rows = list(csv.DictReader(stream.to_csv(tmp_path / "a.csv").splitlines()))
    assert (tmp_path / "a.csv").read_text() == stream.to_csv()
    assert [float(row["value"]) for row in rows] == stream.columns["value"]
    assert rows[0]["tick"] == "2018-02-01T09:00:00+00:00"
    plain = json.loads(json.dumps(stream.to_dict()))
    assert plain["columns"]["high"] == stream.columns["high"]
    assert (plain["kind"], plain["worst"], plain["charged"]) == ("pure", "1", "1")
    for kind in ("pandas", "polars", "arrow"):
        assert list(np.asarray(stream.to_frame(kind)["value"])) == stream.columns["value"]
    with pytest.raises(ParameterError, match="pandas, polars or arrow"):
        stream.to_frame("excel")
    with pytest.raises(DataError, match="cannot be written"):
        stream.to_csv(tmp_path / "nowhere" / "a.csv")


def test_numbers_have_as_many_digits_as_one_unit_deserves(made: House) -> None:
    stream = publish(made.source, ledger=made.ledger, **HOUR, epsilon=1)
    cells = [row.split(",")[2:] for row in stream.to_csv().splitlines()[1:]]
    assert all(re.fullmatch(r"-?\d+(\.\d{1,3})?", cell) for row in cells for cell in row)
    assert not any(cell.endswith(".0") or cell == "-0" for row in cells for cell in row)
    assert all(float(low) <= float(value) <= float(high) for value, low, high in cells)


def test_a_band_is_rounded_up_and_what_is_round_stays() -> None:
    assert rounded_up(np.array([2.0004, 0.1 + 0.2, 3.0, np.nan]), 3).tolist()[:3] == [2.001, 0.3, 3.0]
    assert rounded_up(np.array([12.25]), 0).tolist() == [13]


def test_a_value_that_rounds_to_zero_has_no_sign() -> None:
    found = Released.of(Fraction(1), Fraction(1), np.array([[-0.0001]])).values
    assert str(found[0, 0]) == "0.0"


def test_the_same_key_gives_the_same_stream_for_nothing(made: House) -> None:
    first = publish(made.source, ledger=made.ledger, key="monday", **HOUR, epsilon=1)
    again = publish(made.source, ledger=made.ledger, key="monday", **HOUR, epsilon=1)
    assert again.release.again
    assert again.to_csv() == first.to_csv()
    assert made.ledger.spent() == 1
    with pytest.raises(ParameterError, match="used for another plan"):
        publish(made.source, ledger=made.ledger, key="monday", **HOUR, epsilon=2)


def test_rho_is_paid_as_rho(made: House) -> None:
    stream = publish(made.source, ledger=made.ledger, mechanism="buffered", rho=Fraction(1, 2), **HOUR)
    assert stream.remaining == Fraction(3999, 2)
    assert stream.to_dict()["kind"] == "zero-concentrated"
    assert stream.spent is None
    with pytest.raises(BudgetError, match="no proved sum"):
        publish(made.source, ledger=made.ledger, **HOUR, epsilon=1)


def test_the_picture_shows_each_region_its_band_and_the_truth_where_it_is_given(made: House, tmp_path: Path) -> None:
    stream = publish(made.source, ledger=made.ledger, **HOUR, epsilon=1)
    panels, paths = (f"{{http://www.w3.org/2000/svg}}{name}" for name in ("g", "path"))
    plain = Xml.fromstring(stream.plot())  # noqa: S314
    drawn = Xml.fromstring(stream.plot(tmp_path / "a.svg", truth=TRUTH))  # noqa: S314
    for picture, shown in ((plain, ["fill-opacity"]), (drawn, ["fill-opacity", "stroke-dasharray"])):
        for panel in picture.iter(panels):
            marked = [
                name
                for path in panel.iter(paths)
                for name in ("fill-opacity", "stroke-dasharray")
                if name in path.attrib
            ]
            assert marked == shown
    assert "truth (invented data)" in (tmp_path / "a.svg").read_text()
    assert stream._repr_html_() == stream.plot()
    with pytest.raises(ParameterError, match=r"\.svg"):
        stream.plot(tmp_path / "a.png")
    with pytest.raises(ParameterError, match="one number for each"):
        stream.plot(truth=[1, 2])


def test_what_is_not_released_yet_is_left_open(made: House) -> None:
    asked: dict[str, Any] = {"mechanism": "truncated", "tick_bound": 64, "options": {"lag": 4}, "epsilon": 1}
    stream = publish(made.source, ledger=made.ledger, **HOUR, **asked)
    assert stream.columns["value"][:6] == [None] * 6
    assert None not in stream.columns["value"][6:]
    assert stream.to_csv().splitlines()[1] == "hall,2018-02-01T09:00:00+00:00,,,"
    Xml.fromstring(stream.plot())  # noqa: S314


def test_declared_names_are_used_for_what_is_made_of_a_time(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("person,time\na,2018-02-01T09:00:00\nb,2018-02-02T09:00:00\n")
    table = Table(tmp_path / "rows.csv", dataset="d", unit=Unit.row(), columns={"weekday": "weekday(time)"})
    days = Domain({"weekday": [3, 4, 5]}, keys=["weekday"])
    ledger, _ = Ledger.create(tmp_path / "l", dataset="d", unit=Unit.row(), caps=[Cap(epsilon=500)])
    with ledger:
        asked: dict[str, Any] = {"every": "1d", "begin": "2018-02-01", "end": "2018-02-03", "by": "weekday"}
        stream = publish(Source(table, domains=days), ledger=ledger, mechanism="laplace", epsilon=500, **asked)
    assert next(iter(stream.columns)) == "weekday"
    assert values_of(stream.release.answer).tolist() == [[0, 1, 0], [0, 0, 1]]


def test_a_slot_that_holds_times_can_be_the_time(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("person,room,slot\na,hall,2018-02-01 09:00:00\na,hall,2018-02-01 09:05:00\n")
    unit = Unit("person", "slot")
    table = Table(tmp_path / "rows.csv", dataset="d", unit=unit)
    described = Source(table, domains=Domain({"room": list(ROOMS)}, keys=["room"]))
    ledger, _ = Ledger.create(tmp_path / "l", dataset="d", unit=unit, caps=[Cap(epsilon=500)])
    with ledger:
        stream = publish(described, ledger=ledger, **LOUD)
    assert values_of(stream.release.answer)[:3, 0].tolist() == [1, 1, 0]
    assert dict(stream.plan.scope.ranges).keys() == {"slot"}


def test_a_stream_needs_a_ledger_and_its_own_plan(made: House, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="paid for by a ledger"):
        publish(source(tmp_path), **LOUD)
    with pytest.raises(ParameterError, match="not both"):
        publish(made.source, planned(), ledger=made.ledger, epsilon=1)
    with pytest.raises(ParameterError, match="not both"):
        publish(made.source, "SELECT 1", ledger=made.ledger)  # type: ignore[arg-type]
    with pytest.raises(AccessError, match="sign in"):
        publish(made.source, planned(), ledger=made.ledger, who="owner")
