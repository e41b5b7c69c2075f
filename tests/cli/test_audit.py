"""`louver audit` and `louver tune`: studies, reports, and refusals in one sentence."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from louver import cli
from louver.attack.utility import TASKS
from louver.cli.tune import TASKS as SAID
from louver.sense.simulate import simulate

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "audit-a-building.md"
SMALL = ["--demo", "--days", "5", "--people", "200", "--jobs", "1"]


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = cli.main(words)
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_study_prints_a_verdict_and_writes_its_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, data = tmp_path / "report.html", tmp_path / "report.json"
    options = ["--mechanism", "laplace", "--utility", "0.8", "--runs", "2", "--known", "0"]
    code, out, err = told(capsys, "audit", "study", *SMALL, *options, "--out", str(page), "--json", str(data))
    assert (code, err) == (0, "")
    assert out.startswith("Not private: ")
    assert "\nAt 80% of heat-steps (all zeros reach " in out
    assert "thought likelier than not" in out
    assert re.search(r"part +utility +mechanism +outsider +student +administrator\n", out)
    assert page.read_text().startswith("<!doctype html>")
    assert "Do not publish it." in page.read_text()
    assert json.loads(data.read_text())["private"] is False
    assert {file.stat().st_mode & 0o777 for file in (page, data)} == {0o600}


def test_a_building_that_is_open_to_everybody_has_an_outsider_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulate("demo", days=5, people=100).write(tmp_path, "csv")
    described = (tmp_path / "building.toml").read_text()
    (tmp_path / "building.toml").write_text(re.sub(r"^open_to = .*\n", "", described, flags=re.MULTILINE))
    options = ["--mechanism", "laplace", "--utility", "0.5", "--known", "0", "--runs", "1", "--jobs", "1"]
    code, out, err = told(capsys, "audit", "study", str(tmp_path / "building.toml"), *options)
    assert (code, err) == (0, "")
    assert "Left out: student, who sees every region; administrator, who sees every region.\n" in out


def test_attackers_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--mechanism", "laplace", "--utility", "0.5", "--known", "0", "--runs", "1"]
    who = ["--attacker", "role:student", "--attacker", "outsider"]
    code, out, err = told(capsys, "audit", "study", *SMALL, *options, *who)
    assert (code, err) == (0, "")
    assert re.search(r"part +utility +mechanism +student +outsider\n", out)


def test_a_study_reads_a_building_and_the_events_beside_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simulate("demo", days=6, people=100).write(tmp_path, "csv")
    options = ["--mechanism", "ttl", "--utility", "0.5", "--known", "0", "--jobs", "1"]
    code, out, err = told(capsys, "audit", "study", str(tmp_path / "building.toml"), *options, "--days", "5")
    assert (code, err) == (0, "")
    assert "ttl" in out


def test_a_report_is_not_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "report.html").write_text("mine")
    code, out, err = told(capsys, "audit", "study", *SMALL, "--out", str(tmp_path / "report.html"))
    assert (code, out) == (4, "")
    assert "--force" in err


def test_tuning_prints_each_parameter_with_its_interval(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--target", "0.8", "--mechanism", "laplace", "--part", "day"]
    code, out, err = told(capsys, "tune", "heat-colours", *SMALL, *options)
    assert (code, err) == (0, "")
    (row,) = [line for line in out.splitlines() if line.startswith("80% ")]
    assert re.match(r"80% +day +[\d.]+% +[\d.]+% +laplace +epsilon", row)


def test_tuning_gives_json(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--target", "0.8", "--mechanism", "none", "--part", "all", "--json"]
    _, out, _ = told(capsys, "tune", "flags", *SMALL, *options)
    assert json.loads(out)["private"] is False
    (found,) = json.loads(out)["tuned"]
    assert (found["mechanism"], found["part"], found["utility"]["mean"]) == ("none", "all", 1)


def test_the_help_of_tuning_lists_every_task() -> None:
    assert list(SAID) == list(TASKS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["audit", "study"], "Name a building.toml whose events you have, or take --demo"),
        (["audit", "study", "house.toml", "--demo"], "Name a building.toml whose events you have, or take --demo"),
        (["audit", "study", "--demo", "--events", "e.csv"], "--events belongs to a building.toml"),
        (["audit", "study", "house.toml", "--people", "3"], "--people is for --demo"),
        (["audit", "study", "--demo", "--mechanism", "laplas"], "There is no mechanism 'laplas'"),
        (["audit", "study", "--demo", "--utility", "75%"], "--utility must be numbers from 0 to 1"),
        (["audit", "study", "--demo", "--known", "2"], "--known must be numbers from 0 to 1"),
        (["audit", "study", "--demo", "--runs", "0"], "--runs must be a whole number from 1 on"),
        (["audit", "study", *SMALL, "--attacker", "janitor"], "There is no attacker 'janitor'"),
        (["audit", "study", "--demo", "--task", "heat"], "There is no task 'heat'"),
        (["audit", "study", "nowhere.toml"], "nowhere.toml"),
        (["tune", "colours", "--demo"], "There is no task 'colours'"),
        (["tune", "flags", "--demo", "--part", "noon"], "There is no part of a day 'noon'"),
        (["tune", "flags", "--demo", "--days", "2", "--people", "50"], "five days"),
        (["audit", "mechanisms", "--times", "0"], "--times must be a number above 0"),
        (["audit", "mechanisms", "--only", "nothing such"], "There is no mechanism with"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = told(capsys, *words)
    assert code in (2, 4, 5)
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
    assert err.endswith(".\n")


def test_mechanisms_are_audited_beside_their_promise(capsys: pytest.CaptureFixture[str]) -> None:
    """A false alarm has probability below 1e-6."""
    code, out, err = told(capsys, "audit", "mechanisms", "--only", "stream laplace", "--times", "0.1")
    assert (code, err) == (0, "")
    assert "kept" in out
    assert "No promise was seen to be broken" in out


def test_the_page_can_be_followed_from_top_to_bottom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With less of everything, and so quicker. A false alarm has probability below 1e-6."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line.removeprefix("$ louver ") for block in blocks for line in block.splitlines()]
    assert len(lines) == 5
    for line in lines:
        words = shlex.split(line)
        if "--demo" in words:
            words += ["--days", "5", "--people", "300"]
        if words[:2] == ["audit", "study"]:
            words += ["--runs", "1"]
        if words[0] == "tune" or words[1] == "study":
            words += ["--mechanism", "laplace,ttl", "--jobs", "1"]
        if words[1] == "mechanisms":
            words += ["--times", "0.2"]
        code, out, err = told(capsys, *words)
        assert (code, err) == (0, ""), line
        assert out
    assert sorted(file.name for file in tmp_path.glob("report.*")) == ["report.html", "report.json"]
