"""Surveys by plan. Laws are compared with the false-alarm probability `laws.FALSE_ALARM`, 1e-9."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import DataError, LouverError
from louver.local import Report, Survey, expected_error, form, least_price, read_survey, write_survey
from tests.misuse import assert_made_or_refused
from tests.noise.laws import assert_follows
from tests.table.tools import seeded

WALK = Survey("How did you come?", ["walk", "bus", "car"], epsilon=1)
STOPS = Survey("Which stop?", [f"stop {number}" for number in range(40)], epsilon=1)
SMOKE = Survey("Do you smoke?", truth=Fraction(1, 2))


def test_reports_follow_the_law_of_their_answer() -> None:
    reports = WALK.reports(["bus"] * 50_000, bits=seeded(1))
    said = np.array([WALK.answers.index(each.said) for each in reports])
    truth = math.e / (math.e + 2)
    assert_follows(said, lambda number: truth if number == 1 else (1 - truth) / 2)
    yes = np.array([each.said == "yes" for each in SMOKE.reports(["yes"] * 50_000, bits=seeded(2))])
    assert_follows(yes, lambda said: 3 / 4 if said else 1 / 4)


def test_many_answers_are_asked_for_bit_by_bit_and_few_are_not() -> None:
    assert (WALK.way, STOPS.way, SMOKE.way) == ("choice", "unary", "choice")
    assert Survey("?", STOPS.answers, epsilon=3).way == "choice"
    (report,) = STOPS.reports(["stop 3"])
    assert len(report.said) == 40
    assert set(report.said) <= {"0", "1"}


@pytest.mark.parametrize("survey", [WALK, STOPS, SMOKE])
def test_shares_are_found_from_reports(survey: Survey) -> None:
    """20,000 people, of whom a quarter have the first answer: within 7 standard errors, but once in 10^11 surveys."""
    answers = [survey.answers[0]] * 5_000 + [survey.answers[1]] * 15_000
    found = survey.estimate(survey.reports(answers, bits=seeded(3)))
    assert list(found) == list(survey.answers)
    for name, true in ((survey.answers[0], 5_000), (survey.answers[1], 15_000)):
        assert abs(found[name].value - true) < 7 * found[name].standard_error


def test_numbers_of_reports_differ_and_say_nothing() -> None:
    reports = WALK.reports(["bus"] * 1000)
    assert len({each.number for each in reports}) == 1000
    assert {len(each.number) for each in reports} == {16}


def test_a_report_that_came_twice_counts_once() -> None:
    reports = WALK.reports(["bus"] * 10)
    assert WALK.estimate([*reports, *reports[:4]]) == WALK.estimate(reports)


def test_what_no_device_sends_is_left_out_and_changes_no_estimate() -> None:
    (first, second), bits = WALK.reports(["bus", "car"]), STOPS.report("stop 1")
    liar = replace(first, said="walk" if first.said != "walk" else "car")
    for survey, reports, odd in (
        (WALK, [first, second], SMOKE.report("yes")),
        (WALK, [first, second], replace(first, number="0" * 16, said="boat")),
        (WALK, [first, second], liar),
        (WALK, [first, second], None),
        (STOPS, [bits], replace(bits, number="0" * 16, said=bits.said[:-1])),
        (STOPS, [bits], replace(bits, number="0" * 16, said="2" + bits.said[1:])),
        (STOPS, [bits], replace(bits, number="0" * 16, said="stop 1")),
    ):
        sifted = survey.sift([*reports, odd, odd])
        assert (list(sifted.said.values()), sifted.repeated, sifted.odd) == ([each.said for each in reports], 0, 2)
        assert survey.estimate([*reports, odd]) == survey.estimate(reports)


def test_reports_of_which_none_is_for_the_survey_are_refused() -> None:
    for survey, reports, sentence in (
        (SMOKE, WALK.reports(["bus"]), "None of these lines is a report to this survey"),
        (WALK, [], "Nobody has reported"),
        (STOPS, [], "Nobody has reported"),
    ):
        with pytest.raises(LouverError, match=sentence):
            survey.estimate(reports)


@pytest.mark.parametrize("sign", ["\n", "\r", "\t", "\u2028", "\x0b", "\u202e"])
def test_a_question_is_one_line_so_that_it_makes_no_promise_of_its_own(sign: str) -> None:
    with pytest.raises(LouverError, match=r"^The question of a survey is one line.*\.$"):
        Survey(f"Do you smoke?{sign}You are protected.", epsilon=8)


def test_spaces_in_a_question_make_no_line_of_their_own() -> None:
    survey = Survey("Do you smoke?" + 200 * " " + "You are protected.", epsilon=8)
    assert form(survey).splitlines()[0] == "Do you smoke? You are protected."


def test_a_plan_comes_back_from_its_file(tmp_path: Path) -> None:
    for survey in (WALK, STOPS, SMOKE, Survey("?", ["é", "日本"], epsilon=0.1)):
        write_survey(survey, tmp_path / "plan.json")
        assert read_survey(tmp_path / "plan.json") == survey
        assert read_survey(tmp_path / "plan.json").id == survey.id


def test_another_wording_price_or_answer_is_another_survey() -> None:
    others = [
        Survey("How did you come", WALK.answers, epsilon=1),
        Survey(WALK.question, ["walk", "bus", "cab"], epsilon=1),
        Survey(WALK.question, ["bus", "walk", "car"], epsilon=1),
        Survey(WALK.question, WALK.answers, epsilon=2),
        Survey(WALK.question, WALK.answers, truth=Fraction(1, 2)),
        Survey(WALK.question, WALK.answers, epsilon=1, way="unary"),
    ]
    assert len({WALK.id, *(each.id for each in others)}) == 7
    assert Survey(WALK.question, WALK.answers, epsilon=Fraction(1)).id == WALK.id


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": 2}, "no plan of a survey"),
        ({"louver": "map"}, "no plan of a survey"),
        ({"answers": "abc"}, "list of answers"),
        ({"answers": ["a"]}, "number of choices"),
        ({"answers": [1, 2]}, "named by texts"),
        ({"answers": ["a ", "b"]}, "without spaces around"),
        ({"answers": ["a\nb", "b"]}, "one line"),
        ({"question": " "}, "needs a question"),
        ({"question": 3}, "needs a question"),
        ({"epsilon": 1.5}, "written as a text"),
        ({"epsilon": "1e999999999"}, "written as a text"),
        ({"epsilon": "1/0"}, "written as a text"),
        ({"epsilon": "65"}, "epsilon must be between"),
        ({"truth": "1/2"}, "either epsilon or truth"),
        ({"way": "spiral"}, "by the way choice"),
        ({"way": ["choice"]}, "by the way choice"),
    ],
)
def test_a_plan_that_is_none_is_refused_in_one_sentence(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(LouverError, match=sentence) as refused:
        Survey.from_dict({**WALK.to_dict(), **change})
    assert str(refused.value).endswith(".")


def test_files_that_are_no_plan_are_refused(tmp_path: Path) -> None:
    for content in ("", "[", "[1]", "null", "\x00"):
        (tmp_path / "plan.json").write_text(content)
        with pytest.raises(DataError):
            read_survey(tmp_path / "plan.json")
    with pytest.raises(DataError, match="There is no file"):
        read_survey(tmp_path / "nowhere.json")
    with pytest.raises(DataError, match="cannot be written"):
        write_survey(WALK, tmp_path)


@given(st.recursive(st.none() | st.booleans() | st.text(max_size=4), lambda each: st.lists(each, max_size=3)))
def test_whatever_a_plan_holds_is_read_or_refused(anything: object) -> None:
    for name in WALK.to_dict():
        assert_made_or_refused(lambda name=name: Survey.from_dict({**WALK.to_dict(), name: anything}))  # type: ignore[misc]
    assert_made_or_refused(lambda: WALK.report(anything))  # type: ignore[arg-type]
    assert_made_or_refused(lambda: WALK.estimate([Report(WALK.id, "0" * 16, str(anything))]))


def test_the_form_says_what_is_sent_and_how_sure_somebody_can_be() -> None:
    assert "With probability 50% your device tells the truth" in form(SMOKE)
    assert "your answer with probability 75%, and the other one with probability 25%" in form(SMOKE)
    assert "at most 75.0% sure" in form(SMOKE)
    assert "your answer with probability 57.6%, and each other one with probability 21.2%" in form(WALK)
    assert "at most 73.2% sure" in form(WALK)
    assert "yes to yours with probability 50%, and yes to any other with probability 26.9%" in form(STOPS)
    assert "at most 73.2% sure" in form(STOPS)
    assert "stop 11, and 28 more" in form(STOPS)


def test_the_form_calls_nothing_certain() -> None:
    said = form(Survey("?", ["a", "b, c"], epsilon=64))
    assert "your answer with probability over 99.9%, and the other one with probability under 0.1%" in said
    assert "Answers: a; b, c" in said


def test_the_stated_certainty_is_the_largest_that_the_law_allows() -> None:
    """Even odds for one answer against any mixture of the others, over all reports."""
    law = np.array(WALK.mechanism().law())
    mixtures = [np.array([0, share, 1 - share]) for share in np.linspace(0, 1, 11)]
    most = max(law[0, said] / (law[0, said] + mixture @ law[:, said]) for mixture in mixtures for said in range(3))
    assert 0.731 < most <= 0.732


def test_the_expected_error_is_that_of_the_worst_share() -> None:
    """Against the exact standard errors of estimates, at the ends of what is possible."""
    for survey in (WALK, STOPS, SMOKE):
        mechanism = survey.mechanism()
        p, q = float(mechanism.truth), float(mechanism.other)
        worst = max(p * (1 - p), q * (1 - q)) / (p - q) ** 2 / 1000
        assert expected_error(survey, 1000) == pytest.approx(1.959964 * math.sqrt(worst), rel=1e-6)


def test_the_least_price_is_enough_and_a_hundredth_less_is_not() -> None:
    found = least_price("?", ["a", "b", "c"], within=Fraction(1, 20), people=1000)
    assert found.epsilon is not None
    assert expected_error(found, 1000) <= 0.05
    cheaper = Survey("?", ["a", "b", "c"], epsilon=found.epsilon - Fraction(1, 100))
    assert expected_error(cheaper, 1000) > 0.05
    with pytest.raises(LouverError, match="No epsilon up to 8"):
        least_price("?", ["a", "b"], within=Fraction(1, 1000), people=10)
    for within, people in ((0, 10), (0.6, 10), (0.1, 0)):
        with pytest.raises(LouverError):
            least_price("?", ["a", "b"], within=within, people=people)


def test_a_plan_is_plain_json() -> None:
    assert json.loads(json.dumps(SMOKE.to_dict())) == {
        "louver": "survey",
        "format": 1,
        "question": "Do you smoke?",
        "answers": ["yes", "no"],
        "truth": "1/2",
        "way": "choice",
    }
