"""A journal at the start of a watch: the same slots and days, and no alarm that nobody watches any more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from louver.errors import DataError
from louver.watch.alarms import Notice, text
from louver.watch.journal import Journal
from louver.watch.rules import Rules
from louver.watch.starting import resume
from tests.watch.alarms_made import NOON, SLOT, alarm, raise_
from tests.watch.made import FIRE_LIMIT, FULL, NINE, STEP, Given, events, house, told, watched

SECOND = FIRE_LIMIT.replace("fire-limit", "second")


@pytest.fixture
def rules(tmp_path: Path) -> Rules:
    return house(tmp_path)


@pytest.fixture
def journal(rules: Rules) -> Iterator[Journal]:
    with Journal.open(rules.journal) as made:
        yield made


def rewritten(rules: Rules, file: str, old: str, new: str) -> Rules:
    path = rules.path.with_name(file)
    said = path.read_text()
    assert old in said
    path.write_text(said.replace(old, new))
    return Rules.read(rules.path)


def test_what_is_still_watched_stays_as_it_is(rules: Rules, journal: Journal) -> None:
    raise_(journal, alarm(key="aula"))
    raise_(journal, alarm("undecided", key="region", level="any"))
    assert resume(rules, journal) == []
    assert [each.alarm.key for each in journal.alarms()] == ["aula", "region"]


def test_an_alarm_of_a_rule_that_is_gone_is_over_and_told_once(rules: Rules, journal: Journal) -> None:
    raise_(journal, alarm(key="aula", rule="old rule", to=("terminal",)))
    (left,) = resume(rules, journal)
    assert resume(rules, journal) == []
    assert journal.alarms() == []
    assert (left.rule, left.key, left.state) == ("old rule", "aula", "no longer watched")
    assert journal.deliveries.waiting() == {"terminal": 2}
    assert text(Notice(left)).startswith(
        "NO LONGER WATCHED: whether region aula crosses its limit of 180 devices is not asked any more."
    )
    assert "The rule old rule was firing here, and it is not in the rules any more." in text(Notice(left))
    assert "Promise: none any more." in text(Notice(left))


def test_an_alarm_of_a_key_that_is_gone_is_over_and_told(rules: Rules, journal: Journal) -> None:
    raise_(journal, alarm(key="attic"))
    raise_(journal, alarm(key="aula"))
    (left,) = resume(rules, journal)
    assert (left.key, left.price, left.reason) == (
        "attic",
        None,
        "The rule fire-limit was firing here, and the region attic is not one of its places any more.",
    )
    assert [each.alarm.key for each in journal.alarms()] == ["aula"]


def test_a_rule_that_asks_about_another_level_leaves_the_keys_of_the_old_one(rules: Rules, journal: Journal) -> None:
    raise_(journal, alarm("undecided", key="floor", level="any"))
    (left,) = resume(rules, journal)
    assert left.reason == "The rule fire-limit was undecided here, and it does not ask about each floor any more."


def test_a_watch_tells_of_what_is_no_longer_watched_when_it_starts(tmp_path: Path) -> None:
    rules = house(tmp_path, FIRE_LIMIT + SECOND)
    full = {"aula": FULL}
    asyncio.run(watched(rules, Given(events(full, full))))
    fewer = rewritten(rules, "rules.toml", SECOND, "")
    asyncio.run(watched(fewer, Given(events(full, full, start=NINE + 2 * STEP))))
    asyncio.run(watched(fewer, Given(events(full, full, start=NINE + 4 * STEP))))
    assert [each[:3] for each in told(fewer)] == [
        ("fire-limit", "aula", "firing"),
        ("second", "aula", "firing"),
        ("second", "aula", "no longer watched"),
    ]
    with Journal.open(fewer.journal) as journal:
        assert [each.alarm.rule for each in journal.alarms()] == ["fire-limit"]


def test_what_was_not_told_of_is_left_in_silence(rules: Rules, journal: Journal) -> None:
    with journal.slot("old rule", NOON) as change:
        change.set("aula", "pending", NOON, 1, 0, NOON)
    assert resume(rules, journal) == []
    assert journal.states("old rule") == {}
    assert journal.decided("old rule") == NOON


def test_a_rule_that_comes_back_begins_anew_and_decides_no_slot_twice(rules: Rules, journal: Journal) -> None:
    raise_(journal, alarm(key="aula", rule="second"), slot=NOON)
    resume(rules, journal)
    back = rewritten(rules, "rules.toml", "[rule.fire-limit]", f"{SECOND}\n[rule.fire-limit]")
    assert resume(back, journal) == []
    assert journal.states("second") == {}
    with pytest.raises(DataError, match="decided once"), journal.slot("second", NOON):
        pass
    with journal.slot("second", NOON + SLOT):
        pass


def test_it_is_told_on_the_channels_that_there_still_are(rules: Rules, journal: Journal) -> None:
    with_log = rewritten(rules, "rules.toml", "[rule.fire-limit]", '[alarm.log]\nfile = "log"\n[rule.fire-limit]')
    raise_(journal, alarm(key="a", rule="old", to=("pager", "log")))
    raise_(journal, alarm(key="b", rule="old", to=("pager",)))
    assert [each.to for each in resume(with_log, journal)] == [("log",), ("terminal",)]


def test_nothing_is_half_left_where_telling_fails(rules: Rules, journal: Journal) -> None:
    raise_(journal, alarm(key="aula", rule="old rule"))

    def fails(*_: object) -> None:
        raise DataError("The disk is full.")

    with pytest.raises(DataError, match="full"):
        journal.leave({}, fails)  # type: ignore[arg-type]
    assert len(journal.alarms()) == 1
    assert set(journal.states("old rule")) == {"aula"}
    assert len(resume(rules, journal)) == 1


@pytest.mark.parametrize("unit", ["(person, slot)", "(person)"])
def test_another_time_zone_is_taken_where_no_day_is_protected(tmp_path: Path, unit: str) -> None:
    rules = house(tmp_path, unit=unit)
    with Journal.open(rules.journal) as journal:
        resume(rules, journal)
        resume(rewritten(rules, "building.toml", 'id = "house"', 'id = "house"\ntimezone = "Asia/Tokyo"'), journal)


def test_another_time_zone_is_refused_where_a_day_is_protected(tmp_path: Path) -> None:
    rules = house(tmp_path, unit="(person, day)")
    with Journal.open(rules.journal) as journal:
        resume(rules, journal)
        other = rewritten(rules, "building.toml", 'id = "house"', 'id = "house"\ntimezone = "Asia/Tokyo"')
        for _ in range(2):
            with pytest.raises(DataError, match=r"was UTC and is Asia/Tokyo now: .* paid for twice\. Put UTC back"):
                resume(other, journal)
        resume(rewritten(other, "building.toml", "Asia/Tokyo", "UTC"), journal)


def test_slots_of_another_length_are_refused(rules: Rules, journal: Journal) -> None:
    resume(rules, journal)
    other = rewritten(rules, "rules.toml", "[watch]", '[watch]\nslot = "15 minutes"')
    with pytest.raises(DataError, match="Slots were 5 minutes apart and are 15 minutes now"):
        resume(other, journal)


def test_another_validity_is_taken(rules: Rules, journal: Journal) -> None:
    resume(rules, journal)
    resume(rewritten(rules, "rules.toml", 'validity = "5 minutes"', 'validity = "20 minutes"'), journal)
