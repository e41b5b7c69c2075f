"""The questions that audits ask, and what each outcome of them is charged."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from louver.decide import payers
from louver.decide.decision import Decision
from louver.decide.progressive import Progressive
from louver.privacy import Charge, total_at
from louver.question.nodes import All as Every
from tests.decide.asked import SHAPES, Shape, count, is_
from tests.decide.outcomes import Outcome, Row

# Small slacks make prices large, so that what is too much shows at once.
AUDITED = {
    "leaf": SHAPES["leaf"],
    "and": Shape(SHAPES["and"].condition, slack=5),
    "or": Shape(SHAPES["or"].condition, slack=5),
    "a or (b and c)": Shape(SHAPES["a or (b and c)"].condition, slack=(4, 6, 8)),
    "equal": SHAPES["equal"],
    "unequal": SHAPES["unequal"],
    "between": Shape(Every((is_(count(), ">=", 48), is_(count(), "<=", 52))), slack=4),
    "disjoint and": SHAPES["disjoint and"],
    "disjoint or": SHAPES["disjoint or"],
    "sum": SHAPES["sum"],
    "average": SHAPES["average"],
    "median": SHAPES["median"],
    "none above": SHAPES["none above"],
    "a repeated leaf": SHAPES["a repeated leaf"],
}


def plan_of(name: str, make: type[Decision], size: int = 1) -> Any:
    return shape_of(name).plan(make, size, **levels_of(make))


def shape_of(name: str) -> Shape:
    return AUDITED[name] if name in AUDITED else SHAPES[name]


def levels_of(make: type[Decision]) -> dict[str, int]:
    """Two levels have all that more would have, and the law of few outcomes is exact sooner."""
    return {"levels": 2} if make is Progressive else {}


def charged(plan: Any, found: Sequence[Outcome], row: Row) -> Fraction:
    """What the unit of this row is charged where its keys come out so."""
    if not isinstance(plan, Progressive):
        return total_at(plan.worst, {"room": 0, **row})
    made: list[Charge] = []
    for number, (look, grid) in enumerate(zip(plan.program.looks, plan.grids, strict=True)):
        reached = [outcome[1 + number] for outcome in found]
        keys = plan.reading.keys[look.keys]
        made += payers.charges(keys, look.box, look.touch, plan.unit, reached, grid.levels)
    return total_at(made, {"room": 0, **row})
