"""`louver watch` on readings, really run: a zone over its load fires, and a meter is never counted as a person."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from louver import cli

Shown = pytest.CaptureFixture[str]
METERS = 40
ZONE = '[region.{name}]\nfloor = "1"\ncapacity = 40\nsensors = [{sensors}]\nload = 200\n'
RULES = """[watch]
building = "street.toml"
store = "store"
ledger = "watch.ledger"
salt = "salt"
dataset = "street"
rows = "readings"
fields = "{fields}"
lower = 0
upper = 10
[rule.load]
having = "sum(value) > load"
miss_rate = 0.01
slack = 20
"""


WARM = """[watch]
building = "building.toml"
store = "warm"
ledger = "warm.ledger"
salt = "salt"
dataset = "hall"
unit = "(region, slot)"
rows = "readings"
fields = "sensors"
only = ["kind", "temperature"]
lower = 15
upper = 25
slot = "15 minutes"
[rule.warm]
level = "building"
having = "avg(value) > 19.5"
miss_rate = 0.01
slack = 4
"""


@pytest.fixture(autouse=True)
def street(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty meters in each of two zones; from 9:05 to 9:15 those of the east read 9, which is 360 together."""
    monkeypatch.chdir(tmp_path)
    zones = {name: [f"{name}-{number}" for number in range(METERS)] for name in ("east", "west")}
    written = [ZONE.format(name=name, sensors=", ".join(map(json.dumps, each))) for name, each in zones.items()]
    Path("street.toml").write_text('[building]\nid = "street"\n[floor.1]\n' + "".join(written))
    lines = [
        {
            "meter": meter,
            "time": f"2026-03-02T09:{minute:02}:00Z",
            "reading": 9 if name == "east" and 5 <= minute < 15 else 0.1,
        }
        for minute in range(26)
        for name, meters in zones.items()
        for meter in meters
    ]
    Path("meters.ndjson").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    Path("rules.toml").write_text(RULES.format(fields="meters"))
    assert (
        cli.main(["ledger", "init", "watch.ledger", "--dataset", "street", "--unit", "(person, slot)", "--cap", "9"])
        == 0
    )


def test_a_zone_over_its_load_fires_and_is_clear_again(capsys: Shown) -> None:
    """The truth is 16 upper bounds from the load, and each makes a wrong answer 9 times rarer: below 1e-12."""
    assert cli.main(["watch", "meters.ndjson", "--json"]) == 0
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith('{"louver": "watch"')]
    slots = [(line["slot"][11:16], line["firing"]) for line in said if line["what"] == "slot"]
    assert slots == [
        ("09:00", []),
        ("09:05", ["east"]),
        ("09:10", ["east"]),
        ("09:15", []),
        ("09:20", []),
        ("09:25", []),
    ]
    assert said[-1]["malformed"] == []


def warm(rules: str = WARM) -> list[str]:
    """A watch of the temperatures of an invented day, and what it prints."""
    assert cli.main(["simulate", "--preset", "demo", "--days", "1", "--people", "50", "--out", "."]) == 0
    Path("rules.toml").write_text(rules)
    unit = ("--unit", "(region, slot)", "--cap", "9")
    assert cli.main(["ledger", "init", "warm.ledger", "--dataset", "hall", *unit]) == 0
    return ["--from", "2018-02-01T03:00", "--to", "2018-02-01T13:00", "--json"]


def test_rooms_that_warm_up_fire_by_what_a_region_reads_in_a_slot(capsys: Shown) -> None:
    """Twenty-two regions are 1.2 degrees below 19.5 on average before five, and as much above from ten on.

    That is 26 degrees together, and a region moves them by 5.5 at most: each slot is wrong with a probability below
    1e-8.
    """
    words = warm()
    with duckdb.connect() as engine:  # readings of two kinds in one feed; watts would be far above all temperatures
        engine.execute("COPY (FROM 'temperature.parquet' UNION ALL FROM 'energy.parquet') TO 'all.parquet'")
    capsys.readouterr()
    assert cli.main(["watch", "all.parquet", *words]) == 0
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith('{"louver": "watch"')]
    assert "for each region and slot" in said[0]["rules"][0]
    fired = {line["slot"][11:16]: line["firing"] for line in said if line["what"] == "slot"}
    assert [fired[f"{hour:02}:{minute:02}"] for hour in (3, 4) for minute in (0, 15, 30, 45)] == [[]] * 8
    assert [fired[f"{hour}:{minute:02}"] for hour in (10, 11, 12) for minute in (0, 15, 30, 45)] == [
        ["small-hall"]
    ] * 12
    assert said[-1]["undecided"] == 0
    assert said[-1]["malformed"] == []


def test_who_reads_nothing_of_their_own_cannot_be_erased(capsys: Shown) -> None:
    assert cli.main(["watch", "temperature.parquet", *warm()]) == 0
    capsys.readouterr()
    assert cli.main(["watch", "erase", "--pseudonym", "0"]) == 2
    assert "there is nobody to erase" in capsys.readouterr().err


def test_events_of_people_are_refused_where_readings_are_watched(capsys: Shown) -> None:
    Path("rules.toml").write_text(RULES.format(fields="wifi"))
    assert cli.main(["watch", "meters.ndjson"]) == 2
    assert "The feed gives presence and not readings" in capsys.readouterr().err


def test_meters_are_refused_where_people_are_watched(capsys: Shown) -> None:
    rules = RULES.format(fields="meters").replace('rows = "readings"', "").replace("lower = 0\nupper = 10\n", "")
    rules = rules.replace("sum(value) > load", "count(*) > capacity")
    Path("street.toml").write_text(Path("street.toml").read_text().replace("sensors", "access_points"))
    Path("rules.toml").write_text(rules)
    assert cli.main(["watch", "meters.ndjson"]) == 2
    assert "The feed gives readings and not presence" in capsys.readouterr().err
    assert not Path("store").exists()
