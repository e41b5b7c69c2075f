"""What an auditor finds who sees outcomes only: never more than the charge, and more where the noise is halved.

Each test is wrong with probability 1e-6 (see `auditor`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from louver.decide.adaptive_plan import Adaptive
from louver.decide.bands import Bands
from louver.decide.decision import Decision
from louver.decide.naive import Naive
from louver.decide.progressive import Progressive
from louver.decide.shift import Shift
from louver.decide.sparse_plan import Sparse
from louver.decide.within import Within
from louver.noise import Bits
from louver.privacy import total_at
from louver.question.nodes import Classes, Threshold, Values
from louver.source.measures import Bound, View
from tests.decide.asked import PERSON, ROOM, ROW, TWENTIETH, Shape, count, is_, rooms, view
from tests.decide.audited import charged, plan_of
from tests.decide.auditor import assert_audited
from tests.decide.outcomes import Outcome, Row

MANY = 60_000
RUNS = 3
FEWER = 2_500
CLASSES = Classes(count(), tuple(Threshold(Fraction(cut)) for cut in (40, 48, 60)), tuple("abcd"), ROOM)


def drawn(plan: Any, rows: Mapping[int, int], together: int = 1) -> Counter[Outcome]:
    """What came out for each group of so many keys, over all keys and several runs."""
    found: Counter[Outcome] = Counter()
    for _ in range(RUNS):
        answer = plan.run(view(plan, dict(rows)), Bits()).answer
        flagged = np.zeros(answer["keys"], dtype=np.int64)
        flagged[answer["flagged"]] = 1
        # One number for what each key shows, then one for each group: levels are from -1 to 30.
        shown = [flagged, *(np.array(each) + 1 for each in answer.get("levels", []))]
        codes = sum(each * 32**place for place, each in enumerate(shown))
        groups = codes.reshape(-1, together) @ (32 ** (len(shown) * np.arange(together)))
        for code, often in zip(*map(np.ndarray.tolist, np.unique(groups, return_counts=True)), strict=True):
            digits = [code // 32**place % 32 for place in range(together * len(shown))]
            parts = [digits[at : at + len(shown)] for at in range(0, len(digits), len(shown))]
            found[tuple((flag == 1, *(level - 1 for level in stopped)) for flag, *stopped in parts)] += often
    return found


@pytest.mark.parametrize(
    ("name", "make", "rows", "adds", "together", "row"),
    [
        ("leaf", Naive, {0: 48}, {0: 1}, 1, {}),
        ("leaf", Shift, {0: 41}, {0: 1}, 1, {}),
        ("sum", Shift, {0: 65}, {0: 8}, 1, {}),
        ("between", Shift, {0: 55}, {0: 1}, 1, {}),
        ("and", Shift, {0: 47, 1: 37}, {0: 1, 1: 1}, 1, {"a": True, "b": True}),
        ("people in rooms", Shift, {0: 43}, {0: 2}, 3, {}),
        ("leaf", Progressive, {0: 42}, {0: 1}, 1, {}),
        ("or", Progressive, {0: 46, 1: 36}, {0: 1, 1: 1}, 1, {"a": True, "b": True}),
        ("between", Progressive, {0: 55}, {0: 1}, 1, {}),
        ("sum", Progressive, {0: 65}, {0: 8}, 1, {}),
        ("people in rooms", Progressive, {0: 43}, {0: 2}, 3, {}),
        ("leaf", Adaptive, {0: 42}, {0: 1}, 1, {}),
    ],
)
def test_trials_find_no_more_than_the_charge_and_notice_half_the_noise(
    name: str, make: type[Decision], rows: dict[int, int], adds: dict[int, int], together: int, row: Row
) -> None:
    plan, small = plan_of(name, make, MANY), plan_of(name, make, together)

    @cache
    def paid(outcome: Outcome) -> Fraction:
        return charged(small, outcome, row)

    with_it = {number: value + adds[number] for number, value in rows.items()}
    assert_audited(lambda added: drawn(plan, with_it if added else rows, together), paid)


def test_trials_of_classes_find_no_more_than_the_price() -> None:
    plan = Bands(CLASSES, rooms(MANY), unit=ROW, miss_rate=TWENTIETH, slack=4)
    price = total_at(plan.worst, {"room": 0})

    def draw(added: bool) -> Counter[Outcome]:
        found: Counter[Outcome] = Counter()
        for _ in range(RUNS):
            found.update((name,) for name in plan.run(view(plan, {0: 45 + added}), Bits()).answer["classes"])
        return found

    assert_audited(draw, lambda _: price)


def test_trials_of_numbers_find_no_more_than_the_price() -> None:
    plan = Within(Values((count(),), ROOM), rooms(MANY), unit=ROW, miss_rate=TWENTIETH, distance=4)
    price = total_at(plan.worst, {"room": 0})

    def draw(added: bool) -> Counter[Outcome]:
        values = np.concatenate(
            [plan.run(View((np.full(MANY, 10 + added),)), Bits()).answer["values"][0] for _ in range(RUNS)]
        )
        return Counter((bool(value > 10), bool(value > 12)) for value in values.tolist())

    assert_audited(draw, lambda _: price)


def test_trials_of_the_sparse_strategy_find_no_more_than_the_charge() -> None:
    """One person in three rooms; what comes out is which fired and how many were answered."""
    shape = Shape(is_(count(), ">", 50), slack=6, unit=PERSON, bound=Bound(rows=1, keys=3))
    plan = shape.plan(Sparse, 3)

    def draw(added: bool) -> Counter[Outcome]:
        rows, found = View((np.full(3, 47 + added),)), Counter[Outcome]()
        for _ in range(FEWER):
            answer = plan.run(rows, Bits()).answer
            found[(*answer["flagged"], answer["answered"])] += 1
        return found

    assert_audited(draw, lambda outcome: plan.test.charge(len(outcome) - 1))
