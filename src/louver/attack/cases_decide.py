"""Decisions under audit: one row more in one room, whose count is where the strategy is least sure.

A release is what two rooms show, of which only the first changes. Strategies that charge by what came out are compared
with that charge and not with the worst price.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np

from louver.attack.case import Case, in_parts, one_by_one
from louver.attack.scores import LEARNED, Floats, Rows, known
from louver.decide.adaptive_plan import Adaptive
from louver.decide.bands import Bands
from louver.decide.naive import Naive
from louver.decide.progressive import Progressive
from louver.decide.shift import Shift
from louver.decide.sparse_plan import Sparse
from louver.decide.spread import edges
from louver.decide.survey import Survey
from louver.decide.within import Within
from louver.noise.bits import Bits
from louver.privacy import Pure, Unit, total_at
from louver.question import nodes
from louver.question.nodes import Aggregate, Classes, Comparison, Flag, Threshold, Values
from louver.source.domain import Domain
from louver.source.measures import Bound, View

KEYS = ("room",)
ROOMS_AT_ONCE = 8_000
ROW = "one row of one room"
COUNT = Aggregate(nodes.COUNT, keys=KEYS)
OVER = Flag(Comparison(COUNT, ">", Threshold(Fraction(50))), KEYS)
BOTH = Flag(nodes.All((OVER.condition, Comparison(COUNT, ">", Threshold(Fraction(49))))), KEYS)
EITHER = Flag(nodes.Any((OVER.condition, nodes.Not(Comparison(COUNT, "<=", Threshold(Fraction(49)))))), KEYS)
CLASSES = Classes(COUNT, tuple(Threshold(Fraction(cut)) for cut in (40, 50)), ("few", "some", "many"), KEYS)
PROMISE: dict[str, Any] = {"unit": Unit.row(), "miss_rate": Fraction(1, 20)}


def decide_cases() -> Iterator[Case]:
    yield _of_rooms("naive", lambda rooms: Naive(OVER, rooms, epsilon=1, **PROMISE, slack=5), 50, _flags, 2_000)
    yield _of_rooms("shift", lambda rooms: Shift(OVER, rooms, slack=5, **PROMISE), 47, _flags, 5_000)
    yield _of_rooms("shift of all", lambda rooms: Shift(BOTH, rooms, slack=5, **PROMISE), 47, _flags, 4_000)
    yield _of_rooms("shift of any", lambda rooms: Shift(EITHER, rooms, slack=5, **PROMISE), 47, _flags, 4_000)
    yield _of_rooms("bands", lambda rooms: Bands(CLASSES, rooms, slack=4, **PROMISE), 48, _classes, 2_000)
    within = partial(Within, Values((COUNT,), KEYS), distance=4, **PROMISE)
    yield _of_rooms("within", within, 0, _values, 3_000)
    yield _gradual("progressive", Progressive, 3_000, two_rooms_at_once=ROOMS_AT_ONCE // 2)
    yield _gradual("adaptive", Adaptive, 2_500, two_rooms_at_once=1)
    yield _sparse()
    yield _survey()


def rooms(size: int) -> Domain:
    return Domain({"room": list(range(size))}, keys=KEYS)


def _of_rooms(
    name: str, make: Callable[[Domain], Any], count: int, seen: Callable[[Any, int], Rows], hears: int
) -> Case:
    def draw(has_unit: bool, trials: int, bits: Bits) -> Rows:
        plan = make(rooms(2 * trials))
        counts = np.full(2 * trials, count)
        counts[::2] += has_unit
        return seen(plan.run(View((counts,)), bits).answer, 2 * trials).reshape(trials, -1)

    return Case("decide", name, ROW, _price(make(rooms(2))), in_parts(ROOMS_AT_ONCE // 2, draw), hears=hears)


def _gradual(name: str, make: Any, hears: int, two_rooms_at_once: int) -> Case:
    """Where each room stopped is released, and charged by."""

    @lru_cache(maxsize=4)
    def plan(size: int) -> Any:
        return make(OVER, rooms(size), slack=5, levels=3, **PROMISE)

    levels = np.array([0.0, *map(float, plan(2).grids[0].levels)])

    def draw(has_unit: bool, trials: int, bits: Bits) -> Rows:
        made, counts = plan(2 * trials), np.full(2 * trials, 48)
        counts[::2] += has_unit
        answer = made.run(View((counts,)), bits).answer
        shown = np.stack((_flags(answer, 2 * trials), np.array(answer["levels"][0])), axis=1)
        return shown.reshape(trials, -1)

    def paid(rows: Rows) -> Floats:
        return levels[rows[:, 1].astype(np.int64) + 1]

    trials = 16_000 if two_rooms_at_once > 1 else hears
    drawing = in_parts(two_rooms_at_once, draw)
    return Case("decide", name, ROW, _price(plan(2)), drawing, trials, hears, paid=paid)


def _sparse() -> Case:
    """One person in three rooms, each with a row; what is charged hangs on how many fired."""
    plan = Sparse(OVER, rooms(3), slack=6, **{**PROMISE, "unit": Unit("person")}, bound=Bound(rows=1, keys=3))
    charges = np.array([float(plan.test.charge(raised)) for raised in (0, 1)])

    def release(has_unit: bool, bits: Bits) -> list[int]:
        answer = plan.run(View((np.full(3, 47 + has_unit),)), bits).answer
        return [*_flags(answer, 3).tolist(), answer["answered"]]

    def paid(rows: Rows) -> Floats:
        return np.asarray(charges[rows[:, :3].sum(axis=1).astype(np.int64)])

    differs = "one person in three rooms"
    return Case("decide", "sparse", differs, _price(plan), one_by_one(release), 3_000, 2_500, paid=paid)


def _survey() -> Case:
    """One row carries one of many rooms over an edge of the survey, which has some rooms between any two edges."""
    every = edges(Survey(OVER, rooms(1), slack=5, rate=1, **PROMISE).grid)
    counts = 50 + np.concatenate(([every[len(every) // 2] - 1], np.repeat(every, 10)))
    plan = Survey(OVER, rooms(len(counts)), slack=5, rate=1, **PROMISE)

    def release(has_unit: bool, bits: Bits) -> list[float]:
        there = counts.copy()
        there[0] += has_unit
        return [size for _, size in plan.run(View((there,)), bits).answer["margins"]]

    beyond = 1 + len(every) // 2  # places from this edge on hold the rooms that have reached it
    score = known(lambda rows: rows[:, beyond:].sum(axis=1))
    return Case("decide", "survey", ROW, _price(plan), one_by_one(release), 1_500, 1_000, scores=(score, *LEARNED))


def _price(plan: Any) -> Pure:
    return Pure(total_at(plan.worst, {"room": 0}))


def _flags(answer: Any, size: int) -> Rows:
    flagged = np.zeros(size, dtype=np.int64)
    flagged[answer["flagged"]] = 1
    return flagged


def _classes(answer: Any, _: int) -> Rows:
    return np.array([CLASSES.names.index(name) for name in answer["classes"]])


def _values(answer: Any, _: int) -> Rows:
    return np.array(answer["values"][0], dtype=np.float64)
