"""Verdicts on noise alone: each is wrong with probability at most `mistaken`, set to 1e-9 where a test relies on it."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from louver.errors import LouverError
from louver.privacy import Pure
from louver.stream.tail import HEAVY, LIGHT, UNCLEAR, Tail, look_at_tail
from tests.misuse import NOT_POSITIVE
from tests.noise.laws import assert_follows, assert_rejects, laplace

DICE = np.random.default_rng(8)
SIZE = 50_000
TAILS = {
    "uniform": (DICE.uniform(0, 6400, SIZE), LIGHT),
    "half normal": (np.abs(DICE.normal(0, 2000, SIZE)), LIGHT),
    "lognormal": (64 * DICE.lognormal(3, 0.8, SIZE), HEAVY),
    "Pareto": (1000 * DICE.pareto(2.5, SIZE), HEAVY),
}


@pytest.mark.parametrize("name", TAILS)
def test_a_tail_lighter_or_heavier_than_exponential_is_told(name: str) -> None:
    values, known = TAILS[name]
    assert look_at_tail(values.astype(np.int64), 200_000, 2, mistaken=1e-9).verdict == known


@pytest.mark.parametrize("name", TAILS)
def test_with_little_epsilon_nothing_is_said(name: str) -> None:
    """The reach is more than all values there are; a verdict would take noise of nine tenths of it: under 1e-7."""
    looked = look_at_tail(TAILS[name][0].astype(np.int64), 200_000, 0.001, mistaken=1e-9)
    assert looked.reach > SIZE
    assert looked.verdict == UNCLEAR


def tail(near: int, far: int, reach: int) -> Tail:
    return Tail(100, Fraction(2), 1000, near, far, reach, Pure(1))


def test_a_verdict_stands_for_every_pair_of_counts_within_reach() -> None:
    """An exponential tail that leaves 100 of 1000 beyond q leaves 10 beyond 2 q."""
    assert tail(near=90, far=10, reach=0).verdict == LIGHT
    assert tail(near=89, far=11, reach=0).verdict == HEAVY
    assert tail(near=90, far=10, reach=1).verdict == UNCLEAR
    assert tail(near=110, far=2, reach=3).verdict == LIGHT
    assert tail(near=80, far=30, reach=10).verdict == HEAVY


@pytest.mark.parametrize("factor", [Fraction(9, 8), Fraction(2), Fraction(4)])
def test_a_verdict_holds_for_all_true_counts_within_reach(factor: Fraction) -> None:
    """By going through all of them: no pair contradicts it."""
    size, told = 40, set()
    for near, far, reach in itertools.product(range(0, 40, 3), range(0, 40, 2), (0, 1, 4, 30)):
        verdict = Tail(100, factor, size, near, far, reach, Pure(1)).verdict
        nears, fars = (range(max(each - reach, 0), min(each + reach, size) + 1) for each in (near, far))
        light = {b / size <= ((a + b) / size) ** float(factor) for a in nears for b in fars if a + b <= size}
        assert verdict == UNCLEAR or light <= {verdict == LIGHT}
        told.add(verdict)
    assert told == {LIGHT, HEAVY, UNCLEAR}


def test_only_a_light_tail_allows_a_factor() -> None:
    assert tail(near=90, far=10, reach=0).stretch == 2
    assert tail(near=89, far=11, reach=0).stretch == 1
    assert tail(near=90, far=10, reach=1).stretch == 1


def test_a_share_so_large_that_the_comparison_turns_round_is_not_called_light() -> None:
    assert tail(near=900, far=90, reach=0).verdict != LIGHT


@pytest.mark.parametrize(("neighbours", "rate"), [("replace", 0.25), ("presence", 0.5)])
def test_the_counts_have_the_noise_they_pay_for(neighbours: str, rate: float) -> None:
    """All values are 0, so that both counts are noise alone: half of epsilon, or a quarter where two may change."""
    looked = [look_at_tail(np.zeros(3, np.int64), 4, 1, neighbours=neighbours) for _ in range(800)]
    drawn = np.array([count for each in looked for count in (each.near, each.far)])
    assert_follows(drawn, laplace(rate))
    assert_rejects(drawn, laplace(2 * rate))


def test_it_says_what_it_costs() -> None:
    assert look_at_tail(np.arange(100), 1000, Fraction(1, 3)).price == Pure(Fraction(1, 3))


@pytest.mark.parametrize("epsilon", NOT_POSITIVE)
def test_an_epsilon_that_is_none_is_refused(epsilon: object) -> None:
    with pytest.raises(LouverError):
        look_at_tail(np.arange(10), 10, epsilon)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"factor": 1}, {"factor": 9}, {"mistaken": 0.5}, {"neighbours": "x"}])
def test_other_absurd_parameters_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(LouverError, match=r"\.$"):
        look_at_tail(np.arange(10), 10, 1, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("missing", [None, math.nan, 0])
def test_a_missing_value_stays_in_so_that_the_size_tells_of_nobody(missing: object) -> None:
    """The size is released: of streams that differ in whether one value is there, it must be the same."""
    there = [*range(1000)]
    without = [*there[:-1], missing]
    sizes = {look_at_tail(values, 10**6, 1, neighbours="presence").size for values in (there, without)}
    assert sizes == {1000}


def test_a_missing_value_is_in_neither_count() -> None:
    looked = look_at_tail([None] * 50, 4, 10**3, neighbours="presence")  # type: ignore[arg-type]
    assert (looked.near, looked.far) == (0, 0)
