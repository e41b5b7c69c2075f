"""Questions that the tests of deciding share: trees of every shape, over domains of any size."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from louver.decide.decision import Decision
from louver.decide.values import ValueBounds
from louver.privacy import Unit
from louver.question import nodes
from louver.question.nodes import Aggregate, Comparison, Condition, Flag, Not, Threshold
from louver.question.nodes import All as Every
from louver.question.nodes import Any as Some
from louver.source.domain import Domain
from louver.source.filters import EVERY_ROW, Compare, Filter
from louver.source.measures import Bound, View

TWENTIETH = Fraction(1, 20)
ROW, PERSON = Unit.row(), Unit("person")
ROOM = ("room",)

Made = TypeVar("Made", bound=Decision)


def where(column: str) -> Filter:
    """Rows that a row need not share with those of another column."""
    return Compare(column, "=", value=True)


def count(rows: Filter = EVERY_ROW, keys: tuple[str, ...] = ROOM) -> Aggregate:
    return Aggregate(nodes.COUNT, where=rows, keys=keys)


def of(kind: str, column: str = "watts", rows: Filter = EVERY_ROW) -> Aggregate:
    return Aggregate(kind, column, where=rows, keys=ROOM)


def is_(aggregate: Aggregate, sign: str, threshold: int | Fraction | str, slack: int | None = None) -> Comparison:
    limit = Threshold(column=threshold) if isinstance(threshold, str) else Threshold(Fraction(threshold))
    return Comparison(aggregate, sign, limit, None if slack is None else Fraction(slack))


def many(column: str, threshold: int = 50) -> Comparison:
    """More rows of this kind than the threshold."""
    return is_(count(where(column)), ">", threshold)


def kind(value: str) -> Aggregate:
    """Counts of rows of one kind: different kinds share no row."""
    return count(Compare("kind", "=", value))


def rooms(size: int, **columns: Any) -> Domain:
    return Domain({"room": list(range(size)), **columns}, keys=["room"])


@dataclass(frozen=True)
class Shape:
    """A condition, and what else its plan is made with."""

    condition: Condition
    slack: Any = 10
    unit: Unit = ROW
    bound: Bound | None = None
    values: ValueBounds = field(default_factory=lambda: ValueBounds.of({"watts": (0, 8, 1)}))

    def plan(self, make: type[Made], size: int = 1, **changed: Any) -> Made:
        given = {"slack": self.slack, "unit": self.unit, "bound": self.bound, "values": self.values, **changed}
        return make(Flag(self.condition, ROOM), rooms(size), **{"miss_rate": TWENTIETH, **given})


A, B, C, D = many("a"), many("b", 40), many("c", 70), many("d", 30)

SHAPES = {
    "leaf": Shape(is_(count(), ">", 50)),
    "and": Shape(Every((A, B))),
    "or": Shape(Some((A, B))),
    "or of four": Shape(Some((A, B, C, D))),
    "a or (b and c)": Shape(Some((A, Every((B, C))))),
    "(a or b) and c": Shape(Every((Some((A, B)), C))),
    "not (a and b)": Shape(Not(Every((A, B)))),
    "equal": Shape(is_(count(), "=", 50)),
    "unequal": Shape(is_(count(), "<>", 50), slack=0),
    "between": Shape(Every((is_(count(), ">=", 40), is_(count(), "<=", 60)))),
    "a repeated leaf": Shape(Some((Every((A, B)), Every((A, C))))),
    "own slacks": Shape(Every((A, B)), slack=(4, 20)),
    "disjoint and": Shape(Every((is_(kind("x"), ">", 50), is_(kind("y"), ">", 40)))),
    "disjoint or": Shape(Some((is_(kind("x"), ">", 50), is_(kind("y"), ">", 40)))),
    "sum": Shape(is_(of(nodes.SUM), ">", 100), slack=40),
    "average": Shape(is_(of(nodes.AVG), ">", 3), slack=30),
    "largest": Shape(is_(of(nodes.MAX), ">", 5), slack=3),
    "none above": Shape(is_(of(nodes.MAX), "<", 5), slack=4),
    "least": Shape(is_(of(nodes.MIN), "<=", 2), slack=5),
    "median": Shape(is_(of(nodes.MEDIAN), ">", 4), slack=12),
    "people in rooms": Shape(is_(count(), ">", 50), unit=PERSON, bound=Bound(rows=2, keys=3)),
    "sum and count": Shape(Every((is_(of(nodes.SUM), ">", 100, slack=50), A)), unit=PERSON, bound=Bound(rows=2)),
}


def view(plan: Decision, values: dict[int, int]) -> View:
    """What a plan would read if each measure had this value at every key; those not named are 0."""
    reading = plan.reading
    return View(
        tuple(
            np.full(len(reading.keys[measure.keys]), values.get(number, 0), dtype=np.int64)
            for number, measure in enumerate(reading.measures)
        )
    )
