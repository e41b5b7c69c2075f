"""A look at tails under a plan: what it costs, who is charged where, and what it says of each region."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from louver.errors import BudgetError, LouverError, ParameterError
from louver.privacy import Pure, Unit, plan_from_dict, plan_to_dict
from louver.source import Bound, Domain, Source, Table
from louver.source.measures import View
from louver.steward import Release
from louver.stream.looking import Tails, look_at_tails, tails
from louver.stream.tail import HEAVY, LIGHT, UNCLEAR, look_at_tail
from louver.stream.tail_plan import TailPlan
from louver.stream.truncated import SMOOTH
from tests.noise.laws import assert_follows, assert_rejects, laplace
from tests.stream.published import HOUR, SLOTTED, TICKS, TRUTH, house, planned
from tests.stream.smoothing import seeded

ASKED: dict[str, Any] = {**HOUR, "tick_bound": 64, "epsilon": 1}
DAYS: dict[str, Any] = {**ASKED, "begin": "2018-01-01", "end": "2018-02-01"}
MANY = 31 * 288


def source(unit: Unit = SLOTTED, bound: Bound | None = None) -> Source:
    table = Table("presence.csv", dataset="house", unit=unit, values={"watts": (0, 8, 1)})
    return Source(table, domains=Domain({"room": ["hall", "lab"]}, keys=["room"]), bound=bound)


def seen(*regions: Any) -> View:
    return View((np.concatenate(regions).astype(np.int64),))


def test_a_look_is_charged_as_its_stream_would_be_and_releases_no_tick(tmp_path: Path) -> None:
    with house(tmp_path) as made:
        found = look_at_tails(made.source, ledger=made.ledger, **ASKED)
        assert made.ledger.spent() == made.ledger.spent(planned().scope) == found.remaining == 1
        assert found.release.charged == 1
    assert set(found.release.answer) == {"tails"}
    assert [len(each) for each in found.release.answer["tails"]] == [3, 3]


def test_the_same_key_looks_again_for_nothing_and_what_is_left_pays_no_third(tmp_path: Path) -> None:
    with house(tmp_path) as made:
        first = look_at_tails(made.source, ledger=made.ledger, key="look", **ASKED)
        again = look_at_tails(made.source, ledger=made.ledger, key="look", **ASKED)
        assert first.tails == again.tails
        assert again.release.again
        assert made.ledger.spent() == 1
        look_at_tails(made.source, ledger=made.ledger, **ASKED)
        with pytest.raises(BudgetError):
            look_at_tails(made.source, ledger=made.ledger, **ASKED)


def test_what_is_released_is_the_look_at_the_ticks_of_each_region(tmp_path: Path) -> None:
    plan = tails(source(), **ASKED)
    bits = seeded(7)
    alone = [look_at_tail(TRUTH[:, room], 64, 1, bits=bits) for room in (0, 1)]
    with house(tmp_path, seed=7) as made:
        answer = made.steward.run(plan).answer
    assert plan.tails(answer) == tuple(alone)


@pytest.mark.parametrize(
    ("unit", "bound", "more", "changes"),
    [
        (SLOTTED, Bound(1), {}, 1),
        (SLOTTED, Bound(2), {}, 2),
        (SLOTTED, Bound(1), {"window": 4}, 4),
        (Unit("person"), Bound(3, keys=5), {}, 5),
        (Unit.row(), None, {}, 1),
    ],
)
def test_all_changes_that_a_unit_can_make_are_paid_together(
    unit: Unit, bound: Bound | None, more: dict[str, Any], changes: int
) -> None:
    plan = tails(source(unit, bound), **ASKED, **more)
    assert plan.cell_price == Pure(Fraction(1, changes))
    assert plan.price == plan.worst[0].guarantee == Pure(1)


def test_counts_of_a_unit_in_two_cells_have_noise_for_both() -> None:
    """Nobody is anywhere, so that the two counts of each region are noise alone, at a quarter of half of epsilon."""
    asked = {**ASKED, "by": "room", "begin": "2018-02-01T09:00", "end": "2018-02-01T09:10"}
    regions = [f"r{number}" for number in range(400)]
    table = Table("presence.csv", dataset="house", unit=Unit("person"))
    wide = Source(table, domains=Domain({"room": regions}, keys=["room"]), bound=Bound(1, keys=2))
    plan = tails(wide, **asked)
    answer: Any = plan.run(View((np.zeros(2 * len(regions), dtype=np.int64),)), seeded(5)).answer
    drawn = np.array([count for _, near, far in answer["tails"] for count in (near, far)])
    assert_follows(drawn, laplace(0.125))
    assert_rejects(drawn, laplace(0.25))


def looked(view: View, **more: Any) -> Tails:
    plan = tails(source(), **{**DAYS, "tick_bound": 200_000, "epsilon": 20, **more})
    answer = plan.run(view, seeded(3)).answer
    return Tails(plan, Release(answer, plan.promise, plan.protected, Fraction(20), Fraction(20), 2), ("room",))


def test_each_region_has_a_verdict_and_all_must_be_light_for_a_factor() -> None:
    dice = np.random.default_rng(8)
    light, heavy = dice.uniform(0, 6400, MANY), 1000 * dice.pareto(2.5, MANY)
    mixed, both = looked(seen(light, heavy)), looked(seen(light, light))
    assert (mixed.verdicts, both.verdicts) == ((LIGHT, HEAVY), (LIGHT, LIGHT))
    assert (float(mixed.stretch), float(both.stretch)) == (1.0, 2.0)
    assert mixed.sentences[0].startswith(f"hall: light. Of {MANY:,} ticks about ")
    assert mixed.sentences[-1].endswith("because not all tails are light: one is heavy.")
    assert both.sentences[-1] == "A smooth threshold may be stretched by a factor of 2."


def test_no_tick_is_said_to_be_beyond_the_bound() -> None:
    found = looked(seen(*[np.full(MANY, 6000)] * 2), tick_bound=6400, factor=3)
    assert all(3 * tail.quantile > 6400 for tail in found.tails)
    assert all(" up to 6,400 and " in each for each in found.sentences[:2])


def test_the_factor_that_is_asked_for_is_looked_at() -> None:
    found = looked(seen(*[np.random.default_rng(8).uniform(0, 6400, MANY)] * 2), factor=Fraction(3, 2))
    assert {tail.factor for tail in found.tails} == {found.stretch} == {Fraction(3, 2)}
    assert found.to_dict()["stretch"] == "3/2"
    assert [each["room"] for each in found.to_dict()["tails"]] == ["hall", "lab"]


def test_too_few_ticks_for_a_light_tail_are_warned_about() -> None:
    few, enough = tails(source(), **ASKED), tails(source(), **DAYS)
    assert any(f"told from about 1,500 ticks on, and here are {TICKS}" in said for said in few.warnings)
    assert not any("told from" in said for said in enough.warnings)
    lightest = seen(np.arange(TICKS), np.arange(TICKS))
    assert {each.verdict for each in few.tails(few.run(lightest, seeded(1)).answer)} == {UNCLEAR}


def test_nothing_is_said_of_sums_that_nobody_asked_for() -> None:
    said = " ".join((tails(source(), **ASKED).promise, *tails(source(), **ASKED).warnings))
    assert "threshold at the bound" not in said
    assert "too few to find a threshold" not in said


def test_a_stored_look_comes_back_and_an_edited_one_does_not() -> None:
    stored = plan_to_dict(tails(source(), **ASKED))
    assert plan_from_dict(stored) == tails(source(), **ASKED)
    for name in ("factor", "stream"):
        odd: list[Any] = [None, [], "3", "1e9", 2]
        for wrong in odd:
            with pytest.raises(ParameterError):
                plan_from_dict({**stored, "parameters": {**stored["parameters"], name: wrong}})


@pytest.mark.parametrize(
    "wrong", [{"factor": 1}, {"factor": 5}, {"epsilon": 0}, {"tick_bound": None}, {"epsilon": None, "rho": 1}]
)
def test_a_look_that_is_none_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(LouverError, match=r"\.$"):
        tails(source(), **{**ASKED, **wrong})


@pytest.mark.parametrize("behind", [planned(), planned(mechanism="kary"), None])
def test_a_look_is_behind_a_stream_with_a_threshold(behind: Any) -> None:
    with pytest.raises(ParameterError, match="A look at tails is one behind"):
        TailPlan(behind)


def test_the_smooth_threshold_has_the_papers_parameters_unless_others_are_given() -> None:
    """Perrier, Asghar and Kaafar: p = 0.005, r from 1 on, 0.8 of epsilon for the threshold, a lag of 50,000."""
    years: dict[str, Any] = {**ASKED, "begin": "2010-01-01", "end": "2014-01-01", "by": (), "mechanism": "truncated"}
    made: Any = planned(**years, options={"threshold": SMOOTH}).made(seeded(1))
    assert (made.share, made.factor, made.lag) == (Fraction(1, 200), 1, 50_000)
    assert made.delta == Fraction(1, made.horizon**2)
    assert (made.threshold_part, made._finder.epsilon) == (Fraction(4, 5), Fraction(4, 5))
    assert made._first_rate(1) == Fraction(1, 5)


@pytest.mark.parametrize("name", ["truncated", "running-mean", "present-mean"])
def test_how_epsilon_is_split_can_be_said(name: str) -> None:
    whole = {"present-mean": Fraction(3, 4)}.get(name, Fraction(1))
    made: Any = planned(**{**ASKED, "mechanism": name}, options={"threshold_part": "0.3"}).made(seeded(1))
    assert made._finder.epsilon == whole * Fraction(3, 10)
    assert made._first_rate(1) == whole * Fraction(7, 10)
    assert made.price == Pure(1)


@pytest.mark.parametrize("part", ["0", "1", "0.999", "x", "-1"])
def test_a_split_that_leaves_nothing_is_refused(part: str) -> None:
    with pytest.raises(LouverError, match=r"threshold_part must be .*\.$"):
        planned(**{**ASKED, "mechanism": "truncated"}, options={"threshold_part": part})
