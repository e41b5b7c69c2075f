"""`louver watch` on readings, really run: a zone over its load fires, and a meter is never counted as a person."""

from __future__ import annotations

import json
from pathlib import Path

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
