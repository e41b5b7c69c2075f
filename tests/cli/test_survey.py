"""`louver survey` as people use it: plan, form, report and estimate, one command after the other."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.asking import Told, refused_by, told

PLAN = ("plan", "commute.json", "--question", "How did you come to work?", "--answers", "walk,bus,car")
# At this price no report differs from its answer but once in 10^27.
LOUD = (*PLAN, "--epsilon", "64")
PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "run-a-survey.md").read_text(encoding="utf-8")
Survey = Callable[..., Told]


@pytest.fixture
def survey(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Survey:
    """Runs `louver survey` with the given words and lines of input, in an empty folder with settings of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))

    def run(*words: str, given: str = "") -> Told:
        monkeypatch.setattr(sys, "stdin", io.StringIO(given))
        return told(capsys, "survey", *words)

    return run


def refused(found: Told, said: str) -> None:
    """One sentence and nothing else."""
    refused_by("louver survey", found, said)


def test_a_survey_is_planned_answered_and_estimated(survey: Survey) -> None:
    assert survey(*LOUD).code == 0
    for name, answer in (("anna", "walk"), ("ben", "Bus"), ("cleo", " car\n"), ("dan", "car")):
        told = survey("report", "commute.json", "--to", "reports.csv", "--key", name, given=answer)
        assert told.code == 0, told.err
        assert told.out == ""
        assert "sent what was drawn, not what was answered" in " ".join(told.err.split())
    told = survey("estimate", "commute.json", "reports.csv")
    assert "reports 4" in told.words
    assert "walk 1 1 to 1 25.0% 25.0% to 25.0%" in told.words
    assert "car 2 2 to 2 50.0% 50.0% to 50.0%" in told.words
    assert "in at least 95% of surveys" in told.words


def test_a_plan_says_what_respondents_are_told_and_what_it_costs(survey: Survey) -> None:
    told = survey(*PLAN, "--epsilon", "1", "--people", "1000")
    assert told.out.startswith("How did you come to work?\nAnswers: walk, bus, car\n\nYour answer does not leave")
    assert "your answer with probability 57.6%, and each other one with probability 21.2%" in told.words
    assert "can be at most 73.2% sure of it" in told.words
    assert "price epsilon 1.0000 for each report" in told.words
    assert "with 1,000 reports each share comes out within 8.4 points" in told.words
    assert survey("form", "commute.json").words in told.words


def test_the_coin_of_the_talk_costs_ln_3(survey: Survey) -> None:
    told = survey("plan", "smoke.json", "--question", "Do you smoke?", "--truth", "1/2")
    assert "With probability 50% your device tells the truth" in told.words
    assert "at most 75.0% sure" in told.words
    assert "price epsilon 1.0987" in told.words


def test_a_precision_finds_its_price(survey: Survey) -> None:
    told = survey(*PLAN, "--within", "0.05", "--people", "1000", "--json")
    assert told.json["epsilon"] == "159/100"
    assert told.json["within"] <= 0.05
    assert told.json["survey"] == json.loads(survey("report", "commute.json", given="bus").out)["survey"]


def test_a_high_price_is_warned_about(survey: Survey) -> None:
    assert "warning At this price a report nearly tells the answer" in survey(*PLAN, "--epsilon", "4").words
    assert "warning" not in survey(*PLAN, "--epsilon", "1", "--force").words


def test_asked_again_a_device_sends_the_same_report_without_asking(survey: Survey) -> None:
    survey(*LOUD)
    first = survey("report", "commute.json", given="bus")
    again = survey("report", "commute.json", given="walk")
    assert again.out == first.out
    assert "at no price" in " ".join(again.err.split())
    assert "cost epsilon 64.0000 together" in " ".join(again.err.split())
    other = survey("report", "commute.json", "--state", "other.state", given="walk")
    assert json.loads(other.out)["said"] == "walk"


def test_reports_that_came_twice_count_once(survey: Survey) -> None:
    survey(*LOUD)
    for _ in range(3):
        survey("report", "commute.json", "--to", "r.jsonl", given="bus")
    told = survey("estimate", "commute.json", "r.jsonl")
    assert "reports 1; left out because they came again: 2" in told.words
    assert survey("estimate", "commute.json", "r.jsonl", "--json").json["repeated"] == 2


def test_a_line_that_anybody_added_stops_no_survey(survey: Survey) -> None:
    survey(*LOUD)
    survey("report", "commute.json", "--to", "r.csv", given="bus")
    named, number, _ = Path("r.csv").read_text().splitlines()[1].split(",")
    with Path("r.csv").open("a") as file:
        file.write(f'{named},{number},car\nspoiled,"\n')
    survey("report", "commute.json", "--to", "r.csv", "--key", "ben", given="walk")
    told = survey("estimate", "commute.json", "r.csv")
    assert "reports 2; left out because no device sends such to this survey: 2" in told.words
    found = survey("estimate", "commute.json", "r.csv", "--json").json
    assert (found["reports"], found["odd"]) == (2, 2)
    assert [round(each["people"]) for each in found["answers"]] == [1, 1, 0]


def test_answers_of_many_people_are_reported_line_by_line(survey: Survey) -> None:
    survey(*LOUD)
    told = survey("report", "commute.json", "--each-line", "--to", "r.csv", given="walk\nbus\nbus\n")
    assert (told.code, told.out, told.err) == (0, "", "")
    found = survey("estimate", "commute.json", "r.csv", "--json", "--to", "out.csv").json
    assert [round(each["people"]) for each in found["answers"]] == [1, 2, 0]
    with Path("out.csv").open() as file:
        assert [line["answer"] for line in csv.DictReader(file)] == ["walk", "bus", "car"]
    assert not Path("settings").exists()


def test_an_answer_that_is_none_is_refused_without_being_said(survey: Survey) -> None:
    survey(*LOUD)
    for given in ("boat", "", "boat\n"):
        told = survey("report", "commute.json", "--to", "r.csv", given=given)
        refused(told, "is none of the answers, so nothing was reported; they are: walk, bus, car.")
        assert "boat" not in told.err
    told = survey("report", "commute.json", "--each-line", "--to", "r.csv", given="bus\nboat\n")
    refused(told, "Line 2 of the input is none of the answers")
    assert not Path("r.csv").exists()


def test_an_answer_on_the_command_line_is_refused(survey: Survey) -> None:
    survey(*LOUD)
    told = survey("report", "commute.json", "bus")
    assert told.code == 2
    assert "an answer is not taken from the command line" in told.err
    assert "bus" not in told.err


def test_a_report_that_cannot_be_sent_is_kept(survey: Survey) -> None:
    survey(*PLAN, "--epsilon", "1")
    refused(survey("report", "commute.json", "--to", "no/r.csv", given="bus"), "kept, and the same command sends it")
    Path("no").mkdir()
    told = survey("report", "commute.json", "--to", "no/r.csv", given="")
    assert told.code == 0
    assert "at no price" in " ".join(told.err.split())


def test_a_device_pays_no_more_than_its_owner_says(survey: Survey) -> None:
    survey(*PLAN, "--epsilon", "1")
    told = survey("report", "commute.json", "--most", "1/2", "--to", "r.csv", given="bus")
    refused(told, "would cost epsilon 1 together, and 1/2 is the most")
    assert told.code == 3
    assert not Path("r.csv").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*PLAN,), "needs one price"),
        ((*PLAN, "--epsilon", "1", "--truth", "1/2"), "needs one price"),
        ((*PLAN, "--within", "0.05"), "--within needs --people"),
        ((*PLAN, "--within", "0.001", "--people", "9"), "No epsilon up to 8"),
        ((*PLAN, "--epsilon", "65"), "epsilon must be between"),
        ((*PLAN, "--epsilon", "x"), "--epsilon must be a number"),
        ((*PLAN, "--truth", "1"), "truth must be"),
        ((*PLAN, "--epsilon", "1", "--answers", "a,a"), "Two answers have one name"),
        ((*PLAN, "--epsilon", "1", "--answers", "a"), "The number of choices"),
        ((*PLAN, "--epsilon", "1", "--question", " "), "needs a question"),
        (("plan", "r.csv", "--question", "?", "--epsilon", "1"), "r.csv is there already"),
        (("form", "nowhere.json"), "There is no file"),
        (("form", "r.csv"), "cannot be read as the plan"),
        (("report", "other.json", "--to", "r.txt"), "a file .csv or .jsonl"),
        (("report", "other.json", "--each-line", "--key", "anna"), "leave --key, --state and --most out"),
        (("estimate", "other.json", "r.csv"), "Nobody has reported"),
        ((*PLAN, "--epsilon", "1", "--question", "a?\nb"), "is one line"),
        (("estimate", "other.json", "wrong.csv"), "None of these lines is a report to this survey"),
        (("estimate", "other.json", "mixed.csv"), "None of these lines is a report to this survey"),
        (("estimate", "other.json", "r.csv", "--level", "1"), "level must be greater than 0"),
        (("estimate", "other.json", "r.csv", "--to", "a.json"), "to a file .csv"),
        (("estimate", "other.json", "r.csv", "--to", "r.csv"), "r.csv is there already"),
        (("estimate", "other.json", "r.csv", "--to", "r.csv", "--force"), "would write over what is read"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(survey: Survey, words: tuple[str, ...], said: str) -> None:
    survey("plan", "other.json", "--question", "?", "--epsilon", "1")
    Path("r.csv").write_text("survey,number,said\n")
    Path("wrong.csv").write_text("survey,number,said\nx,y,z\n")
    Path("mixed.csv").write_text("survey,number,said\nx,0123456789abcdef,yes\n")
    refused(survey(*words), said)
    assert not Path("commute.json").exists()


def test_the_commands_of_the_page_run(survey: Survey) -> None:
    """Each line that begins with $ in docs/how-to/run-a-survey.md; 'echo ANSWER |' is the input."""
    commands = re.findall(r"^\$ (.+)$", PAGE.replace(" \\\n    ", " "), re.MULTILINE)
    assert len(commands) >= 5
    for command in commands:
        given, _, rest = command.rpartition(" | ")
        words = next(csv.reader([rest], delimiter=" "))
        assert words[:2] == ["louver", "survey"], command
        told = survey(*words[2:], given=given.removeprefix("echo "))
        assert told.code == 0, told.err
