"""What a watch says at its end, the fields that it is given, and what it says where a line is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from louver.cli import main
from louver.errors import ParameterError
from louver.sense.building import Building
from louver.sense.formats.fields import Fields
from louver.watch.rules import Rules
from tests.watch.made import FULL, events, house, lines

Shown = pytest.CaptureFixture[str]
FULL_AULA = ({"lab": 1}, {"aula": FULL}, {"aula": FULL}, {"lab": 1})
RANGE = ("--from", "2026-03-02T09:00", "--to", "2026-03-02T09:20")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    house(Path())
    Path("events.ndjson").write_text(lines(*FULL_AULA))
    return tmp_path


def own_names() -> None:
    """The same events, as somebody else writes them."""
    written = [
        json.dumps({"mac": event.device, "ap": event.place, "ts": event.time // 1_000_000})
        for event in events(*FULL_AULA)
    ]
    Path("events.ndjson").write_text("\n".join(written))


def small_budget() -> None:
    """Another house, whose slots can be paid for once."""
    Path("other").mkdir()
    house(Path("other"), cap=0.5)
    Path("other/events.ndjson").write_text(lines(*FULL_AULA))


OWN = "device=mac,place=ap,time=ts,clock=s"


def test_the_end_says_how_to_check_that_places_match(capsys: Shown) -> None:
    assert main(["watch", "events.ndjson"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("How many events were accepted is not shown; to check that places match: louver sense ")
    assert main(last.partition("louver ")[2].split()) == 0
    assert f"accepted  {2 * FULL + 2:,}" in capsys.readouterr().out


def test_slots_that_were_decided_before_are_said_to_be(capsys: Shown) -> None:
    assert main(["watch", "events.ndjson"]) == 0
    assert "decided before" not in capsys.readouterr().out
    assert main(["watch", "events.ndjson"]) == 0
    assert "Slots up to 2026-03-02 09:15 UTC were decided before" in capsys.readouterr().out


def test_recorded_events_by_the_wall_clock_get_a_hint(capsys: Shown) -> None:
    assert main(["watch", "events.ndjson", "--clock", "wall"]) == 0
    said = capsys.readouterr().out
    assert "\n0 slots" in said
    assert "Slots ended by the wall clock, by which recorded events are late" in said


def test_a_range_in_anothers_store_is_refused_before_the_budget_is_looked_at(capsys: Shown) -> None:
    """The slots are paid for, so that a budget for one watch would not suffice for two."""
    small_budget()
    words = ["watch", "other/events.ndjson", "--rules", "other/rules.toml"]
    assert main(words) == 0
    assert main([*words, *RANGE]) == 2
    assert "this range needs a store and a journal of its own" in capsys.readouterr().err


def test_a_range_that_another_watch_has_paid_for_is_said_to_be(capsys: Shown) -> None:
    small_budget()
    words = ["watch", "other/events.ndjson", "--rules", "other/rules.toml", *RANGE]
    assert main(words) == 0
    rules = Path("other/rules.toml")
    rules.write_text(rules.read_text().replace('"store"', '"second"'))
    assert main(words) == 3
    assert "Where another watch has paid for this range, its journal has the answers." in capsys.readouterr().err


def test_a_range_goes_on_to_a_later_end_with_a_budget_for_one_watch(capsys: Shown) -> None:
    small_budget()
    words = ["watch", "other/events.ndjson", "--rules", "other/rules.toml", *RANGE]
    assert main([*words[:-1], "2026-03-02T09:10"]) == 0
    assert "2 slots of rules were decided" in capsys.readouterr().out
    for decided in (2, 0):
        assert main(words) == 0
        assert f"\n{decided} slots of rules were decided" in capsys.readouterr().out


@pytest.mark.parametrize("given", ["in the rules", "on the command line"])
def test_own_names_of_fields(given: str, capsys: Shown) -> None:
    own_names()
    words = ["watch", "events.ndjson"]
    if given == "in the rules":
        rules = Path("rules.toml")
        rules.write_text(rules.read_text().replace("[watch]", f'[watch]\nfields = "{OWN}"', 1))
    else:
        words += ["--fields", OWN]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "FIRING: region aula" in said
    assert "Malformed messages: none." in said
    assert main(said.rpartition("louver ")[2].split()) == 0
    assert f"accepted  {2 * FULL + 2:,}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("fields", "said"),
    [("devise=mac", "did you mean 'device'"), ("x=lon,y=lat", "need a grid"), ("device=", "pairs like device=mac")],
)
def test_fields_that_cannot_be_are_refused(fields: str, said: str, capsys: Shown) -> None:
    assert main(["watch", "events.ndjson", "--fields", fields]) == 2
    assert said in capsys.readouterr().err
    rules = Path("rules.toml")
    rules.write_text(rules.read_text().replace("[watch]", f'[watch]\nfields = "{fields}"', 1))
    with pytest.raises(ParameterError, match=said):
        Rules.read(rules)


def test_own_names_keep_the_kind_that_is_taken() -> None:
    rules = Path("rules.toml")
    more = '[watch]\nrows = "readings"\nfields = "unit=m,value=w"\nonly = ["kind", "power"]\nlower = 0\nupper = 9'
    rules.write_text(rules.read_text().replace("[watch]", more, 1).replace("count(*)", "sum(value)"))
    assert Rules.read(rules).options["fields"] == Fields(device="m", value="w", only=("kind", "power"))


@pytest.mark.parametrize(
    ("having", "said"),
    [
        ("count(*) > devices", "write under [building] of the building's file: devices_per_person = 1.3."),
        ("count(*) > 0.8 * load", "write for every region of the building's file one like: load = 12."),
        ("sum(value) > 5", 'Presence has no value; where sensors read one, write under [watch]: rows = "readings".'),
    ],
)
def test_a_column_that_is_missing_is_told_with_the_line_that_brings_it(having: str, said: str, capsys: Shown) -> None:
    rules = Path("rules.toml")
    rules.write_text(rules.read_text().replace("count(*) > capacity", having))
    assert main(["watch", "--dry-run"]) == 2
    shown = capsys.readouterr().err
    assert "rules.toml, [rule.fire-limit]: " in shown
    assert said in shown
    assert shown.count("\n") == 1


def test_a_capacity_below_nothing_is_refused_with_plain_numbers() -> None:
    building = Path("building.toml")
    building.write_text(building.read_text().replace("capacity = 200", "capacity = -3", 1))
    with pytest.raises(ParameterError, match=r"between 0 and 268,435,456, not -3\."):
        Building.read(building)


def test_a_building_without_access_points_is_told_before_the_start(capsys: Shown) -> None:
    building = Path("building.toml")
    kept = [line for line in building.read_text().splitlines() if "access_points" not in line]
    building.write_text("\n".join(kept))
    assert main(["watch", "events.ndjson"]) == 2
    assert "'building' in [watch] has no access_points" in capsys.readouterr().err
