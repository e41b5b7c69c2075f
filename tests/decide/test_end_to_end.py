"""From a file to an answer, through steward and ledger: with error rates of 1e-9 the answer is the true one.

A wrong answer comes with probability below 1e-7 in each test: at most 12 keys, each wrong in at most 1e-9 of cases.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from louver.decide import Adaptive, Bands, Progressive, Shift, Within
from louver.decide.decision import Decision
from louver.decide.values import ValueBounds
from louver.ledger import Cap, Ledger
from louver.privacy import Unit, largest_total
from louver.question import nodes
from louver.question.nodes import Against, Aggregate, Classes, Comparison, Condition, Flag, Not, Threshold, Values
from louver.question.nodes import All as Every
from louver.question.nodes import Any as Either
from louver.source import Table
from louver.source.domain import Domain
from louver.source.filters import EVERY_ROW, Compare, Filter
from louver.source.measures import Bound
from louver.steward import Steward

RARE = Fraction(1, 10**9)
KEYS = ("building", "floor")
BUILDINGS, FLOORS = ("x", "y", "z"), (1, 2, 3)
DOMAIN = Domain.product(building=list(BUILDINGS), floor=list(FLOORS))
VALUES = ValueBounds.of({"watts": (0, 8, 1)})
CAP = 10**6

Row = dict[str, Any]


def recorded() -> list[Row]:
    """Each person has at most three rows; the third building stands empty."""
    dice = random.Random(11)
    return [
        {
            "person": number // 3,
            "building": dice.choice("xxy"),
            "floor": dice.choice(FLOORS),
            "kind": dice.choice("ab"),
            "watts": dice.randint(0, 8),
        }
        for number in range(150)
    ]


ROWS = recorded()


def aggregate(
    kind: str, column: str | None = None, rows: Filter = EVERY_ROW, keys: tuple[str, ...] = KEYS
) -> Aggregate:
    return Aggregate(kind, column, where=rows, keys=keys)


def is_(left: Aggregate, sign: str, threshold: int) -> Comparison:
    return Comparison(left, sign, Threshold(Fraction(threshold)))


ALL = aggregate(nodes.COUNT)
SOME = aggregate(nodes.COUNT, rows=Compare("kind", "=", "a"))
WATTS = aggregate(nodes.SUM, "watts")
WHOLE = aggregate(nodes.COUNT, keys=("building",))


def here(key: tuple[str, int]) -> list[Row]:
    return [row for row in ROWS if (row["building"], row["floor"]) == key]


def watts(key: tuple[str, int]) -> list[int]:
    return sorted(row["watts"] for row in here(key))


ASKED: dict[str, tuple[Condition, Callable[[tuple[str, int]], bool]]] = {
    "count": (is_(ALL, ">", 17), lambda key: len(here(key)) > 17),
    "at most": (is_(ALL, "<=", 17), lambda key: len(here(key)) <= 17),
    "filtered": (is_(SOME, ">=", 10), lambda key: sum(row["kind"] == "a" for row in here(key)) >= 10),
    "sum": (is_(WATTS, ">", 70), lambda key: sum(watts(key)) > 70),
    "average": (
        is_(aggregate(nodes.AVG, "watts"), ">", 4),
        lambda key: bool(here(key)) and sum(watts(key)) > 4 * len(here(key)),
    ),
    "at least on average": (
        is_(aggregate(nodes.AVG, "watts"), ">=", 4),
        lambda key: bool(here(key)) and sum(watts(key)) >= 4 * len(here(key)),
    ),
    "largest": (is_(aggregate(nodes.MAX, "watts"), ">=", 8), lambda key: bool(here(key)) and watts(key)[-1] >= 8),
    "least": (is_(aggregate(nodes.MIN, "watts"), ">", 0), lambda key: bool(here(key)) and watts(key)[0] > 0),
    "median": (
        is_(aggregate(nodes.MEDIAN, "watts"), "<", 4),
        lambda key: bool(here(key)) and watts(key)[(len(watts(key)) - 1) // 2] < 4,
    ),
    "people": (
        is_(aggregate(nodes.COUNT_DISTINCT, "person"), ">", 15),
        lambda key: len({row["person"] for row in here(key)}) > 15,
    ),
    "one against the other": (
        Comparison(SOME, ">", Against(ALL, Fraction(1, 2))),
        lambda key: 2 * sum(row["kind"] == "a" for row in here(key)) > len(here(key)),
    ),
    "equal": (is_(ALL, "=", 17), lambda key: len(here(key)) == 17),
    "a tree": (
        Either((Every((is_(ALL, ">", 12), Not(is_(WATTS, ">", 80)))), is_(WHOLE, ">", 80))),
        lambda key: (
            (len(here(key)) > 12 and sum(watts(key)) <= 80) or sum(row["building"] == key[0] for row in ROWS) > 80
        ),
    ),
}


class Kept:
    """A table on disk, its ledger and its steward."""

    def __init__(self, folder: Path, unit: Unit) -> None:
        text = io.StringIO()
        writer = csv.DictWriter(text, list(ROWS[0]))
        writer.writeheader()
        writer.writerows(ROWS)
        (folder / "rows.csv").write_text(text.getvalue())
        table = Table(folder / "rows.csv", dataset="house", unit=unit)
        self.ledger, _ = Ledger.create(folder / "ledger", dataset="house", unit=unit, caps=[Cap(epsilon=CAP)])
        self.steward = Steward(table, self.ledger)

    def answer(self, plan: Any) -> Any:
        """The answer; what the ledger holds afterwards is what was charged, and no more than was reserved."""
        with self.ledger:
            release = self.steward.run(plan)
            assert self.ledger.spent() == release.charged <= largest_total(plan.worst).price
            return release.answer


def truth(holds: Callable[[tuple[str, int]], bool]) -> list[list[Any]]:
    return [[building, floor] for building in BUILDINGS for floor in FLOORS if holds((building, floor))]


@pytest.mark.parametrize("make", [Shift, Progressive, Adaptive])
@pytest.mark.parametrize("name", ASKED)
def test_rows_are_decided_as_they_are(name: str, make: type[Decision], tmp_path: Path) -> None:
    condition, holds = ASKED[name]
    plan = make(Flag(condition, KEYS), DOMAIN, unit=Unit.row(), miss_rate=RARE, slack=0, values=VALUES)
    assert Kept(tmp_path, Unit.row()).answer(plan)["flagged"] == truth(holds)


@pytest.mark.parametrize(
    ("unit", "bound"),
    [
        (Unit("person"), Bound(3)),
        (Unit("person"), Bound(3, keys=3)),
        (Unit("person", "building"), Bound(3)),
        (Unit("person", "building", "floor"), Bound(3)),
    ],
)
@pytest.mark.parametrize("name", ["count", "sum", "people", "median", "a tree"])
def test_people_are_decided_as_they_are(name: str, unit: Unit, bound: Bound, tmp_path: Path) -> None:
    """Nobody has more rows than the bound allows."""
    condition, holds = ASKED[name]
    plan = Shift(Flag(condition, KEYS), DOMAIN, unit=unit, bound=bound, miss_rate=RARE, slack=0, values=VALUES)
    assert Kept(tmp_path, unit).answer(plan)["flagged"] == truth(holds)


def test_classes_and_numbers_are_as_they_are(tmp_path: Path) -> None:
    cuts = (Threshold(Fraction(0)), Threshold(Fraction(17)))
    bands = Bands(Classes(ALL, cuts, ("none", "few", "many"), KEYS), DOMAIN, unit=Unit.row(), miss_rate=RARE, slack=0)
    keys = [(building, floor) for building in BUILDINGS for floor in FLOORS]
    sizes = [len(here(key)) for key in keys]
    (tmp_path / "bands").mkdir()
    found = Kept(tmp_path / "bands", Unit.row()).answer(bands)["classes"]
    assert found == ["none" if not size else "few" if size <= 17 else "many" for size in sizes]
    numbers = Within(Values((ALL, WATTS), KEYS), DOMAIN, unit=Unit.row(), miss_rate=RARE, distance=0, values=VALUES)
    (tmp_path / "numbers").mkdir()
    assert Kept(tmp_path / "numbers", Unit.row()).answer(numbers)["values"] == [
        sizes,
        [sum(watts(key)) for key in keys],
    ]


def test_bounds_leave_out_what_is_too_much_and_not_more(tmp_path: Path) -> None:
    """Of each person one row counts in all: fifty rows, whichever they are."""
    plan = Within(
        Values((Aggregate(nodes.COUNT),), KEYS), DOMAIN, unit=Unit("person"), bound=Bound(1), miss_rate=RARE, distance=0
    )
    assert Kept(tmp_path, Unit("person")).answer(plan)["values"] == [[50]]
