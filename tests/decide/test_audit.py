"""No outcome of any strategy tells more about one unit than it charges; with half the noise, some would.

The law of (answer, stop levels) on neighbouring data, exactly, for every contribution that one unit may make. What an
auditor finds who sees outcomes only is in `test_audit_trials`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import pytest

from louver.decide.bands import Bands
from louver.decide.decision import Decision
from louver.decide.progressive import Progressive
from louver.decide.shift import Shift
from louver.decide.sparse_plan import Sparse
from louver.decide.within import Within
from louver.noise import Bits
from louver.privacy import Unit, total_at
from louver.question import nodes
from louver.question.nodes import Any as Some
from louver.question.nodes import Classes, Flag, Threshold, Values
from louver.source.domain import Domain
from louver.source.measures import Bound
from tests.decide import exactly, outcomes
from tests.decide.asked import PERSON, ROOM, ROW, SHAPES, TWENTIETH, Shape, count, is_, of, rooms, view, where
from tests.decide.audited import (
    AUDITED,
    TO_SPARE,
    added,
    charged,
    every_row,
    levels_of,
    moved,
    near_thresholds,
    plan_of,
    shape_of,
)
from tests.decide.outcomes import Outcome, contribution, losses

Law: TypeAlias = "Mapping[Outcome, float]"

STEPPED = ["leaf", "and", "or", "between", "equal", "disjoint or", "sum", "average"]


@lru_cache(maxsize=100_000)
def law(name: str, make: type[Decision], values: tuple[tuple[int, int], ...], faster: int) -> Law:
    return outcomes.law(shape_of(name), make, dict(values), faster=faster, **levels_of(make))


def largest_excess(name: str, make: type[Decision], faster: int = 1) -> tuple[float, float]:
    """By how much the loss about one row exceeds its charge at most, and the largest part of a charge that is lost."""
    plan = plan_of(name, make)
    excess, part = -math.inf, 0.0
    for values in near_thresholds(plan):
        for row, adds in every_row(plan):
            without, with_it = (law(name, make, moved(values, each), faster) for each in (dict.fromkeys(adds, 0), adds))
            for one, other in ((without, with_it), (with_it, without)):
                for outcome, loss in losses(one, other):
                    paid = float(charged(plan, [outcome], row))
                    excess = max(excess, loss - paid)
                    part = max(part, loss / paid if paid else 0.0)
    return excess, part


@pytest.mark.parametrize("name", AUDITED)
def test_one_look_loses_at_most_its_price_whatever_a_row_is(name: str) -> None:
    excess, part = largest_excess(name, Shift)
    assert excess <= TO_SPARE
    assert part > 0.7, "an audit that comes nowhere near the price would not notice if it were too low"
    assert largest_excess(name, Shift, faster=2)[0] > 0.1


@pytest.mark.parametrize("name", STEPPED)
def test_levels_lose_at_most_what_was_charged_whatever_a_row_is(name: str) -> None:
    excess, part = largest_excess(name, Progressive)
    assert excess <= TO_SPARE
    assert part > 0.7
    assert largest_excess(name, Progressive, faster=2)[0] > 0.1


@pytest.mark.parametrize("make", [Shift, Progressive])
def test_rows_spread_over_keys_lose_at_most_the_charge(make: type[Decision]) -> None:
    """One person, at most two rows in each of at most three rooms; all rooms pay together, at the clearest level."""
    name = "people in rooms"
    plan = plan_of(name, make, 3)
    for spread in ((2, 2, 2), (2, 1, 0), (1, 1, 1)):
        for rows in ((51, 45, 41), (45, 45, 45)):
            here = [law(name, make, ((0, each),), 1) for each in rows]
            there = [law(name, make, ((0, each + more),), 1) for each, more in zip(rows, spread, strict=True)]
            closest = -math.inf
            for one, other in ((here, there), (there, here)):
                ratios = [dict(losses(*pair)) for pair in zip(one, other, strict=True)]
                for found in itertools.product(*ratios):
                    lost = sum(ratio[outcome] for ratio, outcome in zip(ratios, found, strict=True))
                    closest = max(closest, lost - float(charged(plan, found, {})))
            assert closest <= TO_SPARE
            if spread == (2, 2, 2) and rows == (45, 45, 45):
                assert closest > -0.1 * float(total_at(plan.worst, {}))


def test_a_sum_and_a_count_of_the_same_two_rows_lose_at_most_both_prices() -> None:
    name = "sum and count"
    plan = plan_of(name, Shift)
    kinds = [{"watts": watts, "a": a} for watts in (0, 5, 8) for a in (True, False)]
    part = 0.0
    for rows in itertools.combinations_with_replacement(kinds, 2):
        for values in near_thresholds(plan):
            adds = added(plan, rows)
            laws = [law(name, Shift, moved(values, each), 1) for each in (dict.fromkeys(adds, 0), adds)]
            for one, other in (laws, laws[::-1]):
                for _, loss in losses(one, other):
                    paid = float(total_at(plan.worst, {}))
                    assert loss <= paid + TO_SPARE
                    part = max(part, loss / paid)
    assert part > 0.7


def test_a_floor_and_its_building_lose_at_most_both_prices() -> None:
    """A row on a floor is in two looks: what is released about both floors hangs on the building's noise."""
    floors = Domain({"building": ["x", "x"], "floor": [1, 2]}, keys=["building", "floor"])
    keys = ("building", "floor")
    condition = Some((is_(count(keys=keys), ">", 20), is_(count(keys=("building",)), ">", 60)))
    plan = Shift(Flag(condition, keys), floors, unit=ROW, miss_rate=TWENTIETH, slack=4)
    paid = total_at(plan.worst, {"building": "x", "floor": 1})
    assert paid == sum(plan.look_prices)

    def released(first: int, second: int, building: int) -> Law:
        test_of_floor, test_of_building = plan.tests
        flags = [float(test_of_floor.acceptance(rows - 20).upper) for rows in (first, second)]
        over = float(test_of_building.acceptance(building - 60).upper)
        return {
            (one, two): (over if one and two else 0.0)
            + (1 - over) * (flags[0] if one else 1 - flags[0]) * (flags[1] if two else 1 - flags[1])
            for one, two in itertools.product((True, False), repeat=2)
        }

    part = 0.0
    for first, second, building in itertools.product((14, 18, 21), (14, 18, 21), (54, 58, 61)):
        here, there = released(first, second, building), released(first + 1, second, building + 1)
        for one, other in ((here, there), (there, here)):
            for _, loss in losses(one, other):
                assert loss <= float(paid) + TO_SPARE
                part = max(part, loss / float(paid))
    assert part > 0.7


CLASSES = Classes(count(), tuple(Threshold(Fraction(cut)) for cut in (40, 48, 60)), tuple("abcd"), ROOM)


def test_classes_lose_at_most_the_price_of_one_look() -> None:
    def plan(size: int = 1, **changed: Any) -> Bands:
        given = {"unit": Unit("person", "room"), "bound": Bound(rows=3), "miss_rate": TWENTIETH, "slack": 11, **changed}
        return Bands(CLASSES, rooms(size), **given)

    paid = float(total_at(plan().worst, {"room": 0}))
    largest = 0.0
    for faster in (1, 2):
        largest = 0.0
        for rows in range(30, 70, 3):
            for more in (1, 2, 3):
                laws = [outcomes.law_of(plan(), plan, {0: each}, faster) for each in (rows, rows + more)]
                for pair in (laws, laws[::-1]):
                    largest = max(largest, *(loss for _, loss in losses(*pair)))
        assert (largest <= paid + TO_SPARE) == (faster == 1)
    assert largest > 1.5 * paid


def test_numbers_lose_at_most_their_prices() -> None:
    """Noise of rate r on a number that moves by d loses r |d|: the largest sum over all that one unit may add."""
    question = Values((count(), of(nodes.SUM), count(where("a"))), ROOM)
    for unit, bound in ((ROW, None), (PERSON, Bound(rows=2)), (PERSON, Bound(rows=2, keys=2))):
        plan = Within(
            question,
            rooms(2),
            unit=unit,
            bound=bound,
            miss_rate=TWENTIETH,
            distance=(10, 60, 5),
            values=SHAPES["sum"].values,
        )
        kinds = [{"watts": watts, "a": a, "room": 0} for watts in (0, 5, 8) for a in (True, False)]
        most = 1 if bound is None else bound.rows * (bound.keys or 1)
        largest = 0.0
        for rows in itertools.combinations_with_replacement(kinds, most):
            adds = [sum(contribution(each.margin.measures[0], row) for row in rows) for each in plan.wanted]
            lost = sum(plan.rate(each) * abs(more) for each, more in zip(plan.wanted, adds, strict=True))
            paid = total_at(plan.worst, rows[0])
            assert lost <= paid
            largest = max(largest, float(lost / paid))
        assert largest == 1


@pytest.mark.parametrize(
    ("unit", "bound", "condition"),
    [
        (ROW, None, is_(count(), ">", 50)),
        (PERSON, Bound(rows=3), is_(count(), ">", 50)),
        (PERSON, Bound(rows=2, keys=2), is_(count(), "<", 50)),
        (PERSON, Bound(rows=2), is_(of(nodes.SUM), ">", 50)),
        (PERSON, Bound(rows=2), is_(of(nodes.AVG), "<", 3)),
    ],
)
def test_the_sparse_plan_lets_a_unit_move_each_margin_by_one_step(
    unit: Unit, bound: Bound | None, condition: nodes.Comparison
) -> None:
    """What `louver.decide.sparse` is proved for: no aligned margin moves by more than one, and where the price is that
    of monotone counts, all move the same way. The charge covers the unit."""
    shape = Shape(condition, slack=30, unit=unit, bound=bound)
    plan = shape.plan(Sparse, 2, alarms=3)
    (leaf,) = plan.program.leaves
    moves = set()
    for size in range(1, (1 if bound is None else bound.rows) + 1):
        for rows in itertools.combinations_with_replacement([{"watts": watts} for watts in (0, 2, 3, 4, 8)], size):
            adds = added(plan, rows)
            margins = [leaf.margin.of(plan.reading, view(plan, each)) for each in (dict.fromkeys(adds, 0), adds)]
            for rest in range(plan.test.sensitivity):
                before, after = (int(plan.test.aligned(each[:1] - rest)[0]) for each in margins)
                moves.add(after - before)
    assert moves <= {-1, 0, 1}
    assert moves & {-1, 1}
    assert not plan.test.monotone or not {-1, 1} <= moves
    assert total_at(plan.worst, {"room": 0}) == plan.test.epsilon
    outcome = plan.run(view(plan, {}), Bits())
    assert outcome.charges is not None
    assert total_at(outcome.charges, {"room": 1}) == plan.test.charge(len(outcome.answer["flagged"]))


def test_the_exact_law_is_that_of_the_reference() -> None:
    """What the audit's law says about flags agrees with the law computed leaf by leaf: early exit changes no answer."""
    for name, make in (("a or (b and c)", Shift), ("or", Progressive), ("between", Progressive), ("and", Progressive)):
        plan = plan_of(name, make)
        for values in itertools.islice(near_thresholds(plan), 5):
            found = law(name, make, tuple(sorted(values.items())), 1)
            flags = sum(chance for outcome, chance in found.items() if outcome[0])
            assert flags == pytest.approx(float(exactly.flagged(plan, exactly.case(plan, values))), abs=1e-9)
