"""What alarms of a watch say of different questions."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from louver.watch.alarms import Alarm, Notice, subject, text
from louver.watch.journal import Journal
from louver.watch.rules import Rules
from tests.watch.made import EMPTY, FIRE_LIMIT, FULL, REGIONS, Given, events, house, watched


def alarms(rules: Rules, **counts: int) -> dict[str, Alarm]:
    """The alarms of one slot with so many devices, by key."""
    asyncio.run(watched(rules, Given(events(counts))))
    with Journal.open(rules.journal) as journal:
        return {each.alarm.key: each.alarm for each in journal.alarms(open_only=False)}


@pytest.mark.parametrize(
    "condition", ["count(*) < 200", "count(*) < 200 OR count(*) > 9000", "count(*) BETWEEN 0 AND 200"]
)
def test_another_condition_than_a_limit_is_met(tmp_path: Path, condition: str) -> None:
    rules = house(tmp_path, FIRE_LIMIT.replace("count(*) > capacity", condition), cap=9)
    (told,) = {subject(Notice(each)) for each in alarms(rules, aula=FULL, cafe=FULL, lab=1).values()}
    assert told == f"FIRING: region lab is found to meet its condition {condition}"


def test_a_limit_is_crossed(tmp_path: Path) -> None:
    told = alarms(house(tmp_path), aula=FULL, cafe=EMPTY)
    assert subject(Notice(told["aula"])) == "FIRING: region aula is found to cross its limit of 200 devices"


def test_a_number_says_how_far_it_may_be_off(tmp_path: Path) -> None:
    rules = house(tmp_path, "[rule.crowd]\nvalues = true\nwithin = 10\nmiss_rate = 0.05\nlimit = 200\n")
    told = alarms(rules, aula=FULL)["aula"]
    assert (told.over, told.within, told.limit) == (True, 10, 200)
    assert told.promise.endswith("except in at most 1 of 20 cases.")
    assert subject(Notice(told)) == "FIRING: region aula may be above its limit of 200 devices"


def test_a_limit_of_people_comes_with_that_of_devices_and_hours_are_told(tmp_path: Path) -> None:
    house(tmp_path, FIRE_LIMIT.replace("capacity", "devices") + 'hours = "08:00-18:00"\n')
    building = tmp_path / "building.toml"
    building.write_text(building.read_text().replace('id = "house"', 'id = "house"\ndevices_per_person = 1.3'))
    told = alarms(Rules.read(tmp_path / "rules.toml"), aula=FULL)["aula"]
    assert (told.counted, told.limit, told.devices, told.hours) == ("people", 200, 260, "08:00-18:00")
    assert "the promise below counts devices, of which the limit is 260." in " ".join(text(Notice(told)).split())


def test_a_sparse_rule_says_how_many_keys_it_did_not_decide(tmp_path: Path) -> None:
    rules = house(tmp_path, f'{FIRE_LIMIT}strategy = "sparse"\n', cap=9)
    told = alarms(rules, **dict.fromkeys(REGIONS, FULL))["region"]
    assert told.part == "2 of the 3"
    assert subject(Notice(told)) == "UNDECIDED: it is not known whether any of 2 of the 3 regions crosses its limit"
