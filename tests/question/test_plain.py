"""Stored questions: complete ones come back, and odd ones are refused in one sentence."""

from __future__ import annotations

import copy
import json
import random
from fractions import Fraction
from typing import Any

import pytest

from louver.errors import LouverError, ParameterError
from louver.question import classes, col, count, from_dict, question, sum_, to_dict, values
from louver.question.nodes import Aggregate, All, Comparison, Flag, Question, Threshold
from louver.source.filters import Compare

ASKED: list[Question] = [
    question(
        ((count().by("room") > 0.8 * col("capacity") - 5).slack(3))
        & ~(
            sum_("watts", 0, 9).where((col("floor") == 3) | col("name").isin(["a", "b"])).by("room")
            <= 1.5 * count() + 1
        ),
        table="presence",
        domain="rooms",
    ),
    values(count().by("room"), sum_("watts", low=0).by("room")),
    classes(count().by("room"), [0.5 * col("capacity"), 10 + col("capacity")], ["low", "normal", "high"]),
    classes(count().by("room"), [5], ["few", "many"], name="level"),
]


def test_a_stored_question_reads_well() -> None:
    assert to_dict(question(count().by("room") > 0.8 * col("capacity"), table="presence")) == {
        "flag": {
            "left": {"kind": "count", "by": ["room"]},
            "sign": ">",
            "right": {"constant": "0", "column": "capacity", "factor": "4/5"},
        },
        "keys": ["room"],
        "table": "presence",
    }


ODD: list[Any] = [None, 3, 1.5, True, "", "x", "1/0", "1e999999999", "-1", [], {}, [None], {"a": 1}, {1: 2, "a": 3}]


@pytest.mark.parametrize("odd", [*ODD, {"flag": {}}, {"keys": []}, {"flag": {}, "values": [], "keys": []}])
def test_what_is_no_stored_question_is_refused(odd: object) -> None:
    with pytest.raises(ParameterError, match=r"The stored question is not complete; make it again\."):
        from_dict(odd)


@pytest.mark.parametrize("asked", ASKED)
def test_nothing_can_be_left_out_or_added(asked: Any) -> None:
    for path in paths(to_dict(asked)):
        for change in ("leave out", "add"):
            plain = copy.deepcopy(to_dict(asked))
            place: Any = plain
            for step in path[:-1]:
                place = place[step]
            if change == "leave out" and isinstance(place, dict):
                optional = {"table", "domain", "slack", "low", "high", "where", "name"}
                del place[path[-1]]
                if path[-1] in optional:
                    assert from_dict(plain) != asked
                    continue
            elif isinstance(place, dict):
                place["more"] = 1
            else:
                continue
            with pytest.raises(ParameterError, match=r"make it again|needs its kind|every other aggregate has one"):
                from_dict(plain)


def test_thousands_of_odd_questions_are_refused_in_one_sentence() -> None:
    dice = random.Random(1)
    refused = 0
    for _ in range(3_000):
        plain = copy.deepcopy(to_dict(dice.choice(ASKED)))
        for _ in range(dice.choice([1, 1, 2])):
            path = dice.choice(list(paths(plain)) or [()])
            place: Any = plain
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = copy.deepcopy(dice.choice(ODD))
        try:
            found = from_dict(plain)
        except LouverError as refusal:
            refused += 1
            assert str(refusal).endswith(".")
            assert "\n" not in str(refusal)
        else:
            assert from_dict(json.loads(json.dumps(to_dict(found)))) == found
    assert 1_500 < refused < 3_000


def test_a_stored_question_nested_too_deeply_is_refused() -> None:
    plain: dict[str, Any] = to_dict(question(count() > 5))
    for _ in range(5_000):
        plain["flag"] = {"not": plain["flag"]}
    with pytest.raises(ParameterError, match=r"nested"):
        from_dict(plain)


@pytest.mark.parametrize(
    ("node", "said"),
    [
        (Flag(Comparison(Aggregate("mode", "x"), ">", Threshold()), ()), r"An aggregate is one of count"),
        (Flag(Comparison(Aggregate("count", "x"), ">", Threshold()), ()), r"A count counts rows"),
        (Flag(Comparison(Aggregate("sum"), ">", Threshold()), ()), r"every other aggregate has one"),
        (Flag(Comparison(Aggregate("count", low=Fraction(1)), ">", Threshold()), ()), r"a count has no bounds"),
        *(
            (Flag(Comparison(Aggregate(kind, "x", *bounds), ">", Threshold()), ()), r"Bounds are for sum and avg")
            for kind in ("min", "max", "median")
            for bounds in ((Fraction(1), Fraction(2)), (Fraction(1), None), (None, Fraction(2)))
        ),
        (Flag(Comparison(Aggregate("count"), "~", Threshold()), ()), r"compared with one of ="),
        (Flag(Comparison(Aggregate("count"), ">", 5), ()), r"not a int"),  # type: ignore[arg-type]
        (Flag(Comparison(Aggregate("count"), ">", Threshold(0.5)), ()), r"exact number, not a float"),  # type: ignore[arg-type]
        (Flag(All(()), ()), r"at least one"),
        (
            Flag(Comparison(Aggregate("count"), ">", Threshold(), Fraction(-1)), ()),
            r"slack of a comparison must be at least 0",
        ),
        (Flag("count", ()), r"a str does not"),  # type: ignore[arg-type]
        (Flag(Comparison(Aggregate("count", where=3), ">", Threshold()), ()), r"a int does not"),  # type: ignore[arg-type]
        (Flag(Comparison(Aggregate("count", where=Compare("a", "=", 0.5)), ">", Threshold()), ["a"]), r"tuple"),  # type: ignore[arg-type]
        ("SELECT 1", r"a str is none"),
    ],
)
def test_nodes_that_are_put_together_wrongly_are_not_written(node: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        to_dict(node)


def paths(plain: Any, start: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value inside."""
    found = [start] if start else []
    inner = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    for step, value in inner:
        found += paths(value, (*start, step))
    return found
