"""The tables [alarm.NAME]."""

from __future__ import annotations

import io
import tomllib
from pathlib import Path

import pytest

from louver.errors import AccessError, ParameterError
from louver.source.toml import Section
from louver.watch.alarms import MQTT, Channel, File, Mail, Terminal, Webhook, channels
from louver.watch.alarms.sink import DAY

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
        ('file = "nowhere/alarms.ndjson"', "'file' in \\[alarm.desk\\] is in .*nowhere, which is no folder"),
        ('file = "."', "which cannot be written"),
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


def test_names_are_loaded_when_they_are_used() -> None:
    import louver.watch.alarms as room

    missing = [name for name in room.__all__ if not hasattr(room, name)]
    assert missing == []
    assert set(dir(room)) == set(room.__all__)
