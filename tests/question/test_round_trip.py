"""A question that is written as SQL, Python or JSON and read again is the same question, in its normal form."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings

import louver.question
from louver.question import from_dict, from_sql, normal, to_dict, to_python, to_sql
from louver.question.nodes import Question
from louver.question.sql_text import DIALECTS
from tests.question.made import questions


def in_sql(question: Question, dialect: str) -> Question:
    return from_sql(to_sql(question, dialect), dialect=dialect)


AGAIN: dict[str, Callable[[Question], Question]] = {
    **{dialect: lambda question, dialect=dialect: in_sql(question, dialect) for dialect in DIALECTS},  # type: ignore[misc]
    "python": lambda question: eval(to_python(question), vars(louver.question)),  # noqa: S307
    "json": lambda question: from_dict(json.loads(json.dumps(to_dict(question)))),
    "normal form": lambda question: normal(normal(question)),
}


def check_all_forms(question: Question) -> None:
    asked = normal(question)
    for form, again in AGAIN.items():
        found = again(question)
        # A whole Fraction equals an int in Python, so questions are compared by what they show as well.
        assert (found, repr(found)) == (asked, repr(asked)), form


@given(question=questions())
@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
def test_a_question_survives_being_written_and_read(question: Question) -> None:
    check_all_forms(question)


@pytest.mark.slow
@given(question=questions())
@settings(max_examples=1500, suppress_health_check=[HealthCheck.too_slow])
def test_many_questions_survive_being_written_and_read(question: Question) -> None:
    check_all_forms(question)
