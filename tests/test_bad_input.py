"""Hundreds of thousands of wrong calls: each returns, or raises a LouverError with one sentence that says what to do.

Arguments are drawn from a fixed stream, half of them wrong. No other exception, no warning (pytest makes them errors),
no hang.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from louver import decide, noise, privacy, question, source
from louver.errors import LouverError
from louver.noise import idealised
from louver.privacy import calibrate
from tests.misuse import NOT_COUNTS, NOT_NUMBERS

CALLS = 300_000

WRONG: list[object] = [
    *NOT_NUMBERS,
    *NOT_COUNTS,
    *(sign * 10.0**power for sign in (1, -1) for power in (-320, -300, -30, -15, 15, 30, 300)),
    *(Fraction(sign, 3**power) for sign in (1, -1) for power in (40, 400, 2000)),
    *(2**power for power in (31, 63, 64, 1000)),
    *(-(2**power) for power in (1, 31, 63, 64, 1000)),
    np.int64(-(2**63)),
    np.uint64(2**64 - 1),
    np.float32("inf"),
    np.longdouble("nan"),
    Decimal("1e-999999"),
    Decimal("-1e999999999"),
    [math.nan],
    [math.inf, 1],
    [[]],
    ["a"],
    {1: 2},
    slice(1),
    range(0),
    iter([]),
    lambda: 1,
    int,
]

RIGHT: dict[str, list[object]] = {
    "rate": [1, 0.25, Fraction(1, 3), Fraction(1, 1000), 4096, Fraction(1, 2**48)],
    "levels": [[1], [0.25, 0.5], [Fraction(1, 1000), 1], (1, 2, 4)],
    "probability": [0, 1, 0.5, Fraction(1, 3)],
    "exponent": [0, 1, 0.25, 4096],
    "count": [0, 1, 2, 3],
    "array": [[], [0], np.array([1, -5]), [2**63 - 1], [-(2**63)]],
    "reals": [[0.0], [math.nan, math.inf], np.array([1e308, -1e-320]), 3],
    "bound": [-1, 0, 1, 2.5, Fraction(1, 3)],
    "power": [1, 0.5, 2, Fraction(1, 1024)],
    "cut": [0, 0.5, Fraction(-1, 3), 7],
    "size": [1, 2, 3, 10],
    "sizes": [[1], [2, 3], (4,)],
    "total": [0, 1, -3],
    "variance": [1, 0.25, 20000, Fraction(1, 3)],
    "delta": [0, 1e-6, Fraction(1, 4)],
    "error rate": [0.05, Fraction(1, 20), 0.001],
    "slack": [0, 1, 3, 10],
    "sensitivity": [1, 2, 5],
    "alpha": [1, 0.5, 10],
    "steps": [2, 4, 7],
    "step counts": [0, 1, -5],
    "thresholds": [[3], [5, 2], (9, 4, 1)],
    "prices": [[1], [0.1, 0.5, 1], np.array([1.0, 2.0]), [Fraction(1, 3)]],
    "keep": ["higher", "lower"],
    "column": ["room", "day", "hour"],
    "wrong": [-1, None, "x", 2.5],
    "unit": [privacy.Unit.row(), privacy.Unit("room")],
    "limits": [{"a": 3}, {"a": 0, "b": 10**6}],
    "keys": [["a"], ("a", "b")],
    "path": ["rows.csv", "rows.parquet"],
}


ROOMS = source.Domain({"room": ["hall", "lab"], "limit": [40, 10]}, ["room"])
OVER = question.question(question.count().by("room") > question.col("limit"))
COUNTS = question.values(question.count().by("room"))


def quantise(low: Any, high: Any, step: Any, values: Any) -> object:
    grid = noise.Grid(low, high, step)
    return grid.sensitivity, grid.quantise(values)


CALLABLES: list[tuple[Callable[..., object], tuple[str, ...]]] = [
    (noise.discrete_laplace, ("rate", "count")),
    (noise.geometric, ("rate", "count")),
    (noise.bernoulli, ("probability", "count")),
    (noise.bernoulli_exp, ("exponent", "count")),
    (noise.levels, ("levels", "count")),
    (noise.clearer, ("array", "rate", "rate")),
    (noise.discrete_gaussian, ("variance", "count")),
    (noise.fixed_sum, ("size", "rate", "count")),
    (lambda size, rate, total: noise.fixed_sum(size, rate, 1, total=total), ("size", "rate", "total")),
    (noise.fixed_sums, ("sizes", "rate")),
    (noise.gaussian_fixed_sum, ("size", "variance", "count")),
    (noise.reaches, ("array", "rate", "cut")),
    (lambda rate, count, delta: noise.uniform_laplace(rate, count, delta=delta), ("rate", "count", "delta")),
    (noise.Grid, ("bound", "bound", "power")),
    (lambda low, high, step: quantise(low, high, step, [1.5, math.nan]), ("bound", "bound", "power")),
    (noise.Grid(0, 1, 1).value, ("step counts",)),
    (idealised.laplace, ("rate", "count")),
    (calibrate.one_shot, ("error rate", "slack", "error rate", "sensitivity")),
    (calibrate.tslm, ("error rate", "alpha")),
    (calibrate.mim_shift, ("error rate", "alpha")),
    (calibrate.failure_probability, ("levels", "thresholds")),
    (calibrate.predict_gradual, ("bound", "rate", "rate", "bound", "bound")),
    (lambda miss, slack, size: calibrate.grid_levels(miss, slack, levels=size), ("error rate", "wrong", "steps")),
    (privacy.min_entropy, ("prices", "prices")),
    (lambda prices, keep: privacy.published_min_entropy(prices, keep=keep), ("prices", "keep")),
    (privacy.Pure, ("alpha",)),
    (lambda epsilon, prior: privacy.Pure(epsilon).posterior(prior), ("alpha", "probability")),
    (privacy.Approximate, ("alpha", "delta")),
    (privacy.ZeroConcentrated, ("alpha",)),
    (privacy.Unit, ("column", "column")),
    (privacy.Between, ("step counts", "step counts")),
    (privacy.Among, ("column",)),
    (lambda kept, price: privacy.Charge(privacy.Scope({"room": kept}), price), ("column", "alpha")),
    (calibrate.ppwlm, ("error rate", "alpha", "rate", "steps")),
    (privacy.Subspace, ("alpha", "delta", "column")),
    (lambda path, name, unit: source.Table(path, dataset=name, unit=unit), ("path", "column", "unit")),
    (source.Bound, ("size", "size")),
    (lambda keys: source.Domain({"room": keys}, ["room"]), ("keys",)),
    (lambda column: question.count().by(column), ("column",)),
    (lambda number: question.count() > number, ("alpha",)),
    (
        lambda unit, miss, slack: decide.Shift(OVER, ROOMS, unit=unit, miss_rate=miss, slack=slack),
        ("unit", "error rate", "slack"),
    ),
    (
        lambda unit, levels: decide.Progressive(OVER, ROOMS, unit=unit, miss_rate=0.05, slack=3, levels=levels),
        ("unit", "steps"),
    ),
    (
        lambda miss, alarms: decide.Sparse(
            OVER, ROOMS, unit=privacy.Unit.row(), miss_rate=miss, slack=3, alarms=alarms
        ),
        ("error rate", "size"),
    ),
    (lambda epsilon: decide.Naive(OVER, ROOMS, unit=privacy.Unit.row(), epsilon=epsilon), ("alpha",)),
    (
        lambda miss, near: decide.Within(COUNTS, ROOMS, unit=privacy.Unit.row(), miss_rate=miss, distance=near),
        ("error rate", "slack"),
    ),
]


@pytest.mark.parametrize("part", range(6))
def test_wrong_calls_get_one_sentence_each(part: int) -> None:
    dice = random.Random(part)
    refused = 0
    for _ in range(CALLS // 6):
        function, kinds = CALLABLES[dice.randrange(len(CALLABLES))]
        arguments = [dice.choice(WRONG) if dice.random() < 0.5 else dice.choice(RIGHT[kind]) for kind in kinds]
        try:
            function(*arguments)
        except LouverError as error:
            refused += 1
            sentence = str(error)
            assert sentence.endswith("."), sentence
            assert "\n" not in sentence
            assert len(sentence) < 250, sentence
        except Exception as error:
            pytest.fail(f"{function} with {arguments!r} raised {error!r}")
    assert refused > CALLS // 6 // 4
