"""What an auditor finds who sees outcomes only: never more than the charge, and more where the noise is halved.

Events are picked on one half of the trials and tested on the other, by Clopper-Pearson bounds which in each test are
wrong with probability 1e-6 in all (`CERTAIN`).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

from louver.decide import bands, progressive, shift, within
from louver.decide.adaptive_plan import Adaptive
from louver.decide.bands import Bands
from louver.decide.decision import Decision
from louver.decide.progressive import Progressive
from louver.decide.shift import Shift
from louver.decide.within import Within
from louver.noise import Bits, discrete_laplace, levels
from louver.privacy import total_at
from louver.question.nodes import Classes, Threshold, Values
from louver.source.measures import View
from tests.decide.asked import ROOM, ROW, TWENTIETH, count, rooms, view
from tests.decide.audited import charged, plan_of
from tests.decide.outcomes import Outcome, Row

CERTAIN = 1e-6
EVENTS = 8
MANY = 60_000
RUNS = 3
CLASSES = Classes(count(), tuple(Threshold(Fraction(cut)) for cut in (40, 48, 60)), tuple("abcd"), ROOM)


def least_excess(
    near: Counter[Outcome], far: Counter[Outcome], paid: Callable[[Outcome], Fraction], chosen: Sequence[Outcome]
) -> float:
    """A lower bound on the largest loss less charge of the chosen events, true with probability 1 - CERTAIN."""
    level = CERTAIN / (4 * max(1, len(chosen)))
    sizes = sum(near.values()), sum(far.values())

    def low(times: int, trials: int) -> float:
        return float(beta.ppf(level, times, trials - times + 1)) if times else 0.0

    def high(times: int, trials: int) -> float:
        return float(beta.isf(level, times + 1, trials - times)) if times < trials else 1.0

    found = [-math.inf]
    for outcome in chosen:
        for (one, one_size), (two, two_size) in itertools.permutations(zip((near, far), sizes, strict=True)):
            least, most = low(one[outcome], one_size), high(two[outcome], two_size)
            if least:
                found.append(math.log(least / most) - float(paid(outcome)))
    return max(found)


def audited(
    draw: Callable[[bool], Counter[Outcome]], paid: Callable[[Outcome], Fraction], events: int = EVENTS
) -> float:
    """Trials of both neighbours; on the first half the most telling events are chosen, the second half tests them."""
    first, second = [draw(False), draw(True)], [draw(False), draw(True)]

    def promise(outcome: Outcome) -> float:
        near, far = (each[outcome] + 1 for each in first)
        spread = 5 * math.sqrt(1 / near + 1 / far)
        return abs(math.log(near / far)) - spread - float(paid(outcome))

    seen = sorted(set(first[0]) | set(first[1]), key=repr)
    return least_excess(second[0], second[1], paid, sorted(seen, key=promise)[-events:])


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


def halve_noise(patch: pytest.MonkeyPatch) -> None:
    """Noise of twice the rate, wherever a strategy draws it."""

    def half(rate: Any, size: int, *, bits: Bits) -> Any:
        return discrete_laplace(2 * rate, size, bits=bits)

    for module in (shift, bands, within):
        patch.setattr(module, "discrete_laplace", half)
    patch.setattr(progressive, "levels", lambda rates, size, *, bits: levels([2 * e for e in rates], size, bits=bits))


def assert_audited(draw: Callable[[bool], Counter[Outcome]], paid: Callable[[Outcome], Fraction]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Progressive, "charges", lambda *_: ())  # for so many keys they take seconds
        assert audited(draw, paid) <= 0
        halve_noise(patch)
        assert audited(draw, paid) > 0


@pytest.mark.parametrize(
    ("name", "make", "rows", "adds", "together", "row"),
    [
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
