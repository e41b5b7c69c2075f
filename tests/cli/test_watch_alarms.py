"""`louver watch alarms`, `ack` and `snooze`, as somebody on duty uses them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from louver.cli import main
from louver.watch.journal import Journal
from tests.watch.alarms_made import alarm, raise_
from tests.watch.made import house

Command = Callable[..., str]


@pytest.fixture
def louver(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs `louver watch ...` in a house; what it printed, or said went wrong."""
    house(tmp_path)

    def command(*words: str) -> str:
        code = main(["watch", *words, "--rules", str(tmp_path / "rules.toml")])
        printed = capsys.readouterr()
        assert (code == 0) == (printed.err == "")
        return printed.err or printed.out

    return command


def raised(folder: Path, *states: str) -> list[str]:
    """Ids of alarms of the aula, one after the other."""
    with Journal.open(folder / "store.journal") as journal:
        return [raise_(journal, alarm(state, key="aula")).id for state in states]


def test_without_a_journal_that_is_said(louver: Command, tmp_path: Path) -> None:
    for words in (["alarms"], ["ack", "abcd"], ["snooze", "fire-limit", "--for", "30m"]):
        assert "There is no journal at" in louver(*words)
    assert not (tmp_path / "store.journal").exists()


def test_no_alarm_is_said_to_be_none(louver: Command, tmp_path: Path) -> None:
    raised(tmp_path)
    assert louver("alarms") == "No alarm is open.\n"
    assert louver("alarms", "--all") == "There is no alarm.\n"
    said = json.loads(louver("alarms", "--json"))
    assert (said["alarms"], said["snoozes"], said["waiting"], said["lost"]) == ([], [], [], 0)


def test_an_alarm_is_shown_open_seen_and_over(louver: Command, tmp_path: Path) -> None:
    (first,) = raised(tmp_path, "firing")
    listed = louver("alarms")
    assert listed.splitlines()[1].split()[:4] == [first, "firing", "fire-limit", "aula"]
    assert "1 notice waits for desk, not tried yet" in listed
    louver("ack", first[:4], "--who", " ann ")
    assert "ann" in louver("alarms")
    raised(tmp_path, "clear")
    assert louver("alarms").startswith("No alarm is open.\n2 notices wait for desk, not tried yet")
    rows = louver("alarms", "--all").splitlines()
    assert "firing (over)" in rows[1]
    assert rows[2].split()[1:3] == ["clear", "fire-limit"]
    assert "It is over since" in louver("ack", first)


def test_a_snooze_is_shown_with_its_end_and_who_did_it(louver: Command, tmp_path: Path) -> None:
    raised(tmp_path, "firing")
    assert "held back for 30 minutes, until" in louver("snooze", "fire-limit", "aula", "--for", "30m", "--who", "ann")
    (said,) = json.loads(louver("alarms", "--json"))["snoozes"]
    assert (said["rule"], said["key"], said["who"]) == ("fire-limit", "aula", "ann")
    assert "by ann: aula in rule fire-limit." in louver("alarms")
    assert louver("snooze", "fire-limit", "aula", "--for", "0m").endswith("are told again.\n")
    assert "Snoozed" not in louver("alarms")


def test_what_a_rule_as_a_whole_is_listed_under_can_be_snoozed(louver: Command, tmp_path: Path) -> None:
    raised(tmp_path)
    for key in ("region", "any region"):
        assert "Notices of region in the rule fire-limit" in louver("snooze", "fire-limit", key, "--for", "1h")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ack", "abc"], "at least 4 letters"),
        (["ack", "zzzz"], "No alarm's id begins with 'zzzz'; louver watch alarms --all lists them."),
        (["snooze", "fire-limit", "--for", "8 days"], "A snooze is a week long at most."),
        (["snooze", "fire-limit", "--for", "soon"], "like '5 minutes' or '30m'"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(
    louver: Command, tmp_path: Path, words: list[str], said: str
) -> None:
    raised(tmp_path, "firing")
    assert said in louver(*words)


def test_a_journal_that_others_can_read_is_refused(louver: Command, tmp_path: Path) -> None:
    raised(tmp_path, "firing")
    (tmp_path / "store.journal").chmod(0o644)
    assert "make it yours alone: chmod 600" in louver("alarms")
