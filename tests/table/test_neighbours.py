"""Who is protected by a table, word by word: which tables are neighbours, how far apart, and which totals are exact.

Everything here is counted out over all small tables, so no test can fail by chance.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from louver.errors import ParameterError
from louver.ledger import Cap, Ledger
from louver.noise.bits import SYSTEM
from louver.privacy import Unit
from louver.source import Bound, Domain, Source, Table
from louver.table import TablePlan, publish_table, table

COUNTIES = Domain({"county": ["a", "b", "c"], "state": ["x", "x", "y"]}, keys=["county"])
STATES = [0, 0, 1]
FLOORS = Domain({"floor": [1, 1, 2], "room": ["a", "b", "c"]}, keys=["floor", "room"])
ONE_MORE_OR_LESS, ELSEWHERE = "one more or one less", "only under which"
SMALL = list(itertools.product(range(3), repeat=3))


def neighbours(counts: tuple[int, ...], words: str) -> Iterator[tuple[int, ...]]:
    """The tables that the words call neighbours of this one."""
    steps = [tuple(int(cell == place) for cell in range(3)) for place in range(3)]
    if ONE_MORE_OR_LESS in words:
        yield from (tuple(a + b for a, b in zip(counts, step, strict=True)) for step in steps)
        yield from (tuple(a - b for a, b in zip(counts, step, strict=True)) for step in steps)
    elif ELSEWHERE in words:
        for here, there in itertools.permutations(range(3), 2):
            if STATES[here] == STATES[there]:
                yield tuple(
                    count - left + right for count, left, right in zip(counts, steps[here], steps[there], strict=True)
                )


@pytest.mark.parametrize(("exact", "distance"), [(None, 1), ("state", 2)])
def test_the_noise_for_one_that_is_counted_covers_just_what_the_words_say(exact: str | None, distance: int) -> None:
    plan = TablePlan(COUNTIES, unit=Unit.one_of("births"), exact=exact, epsilon=1)
    apart = [
        sum(abs(a - b) for a, b in zip(counts, other, strict=True))
        for counts in SMALL
        for other in neighbours(counts, plan.protected)
        if min(other) >= 0
    ]
    assert max(apart) == distance == plan.sensitivity
    assert max(apart) * Fraction(plan.made(SYSTEM).parameter) == 1  # the loss is the price, all of it and no more


def test_the_unit_of_a_plan_without_exact_totals_says_that_moving_costs_twice() -> None:
    assert "to be counted elsewhere costs twice" in TablePlan(COUNTIES, unit=Unit.one_of("births"), epsilon=1).protected


def test_the_counted_column_need_not_be_said_again() -> None:
    said = TablePlan(COUNTIES, unit=Unit.one_of("births"), of="births", epsilon=1)
    assert TablePlan(COUNTIES, unit=Unit.one_of("births"), epsilon=1) == said


# Exact totals of units with several rows


@pytest.mark.parametrize(
    ("unit", "asked", "said"),
    [
        (("person",), {"exact": "floor"}, "at most 1 row counts, and a lot decides which, so that no total by floor"),
        (("person",), {"exact": "floor", "bound": Bound(3)}, "at most 3 rows count, and a lot decides which"),
        (("person",), {"exact": "all", "bound": Bound(1, keys=2)}, "at most 2 keys count, and a lot decides which"),
        (("person", "room"), {"exact": "floor"}, "make floor a key and a column of the unit"),
    ],
)
def test_totals_that_a_lot_would_decide_are_refused(unit: tuple[str, ...], asked: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        TablePlan(FLOORS, unit=Unit(*unit), epsilon=1, **asked)


@pytest.mark.parametrize(
    ("unit", "asked", "totals"),
    [
        # ann is in a, a, b, c; bob in b; one row without a listed room is nobody's.
        (Unit("person"), {"exact": "all", "bound": Bound(1)}, {(): 2}),
        (Unit("person"), {"exact": "all", "bound": Bound(3)}, {(): 4}),
        (Unit("person", "floor"), {"exact": "floor", "bound": Bound(2)}, {(1,): 3, (2,): 1}),
        (Unit("person", "floor", "room"), {"exact": "floor"}, {(1,): 3, (2,): 1}),
        (Unit("person"), {"exact": "floor", "bound": Bound(1, keys=3)}, {(1,): 3, (2,): 1}),
    ],
)
def test_totals_that_are_exact_are_those_of_the_rows_that_count_in_every_release(
    tmp_path: Path, unit: Unit, asked: dict[str, Any], totals: dict[tuple[Any, ...], int]
) -> None:
    rows = "ann,1,a\nann,1,a\nann,1,b\nann,2,c\nbob,1,b\nbob,7,x\n"
    (tmp_path / "rows.csv").write_text("person,floor,room\n" + rows)
    plan = TablePlan(FLOORS, unit=unit, epsilon=1, **asked)
    assert f"at most {(asked.get('bound') or Bound()).rows} of each" in plan.invariants
    source = Source(Table(tmp_path / "rows.csv", dataset="house", unit=unit), domains=FLOORS)
    for number in range(5):  # each ledger has a lot of its own
        caps = [Cap(epsilon=1, exact=[plan.invariants])]
        with Ledger.create(tmp_path / f"ledger{number}", dataset="house", unit=unit, caps=caps)[0] as ledger:
            made = publish_table(source, plan, ledger=ledger)
        assert made.totals(*(plan.exact or ())) == totals


# Names and columns


def test_a_name_of_long_columns_is_cut_and_still_tells_its_totals_apart() -> None:
    first, second = "f" * 128, "g" * 128
    long = Domain({"room": ["a", "b", "c"], first: [1, 1, 2], second: [1, 2, 2]}, keys=["room"])
    names = {TablePlan(long, unit=Unit.row(), exact=exact, epsilon=1).invariants for exact in (first, second)}
    assert len(names) == 2
    assert all(len(name) == 128 and "..., list " in name for name in names)
    alike = Domain({"room": ["a", "b", "c"], "f" * 127: [1, 2, 2]}, keys=["room"])
    assert TablePlan(alike, unit=Unit.row(), exact="f" * 127, epsilon=1).invariants not in names


@pytest.mark.parametrize(("name", "totals"), [("count", ()), ("low", ()), ("high", ()), ("level", ("room",))])
def test_a_column_that_a_published_table_has_of_its_own_is_refused(name: str, totals: tuple[str, ...]) -> None:
    domain = Domain({name: ["a", "b"], "room": ["r", "s"]}, keys=[name])
    with pytest.raises(ParameterError, match=f"has a column '{name}' of its own"):
        TablePlan(domain, unit=Unit.row(), totals=totals, epsilon=1)


def test_a_key_of_the_domain_by_which_totals_are_exact_is_a_key_of_the_table() -> None:
    domain = Domain({"state": ["x", "x", "y"], "county": ["a", "b", "a"]}, keys=["state", "county"])
    source = Source(Table("x.csv", dataset="x", unit=Unit.one_of("births")), domains=domain)
    assert table(source, by="county", exact="state", epsilon=1).domain.keys == ("state", "county")
    assert table(source, by="county", epsilon=1).domain.column("county") == ("a", "b")  # of both states together
