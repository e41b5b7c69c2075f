"""Each format says what it gives, so that no meter is counted as a person."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from louver.errors import ParameterError
from louver.sense.events import Event
from louver.sense.feeds import Replay, open_feed
from louver.sense.formats import (
    CSV,
    GENERIC,
    METERS,
    NDJSON,
    SENSORS,
    TAPS,
    Cells,
    Compact,
    Fields,
    Radius,
    Syslog,
    check_gives,
    crowd,
    named,
    named_fields,
)
from louver.sense.readings_rows import Combining
from louver.watch.watching import watch


@pytest.mark.parametrize(
    ("given", "gives"),
    [
        (NDJSON(), "presence"),
        (CSV(), "presence"),
        (Compact(), "presence"),
        (Syslog(), "presence"),
        (Radius(), "presence"),
        (NDJSON(METERS), "reading"),
        (CSV(SENSORS), "reading"),
        (NDJSON(crowd(Cells(0, 0, 1, 1, 2, 2))), "reading"),
        (NDJSON(TAPS), "trip"),
        (named("compact", fields=GENERIC), "reading"),
        (named("ndjson", fields="taps"), "trip"),
    ],
)
def test_a_format_gives_what_its_fields_tell(given: Any, gives: str) -> None:
    assert given.gives == gives
    check_gives(given, gives)
    with pytest.raises(ParameterError, match="would be counted as the other"):
        check_gives(given, "trip" if gives != "trip" else "presence")


def test_a_value_beside_presence_is_ignored() -> None:
    line = json.dumps({"device": "d", "place": "ap", "time": "2026-03-02T09:00:00Z", "value": 3})
    assert NDJSON()(line) == [Event("d", "ap", 1_772_442_000_000_000)]
    check_gives(NDJSON())


def test_what_does_not_say_gives_presence() -> None:
    check_gives(object())


def test_a_watch_refuses_a_feed_of_meters_before_it_reads(tmp_path: Path) -> None:
    file = tmp_path / "meters.ndjson"
    file.write_text('{"meter": "4711", "time": "2026-03-02T09:00:00Z", "reading": 3}\n')
    rules: Any = SimpleNamespace(combining=None)
    with pytest.raises(ParameterError, match=r"gives readings and not presence.*louver sense --as readings"):
        asyncio.run(watch(rules, Replay(file, fields=METERS)))


def test_a_parquet_file_gives_what_its_fields_tell(tmp_path: Path) -> None:
    file = tmp_path / "events.parquet"
    file.touch()
    assert Replay(file).gives == "presence"
    assert Replay(file, fields=Fields(value="watts")).gives == "reading"


def test_fields_have_names() -> None:
    assert named_fields("sensors") == SENSORS
    with pytest.raises(ParameterError, match="did you mean 'meters'"):
        named_fields("metres")


def test_a_feed_of_readings_is_refused_presence(tmp_path: Path) -> None:
    file = tmp_path / "events.ndjson"
    file.touch()
    rules: Any = SimpleNamespace(combining=Combining("mean", 0, 10))
    with pytest.raises(ParameterError, match="gives presence and not readings"):
        asyncio.run(watch(rules, Replay(file)))


@pytest.mark.parametrize("source", ["meters.ndjson", "mqtt://localhost/meters"])
def test_a_feed_is_opened_with_fields_by_name(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("meters.ndjson").touch()

    async def opened() -> Any:
        return open_feed(source, fields="meters")

    assert asyncio.run(opened()).gives == "reading"
