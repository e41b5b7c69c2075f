"""A survey and the answer that it leads to tell no more about one unit than the ledger is charged for both.

First exactly, question by question, through `ask`, steward and ledger (see `coupled`): the numbers of the survey, the
strategy that they lead to, the answer and the levels. Then what an auditor finds who sees releases only. Both find more
than was charged where the noise is halved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import louver
from louver.decide.shift import Shift
from louver.decide.spread import edges
from louver.decide.survey import Survey
from louver.ledger import Cap, Ledger
from louver.noise import Bits
from louver.privacy import Scope, Unit, total_at
from louver.question import count
from louver.source import Domain, Source, Table
from louver.source.measures import View
from tests.decide.asked import PERSON, ROW, SHAPES
from tests.decide.auditor import assert_audited
from tests.decide.coupled import Noise, Whole
from tests.decide.outcomes import Outcome

CAPACITY = 50
ROOMS = [f"r{number}" for number in range(6)]
OVER = count().by("room") > CAPACITY


@dataclass(frozen=True)
class House:
    """Six rooms; the unit's rows are in the first ones and carry each of their margins over an edge of the survey."""

    unit: Unit
    each: int
    touched: int
    bound: Mapping[str, int]

    @property
    def promise(self) -> dict[str, Any]:
        return {"miss_rate": 0.05, "slack": 10, **self.bound}

    def source(self, rooms: list[int]) -> Source:
        """Everybody but the unit has one row; of the unit are the first rows of each room it is in."""
        rows = [
            ("x" if number < self.each and at < self.touched and self._has_unit(rooms) else f"{at} {number}", name)
            for at, (name, size) in enumerate(zip(ROOMS, rooms, strict=True))
            for number in range(size)
        ]
        table = Table(pandas.DataFrame(rows, columns=["person", "room"]), dataset="house", unit=self.unit)
        return Source(table, domains=Domain({"room": ROOMS}, keys=["room"]))

    def _has_unit(self, rooms: list[int]) -> bool:
        return rooms == self.rooms(with_it=True)

    @property
    def survey(self) -> Survey:
        one_look: Any = louver.plan(self.source([0] * 6), OVER, **self.promise)
        return Survey.of(one_look, 1)

    def rooms(self, with_it: bool) -> list[int]:
        """With the unit the margin is that of the edge just below the threshold, without it one step less."""
        edge = max(each for each in self.edges if each < 0)
        full = CAPACITY + self.each * edge
        return [full - (0 if with_it else self.each)] * self.touched + [3, 70, 20, 55, 90][: 6 - self.touched]

    @property
    def edges(self) -> tuple[int, ...]:
        return edges(self.survey.grid)

    def aligned(self, with_it: bool) -> Whole:
        return np.array([-((CAPACITY - size) // self.each) for size in self.rooms(with_it)])

    @property
    def moves(self) -> tuple[Whole, Whole]:
        """What the unit adds to the numbers of the survey, and to the aligned margins."""
        here, there = self.aligned(with_it=True), self.aligned(with_it=False)
        reached = [np.array([(margins >= edge).sum() for edge in self.edges]) for margins in (here, there)]
        return reached[0] - reached[1], here - there


HOUSES = {
    "rows": House(ROW, 1, 1, {}),
    "people": House(PERSON, 2, 3, {"rows_per_unit": 2, "keys_per_unit": 3}),
}


def asked(house: House, folder: Path, with_it: bool, objective: str) -> tuple[list[Any], Fraction]:
    """All that is released, and what the ledger holds of the unit's budget afterwards."""
    caps = [Cap(epsilon=100)]
    ledger, _ = Ledger.create(folder / f"{with_it}.ledger", dataset="house", unit=house.unit, caps=caps)
    with ledger:
        source = house.source(house.rooms(with_it))
        louver.ask(source, OVER, ledger=ledger, survey=Fraction(1, 4), objective=objective, **house.promise)
        plans = [entry.body["plan"]["mechanism"] for entry in ledger.entries() if entry.act == "reserved"]
        answers = [entry.body["release"]["answer"] for entry in ledger.entries() if entry.act == "settled"]
        return list(zip(plans, answers, strict=True)), ledger.spent(Scope({"room": "r0"}))


@pytest.mark.parametrize("name", HOUSES)
@pytest.mark.parametrize(("objective", "always"), [("mean", 4), ("entropy", -9), ("mean", None)])
def test_a_survey_and_its_answer_lose_at_most_what_the_ledger_holds(
    name: str, objective: str, always: int | None, tmp_path: Path
) -> None:
    """At a noise that is the same everywhere, which loses all that it can, and at random ones."""
    house = HOUSES[name]
    for faster in (1, 2):
        folder = tmp_path / str(faster)
        folder.mkdir()
        noise = Noise(faster, np.asarray if always is None else partial(np.full_like, fill_value=always))
        with noise.recorded():
            released, spent = asked(house, folder, with_it=True, objective=objective)
        (first, _), (second, answer) = released
        assert (first, second in ("shift", "progressive", "adaptive")) == ("survey", True)
        moves = house.moves
        assert moves[0].sum() == house.touched, "the unit does not carry its margins over an edge"
        reached = [np.zeros(len(house.edges), dtype=np.int64), np.array(answer.get("levels", [[0] * 6])[0])]
        with noise.moved(moves, reached):
            assert asked(house, folder, with_it=False, objective=objective) == (released, spent)
        lost = abs(noise.loss(moves, reached))
        assert lost <= faster * spent
        if always is not None:
            assert lost > Fraction(7, 10) * faster * spent
            assert (lost <= spent) == (faster == 1)


TRIALS = 1_000
BETWEEN = 40  # keys between two edges: so many that noise does not reach from one to the next
CROWDS = {
    "rows": (SHAPES["leaf"], 1, Fraction(1)),
    "people": (SHAPES["people in rooms"], 3, Fraction(3, 2)),
}


@pytest.mark.parametrize("name", CROWDS)
def test_trials_of_a_survey_find_no_more_than_its_price(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether all the unit's keys seem to be beyond the edge that they are at with the unit, among many other keys."""
    shape, touched, paid = CROWDS[name]
    cuts = edges(Survey.of(shape.plan(Shift), paid).grid)
    others = np.repeat(np.array([cuts[0] - 1, *cuts]), BETWEEN)
    plan = Survey.of(shape.plan(Shift, touched + len(others)), paid)
    price = total_at(plan.worst, {"room": 0})
    assert (price, plan.rate) == (paid, paid / touched)
    monkeypatch.setattr(Survey, "grid", plan.grid)  # making it anew takes most of a survey's time
    number, step = len(cuts) // 2, plan.program.looks[0].touch.step

    def draw(added: bool) -> Counter[Outcome]:
        margins = step * np.concatenate((np.full(touched, cuts[number] - 1 + added), others))
        rows, beyond = View((CAPACITY + margins,)), touched + BETWEEN * (len(cuts) - number)
        released = (plan.run(rows, Bits()).answer["margins"] for _ in range(TRIALS))
        return Counter((round(sum(size for _, size in each[number + 1 :])) >= beyond,) for each in released)

    assert_audited(draw, lambda _: price)
