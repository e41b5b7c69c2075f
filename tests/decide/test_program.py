"""A compiled question means what the question says, reads each number once, and is refused where it makes no sense."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.decide import tree
from louver.decide.program import MOST_LEAVES, Program, compiled
from louver.decide.tree import All
from louver.decide.tree import Any as Some
from louver.decide.values import ValueBounds
from louver.errors import ParameterError
from louver.privacy import Scope, Unit
from louver.question import nodes
from louver.question.nodes import Against, Aggregate, Comparison, Condition, Flag, Not, Threshold
from louver.question.nodes import All as Every
from louver.question.nodes import Any as Either
from louver.source.domain import Domain
from louver.source.filters import EVERY_ROW, Both, Compare
from louver.source.measures import Bound, View
from tests.decide.asked import ROOM, ROW, A, B, C, count, is_, many, of, rooms, where
from tests.decide.outcomes import contribution, passes

SIGNS = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "<>": operator.ne,
}
VALUES = ValueBounds.of({"watts": (-4, 6, 0.5)})

limits = st.fractions(-6, 6, max_denominator=3)
kinds = st.sampled_from([nodes.COUNT, nodes.SUM, nodes.AVG, nodes.MIN, nodes.MAX, nodes.MEDIAN])
filters = st.sampled_from([EVERY_ROW, where("a"), where("b"), Both((where("a"), where("b")))])


@st.composite
def comparisons(draw: st.DrawFn) -> Comparison:
    kind = draw(kinds)
    left = Aggregate(kind, None if kind == nodes.COUNT else "watts", where=draw(filters), keys=ROOM)
    return Comparison(left, draw(st.sampled_from(sorted(SIGNS))), Threshold(draw(limits)))


conditions = st.recursive(
    comparisons(),
    lambda parts: st.one_of(
        st.builds(Not, parts),
        st.builds(lambda given: Every(tuple(given)), st.lists(parts, min_size=1, max_size=3)),
        st.builds(lambda given: Either(tuple(given)), st.lists(parts, min_size=1, max_size=3)),
    ),
    max_leaves=5,
)
tables = st.lists(
    st.fixed_dictionaries({"watts": st.fractions(-4, 6, max_denominator=2), "a": st.booleans(), "b": st.booleans()}),
    max_size=6,
)


def program(condition: Condition, slacks: Sequence[int] = (0,), size: int = 1, **changed: Any) -> Program:
    given = {"unit": ROW, "bound": None, "values": VALUES, **changed}
    domain = given.pop("domain", rooms(size))
    keys = given.pop("keys", ROOM)
    return compiled(Flag(condition, keys), domain, slacks=[Fraction(slack) for slack in slacks], **given)


def read(made: Program, rows: Sequence[dict[str, Any]]) -> View:
    kept = [row for row in rows if passes(made.reading.where, row)]
    return View(tuple(np.array([sum(contribution(each, row) for row in kept)]) for each in made.reading.measures))


def truth(condition: Condition, rows: Sequence[dict[str, Any]]) -> bool | None:
    """As SQL has it: a comparison with an extreme or average of no rows is neither true nor false."""
    if isinstance(condition, Not):
        part = truth(condition.part, rows)
        return None if part is None else not part
    if isinstance(condition, Comparison):
        kept = [row["watts"] for row in rows if passes(condition.left.where, row)]
        if not kept and condition.left.kind not in (nodes.COUNT, nodes.SUM):
            return None
        assert isinstance(condition.right, Threshold)
        return bool(SIGNS[condition.sign](_aggregate(condition.left.kind, sorted(kept)), condition.right.constant))
    parts = [truth(part, rows) for part in condition.parts]
    decisive = isinstance(condition, Either)
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive


def _aggregate(kind: str, kept: list[Fraction]) -> Fraction:
    if kind == nodes.COUNT:
        return Fraction(len(kept))
    if kind == nodes.SUM:
        return sum(kept, Fraction(0))
    if kind == nodes.AVG:
        return sum(kept, Fraction(0)) / len(kept)
    return {nodes.MIN: kept[0], nodes.MAX: kept[-1], nodes.MEDIAN: kept[(len(kept) - 1) // 2]}[kind]


@settings(max_examples=250)
@given(conditions, tables)
def test_a_condition_holds_where_sql_says_so(condition: Condition, rows: list[dict[str, Any]]) -> None:
    """Without slack, also for keys without rows: those never meet what SQL leaves undecided."""
    made = program(condition)
    holds = [int(leaf.margin.of(made.reading, read(made, rows))[0]) > 0 for leaf in made.leaves]
    assert tree.holds(made.tree, holds) == bool(truth(condition, rows))


@given(conditions, tables, st.integers(1, 5))
def test_with_slack_a_condition_holds_wherever_it_does_without(
    condition: Condition, rows: list[dict[str, Any]], slack: int
) -> None:
    """With slack, keys without rows may meet a condition, because they are within it; no key that meets it is lost."""
    made = program(condition, (slack,))
    holds = [int(leaf.margin.of(made.reading, read(made, rows))[0]) > 0 for leaf in made.leaves]
    assert tree.holds(made.tree, holds) or not truth(condition, rows)


def test_leaves_on_one_aggregate_share_a_look() -> None:
    made = program(Every((is_(count(), ">", 5), is_(count(), "<", 9), is_(count(), "=", 7))), (2,))
    (look,) = made.looks
    assert len(look.leaves) == 4
    assert [made.leaves[at].sense for at in look.leaves] == [1, -1, 1, -1]
    assert len(made.reading.measures) == 1


def test_leaves_that_share_a_look_are_as_strict_as_the_strictest() -> None:
    made = program(Every((is_(count(), ">", 5, slack=8), is_(count(), "<", 9, slack=3))))
    assert made.looks[0].slack == 3
    assert [leaf.slack for leaf in made.leaves] == [8, 3]


def test_heavy_rows_do_not_share_a_look() -> None:
    """Aligned margins of two thresholds differ by no public number where one row weighs more than one."""
    made = program(Every((is_(of(nodes.SUM), ">", 5), is_(of(nodes.SUM), "<", 9))), (30,))
    assert len(made.looks) == 2
    assert len(made.reading.measures) == 1


def test_a_leaf_that_comes_again_is_the_same_leaf() -> None:
    made = program(Either((Every((A, B)), Every((A, C)))))
    assert len(made.leaves) == 3
    assert made.tree == Some((All((0, 1)), All((0, 2))))


def test_the_same_comparison_with_another_slack_is_another_leaf_of_the_same_look() -> None:
    made = program(Every((is_(count(), ">", 5, slack=1), is_(count(), ">", 5, slack=4))))
    assert len(made.leaves) == 2
    assert len(made.looks) == 1


def test_what_all_aggregates_ask_of_rows_comes_before_the_bound() -> None:
    shared = Compare("hour", "<", 12)
    made = program(
        Every((is_(count(Both((shared, where("a")))), ">", 5), is_(count(Both((where("b"), shared))), ">", 5)))
    )
    assert made.reading.where == shared
    assert [measure.where for measure in made.reading.measures] == [where("a"), where("b")]


def test_the_box_of_a_look_holds_the_rows_of_both_sides() -> None:
    against = Comparison(
        count(Compare("month", "=", 2)), ">", Against(count(Compare("month", "=", 1)), Fraction(1), Fraction(0))
    )
    (look,) = program(against).looks
    assert str(look.box) == "1 <= month < 3"
    (free,) = program(Comparison(count(where("a")), ">", Against(count()))).looks
    assert free.box == Scope.everything()


def test_each_comparison_can_have_a_slack_of_its_own() -> None:
    made = program(Every((A, Not(B))), (4, 9))
    assert [leaf.slack for leaf in made.leaves] == [4, 9]
    assert [leaf.slack for leaf in program(Every((is_(count(), "=", 5), A)), (4, 9)).leaves] == [4, 4, 9]
    with pytest.raises(ParameterError, match="one for each of the 2 comparisons"):
        program(Every((A, B)), (1, 2, 3))


def test_a_key_without_rows_is_asked_whether_it_has_some_where_there_is_no_slack() -> None:
    none_above = is_(of(nodes.MAX), "<", 5)
    assert program(none_above, (0,)).tree == All((0, 1))
    assert program(none_above, (1,)).tree == 0
    assert program(is_(of(nodes.AVG), ">=", 5), (0,)).tree == All((0, 1))
    assert program(is_(of(nodes.AVG), ">", 5), (0,)).tree == 0


FLOORS = Domain(
    {"building": ["x", "x", "y"], "floor": [1, 2, 1], "limit": [60, 60, 90], "room limit": [1, 2, 3]},
    keys=["building", "floor"],
)


def test_coarser_keys_are_read_once_and_found_again() -> None:
    keys = ("building", "floor")
    made = program(
        Either((is_(count(keys=("building",)), ">", "limit"), is_(count(keys=keys), ">", "room limit"))),
        domain=FLOORS,
        keys=keys,
    )
    assert [listed.columns for listed in made.reading.keys] == [keys, ("building",)]
    assert [positions.tolist() for positions in made.positions] == [[0, 1, 2], [0, 0, 1]]
    assert [leaf.margin.offsets for leaf in made.leaves] == [(-60, -90), (-1, -2, -3)]


def test_a_threshold_must_be_one_number_for_each_coarser_key() -> None:
    keys = ("building", "floor")
    with pytest.raises(ParameterError, match="several numbers for one building"):
        program(is_(count(keys=("building",)), ">", "room limit"), domain=FLOORS, keys=keys)
    with pytest.raises(ParameterError, match="several numbers for one total"):
        program(is_(count(keys=()), ">", "limit"), domain=FLOORS, keys=keys)


def test_an_aggregate_is_grouped_by_keys_of_the_question() -> None:
    with pytest.raises(ParameterError, match="not among the question's keys"):
        program(is_(count(keys=("building",)), ">", 5), domain=FLOORS, keys=("floor",))
    with pytest.raises(ParameterError, match="grouped by the same keys"):
        program(
            Comparison(count(keys=("building", "floor")), ">", Against(count(keys=("building",)))),
            domain=FLOORS,
            keys=("building", "floor"),
        )


def test_a_factor_of_a_column_is_exact() -> None:
    made = program(
        Comparison(count(keys=("building", "floor")), ">", Threshold(Fraction(1, 2), "limit", Fraction(4, 5))),
        domain=FLOORS,
        keys=("building", "floor"),
    )
    assert made.leaves[0].margin.offsets == (-48, -48, -72)


def test_too_many_comparisons_are_refused() -> None:
    program(Either(tuple(many("a", number) for number in range(MOST_LEAVES))))
    with pytest.raises(ParameterError, match="at most 64 comparisons"):
        program(Either(tuple(many("a", number) for number in range(MOST_LEAVES + 1))))


def test_nothing_is_bounded_where_a_unit_cannot_weigh_more() -> None:
    people = is_(Aggregate(nodes.COUNT_DISTINCT, "person", keys=ROOM), ">", 5)
    unit = Unit("person", "room")
    assert program(people, unit=unit, bound=Bound(1)).reading.bound is None
    assert program(Every((people, A)), unit=unit, bound=Bound(2)).reading.bound == Bound(2)


def test_a_sum_without_bounds_is_refused() -> None:
    with pytest.raises(ParameterError, match="needs bounds"):
        program(is_(of(nodes.SUM, "volts"), ">", 5))
