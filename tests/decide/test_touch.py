"""What one unit can move: every contribution that its bound allows, tried one by one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from louver.decide.margins import Margin, margin
from louver.decide.touch import Touch, no_bound_needed, touch
from louver.errors import ParameterError
from louver.noise.grid import Grid
from louver.privacy import Unit
from louver.question import nodes
from louver.question.nodes import Against, Aggregate, Comparison, Threshold
from louver.source.measures import DISTINCT, Bound, Measure
from tests.decide.asked import where
from tests.decide.outcomes import contribution, passes

FINE = ("building", "floor")
PLACES = [("x", 1), ("x", 2), ("y", 1), ("z", 1)]
GRID = Grid(-3, 5, 1)
WATTS = Aggregate(nodes.SUM, "watts")

COMPARED = {
    "count": Comparison(Aggregate(nodes.COUNT), ">", Threshold(Fraction(3))),
    "few": Comparison(Aggregate(nodes.COUNT, where=where("a")), "<=", Threshold(Fraction(3))),
    "sum": Comparison(WATTS, ">", Threshold(Fraction(3))),
    "average": Comparison(Aggregate(nodes.AVG, "watts"), "<", Threshold(Fraction(2))),
    "median": Comparison(Aggregate(nodes.MEDIAN, "watts"), ">", Threshold(Fraction(2))),
    "difference": Comparison(Aggregate(nodes.COUNT, where=where("a")), ">", Against(WATTS, Fraction(1, 2))),
    "people": Comparison(Aggregate(nodes.COUNT_DISTINCT, "person"), ">", Threshold(Fraction(3))),
    "tags": Comparison(Aggregate(nodes.COUNT_DISTINCT, "tag"), ">", Threshold(Fraction(3))),
    "people against people": Comparison(
        Aggregate(nodes.COUNT_DISTINCT, "person", where=where("a")),
        "<",
        Against(Aggregate(nodes.COUNT_DISTINCT, "person"), Fraction(2)),
    ),
}
UNITS = [
    (Unit.row(), None),
    (Unit("person"), Bound(1)),
    (Unit("person"), Bound(3)),
    (Unit("person"), Bound(2, keys=2)),
    (Unit("person", "building"), Bound(2)),
    (Unit("person", "building"), Bound(2, keys=2)),
    (Unit("person", "building", "floor"), Bound(2)),
    (Unit("person", "building", "floor"), Bound(1, keys=2)),
]


def made(name: str) -> Margin:
    return margin(COMPARED[name], 0, lambda threshold: [threshold.constant], lambda _: GRID)


def contributions(unit: Unit, bound: Bound | None) -> Iterator[tuple[dict[str, Any], ...]]:
    """All sets of rows that count of one unit: rows of every kind, where the unit and the bound let them be."""
    kinds = [
        {"person": 7, "building": building, "floor": floor, "watts": watts, "a": a, "tag": watts}
        for building, floor in PLACES
        for watts in (-3, 5)
        for a in (True, False)
    ]
    rows = 1 if bound is None else bound.rows * (bound.keys or 1)
    for size in range(1, rows + 1):
        for chosen in itertools.combinations_with_replacement(kinds, size):
            fixed = [column for column in unit.columns if len({row[column] for row in chosen}) > 1]
            places = [tuple(row[column] for column in FINE) for row in chosen]
            per_key = bound is not None and bound.keys is not None
            if per_key and (len(set(places)) > bound.keys or max(map(places.count, places)) > bound.rows):  # type: ignore[union-attr, operator]
                continue
            if not fixed:
                yield chosen


def moved(leaf: Margin, rows: tuple[dict[str, Any], ...]) -> int:
    """By how much these rows of one key move its margin."""
    return sum(term.coefficients[0] * _added(term.measure, rows) for term in leaf.terms)


def _added(measure: Measure, rows: tuple[dict[str, Any], ...]) -> int:
    if measure.kind == DISTINCT:
        return len({row[measure.column or ""] for row in rows if passes(measure.where, row)})
    return sum(contribution(measure, row) for row in rows)


@pytest.mark.parametrize("columns", [FINE, ("building",), ()])
@pytest.mark.parametrize(("unit", "bound"), UNITS)
@pytest.mark.parametrize("name", COMPARED)
def test_no_unit_moves_aligned_margins_by_more_than_its_touches(
    name: str, unit: Unit, bound: Bound | None, columns: tuple[str, ...]
) -> None:
    leaf = made(name)
    found = touch(unit, bound, columns, FINE, leaf)
    worst = 0
    seen: set[tuple[int, ...]] = set()
    for rows in contributions(unit, bound):
        keys: dict[tuple[object, ...], list[dict[str, Any]]] = {}
        for row in rows:
            keys.setdefault(tuple(row[column] for column in columns), []).append(row)
        moves = tuple(sorted(abs(moved(leaf, tuple(each))) for each in keys.values()))
        if moves in seen:
            continue
        seen.add(moves)
        # Each key's margin may lie anywhere between two steps: from the worst place it goes ceil(move / step) further.
        touches = sum(-(-move // found.step) for move in moves)
        assert touches <= found.times
        worst = max(worst, touches)
    assert worst == found.times, "a touch that no unit can reach would be paid for nothing"


def test_the_bounds_of_the_brute_force_bite() -> None:
    """With one touch less, or a smaller step, some contribution is too much."""
    leaf = made("sum")
    full = touch(Unit("person"), Bound(2, keys=2), FINE, FINE, leaf)
    assert full == Touch(10, 2)
    most = max(
        sum(-(-abs(moved(leaf, (row,))) // 4) for row in rows)
        for rows in contributions(Unit("person"), Bound(2, keys=2))
    )
    assert most > 2


@pytest.mark.parametrize(
    ("unit", "name", "columns", "free"),
    [
        (Unit.row(), "sum", FINE, True),
        (Unit("person", "building", "floor"), "people", FINE, True),
        (Unit("person", "building"), "people", ("building",), True),
        (Unit("person"), "people", (), True),
        (Unit("person"), "people", ("building",), False),
        (Unit("person", "building"), "tags", ("building",), False),
        (Unit("person", "building"), "count", ("building",), False),
    ],
)
def test_a_bound_is_left_out_only_where_a_unit_cannot_weigh_more(
    unit: Unit, name: str, columns: tuple[str, ...], free: bool
) -> None:
    leaf = made(name)
    assert no_bound_needed(unit, leaf, columns) == free
    if free and not unit.is_row:
        # However many rows: the margin of its one key moves by no more than with the least bound.
        found = touch(unit, Bound(1), columns, FINE, leaf)
        rows = [{"person": 7, "building": "x", "floor": 1, "tag": tag, "watts": 5, "a": True} for tag in range(50)]
        assert moved(leaf, tuple(rows)) <= found.step * found.times


def test_a_unit_that_weighs_too_much_is_refused() -> None:
    heavy = margin(COMPARED["sum"], 0, lambda _: [Fraction(0)], lambda _: Grid(0, 2**50, 1))
    with pytest.raises(ParameterError, match="too many steps"):
        touch(Unit("person"), Bound(2, keys=2), FINE, FINE, heavy)
