from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow
import pytest

import louver
from louver.decide.asking import run
from louver.decide.planning import choices
from louver.decide.survey import Survey
from louver.errors import AccessError, BudgetError, DataError, ParameterError
from louver.ledger import Cap, Ledger
from louver.privacy import Unit, largest_total
from louver.question import col, count, values
from louver.source import Domain, Source, Table

CROWDED = count().by("room") > col("capacity")
SQL = "SELECT room FROM presence JOIN rooms USING (room) GROUP BY room HAVING count(*) > rooms.capacity"
# hall has 300 rows and lab 3: a wrong answer has probability under 1e-15.
ROWS = {"device": list(range(303)), "room": ["hall"] * 300 + ["lab"] * 3}
ROOMS = Domain({"room": ["hall", "lab"], "capacity": [180, 40]}, keys=["room"])
PROMISE: dict[str, Any] = {"miss_rate": 0.05, "slack": 10}
FRAMES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pandas.DataFrame(ROWS),
    "polars": lambda: polars.DataFrame(ROWS),
    "arrow": lambda: pyarrow.table(ROWS),
}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    made, _ = Ledger.create(tmp_path / "house.ledger", dataset="house", unit=Unit.row(), caps=[Cap(epsilon=1)])
    with made:
        yield made


def of_devices() -> Source:
    return Source(Table("presence.csv", dataset="house", unit=Unit("device")), domains=ROOMS)


def source(rows: object, **given: Any) -> Source:
    return Source(Table(rows, dataset="house", unit=Unit.row()), domains={"rooms": ROOMS}, **given)


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_is_asked_in_one_line_and_answers_in_its_own_kind(ledger: Ledger, kind: str) -> None:
    frame = FRAMES[kind]()
    answer = louver.ask(source(frame), CROWDED, ledger=ledger, **PROMISE)
    assert answer.flagged == (("hall",),)
    assert type(answer.to_frame()) is type(frame)


def test_sql_and_python_ask_the_same(ledger: Ledger) -> None:
    presence = source(FRAMES["arrow"]())
    assert louver.plan(presence, SQL, **PROMISE).promise == louver.plan(presence, CROWDED, **PROMISE).promise
    assert louver.ask(presence, SQL, ledger=ledger, **PROMISE).flagged == (("hall",),)


def test_a_source_knows_its_ledger_and_its_promise(ledger: Ledger, tmp_path: Path) -> None:
    presence = source(FRAMES["arrow"](), ledger=tmp_path / "house.ledger", defaults=PROMISE)
    answer = louver.ask(presence, SQL)
    assert answer.remaining == 1 - answer.release.charged == ledger.remaining()


def test_a_plan_costs_nothing_until_it_runs(ledger: Ledger) -> None:
    presence = source(FRAMES["arrow"]())
    plan = louver.plan(presence, SQL, **PROMISE)
    assert ledger.remaining() == 1
    answer = run(presence, plan, ledger=ledger)
    assert answer.worst == Fraction(answer.to_dict()["worst"]) == 1 - ledger.remaining()


def test_the_same_key_gives_the_same_answer_for_nothing(ledger: Ledger) -> None:
    presence = source(FRAMES["arrow"]())
    first = louver.ask(presence, SQL, ledger=ledger, key="monday", **PROMISE)
    again = louver.ask(presence, SQL, ledger=ledger, key="monday", **PROMISE)
    assert (first.release.again, again.release.again) == (False, True)
    assert {**again.to_dict(owner=True), "again": False} == first.to_dict(owner=True)
    assert "Price: nothing this time: entry 2 of house.ledger has the answer" in str(again)


def test_somebody_with_a_token_asks_in_their_own_name(tmp_path: Path) -> None:
    made, tokens = Ledger.create(
        tmp_path / "l", dataset="house", unit=Unit.row(), caps=[Cap(epsilon=1)], analysts=["carl"]
    )
    with made as ledger:
        louver.ask(source(FRAMES["arrow"]()), SQL, ledger=ledger, token=tokens["carl"], **PROMISE)
        assert [entry.who for entry in ledger.entries()][1] == "carl"
        with pytest.raises(AccessError):
            louver.ask(source(FRAMES["arrow"]()), SQL, ledger=ledger, who="carl", **PROMISE)


def test_without_a_ledger_nothing_runs() -> None:
    with pytest.raises(ParameterError, match="paid for by a ledger"):
        louver.ask(source(FRAMES["arrow"]()), SQL, **PROMISE)


def test_what_the_budget_cannot_pay_reads_nothing(ledger: Ledger) -> None:
    gone = source("gone.csv")
    with pytest.raises(DataError, match=r"gone\.csv"):
        louver.ask(gone, CROWDED, ledger=ledger, **PROMISE)
    assert ledger.remaining() == 1
    with pytest.raises(BudgetError, match="Nothing was read"):
        louver.ask(source(FRAMES["arrow"]()), SQL, ledger=ledger, miss_rate=0.001, slack=1)


def test_a_survey_is_paid_for_and_chooses_the_steps(ledger: Ledger) -> None:
    presence = source(FRAMES["arrow"]())
    answer = louver.ask(presence, SQL, ledger=ledger, survey=0.1, objective="mean", key="monday", **PROMISE)
    mechanisms = [entry.body["plan"]["mechanism"] for entry in ledger.entries() if entry.act == "reserved"]
    # What the survey says is noisy, and may speak for one look.
    assert mechanisms in (["survey", "progressive"], ["survey", "shift"])
    assert ledger.remaining() == Fraction(9, 10) - answer.release.charged
    again = louver.ask(presence, SQL, ledger=ledger, survey=0.1, objective="mean", key="monday", **PROMISE)
    assert {**again.to_dict(), "again": False} == answer.to_dict()
    assert " and 0.1000 for the survey before it, entry 4 of house.ledger" in str(answer)
    assert "Price: nothing this time: entry 4 of house.ledger" in str(again)


@pytest.mark.parametrize("rows", [1, 4])
def test_a_survey_costs_one_unit_what_was_said_however_many_rows_it_has(rows: int) -> None:
    """Also where the unit pays for each of its rows, the price is the one that was asked for."""
    one_look: Any = louver.plan(of_devices(), SQL, rows_per_unit=rows, **PROMISE)
    survey = Survey.of(one_look, 0.1)
    assert largest_total(survey.worst).price == Fraction(1, 10)
    assert survey.rate == Fraction(1, 10) / rows


@pytest.mark.parametrize("asked", [CROWDED, CROWDED & (count().where(col("guest") == 1).by("room") > 5)])
@pytest.mark.parametrize("rows", [1, 4])
def test_the_naive_strategy_costs_one_unit_what_was_said(asked: Any, rows: int) -> None:
    plan: Any = louver.plan(of_devices(), asked, strategy="naive", epsilon=0.5, rows_per_unit=rows)
    assert largest_total(plan.worst).price == Fraction(1, 2)
    assert plan.rate * rows * len(plan.program.looks) == Fraction(1, 2)


def test_an_answer_says_what_all_answers_so_far_mean_together(ledger: Ledger) -> None:
    presence = source(FRAMES["arrow"]())
    first = louver.ask(presence, SQL, ledger=ledger, **PROMISE)
    second = louver.ask(presence, SQL, ledger=ledger, **PROMISE)
    assert first.meaning.endswith("can be at most 60.3% sure afterwards")
    assert second.meaning.endswith(", and 69.7% after everything that was asked here so far (epsilon 0.8296 together)")
    assert Fraction(second.to_dict()["spent"]) == ledger.spent() == 2 * first.worst


def test_a_survey_is_not_begun_where_the_answer_after_it_would_not_fit(ledger: Ledger) -> None:
    presence = source(FRAMES["arrow"]())
    with pytest.raises(BudgetError, match="Nothing was read and nothing was spent") as caught:
        louver.ask(presence, SQL, ledger=ledger, survey=0.5, objective="mean", **PROMISE)
    steps = largest_total(louver.plan(presence, SQL, strategy="progressive", **PROMISE).worst).price
    assert caught.value.difference == steps + Fraction(1, 2) - 1
    assert caught.value.ways == ("a survey of 0.4618", "no survey", "one look, with the objective worst and no survey")
    assert ledger.remaining() == 1
    assert [entry.act for entry in ledger.entries()] == ["opened"]
    louver.ask(presence, SQL, ledger=ledger, survey=0.4618, objective="mean", **PROMISE)


def test_a_survey_that_was_paid_for_is_free_again_however_little_is_left(ledger: Ledger) -> None:
    presence = source(FRAMES["arrow"]())
    asked: dict[str, Any] = {"survey": 0.1, "objective": "mean", "key": "monday", **PROMISE}
    first = louver.ask(presence, SQL, ledger=ledger, **asked)
    while ledger.remaining() > Fraction(42, 100):
        louver.ask(presence, SQL, ledger=ledger, **PROMISE)
    assert louver.ask(presence, SQL, ledger=ledger, **asked).flagged == first.flagged


def test_a_refusal_after_a_survey_says_that_the_survey_was_paid(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else may spend between the two."""
    monkeypatch.setattr(sys.modules["louver.decide.asking"], "_check_both_fit", lambda *_: None)
    with pytest.raises(BudgetError, match=r"the survey before it cost 0\.9000, which stays spent") as caught:
        louver.ask(source(FRAMES["arrow"]()), SQL, ledger=ledger, survey=0.9, objective="mean", **PROMISE)
    assert "nothing was spent" not in str(caught.value)


def test_an_objective_whose_best_is_one_look_takes_one_look() -> None:
    """One device may be in every room on a day, so all rooms pay for the clearest look and steps save nothing."""
    table = Table(FRAMES["arrow"](), dataset="house", unit=Unit("device", "day"))
    many = Domain({"room": [f"r{n}" for n in range(60)], "capacity": [20] * 60}, keys=["room"])
    made: Any = louver.plan(Source(table, domains=many), CROWDED, objective="mean", **PROMISE)
    assert choices(made).best("mean").levels == 1
    assert made.mechanism == "shift"


@pytest.mark.parametrize("name", ["presnce", "shelves", "main.presnce"])
def test_a_question_about_another_table_is_refused(name: str) -> None:
    with pytest.raises(
        ParameterError, match=r"^There is no table '.*' here \(.*presence.*\); FROM _ leaves it open\.$"
    ):
        louver.plan(source("presence.csv"), SQL.replace("FROM presence", f"FROM {name}"), **PROMISE)


@pytest.mark.parametrize("name", ["presence", "PRESENCE", "main.presence", "_", "office"])
def test_a_table_goes_by_its_own_name_or_its_source_s(name: str) -> None:
    asked = SQL.replace("FROM presence", f"FROM {name}")
    assert louver.plan(source("presence.csv", name="office"), asked, **PROMISE).mechanism == "shift"


def test_a_frame_goes_by_any_name() -> None:
    assert (
        louver.plan(source(FRAMES["arrow"]()), SQL.replace("FROM presence", "FROM x"), **PROMISE).mechanism == "shift"
    )


def test_a_plan_is_printed_as_what_it_protects_promises_and_costs() -> None:
    lines = str(louver.plan(source("presence.csv"), SQL, **PROMISE)).splitlines()
    assert lines[0] == "Protected: one row, not one person; the costs of one person's rows add up."
    assert lines[1].startswith("Promise: A room whose count is above its capacity is missed")
    assert lines[2:] == [
        "Price: epsilon 0.4148 at most",
        "Meaning: whoever gave even odds that one row is in the data can be at most 60.3% sure afterwards",
    ]
    numbers = louver.plan(source("presence.csv"), values(count().by("room")), miss_rate=0.05, within=10)
    assert [line.partition(" ")[0] for line in str(numbers).splitlines()] == [
        *("Protected:", "Promise:", "Price:", "Meaning:")
    ]
    warned = louver.plan(source("presence.csv"), count().by("room") > 5, **PROMISE)
    assert str(warned).splitlines()[4].startswith("Warning: Without any rows, hall and lab are within")


@pytest.mark.parametrize(
    "promise",
    [{}, {"objective": "worst"}, {"objective": "mean", "strategy": "shift"}, {"objective": "mean", "levels": 3}],
)
def test_a_survey_that_chooses_nothing_is_refused(ledger: Ledger, promise: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="A survey is for choosing steps"):
        louver.ask(source(FRAMES["arrow"]()), SQL, ledger=ledger, survey=0.1, **promise, **PROMISE)
    assert ledger.remaining() == 1
