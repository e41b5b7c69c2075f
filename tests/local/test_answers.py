from __future__ import annotations

import numpy as np
import pytest

from louver.errors import ParameterError
from louver.local import Choice, Unary, YesNo

NAMES = ["walk", "bus", "car"]
SECRET = 7


def test_names_go_in_and_come_out() -> None:
    """At epsilon 64 an answer is changed with probability under 1e-27."""
    question = Choice(NAMES, 64)
    assert question.report(["car", "walk", "bus"]).tolist() == ["car", "walk", "bus"]
    found = question.estimate(["car"] * 6 + ["walk"] * 4)
    assert {name: round(each.value) for name, each in found.items()} == {"walk": 4, "bus": 0, "car": 6}
    assert question.report(np.array(["car"])).tolist() == ["car"]


def test_bits_of_named_answers_are_estimated_by_name() -> None:
    question = Unary(NAMES, 64, optimised=False)
    found = question.estimate(question.report(["bus"] * 5))
    assert {name: round(each.value) for name, each in found.items()} == {"walk": 0, "bus": 5, "car": 0}


@pytest.mark.parametrize("wrong", [SECRET, -1, 3, 2**63 - 1])
def test_an_answer_out_of_range_is_refused_without_being_said(wrong: int) -> None:
    for mechanism in (Choice(3, 1), Unary(3, 1)):
        with pytest.raises(ParameterError, match=r"^Answer is none .* numbered from 0 to 2\.$") as refused:
            mechanism.report([0, wrong])
        assert str(SECRET) not in str(refused.value)


def test_a_name_that_is_none_is_refused_without_being_said() -> None:
    for answers in (["boat"], ["walk", None], [1]):
        with pytest.raises(ParameterError, match=r"which are 'walk', 'bus', 'car'\.$") as refused:
            Choice(NAMES, 1).report(answers)
        assert "boat" not in str(refused.value)
    with pytest.raises(ParameterError, match=r" and 4 more\.$"):
        Choice([f"stop {number}" for number in range(10)], 1).report(["x"])


def test_reports_that_no_device_sends_are_refused() -> None:
    for attempt, sentence in (
        (lambda: Choice(3, 1).estimate([5, 5]), "^Report is none of those"),
        (lambda: Choice(NAMES, 1).estimate(["bus", "boat"]), "^Report is none of those"),
        (lambda: Unary(3, 1).estimate([[True, False]]), "^Reports must be rows of 3"),
        (lambda: Unary(3, 1).estimate([[True], [True, False]]), "^Reports must be rows of 3"),
        (lambda: Unary(3, 1).estimate([[2, 0, 1]]), "^Reports must be rows of 3"),
        (lambda: YesNo(1).estimate([0, 2]), "^Reports must be one list of True and False"),
    ):
        with pytest.raises(ParameterError, match=sentence):
            attempt()


def test_an_answer_that_is_missing_does_not_count_as_the_first_one() -> None:
    missing = np.ma.masked_array([1, 2], mask=[True, False])
    for attempt in (
        lambda: Choice(3, 1).report(missing),
        lambda: Unary(3, 1).report(missing),
        lambda: YesNo(1).report(missing == 1),
    ):
        with pytest.raises(ParameterError, match="is missing"):
            attempt()


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        (["bus"], "The number of choices must be between 2"),
        ([], "The number of choices"),
        (["bus", "bus"], "Two answers have one name"),
        (["bus", " "], "named by texts"),
        (["bus", 3], "named by texts"),
        ("bus", "The number of choices must be a whole number"),
        (1, "The number of choices"),
        (2**20 + 1, "The number of choices"),
    ],
)
def test_what_is_no_code_book_is_refused(choices: object, sentence: str) -> None:
    for made in (Choice, Unary):
        with pytest.raises(ParameterError, match=sentence):
            made(choices, 1)  # type: ignore[arg-type]
