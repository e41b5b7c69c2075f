"""A batch reads the same from every kind of place, and what is wrong in it is counted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

from louver.errors import DataError, ParameterError
from louver.sense import Batch, Door, Rotating, Rule, Tally
from tests.sense.slowly import MINUTE, REGIONS, as_list

DOOR = Door(b"a salt of sixteen")
DEVICES = ["02:00:00:00:00:01", "02-00-00-00-00-01", "0200.0000.0002", None, "", "card", "card", "card", "card", "card"]
PLACES = ["a1", "b1", "a1", "a1", "a1", None, "nowhere", "c1", "c1", "c1"]
MINUTES = [4, 9, 6, 1, 1, 1, 1, 7, 7, None]
ROWS = pyarrow.table(
    {
        "device": DEVICES,
        "place": PLACES,
        "time": pyarrow.array([m if m is None else m * MINUTE for m in MINUTES], pyarrow.timestamp("us")),
    }
)
COUNTED = {"accepted": 4, "duplicate": 1, "no device": 2, "no place": 1, "no time": 1, "unknown place": 1}


def csv(folder: Path) -> Path:
    path = folder / "events.csv"
    times = ["" if m is None else f"1970-01-01T01:{m:02}:00+01:00" for m in MINUTES]
    lines = [f"{d or ''},{p or ''},{t}" for d, p, t in zip(DEVICES, PLACES, times, strict=True)]
    path.write_text("\n".join(["device,place,time", *lines]) + "\n")
    return path


def parquet(folder: Path) -> Path:
    path = folder / "events.parquet"
    pyarrow.parquet.write_table(ROWS, path)
    return path


def database(folder: Path) -> str:
    with duckdb.connect(str(folder / "plant.duckdb")) as engine:
        engine.register("given", ROWS)
        engine.execute("CREATE TABLE events AS FROM given")
    return f"{folder / 'plant.duckdb'}#events"


def zoned(_: Path) -> Any:
    return ROWS.set_column(2, "time", ROWS["time"].cast(pyarrow.timestamp("us", "UTC")))


PLACED: dict[str, Callable[[Path], Any]] = {
    "CSV": csv,
    "Parquet": parquet,
    "DuckDB": database,
    "Arrow": lambda _: ROWS,
    "Arrow with a zone": zoned,
    "Arrow in microseconds": lambda _: ROWS.set_column(2, "time", ROWS["time"].cast(pyarrow.int64())),
    "pandas": lambda _: ROWS.to_pandas(),
    "Polars": lambda _: polars.from_arrow(ROWS),
    "lazy Polars": lambda _: polars.from_arrow(ROWS).lazy(),  # type: ignore[union-attr]
}


@pytest.mark.parametrize(
    ("line", "is_event"),
    [
        ("evil,a", False),
        ("evil,a,2026-01-01T00:00:00Z,more", False),
        ('"evil,a,2026-01-01T00:00:00Z', False),
        ("e;v;i;l,a,2026-01-01T00:00:00Z", True),
        ('"ev""il",a,2026-01-01T00:00:00Z', True),
        ("evil,a,2026-01-01T00:00:00Z\r", True),
    ],
)
def test_no_line_of_a_csv_file_decides_how_others_are_read(line: str, is_event: bool, tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    others = [f"d{number},a,2026-01-01T00:{number % 60:02}:00Z" for number in range(200)]
    path.write_bytes("\n".join(["device,place,time", *others[:100], line, *others[100:], ""]).encode())
    batch = Batch(path, Rule(), {"a": "A"}, DOOR)
    assert len(set(batch.presence().person.tolist())) == 200 + is_event
    assert batch.tally() == Tally({"accepted": 200 + is_event})


def test_a_column_without_a_name_is_left_out(tmp_path: Path) -> None:
    ROWS.to_pandas().to_csv(tmp_path / "events.csv")
    assert Batch(tmp_path / "events.csv", Rule(), REGIONS, DOOR).tally().to_dict() == COUNTED


@pytest.mark.parametrize(
    ("header", "said"), [("", "needs a first line"), ("device,place,time,time", "names a column twice")]
)
def test_a_header_that_names_no_columns_or_one_twice_is_refused(header: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text(f"{header}\nd,a,2026-01-01T00:00:00Z\n")
    with pytest.raises(DataError, match=said):
        Batch(tmp_path / "events.csv", Rule(), REGIONS, DOOR).occupancy()


def test_a_csv_file_whose_header_is_none_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text("x" * 200_000 + "\n")
    with pytest.raises(DataError, match="The events cannot be read"):
        Batch(path, Rule(), {"a": "A"}, DOOR).occupancy()


@pytest.mark.parametrize("kind", PLACED)
def test_every_place_gives_the_same_rows_and_the_same_tally(kind: str, tmp_path: Path) -> None:
    batch = Batch(PLACED[kind](tmp_path), Rule(), REGIONS, DOOR)
    first, second, third = (DOOR.person(device) for device in ("020000000001", "020000000002", "card"))
    assert as_list(batch.presence()) == sorted(
        [
            (first, "atrium", 4 * MINUTE, 9 * MINUTE),
            (first, "bar", 9 * MINUTE, 19 * MINUTE),
            (second, "atrium", 6 * MINUTE, 16 * MINUTE),
            (third, "cellar", 7 * MINUTE, 17 * MINUTE),
        ]
    )
    assert len(batch.occupancy()) == 7
    assert batch.tally().to_dict() == COUNTED


def test_columns_may_have_other_names(tmp_path: Path) -> None:
    named = pandas.DataFrame({"MAC": ["a"], 'it\'s "here"': ["a1"], "When": [datetime(2018, 2, 1, tzinfo=UTC)]})
    columns = {"device": "MAC", "place": 'it\'s "here"', "time": "When"}
    path = tmp_path / "o'clock.parquet"
    named.to_parquet(path)
    for place in (named, path):
        assert len(Batch(place, Rule(), REGIONS, DOOR, columns=columns).occupancy()) == 2


@pytest.mark.parametrize(
    ("events", "given", "said"),
    [
        ("missing.parquet", {}, r"There is no file missing\.parquet\."),
        (ROWS.drop_columns(["time"]), {}, "The events have no column 'time' for the time"),
        (ROWS, {"columns": {"place": "plaec"}}, "no column 'plaec' for the place .did you mean 'place'"),
        (ROWS, {"columns": {"devise": "device"}}, "Events have no column 'devise' .did you mean 'device'"),
        (ROWS, {"door": None}, "Events with device ids need a door"),
        ("postgresql://localhost/plant#events", {}, "A batch of events is a file, a table of a DuckDB file"),
        (pyarrow.table({"device": ["a"], "place": ["a1"], "time": [1.5]}), {}, "The time of an event is a time"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(events: object, given: dict[str, Any], said: str) -> None:
    with pytest.raises((DataError, ParameterError), match=said):
        Batch(events, Rule(), REGIONS, **{"door": DOOR, **given}).occupancy()


def test_what_an_engine_says_is_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    path.write_bytes(b"PAR1 02:00:00:00:00:01 PAR1")
    with pytest.raises(DataError, match=r"The events cannot be read; check the file and its columns\.") as refused:
        Batch(path, Rule(), REGIONS, DOOR).occupancy()
    assert refused.value.__cause__ is None
    assert "02:00" not in str(refused.value)


def test_no_events_give_no_rows() -> None:
    for door in (DOOR, Rotating(MINUTE), Rotating(MINUTE, per_device=True)):
        batch = Batch(ROWS.slice(0, 0), Rule(), REGIONS, door)
        assert len(batch.occupancy()) == len(batch.occupancy(2)) == len(batch.presence()) == 0
        assert batch.tally().to_dict() == {}


@pytest.mark.parametrize("regions", [{}, {"": "hall"}, {"ap": ""}, {"ap": 7}, None])
def test_regions_that_are_none_are_refused(regions: dict[str, str]) -> None:
    with pytest.raises(ParameterError, match=r"Regions are given by place|Places and regions are texts"):
        Batch(ROWS, Rule(), regions, DOOR)
