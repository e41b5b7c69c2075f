from __future__ import annotations

import asyncio
import json
import shlex
from pathlib import Path

import pytest

from louver.cli import main
from louver.ledger import Ledger
from tests.watch.made import FIRE_LIMIT, FULL, NINE, STEP, Given, house, lines

NUMBERS = '[rule.crowd]\nvalues = true\nwithin = 10\nmiss_rate = 0.05\nlimit = "capacity"\n'


def made(folder: Path, rules: str = FIRE_LIMIT, **options: float) -> tuple[str, str]:
    """A house with events: the aula is full in slots 1, 2 and 3 of six. The events and the rules."""
    house(folder, rules, **options)  # type: ignore[arg-type]
    full, empty = {"aula": FULL, "lab": 1}, {"lab": 1}
    (folder / "events.ndjson").write_text(lines(empty, full, full, full, empty, empty))
    return str(folder / "events.ndjson"), str(folder / "rules.toml")


def test_a_file_is_watched_and_alarms_are_told_on_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed, rules = made(tmp_path)
    assert main(["watch", feed, "--rules", rules]) == 0
    said = capsys.readouterr().out
    assert "fire-limit: each slot costs at most 0.4148 for each person and slot" in said
    assert "FIRING: region aula" in said
    assert "its limit of 200 devices" in said
    assert "bounds leave out" not in said
    assert "CLEAR: region aula" in said
    assert "6 slots of rules were decided, 0 of them not for every key; told: 1 firing, 1 clear; at most" in said
    assert "Protected: everything recorded about one person during one slot" in said
    assert "can be at most 60.3% sure afterwards" in said
    assert "Malformed messages: none." in said


def test_with_json_each_slot_is_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    feed, rules = made(tmp_path)
    assert main(["watch", feed, "--rules", rules, "--json"]) == 0
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["what"] for line in said] == ["forecast", *["slot"] * 6, "end"]
    assert [line["firing"] for line in said[1:-1]] == [[], ["aula"], ["aula"], ["aula"], [], []]
    assert said[-1]["malformed"] == []


def test_kinds_of_malformed_messages_are_named_and_how_many_of_what_is_private(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed, rules = made(tmp_path)
    with Path(feed).open("a") as file:
        file.write('nothing of the kind\n{"device": "d", "place": "ap-1", "time": "2026-03-02T09:25:00Z"}\n')
    assert main(["watch", feed, "--rules", rules]) == 0
    said = capsys.readouterr().out
    assert "Malformed messages: not JSON." in said
    assert f"{3 * FULL + 6:,}" not in said


def test_a_dry_run_says_what_it_would_cost_and_makes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed, rules = made(tmp_path)
    assert main(["watch", feed, "--rules", rules, "--dry-run"]) == 0
    assert "Every slot has a budget of its own: 0.4148 of 1.0000 is used at most" in capsys.readouterr().out
    assert not (tmp_path / "store").exists()
    assert not (tmp_path / "store.journal").exists()
    with Ledger.open(tmp_path / "watch.ledger") as ledger:
        assert ledger.spent() == 0


def test_rules_that_do_not_fit_are_refused_with_the_exit_code_of_a_budget(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed, rules = made(tmp_path, cap=0.3)
    assert main(["watch", feed, "--rules", rules]) == 3
    assert "louver watch: The rules do not fit into a slot's budget" in capsys.readouterr().err


def test_once_stops_after_the_first_slot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    feed, rules = made(tmp_path)
    text = (tmp_path / "rules.toml").read_text()
    (tmp_path / "rules.toml").write_text(text.replace("dataset", "feed = '-'\ndataset", 1))
    assert main(["watch", feed, "--rules", rules, "--once", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["slots"] >= 1


def test_alarms_are_listed_seen_and_snoozed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    feed, rules = made(tmp_path, FIRE_LIMIT + "clear_after = 9\n")
    main(["watch", feed, "--rules", rules])
    capsys.readouterr()
    assert main(["watch", "alarms", "--rules", rules, "--json"]) == 0
    (alarm,) = json.loads(capsys.readouterr().out)["alarms"]
    assert (alarm["key"], alarm["state"], alarm["open"]) == ("aula", "firing", True)
    assert main(["watch", "ack", alarm["id"][:6], "--rules", rules, "--who", "ann"]) == 0
    assert "(UTC): FIRING: region aula is found" in capsys.readouterr().out
    assert main(["watch", "alarms", "--rules", rules]) == 0
    assert "ann" in capsys.readouterr().out
    assert main(["watch", "snooze", "fire-limit", "aula", "--for", "30m", "--rules", rules]) == 0
    assert "held back for 30 minutes" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["snooze", "fire-limt", "--for", "30m"], "has no rule 'fire-limt' (did you mean 'fire-limit'?)"),
        (["snooze", "fire-limit", "aul", "--for", "30m"], "has no key 'aul' (did you mean 'aula'?)"),
        (["try", "--rule", "fire-limit", "--pending", "0"], "--pending must be a whole number from 1 to 1000"),
        (["try", "--rule", "fire-limit", "--limit", "30"], "released flags and no numbers"),
        (["try", "--rule", "fire-limit"], "There is no journal at"),
        (["alarm"], "There is no command 'alarm' (did you mean 'alarms'?)"),
        (["nothing.csv"], "There is no file 'nothing.csv' to replay"),
        ([], "Say which feed is watched"),
        (["events.ndjson", "--speed", "fast"], "--speed"),
        (["mqtt://localhost/wifi", "--speed", "3"], "--speed is for files"),
        (["events.ndjson", "--clock", "wal"], "There is no clock 'wal' (did you mean 'wall'?)"),
        (["events.ndjson", "--clock", "Events"], "There is no clock 'Events' (did you mean 'events'?)"),
        (["events.ndjson", "--clock", "", "--dry-run"], "There is no clock ''"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    said: str,
) -> None:
    made(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["watch", *words]) in (2, 4)
    assert said in capsys.readouterr().err


def test_a_rule_is_tried_on_what_was_released_for_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    feed, rules = made(tmp_path)
    main(["watch", feed, "--rules", rules])
    with Ledger.open(tmp_path / "watch.ledger") as ledger:
        before = ledger.head().number
    capsys.readouterr()
    fired = {}
    for pending in ("1", "3", "4"):
        assert main(["watch", "try", "--rule", "fire-limit", "--pending", pending, "--rules", rules, "--json"]) == 0
        fired[pending] = [fire["fired"][11:16] for fire in json.loads(capsys.readouterr().out)["fires"]]
    assert fired == {"1": ["09:05"], "3": ["09:15"], "4": []}
    with Ledger.open(tmp_path / "watch.ledger") as ledger:
        assert ledger.head().number == before


def test_released_numbers_are_tried_with_another_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    feed, rules = made(tmp_path, NUMBERS)
    main(["watch", feed, "--rules", rules])
    capsys.readouterr()
    for limit, fires in (("300", "fires once"), ("600", "fires 0 times"), ("capacity", "fires once")):
        assert main(["watch", "try", "--rule", "crowd", "--limit", limit, "--rules", rules]) == 0
        assert fires in capsys.readouterr().out


def test_the_help_names_the_commands_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["watch", "--help"])
    assert "louver watch snooze" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["watch", "ack", "--help"])
    assert "louver watch ack" in capsys.readouterr().out


def test_a_range_decides_its_slots_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    feed, rules = made(tmp_path)
    words = ["watch", feed, "--rules", rules, "--from", "2026-03-02T08:50", "--to", "2026-03-02T10:10+01:00"]
    assert main([*words, "--json"]) == 0
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["slot"][11:16] for line in said if line["what"] == "slot"] == ["08:50", "08:55", "09:00", "09:05"]
    assert main(words) == 0
    assert "not protected" not in capsys.readouterr().out


def test_a_replay_says_that_events_far_ahead_were_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    feed, rules = made(tmp_path)
    assert main(["watch", feed, "--rules", rules]) == 0
    said = capsys.readouterr().out
    assert "is not protected. A file that is replayed with --from and --to avoids that." in said
    assert "far ahead" not in said
    with Path(feed).open("a") as file:
        file.write('{"device": "d", "place": "ap-lab", "time": "2026-05-02T09:25:00Z"}\n')
    assert main(["watch", feed, "--rules", rules]) == 0
    assert "Events that are far ahead of all others were left out" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["events.ndjson", "--from", "2026-03-02"], "both ends"),
        (["events.ndjson", "--from", "2026-03-02", "--to", "noon"], "--to is a time like 2018-02-01T09:00"),
        (["events.ndjson", "--from", "2026-03-03", "--to", "2026-03-02"], "ends after it begins"),
        (["events.ndjson", "--from", "2026-03-02", "--to", "2026-03-03", "--speed", "9"], "takes no --speed"),
        (["events.ndjson", "--from", "2026-03-02", "--to", "2026-03-03", "--clock", "wall"], "is for recordings"),
        (["mqtt://localhost/wifi", "--from", "2026-03-02", "--to", "2026-03-03"], "a broker's feed does not"),
    ],
)
def test_a_range_that_cannot_be_is_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    said: str,
) -> None:
    made(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["watch", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_file_has_no_heartbeat(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path)
    text = (tmp_path / "rules.toml").read_text()
    (tmp_path / "rules.toml").write_text(text.replace("dataset", 'heartbeat = "house/status"\ndataset', 1))
    monkeypatch.chdir(tmp_path)
    assert main(["watch", "events.ndjson"]) == 2
    assert "heartbeat is for brokers" in capsys.readouterr().err


def test_a_watch_without_a_ledger_says_the_whole_command_that_makes_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed, rules = made(tmp_path)
    (tmp_path / "watch.ledger").unlink()
    assert main(["watch", feed, "--rules", rules, "--dry-run"]) == 4
    said = capsys.readouterr().err.strip()
    assert said.endswith("watch.ledger --dataset house --unit '(person, slot)' --cap 1")
    assert main(["watch", feed, "--rules", rules]) == 4
    assert capsys.readouterr().err.strip() == said
    assert main(shlex.split(said.partition(": louver ")[2].replace("watch.ledger", "other.ledger"))) == 0


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('file = "log"\nrepeat = "soon"', "repeat: It is a number of seconds"),
        ('webhook = "https://desk.example.org"', "'secret_file' in [alarm.desk] is missing"),
        ('mqtt = "http://foo/bar"', "mqtt://host"),
        ('file = "a"\nmqtt = "mqtt://localhost/b"', "a channel goes to one place"),
        ('fil = "a"', "did you mean 'file'"),
    ],
)
def test_a_dry_run_refuses_channels_that_a_start_would_refuse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str, said: str
) -> None:
    feed, rules = made(tmp_path, f"{FIRE_LIMIT}[alarm.desk]\n{table}\n")
    assert main(["watch", feed, "--rules", rules, "--dry-run"]) == 2
    assert said in capsys.readouterr().err


def test_a_rule_that_is_tried_says_its_promise_and_what_still_fires(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed, rules = made(tmp_path)
    main(["watch", feed, "--rules", rules])
    capsys.readouterr()
    words = ["watch", "try", "--rule", "fire-limit", "--rules", rules]
    assert main([*words, "--clear-after", "9", "--pending", "2"]) == 0
    said = capsys.readouterr().out
    assert (
        "a region that should be flagged was missed in at most 1 of 20 cases; over 2 slots in a row, together" in said
    )
    assert "together in at most 1 of 10 cases." in said
    assert said.splitlines()[-1].split() == [
        *("aula", "2026-03-02", "09:05", "UTC", "2026-03-02", "09:10", "UTC", "still", "fires")
    ]
    assert main([*words, "--pending", "20"]) == 0
    assert "over 20 slots in a row nothing is promised." in capsys.readouterr().out


def test_what_is_no_longer_watched_is_among_what_was_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    feed, rules = made(tmp_path, f"{FIRE_LIMIT}clear_after = 9\n")
    main(["watch", feed, "--rules", rules])
    text = Path(rules).read_text()
    Path(rules).write_text(text.replace("rule.fire-limit", "rule.other"))
    capsys.readouterr()
    assert main(["watch", feed, "--rules", rules, "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["told"] == {"no longer watched": 1}


def test_a_live_watch_says_when_its_first_slot_is_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from louver.cli.watch_begin import show_wait
    from louver.watch import clock

    rules = house(tmp_path, f'{FIRE_LIMIT}hours = "09:00-18:00"\n', watch='lateness = "3 minutes"')
    monkeypatch.setattr(clock, "wall_clock", lambda: NINE + STEP + 1)
    show_wait(rules, NINE + 2 * STEP)
    assert "The first slot to be decided is 09:10, soon after 09:13 (UTC)." in capsys.readouterr().out
    show_wait(rules, NINE - STEP)  # what was left behind is decided at once
    assert "is 09:05, soon after 09:08 (UTC)." in capsys.readouterr().out
    show_wait(rules, NINE + 120 * STEP)
    assert "is 09:00 on 2026-03-03, soon after 09:03 (UTC)." in capsys.readouterr().out


def test_a_watch_of_a_broker_says_when_it_is_connected(capsys: pytest.CaptureFixture[str]) -> None:
    from louver.cli.watch_begin import say_when_connected

    feed = Given()
    feed.connected = False

    async def connect() -> None:
        saying = asyncio.create_task(say_when_connected(feed, "mqtt://broker.example.org/wifi"))
        await asyncio.sleep(0)
        assert capsys.readouterr().out == ""
        feed.connected = True
        await saying

    asyncio.run(connect())
    assert capsys.readouterr().out == "Connected to broker.example.org.\n\n"
