"""`louver watch erase`, with and without a watch that has the store."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from louver.cli import main
from louver.sense import Door, Store
from louver.watch.journal import Journal
from louver.watch.pipeline import Pipeline
from louver.watch.rules import Rules
from tests.watch.made import house, lines

DONE = "Done: nothing that the store had of it is there any more. What was released and paid stays.\n"


def made(folder: Path) -> Rules:
    """A house whose events were watched: two devices, and a third in the lab."""
    rules = house(folder)
    (folder / "events.ndjson").write_text(lines({"aula": 2, "lab": 1}, {"aula": 2}))
    assert main(["watch", str(folder / "events.ndjson"), "--rules", str(rules.path)]) == 0
    return rules


def erase(rules: Rules, *options: str) -> int:
    return main(["watch", "erase", "--rules", str(rules.path), *options])


def people(rules: Rules) -> set[int]:
    with Store.open(rules.store) as store:
        return set(store.events().person.tolist())


def typed(monkeypatch: pytest.MonkeyPatch, text: str, *, at_terminal: bool = False) -> None:
    given = io.StringIO(text)
    given.isatty = lambda: at_terminal  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stdin", given)


def test_devices_are_read_from_the_input_and_whether_they_were_there_is_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = made(tmp_path)
    door = Door.open(rules.salt)
    capsys.readouterr()
    typed(monkeypatch, "aula 0\n\naula 1\n")
    assert erase(rules) == 0
    first = capsys.readouterr()
    typed(monkeypatch, "never there\n")
    assert erase(rules) == 0
    assert first == capsys.readouterr() == (DONE, "")
    assert people(rules) == {door.person("lab 0")}


def test_at_a_terminal_it_asks_and_says_where_an_id_is_no_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = made(tmp_path)
    capsys.readouterr()
    typed(monkeypatch, "aula 0\n", at_terminal=True)
    assert erase(rules) == 0
    assert capsys.readouterr().err == "Device: This is no MAC address, so it is taken as it is written.\n"
    typed(monkeypatch, "AA-BB-CC-DD-EE-FF\n", at_terminal=True)
    assert erase(rules) == 0
    assert capsys.readouterr().err == "Device: "


def test_a_device_on_the_command_line_is_not_taken_and_not_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = made(tmp_path)
    capsys.readouterr()
    assert erase(rules, "aa:bb:cc:dd:ee:01") == 2
    said = capsys.readouterr().err
    assert "Nothing was erased: a device is not taken from the command line" in said
    assert "aa:bb" not in said


def test_somebody_is_erased_by_pseudonym(tmp_path: Path) -> None:
    rules = made(tmp_path)
    person = Door.open(rules.salt).person("lab 0")
    assert erase(rules, "--pseudonym", str(person)) == 0
    assert person not in people(rules)


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        ("", (), "No device was given: write its id, or one a line into the input."),
        ("a\n", ("--pseudonym", "seven"), "--pseudonym must be a whole number from 0 to 2^63 - 1."),
        ("a\n", ("--pseudonym", str(2**63)), "--pseudonym must be a whole number from 0 to 2^63 - 1."),
        ("a\n", ("--for", "0"), "--for must be greater than 0, not 0."),
    ],
)
def test_what_names_nobody_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    given: str,
    options: tuple[str, ...],
    said: str,
) -> None:
    rules = made(tmp_path)
    typed(monkeypatch, given)
    assert erase(rules, *options) != 0
    assert said in capsys.readouterr().err
    assert len(people(rules)) == 3


def test_without_a_store_or_its_salt_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = house(tmp_path)
    typed(monkeypatch, "aula 0\n")
    assert erase(rules) != 0
    assert "so nothing is kept; louver watch makes one." in capsys.readouterr().err
    assert not Path(rules.store).exists()
    Path(rules.store).mkdir(mode=0o700)
    assert erase(rules) != 0
    assert "without which no device is found; restore it." in capsys.readouterr().err
    assert not rules.salt.exists()
    assert not rules.journal.exists()


def test_a_device_whose_pseudonyms_change_cannot_be_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = house(tmp_path, watch='rotate = "1 hour"')
    Path(rules.store).mkdir(mode=0o700)
    typed(monkeypatch, "aula 0\n")
    assert erase(rules) != 0
    assert "Pseudonyms change in this watch, so a device cannot be found again" in capsys.readouterr().err


def test_a_request_stays_where_nobody_came_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = made(tmp_path)
    typed(monkeypatch, "aula 0\n")
    with Store.open(rules.store):  # as a watch that hangs would have it
        assert erase(rules, "--for", "0.01") != 0
    assert "The request stays, and is done by that watch or by the next one." in capsys.readouterr().err
    with Journal.open(rules.journal) as journal:
        assert len(journal.erasures.waiting()) == 1
    typed(monkeypatch, "aula 1\n")
    assert erase(rules) == 0
    assert people(rules) == {Door.open(rules.salt).person("lab 0")}


@pytest.mark.parametrize("is_running", [True, False])
def test_with_another_salt_than_that_of_the_store_nothing_is_asked_for(
    is_running: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A watch that is running has its own salt in memory: it would look for somebody who is not there."""
    rules = made(tmp_path)
    with ExitStack() as running:
        if is_running:
            running.enter_context(Pipeline.open(rules, running.enter_context(Journal.open(rules.journal))))
        rules.salt.unlink()
        Door.open(rules.salt)
        typed(monkeypatch, "aula 0\n")
        assert erase(rules, "--for", "0.1") != 0
    assert "The salt is not the one with which the events in" in capsys.readouterr().err
    with Journal.open(rules.journal) as journal:
        assert journal.erasures.waiting() == []
    assert len(people(rules)) == 3


def test_a_watch_that_runs_erases_whom_another_process_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = house(tmp_path)
    now = datetime.now(UTC).replace(microsecond=0).isoformat()
    command = [sys.executable, "-m", "louver", "watch", "-", "--format", "ndjson", "--rules", str(rules.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as watching:
        assert watching.stdin is not None
        for device in ("aula 0", "aula 1"):
            watching.stdin.write(f'{{"device": "{device}", "place": "ap-aula", "time": "{now}"}}\n')
        watching.stdin.flush()
        while not rules.salt.exists():  # which is made after the store is opened
            time.sleep(0.02)
        time.sleep(0.5)  # so that the events are likely to be in; whenever they are, the outcome is the same
        typed(monkeypatch, "aula 0\n")
        assert erase(rules, "--for", "30") == 0
        assert watching.poll() is None
        watching.stdin.close()
    assert watching.returncode == 0
    assert capsys.readouterr().out == DONE
    assert people(rules) == {Door.open(rules.salt).person("aula 1")}
