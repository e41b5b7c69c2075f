"""MiM's cost model: its equations, its errors, and what its algorithms do on the data sets of its table 1."""

from __future__ import annotations

import math

import numpy as np
import pytest

from louver.decide.mim_cost import (
    BASELINE,
    TWO_STEPS,
    Known,
    mim_choose,
    mim_false_alarms_baseline,
    mim_false_alarms_first_step,
    mim_false_alarms_progressive,
    mim_first_epsilon_range,
    mim_first_epsilon_range_as_printed,
)
from louver.decide.published import mim_baseline, mim_progressive
from louver.errors import ParameterError

BETA = 0.05
TABLE = [Known(240, 10, 28, 25, 100), Known(300, 10, 60, 40, 100), Known(400, 10, 103, 40, 100)]
ROUNDS = 400
# A true figure leaves the band of 6 standard errors with probability 2e-9; false alarms are sums of rare events.
STANDARD_ERRORS = 6


def counts(known: Known) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The worst case that the model speaks of: counts at x1 and x2."""
    once = np.repeat([known.x1, known.x2], [int(known.h1), int(known.h2)])
    return np.tile(once, ROUNDS)


def drawn_baseline(known: Known, epsilon: float) -> float:
    return float(mim_baseline(counts(known), known.c, beta=BETA, epsilon=epsilon).flagged.sum()) / ROUNDS


def drawn_steps(known: Known, first: float, epsilon: float) -> float:
    found = mim_progressive(counts(known), known.c, epsilons=[first, epsilon], betas=[BETA / 2, BETA / 2])
    return float(found.flagged.sum()) / ROUNDS


def error(alarms: float) -> float:
    return STANDARD_ERRORS * math.sqrt(alarms / ROUNDS)


@pytest.mark.parametrize("known", TABLE)
def test_equation_4_is_right_for_counts_at_x2_and_too_high_for_the_others(known: Known) -> None:
    epsilon = 0.08
    at_x2 = Known(1e-9, 0, known.h1 + known.h2, known.x2, known.c)
    model = mim_false_alarms_baseline(at_x2, epsilon, BETA)
    assert model == pytest.approx(mim_false_alarms_baseline(known, epsilon, BETA))
    keys = np.full(int(known.h1 + known.h2) * ROUNDS, known.x2)
    drawn = float(mim_baseline(keys, known.c, beta=BETA, epsilon=epsilon).flagged.sum()) / ROUNDS
    assert abs(drawn - model) < error(model)
    assert drawn_baseline(known, epsilon) < model / 2


def test_equation_5_is_right_for_the_first_group() -> None:
    known = TABLE[0]
    first = 0.0373
    alone = np.full(240 * ROUNDS, known.x1)
    passed = mim_progressive(alone, known.c, epsilons=[first], betas=[BETA / 2]).flagged.sum() / ROUNDS
    model = mim_false_alarms_first_step(known, first, BETA) - known.h2
    assert abs(float(passed) - model) < error(model)


def test_equation_6_takes_correlated_noise_for_independent() -> None:
    """Counts at x1 in both steps: the product of both chances is less than half of how often they pass both."""
    first, epsilon, keys = 0.04, 0.05, 1_000_000
    found = mim_progressive(np.full(keys, 10.0), 100, epsilons=[first, epsilon], betas=[BETA / 2, BETA / 2])
    product = math.prod(math.exp(-rate * 90) / BETA / 2 for rate in (first, epsilon))
    assert float(found.flagged.mean()) > 2 * product


@pytest.mark.parametrize("known", TABLE)
@pytest.mark.parametrize("epsilon", [0.05, 0.08])
def test_the_two_steps_that_the_model_prefers_raise_more_false_alarms(known: Known, epsilon: float) -> None:
    """About twice as many, 31.4 and 16.6 on the first data set at 0.05; 1.2 times is 7 standard errors away."""
    kind, first = mim_choose(known, epsilon, BETA)
    assert kind == TWO_STEPS
    assert first is not None
    assert mim_false_alarms_progressive(known, first, epsilon, BETA) < mim_false_alarms_baseline(known, epsilon, BETA)
    assert drawn_steps(known, first, epsilon) > 1.2 * drawn_baseline(known, epsilon)


@pytest.mark.parametrize("known", TABLE)
def test_equation_7_has_its_bounds_exchanged(known: Known) -> None:
    low, high = mim_first_epsilon_range(known, BETA)
    assert low < high
    for epsilon in (0.05, 0.1, 0.3):
        baseline = mim_false_alarms_baseline(known, epsilon, BETA)
        assert mim_false_alarms_progressive(known, 1.001 * low, epsilon, BETA) < baseline
        assert mim_false_alarms_progressive(known, 0.999 * low, epsilon, BETA) > baseline
    assert math.log(1 / BETA) / high == pytest.approx(known.c - known.x2)


@pytest.mark.parametrize("known", TABLE)
def test_equation_7_as_printed_leaves_no_first_epsilon(known: Known) -> None:
    for epsilon in np.geomspace(1e-6, 10, 50).tolist():
        low, high = mim_first_epsilon_range_as_printed(known, epsilon, BETA)
        assert low > high


def test_the_model_prefers_the_baseline_where_it_has_no_range() -> None:
    assert mim_choose(Known(10, 10, 20, 40, 100), 0.1, BETA) == (BASELINE, None)
    assert mim_choose(TABLE[0], 0.03, BETA) == (BASELINE, None)


@pytest.mark.parametrize("bad", [(0, 10, 1, 20, 100), (1, 20, 1, 10, 100), (1, 10, 1, 200, 100), (1, 2, "a", 3, 4)])
def test_knowledge_that_makes_no_sense_is_refused(bad: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        Known(*bad)
