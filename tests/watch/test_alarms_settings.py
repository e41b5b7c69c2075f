"""The tables [alarm.NAME], and what the commands show."""

from __future__ import annotations

import io
import json
import tomllib
from pathlib import Path

import pytest

from louver.errors import AccessError, LouverError, ParameterError
from louver.source.toml import Section
from louver.watch.alarms import MQTT, Channel, File, Mail, Terminal, Webhook, channels, listing
from louver.watch.alarms.sink import DAY
from louver.watch.journal import Journal
from tests.watch.alarms_made import Clock, alarm, raise_

MINUTE = 60_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    secret = tmp_path / "hook.secret"
    secret.write_text("0123456789abcdef0123456789abcdef\n")
    secret.chmod(0o600)
    return tmp_path


def read(folder: Path, text: str) -> dict[str, Channel]:
    return channels(Section(folder / "rules.toml", "", tomllib.loads(text)).section("alarm"))


def test_every_kind_of_channel_is_read(folder: Path) -> None:
    made = read(
        folder,
        """
        [alarm.desk]
        webhook = "https://desk.example.org/alarms"
        secret_file = "hook.secret"
        repeat = "30 minutes"
        give_up = "2 hours"
        [alarm.log]
        file = "alarms.ndjson"
        snooze = false
        [alarm.porter]
        email = { server = "smtp://localhost:2525", from = "louver@example.org", to = ["porter@example.org"] }
        [alarm.broker]
        mqtt = "mqtt://localhost/alarms"
        [alarm.board]
        mqtt = "mqtt://localhost/states"
        retained = true
        """,
    )
    kinds = {name: type(channel.sink) for name, channel in made.items()}
    assert kinds == {
        "terminal": Terminal,
        "desk": Webhook,
        "log": File,
        "porter": Mail,
        "broker": MQTT,
        "board": MQTT,
    }
    assert (made["desk"].repeat, made["desk"].give_up) == (30 * MINUTE, 120 * MINUTE)
    assert (made["log"].repeat, made["log"].give_up) == (None, DAY)
    assert {name for name, channel in made.items() if not channel.snoozes} == {"log", "board"}


def test_without_tables_there_is_the_terminal() -> None:
    stream = io.StringIO()
    made = channels(None, stream=stream)
    assert list(made) == ["terminal"]


def test_the_terminal_can_repeat(folder: Path) -> None:
    assert read(folder, '[alarm.terminal]\nrepeat = "5 minutes"')["terminal"].repeat == 5 * MINUTE


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("", "is needed, one of them"),
        ('webhok = "https://x"', "did you mean 'webhook'"),
        ('webhook = "https://x"\nfile = "y"', "is needed, one of them"),
        ('webhook = "https://x"', "'secret_file' in \\[alarm.desk\\] is missing"),
        ('file = "x"\nsecret_file = "y"', "'secret_file' in \\[alarm.desk\\] is not known here"),
        ('file = "x"\nrepeat = "often"', "repeat: It is a number of seconds"),
        ('file = "x"\nrepeat = "0 minutes"', "longer than nothing"),
        ('file = "x"\nsnooze = "no"', "must be true or false"),
        ("file = 7", "must be a text"),
        ('email = "desk@example.org"', "must be a table"),
        ("email = { server = 'smtp://h', from = 'a@b' }", "'to' in \\[alarm.desk.email\\] is missing"),
        ("email = { server = 'smtp://h', from = 'a@b', to = ['c'] }", "no e-mail address"),
        ("email = { sever = 'smtp://h' }", "did you mean 'server'"),
        ('mqtt = "http://broker"', "mqtt://host"),
        ('webhook = "http://desk.example.org"\nsecret_file = "hook.secret"', "needs https"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(folder: Path, table: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said) as caught:
        read(folder, f"[alarm.desk]\n{table}")
    assert "rules.toml" in str(caught.value)
    assert "desk" in str(caught.value)
    assert str(caught.value).endswith(".")


def test_a_secret_must_be_ones_own_and_long(folder: Path) -> None:
    table = '[alarm.desk]\nwebhook = "https://desk.example.org"\nsecret_file = "hook.secret"'
    secret = folder / "hook.secret"
    secret.chmod(0o644)
    with pytest.raises(AccessError, match="chmod 600"):
        read(folder, table)
    secret.chmod(0o600)
    secret.write_text("short")
    with pytest.raises(AccessError, match="at least 16 letters"):
        read(folder, table)
    secret.write_bytes(b"\xff" * 40)
    with pytest.raises(AccessError, match="UTF-8"):
        read(folder, table)
    secret.unlink()
    with pytest.raises(AccessError, match="cannot be read"):
        read(folder, table)


def shown(journal: Journal) -> list[dict[str, str]]:
    return [dict(zip(listing.HEADS, row, strict=True)) for row in listing.rows(journal.alarms(open_only=False))]


def test_the_list_of_alarms_says_what_matters(tmp_path: Path) -> None:
    clock = Clock()
    with Journal.open(tmp_path / "journal", now=clock) as journal:
        first = raise_(journal, alarm(to=("desk", "log")))
        raise_(journal, alarm("undecided", key="Ca\x1bfe", to=("desk", "log")))
        raise_(journal, alarm("clear"))
        journal.deliveries.delivered(1, clock.now)
        journal.deliveries.delivered(2, clock.now)
        journal.deliveries.give_up(3, clock.now, "The desk said no.")
        journal.acknowledge(first.id, "porter")
        rows, plain = shown(journal), listing.plain(journal.alarms(open_only=False))
    assert [(row["state"], row["key"], row["seen by"], row["delivery"]) for row in rows] == [
        ("firing (over)", "Aula", "porter", "delivered"),
        ("undecided", "Ca\\x1bfe", "", "NOT DELIVERED to desk; waits for log"),
        ("clear (over)", "Aula", "", "waits for desk"),
    ]
    assert rows[0]["id"] == first.id
    assert rows[0]["since"] == "2018-03-05T12:00:00Z"
    assert json.loads(json.dumps(plain)) == plain
    assert (plain[0]["who"], plain[0]["open"], plain[1]["open"]) == ("porter", False, True)
    assert plain[1]["sent"][0] == {
        "channel": "desk",
        "notice": 0,
        "tries": 1,
        "outcome": "given up",
        "why": "The desk said no.",
    }


def test_what_is_snoozed_and_what_was_never_delivered_is_noted(tmp_path: Path) -> None:
    clock = Clock()
    with Journal.open(tmp_path / "journal", now=clock) as journal:
        assert listing.notes(journal) == []
        raise_(journal, alarm())
        raise_(journal, alarm("clear"))
        journal.deliveries.give_up(1, clock.now, "The desk said no.")
        journal.snooze("fire-limit", "Aula", clock.now + MINUTE, "porter")
        journal.snooze("heat", None, clock.now + MINUTE)
        assert listing.notes(journal) == [
            "Snoozed until 2018-03-05T12:01:00Z by porter: Aula in rule fire-limit.",
            "Snoozed until 2018-03-05T12:01:00Z: rule heat.",
            "Of the alarms that are over, 1 did not reach all of their channels.",
        ]


def test_commands_say_what_they_did(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "journal") as journal:
        made = raise_(journal, alarm())
        said = listing.acknowledge(journal, made.id[:5], "porter")
        assert said.startswith(
            "Seen: FIRING: region Aula is found to cross its limit of 180 devices. It is not repeated"
        )
        assert "It was porter who saw it first." in listing.acknowledge(journal, made.id, "boss")
        said = listing.snooze(journal, "fire-limit", "Aula", "30m", "porter")
        assert "Notices of Aula in the rule fire-limit are held back for 30 minutes" in said
        assert [(each.key, each.who) for each in journal.snoozes()] == [("Aula", "porter")]
        assert listing.snooze(journal, "fire-limit", "Aula", "0m", "porter").endswith("are told again.")
        assert journal.snoozes() == []


@pytest.mark.parametrize("length", ["soon", "8 days", "-5m"])
def test_a_snooze_has_a_length_and_an_end(tmp_path: Path, length: str) -> None:
    with Journal.open(tmp_path / "journal") as journal, pytest.raises(LouverError):
        listing.snooze(journal, "fire-limit", None, length, "porter")


def test_names_are_loaded_when_they_are_used() -> None:
    import louver.watch.alarms as room

    missing = [name for name in room.__all__ if not hasattr(room, name)]
    assert missing == []
    assert set(dir(room)) == set(room.__all__)
