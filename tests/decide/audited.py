"""The questions that audits ask, the rows that make neighbours, and what each outcome is charged."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from louver.decide import payers
from louver.decide.decision import Decision
from louver.decide.naive import Naive
from louver.decide.progressive import Progressive
from louver.privacy import Charge, total_at
from louver.question.nodes import All as Every
from tests.decide.asked import SHAPES, Shape, count, is_
from tests.decide.outcomes import Outcome, Row, contribution

TO_SPARE = 1e-6

Adds: TypeAlias = "Mapping[int, int]"

# Small slacks make prices large, so that what is too much shows at once.
AUDITED = {
    "leaf": SHAPES["leaf"],
    "and": Shape(SHAPES["and"].condition, slack=5),
    "or": Shape(SHAPES["or"].condition, slack=5),
    "a or (b and c)": Shape(SHAPES["a or (b and c)"].condition, slack=(4, 6, 8)),
    "not (a and b)": Shape(SHAPES["not (a and b)"].condition, slack=5),
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


def levels_of(make: type[Decision]) -> dict[str, Any]:
    """Two levels have all that more would have, and the law of few outcomes is exact sooner."""
    return {"levels": 2} if make is Progressive else {"epsilon": Fraction(1)} if make is Naive else {}


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


def every_row(plan: Decision) -> Iterator[tuple[Row, dict[int, int]]]:
    """Every kind of row that the plan's measures tell apart, and what it adds to them."""
    columns: dict[str, Sequence[Any]] = dict.fromkeys("abcd", (True, False))
    columns |= {"kind": ("x", "y"), "watts": (0, 2, 3, 4, 5, 8)}
    kept = {name: values for name, values in columns.items() if name in plan.reading.columns()}
    known: list[dict[int, int]] = []
    for chosen in itertools.product(*kept.values()):
        row = dict(zip(kept, chosen, strict=True))
        if (adds := added(plan, [row])) not in known and any(adds.values()):
            known.append(adds)
            yield row, adds


def added(plan: Decision, rows: Sequence[Row]) -> dict[int, int]:
    """What these rows add to each measure at their key."""
    return {
        number: sum(contribution(measure, row) for row in rows) for number, measure in enumerate(plan.reading.measures)
    }


def near_thresholds(plan: Decision) -> Iterator[dict[int, int]]:
    """Values at which each look is unsure: in the middle of the slack, and at either end of it."""
    program = plan.program
    choices = []
    for look in program.looks:
        leaf = program.leaves[look.leaves[0]]
        term = leaf.margin.terms[0]
        number = plan.reading.measures.index(term.measure)
        wanted = (1, -leaf.slack // 2, -leaf.slack) if len(program.looks) == 1 else (0, -leaf.slack)
        choices.append([(number, (each - leaf.margin.offsets[0]) // term.coefficients[0]) for each in wanted])
    return (dict(chosen) for chosen in itertools.product(*choices))


def moved(values: Adds, adds: Adds) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((number, values.get(number, 0) + adds[number]) for number in adds))
