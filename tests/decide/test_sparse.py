"""Sparse vector: the law of a comparison, the promise at its worst case, and the privacy of every outcome.

Statistical figures are compared within 6 standard errors, which a true one leaves with probability 2e-9.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.decide import sparse_rates
from louver.decide.sparse import SparseTest, sparse_flags, sparse_test
from louver.errors import ParameterError
from louver.noise import discrete_laplace, reaches
from tests.misuse import NOT_COUNTS, NOT_NUMBERS
from tests.noise.laws import FALSE_ALARM, chi_square

TWENTIETH = Fraction(1, 20)
STANDARD_ERRORS = 6
WINDOW = 2000

rates = st.fractions(Fraction(1, 1000), Fraction(2, 5), max_denominator=1000)


def law(rate: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    x = np.arange(-WINDOW, WINDOW + 1)
    return math.tanh(rate / 2) * np.exp(-rate * np.abs(x))


def error_rates(test: SparseTest) -> tuple[float, float]:
    """The largest miss and false-alarm probabilities of one comparison, from the tail of the difference."""
    boundary = (test.cut + Fraction(1, 2)).__floor__()
    coin = boundary + Fraction(1, 2) - test.cut

    def beyond(least: int) -> Fraction:
        """P(D >= least)."""
        size = sparse_rates.tail(abs(least) if least > 0 else 1 - least, test.threshold_rate, test.query_rate, 256)
        return size.upper if least > 0 else 1 - size.upper

    def flagged(margin: int) -> Fraction:
        return coin * beyond(boundary - margin) + (1 - coin) * beyond(boundary - margin + 1)

    return float(1 - flagged(1)), float(flagged(1 - test.steps))


@pytest.mark.parametrize(("p", "q"), [(0.3, 0.5), (0.5, 0.3), (0.4, 0.4), (1.0, 0.1), (2.0, 3.0)])
def test_the_difference_of_two_noises_has_the_stated_tail(p: float, q: float) -> None:
    difference, x = np.convolve(law(p), law(q)), np.arange(-2 * WINDOW, 2 * WINDOW + 1)
    for t in (0, 1, 2, 7, 30):
        exact = sparse_rates.tail(t, Fraction(p), Fraction(q), 512)
        assert float(exact.upper) == pytest.approx(float(difference[x >= t].sum()), rel=1e-9)
        assert exact.upper - exact.lower < Fraction(1, 10**50)


@settings(max_examples=40)
@given(rates, rates, st.integers(0, 300), st.integers(1, 5), st.integers(1, 30), st.booleans())
def test_both_promises_are_kept_and_used_up(
    miss: Fraction, alarm: Fraction, slack: int, sensitivity: int, alarms: int, monotone: bool
) -> None:
    test = sparse_test(miss, slack, alarm, sensitivity, alarms=alarms, monotone=monotone)
    missed, alarmed = error_rates(test)
    assert missed <= float(miss) * (1 + 1e-12)
    assert alarmed <= float(alarm) * (1 + 1e-12)
    assert missed / float(miss) > 1 - 1e-6
    assert alarmed / float(alarm) > 1 - 1e-6


@pytest.mark.parametrize("monotone", [False, True])
def test_a_comparison_errs_as_computed_and_not_10_percent_off(monotone: bool) -> None:
    """A million runs of one comparison each, by as many states: the threshold's noise is drawn anew for each."""
    test = sparse_test(TWENTIETH, 10, alarms=3, monotone=monotone)
    count = 1_000_000
    threshold = discrete_laplace(test.threshold_rate, count)
    for margin, computed in zip((1, 1 - test.steps), error_rates(test), strict=True):
        flagged = reaches(np.full(count, margin) - threshold, test.query_rate, test.cut)
        seen = float((flagged != (margin == 1)).mean())
        error = math.sqrt(computed * (1 - computed) / count)
        assert abs(seen - computed) < STANDARD_ERRORS * error
        assert abs(seen - 0.9 * computed) > STANDARD_ERRORS * error


def test_a_state_compares_as_the_formula_says() -> None:
    test = sparse_test(TWENTIETH, 10, alarms=10**5)
    state = test.begin()
    flagged = state.ask(np.full(100_000, 1)).flagged
    boundary = (test.cut + Fraction(1, 2)).__floor__()
    noise = law(float(test.query_rate))
    x = np.arange(-WINDOW, WINDOW + 1) + 1 - state.noise
    chance = noise[x > boundary].sum() + float(boundary + Fraction(1, 2) - test.cut) * noise[x == boundary].sum()
    assert abs(flagged.mean() - chance) < STANDARD_ERRORS * math.sqrt(chance * (1 - chance) / 100_000) + 1e-9


def test_the_price_does_not_depend_on_how_many_comparisons_there_are() -> None:
    test = sparse_test(TWENTIETH, 21, alarms=2)
    quiet = np.full(1_000_000, -(10**6))
    state = test.begin()
    assert state.ask(quiet).answered == 1_000_000
    assert state.charge == test.charge(0) == test.threshold_rate
    assert test.epsilon == test.threshold_rate + 4 * test.query_rate


def test_monotone_counts_pay_for_each_alarm_once_instead_of_twice() -> None:
    plain, monotone = (sparse_test(TWENTIETH, 21, alarms=5, monotone=which) for which in (False, True))
    assert monotone.epsilon == monotone.threshold_rate + 5 * monotone.query_rate
    assert monotone.epsilon < Fraction(3, 5) * plain.epsilon


@pytest.mark.parametrize("weight", [1, 2, 3, 10, 40])
@pytest.mark.parametrize(("steps", "dearer"), [(1, 1.03), (4, 1.003), (11, 1.003), (22, 1.003), (1001, 1.003)])
def test_no_other_split_of_the_price_is_much_cheaper(weight: int, steps: int, dearer: float) -> None:
    p, q = sparse_rates.split(TWENTIETH, TWENTIETH, steps, weight)
    ours = float(p + weight * q)
    for ratio in np.geomspace(0.1, 20, 60):
        assert ours < dearer * (ratio + weight) * sparse_rates._least_scale(TWENTIETH, TWENTIETH, steps, ratio)


def test_it_stops_after_the_last_alarm_and_says_so() -> None:
    test = sparse_test(TWENTIETH, 10, alarms=2)
    answer = sparse_flags(np.array([-(10**6), 10**6, -(10**6), 10**6, 10**6, -(10**6)]), test)
    assert answer.flagged.tolist() == [False, True, False, True]
    assert (answer.answered, answer.raised) == (4, 2)


def test_nothing_is_answered_once_it_is_finished() -> None:
    state = sparse_test(TWENTIETH, 10, alarms=1).begin()
    assert state.ask(np.array([10**6])).raised == 1
    assert state.finished
    assert state.ask(np.array([10**6, -(10**6)])).answered == 0
    assert state.charge == state.test.epsilon


def test_ticks_one_after_the_other_share_threshold_and_alarms() -> None:
    state = sparse_test(TWENTIETH, 10, alarms=3).begin()
    noise = state.noise
    raised = [state.ask(np.array([-(10**6), 10**6])).raised for _ in range(3)]
    assert raised == [1, 1, 1]
    assert (state.noise, state.finished) == (noise, True)


def test_a_state_does_not_show_its_noise() -> None:
    state = replace(sparse_test(TWENTIETH, 10).begin(), noise=987654)
    assert "987654" not in repr(state)


def outcome_law(test: SparseTest, margins: tuple[int, ...]) -> dict[tuple[bool, ...], float]:
    """The probability of every outcome, by summing over the threshold's noise."""
    boundary, wide = (test.cut + Fraction(1, 2)).__floor__(), np.arange(-300, 301)
    coin = float(boundary + Fraction(1, 2) - test.cut)
    weight = math.tanh(float(test.threshold_rate) / 2) * np.exp(-float(test.threshold_rate) * np.abs(wide))
    q = float(test.query_rate)

    def beyond(least: np.ndarray[tuple[int], np.dtype[np.int64]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        tail = np.exp(-q * np.where(least > 0, least, 1 - least)) / (1 + math.exp(-q))
        return np.where(least > 0, tail, 1 - tail)

    flags = [coin * beyond(boundary - m + wide) + (1 - coin) * beyond(boundary - m + wide + 1) for m in margins]
    found: dict[tuple[bool, ...], float] = {}
    for pattern in itertools.product((False, True), repeat=len(margins)):
        chance = weight.copy()
        outcome: list[bool] = []
        for fired, flag in zip(pattern, flags, strict=True):
            if sum(outcome) == test.alarms:
                break
            outcome.append(fired)
            chance = chance * (flag if fired else 1 - flag)
        found[tuple(outcome)] = float(chance.sum())
    return found


def largest_excess(test: SparseTest, moves: list[tuple[int, ...]], charged: SparseTest) -> float:
    """By how much the exact loss of some outcome is over its charge, over neighbours at several places."""
    worst = -math.inf
    for start in itertools.product((-9, -4, 1), repeat=3):
        law_here = outcome_law(test, start)
        for move in moves:
            law_there = outcome_law(test, tuple(np.add(start, move).tolist()))
            for outcome, chance in law_here.items():
                loss = abs(math.log(chance / law_there[outcome]))
                worst = max(worst, loss - float(charged.charge(sum(outcome))))
    return worst


ANY_WAY = list(itertools.product((-1, 0, 1), repeat=3))
ONE_WAY = list(itertools.product((0, 1), repeat=3))


def test_no_outcome_loses_more_than_its_charge() -> None:
    for alarms in (1, 2, 3):
        test = sparse_test(TWENTIETH, 10, alarms=alarms)
        assert largest_excess(test, ANY_WAY, test) <= 1e-9
        monotone = sparse_test(TWENTIETH, 10, alarms=alarms, monotone=True)
        assert largest_excess(monotone, ONE_WAY, monotone) <= 1e-9


def test_halved_noise_and_counts_that_are_not_monotone_lose_more_than_is_charged() -> None:
    test = sparse_test(TWENTIETH, 10, alarms=2, monotone=True)
    quieter = replace(test, threshold_rate=2 * test.threshold_rate, query_rate=2 * test.query_rate)
    assert largest_excess(quieter, ONE_WAY, test) > 0.1
    assert largest_excess(test, ANY_WAY, test) > 0.05


def test_the_code_has_the_outcomes_of_the_law_and_not_those_of_halved_noise() -> None:
    """So that what is proved about the law above holds for the code; the false-alarm probability is 1e-9."""
    margins, count = (-9, 1, -4), 8_000
    test = sparse_test(TWENTIETH, 10, alarms=2)
    seen = Counter(tuple(sparse_flags(np.array(margins), test).flagged.tolist()) for _ in range(count))
    quieter = replace(test, threshold_rate=2 * test.threshold_rate, query_rate=2 * test.query_rate)
    right, wrong = outcome_law(test, margins), outcome_law(quieter, margins)
    assert seen.keys() <= right.keys()
    counts = [seen[outcome] for outcome in right]
    assert chi_square(counts, list(right.values())) >= FALSE_ALARM
    assert chi_square(counts, [wrong[outcome] for outcome in right]) < FALSE_ALARM


@pytest.mark.parametrize("bad", [*NOT_NUMBERS, 0, 1, 0.5, -0.1])
def test_what_is_no_error_rate_is_refused(bad: object) -> None:
    with pytest.raises(ParameterError, match=r"^miss_rate .*\.$"):
        sparse_test(bad, 10)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", NOT_COUNTS)
def test_what_is_no_number_of_alarms_is_refused(bad: object) -> None:
    with pytest.raises(ParameterError, match=r"^alarms .*\.$"):
        sparse_test(0.05, 10, alarms=bad)  # type: ignore[arg-type]


def test_noise_that_cannot_be_drawn_is_refused_before_anything_is_read() -> None:
    with pytest.raises(ParameterError, match=r"^slack .*\.$"):
        sparse_test(0.05, -1)
    with pytest.raises(ParameterError, match=r"^slack .* noise .*\.$"):
        sparse_test(1e-29, 0, alarms=10**6)
    assert sparse_test(0.05, 2**40).epsilon > 0
    with pytest.raises(ParameterError, match=r"^monotone .*\.$"):
        sparse_test(0.05, 10, monotone="yes")  # type: ignore[arg-type]
