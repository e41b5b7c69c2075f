"""What `louver watch alarms`, `ack` and `snooze` show."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from louver.errors import LouverError
from louver.watch.alarms import listing
from louver.watch.journal import Journal
from tests.watch.alarms_made import MINUTE, NOON, Clock, alarm, raise_
from tests.watch.made import FIRE_LIMIT, house


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(listing, "clock", made)
    return made


@pytest.fixture
def journal(tmp_path: Path, clock: Clock) -> Iterator[Journal]:
    with Journal.open(tmp_path / "journal", now=clock) as made:
        yield made


def shown(journal: Journal) -> list[dict[str, str]]:
    return [dict(zip(listing.HEADS, row, strict=True)) for row in listing.rows(journal.alarms(open_only=False))]


def test_the_list_of_alarms_says_what_matters(journal: Journal, clock: Clock) -> None:
    first = raise_(journal, alarm(to=("desk", "log")))
    raise_(journal, alarm("undecided", key="Ca\x1bfe", to=("desk", "log")))
    raise_(journal, alarm("clear"))
    journal.deliveries.delivered([1, 2], clock.now)
    journal.deliveries.give_up([3], clock.now, "The desk said no.")
    journal.acknowledge(first.id, "por\x1b[2Jter")
    rows, plain = shown(journal), listing.plain(journal.alarms(open_only=False))
    assert [(row["state"], row["key"], row["seen by"], row["delivery"]) for row in rows] == [
        ("firing (over)", "Aula", "por\\x1b[2Jter", "delivered"),
        ("undecided", "Ca\\x1bfe", "", "NOT DELIVERED to desk; waits for log"),
        ("clear", "Aula", "", "waits for desk"),
    ]
    assert rows[0]["id"] == first.id
    assert rows[0]["since"] == "2018-03-05 13:00 CET"
    assert json.loads(json.dumps(plain)) == plain
    assert (plain[0]["open"], plain[1]["open"]) == (False, True)
    assert plain[1]["sent"][0] == {
        "channel": "desk",
        "notice": 0,
        "tries": 1,
        "outcome": "given up",
        "why": "The desk said no.",
    }


def test_what_is_snoozed_waits_or_was_never_delivered_is_noted(journal: Journal, clock: Clock) -> None:
    assert listing.notes(journal) == []
    raise_(journal, alarm())
    raise_(journal, alarm("clear", to=("desk", "log")))
    journal.deliveries.give_up([1], clock.now, "The desk said no.")
    journal.deliveries.later({2: clock.now + MINUTE}, clock.now, "The desk cannot be reached.")
    journal.snooze("fire-limit", "Aula", clock.now + MINUTE, "porter")
    journal.snooze("heat", None, clock.now + MINUTE)
    assert listing.notes(journal, "Europe/Vienna") == [
        "Snoozed until 13:01 on 2018-03-05 (Europe/Vienna) by porter: Aula in rule fire-limit.",
        "Snoozed until 13:01 on 2018-03-05 (Europe/Vienna): rule heat.",
        "1 notice waits for desk: The desk cannot be reached.",
        "1 notice waits for log, not tried yet; louver watch sends it while it runs and no snooze holds it back.",
        "Of the alarms that are over, 1 did not reach all of their channels.",
    ]
    plain = listing.plain_notes(journal)
    assert json.loads(json.dumps(plain)) == plain
    assert plain["snoozes"][0] == {
        "rule": "fire-limit",
        "key": "Aula",
        "until": "2018-03-05T12:01:00Z",
        "who": "porter",
    }
    assert plain["waiting"][0] == {"channel": "desk", "notices": 1, "tries": 1, "why": "The desk cannot be reached."}
    assert plain["lost"] == 1


def test_who_sees_an_alarm_is_told_who_saw_it_first_and_when(journal: Journal, clock: Clock) -> None:
    made = raise_(journal, alarm())
    seen = "Seen by porter at 13:00 on 2018-03-05 (Europe/Vienna): FIRING: region Aula is found to cross its limit of"
    said = listing.acknowledge(journal, made.id[:5], "porter")
    assert said == f"{seen} 180 devices. It is not repeated any more, and stays open until it is found clear."
    clock.wait(600)
    assert listing.acknowledge(journal, made.id, "porter") == said
    assert listing.acknowledge(journal, made.id, "boss") == f"{said} It was porter who saw it first."


def test_who_sees_an_alarm_that_is_over_meanwhile_is_told_so(journal: Journal, clock: Clock) -> None:
    made = raise_(journal, alarm())
    clock.wait(60)
    raise_(journal, alarm("clear"))
    said = listing.acknowledge(journal, made.id, "porter")
    assert said.endswith("It is over since 13:05 on 2018-03-05 (Europe/Vienna), so that nothing of it is repeated.")


def test_an_alarm_of_a_replay_is_over_since_the_slot_that_cleared_it(journal: Journal, clock: Clock) -> None:
    clock.wait(8 * 365 * 86_400)
    first = raise_(journal, alarm())
    raise_(journal, alarm("clear", slot=NOON + 30 * MINUTE))
    raise_(journal, alarm(slot=NOON + 60 * MINUTE))
    assert "over since 13:30 on 2018-03-05 (Europe/Vienna)" in listing.acknowledge(journal, first.id, "porter")


def test_an_alarm_of_a_rule_as_a_whole_is_listed_as_any_of_its_keys(journal: Journal) -> None:
    raise_(journal, alarm("undecided", key="region", level="any"))
    assert shown(journal)[0]["key"] == "any region"


def test_a_rule_with_an_open_alarm_that_does_not_ask_now_says_when_it_does(
    journal: Journal, clock: Clock, tmp_path: Path
) -> None:
    rules = house(tmp_path, f'{FIRE_LIMIT}hours = "17:00-18:00"\n')
    assert listing.resting(journal.alarms(), rules) == []
    raise_(journal, alarm())
    (said,) = listing.resting(journal.alarms(), rules)
    assert said == (
        "The rule fire-limit does not ask now, outside of its hours (17:00-18:00); it asks again at 17:00 on "
        "2018-03-05 (UTC). Until then its alarms stay as they were last found, and nobody is reminded of them."
    )
    clock.wait(5 * 3600)
    assert listing.resting(journal.alarms(), rules) == []


def test_of_several_ids_that_begin_alike_the_open_alarm_is_meant(journal: Journal) -> None:
    raise_(journal, replace(alarm(), id="abcd1"))
    raise_(journal, replace(alarm("clear"), id="abcd2"))
    raise_(journal, replace(alarm(key="Cafe"), id="abcd3"))
    assert journal.acknowledge("abcd", "porter").alarm.id == "abcd3"


def test_a_snooze_says_until_when_and_that_it_ended(journal: Journal) -> None:
    said = listing.snooze(journal, "fire-limit", "Aula", "30m", "porter", "Europe/Vienna")
    assert said == (
        "Notices of Aula in the rule fire-limit are held back for 30 minutes, until 13:30 on 2018-03-05 "
        "(Europe/Vienna), and told then. States go on, and undecided and no data are told at once."
    )
    assert [(each.key, each.until, each.who) for each in journal.snoozes()] == [("Aula", NOON + 30 * MINUTE, "porter")]
    assert listing.snooze(journal, "fire-limit", "Aula", "0m", "porter").endswith("are told again.")
    assert journal.snoozes() == []


def test_the_end_of_a_rules_snooze_ends_those_of_its_keys(journal: Journal) -> None:
    listing.snooze(journal, "fire-limit", "Aula", "30m", "porter")
    listing.snooze(journal, "fire-limit", None, "30m", "porter")
    listing.snooze(journal, "heat", "Aula", "30m", "porter")
    assert listing.snooze(journal, "fire-limit", None, "0m", "porter") == (
        "Notices of the rule fire-limit are told again."
    )
    assert [each.rule for each in journal.snoozes()] == ["heat"]


def test_a_key_of_a_rule_that_is_snoozed_as_a_whole_is_not_said_to_be_told_again(journal: Journal) -> None:
    listing.snooze(journal, "fire-limit", None, "30m", "ann")
    said = listing.snooze(journal, "fire-limit", "Aula", "0m", "porter")
    assert "the whole rule is until 12:30 on 2018-03-05 (UTC) by ann" in said


@pytest.mark.parametrize("length", ["soon", "8 days", "-5m"])
def test_a_snooze_has_a_length_and_an_end(journal: Journal, length: str) -> None:
    with pytest.raises(LouverError):
        listing.snooze(journal, "fire-limit", None, length, "porter")
