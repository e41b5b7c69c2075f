"""Coverage is exact: the chance of every number of marks, by SciPy's binomials, times whether its interval holds."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from louver.errors import LouverError
from louver.local import Choice, Unary, YesNo, estimate
from louver.local.estimate import _first, binomial, estimated, estimates

Chances = tuple[Fraction, Fraction]
COIN = (Fraction(3, 4), Fraction(1, 4))
HARD = [COIN, (Fraction(1, 2), Fraction(1, 20)), (1 - Fraction(1, 2**92), Fraction(1, 2**92))]


def covered(people: int, with_answer: int, chances: Chances, level: float) -> float:
    """The chance that the interval holds the true number."""
    p, q = map(float, chances)
    law = np.convolve(
        binom.pmf(np.arange(with_answer + 1), with_answer, p),
        binom.pmf(np.arange(people - with_answer + 1), people - with_answer, q),
    )
    likely = np.flatnonzero(law > 1e-12)
    found = estimates(likely, people, *chances, level)
    held = [each.low <= with_answer <= each.high for each in found]
    return float(law[likely][held].sum()) + 1e-8  # the unlikely, all of them held, and SciPy's own rounding


@pytest.mark.parametrize("chances", HARD)
@pytest.mark.parametrize("with_answer", [0, 1, 7, 20, 39, 40])
def test_intervals_hold_the_truth_at_least_as_often_as_they_say(chances: Chances, with_answer: int) -> None:
    for level in (0.5, 0.95, 0.999):
        assert covered(40, with_answer, chances, level) >= level


def test_intervals_of_a_few_thousand_people_hold_too() -> None:
    assert 0.95 <= covered(3000, 900, COIN, 0.95) < 0.96


def test_intervals_are_not_much_wider_than_need_be() -> None:
    assert covered(40, 20, COIN, 0.95) < 0.98
    for people in (1000, 1_000_000):
        found = estimated(people // 2, people, *COIN, 0.95)
        assert found.high - found.low < 1.05 * 2 * 1.96 * found.standard_error


def test_an_interval_with_too_little_left_out_of_its_tails_would_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: tails halved give narrower intervals, which hold too rarely."""
    exact = estimate._Law.tails
    monkeypatch.setattr(estimate._Law, "tails", lambda law, k, marks: tuple(each / 2 for each in exact(law, k, marks)))
    assert covered(40, 20, COIN, 0.95) < 0.95


@pytest.mark.parametrize(("number", "chance"), [(0, 0.3), (1, 0.3), (50, 0.02), (1000, 0.75), (200_000, 0.5)])
def test_windows_hold_all_but_what_they_may_leave_out(number: int, chance: float) -> None:
    first, law = binomial(number, chance, 1 - chance, 1e-12)
    values = first + np.arange(len(law))
    assert law == pytest.approx(binom.pmf(values, number, chance), rel=1e-8)
    assert binom.cdf(first - 1, number, chance) + binom.sf(values[-1], number, chance) <= 1e-12


def test_the_first_is_found_from_any_guess() -> None:
    dice = random.Random(1)
    for _ in range(2000):
        last = dice.randint(0, 40)
        step = dice.randint(0, last + 1)
        assert _first(lambda k, step=step: k >= step, last, dice.uniform(-9, 50)) == min(step, last)  # type: ignore[misc]


def test_estimates_are_left_outside_the_possible() -> None:
    """Clamping would make them biased; the interval stays inside."""
    none = estimated(10, 100, *COIN, 0.95)
    assert none.value == -30
    assert none.share == -0.3
    assert (none.low, none.high) == (0, 0)
    everybody = estimated(95, 100, *COIN, 0.95)
    assert everybody.value == 140
    assert (everybody.low, everybody.high) == (100, 100)


def test_a_million_people_are_estimated_with_a_fitting_interval() -> None:
    found = estimated(400_000, 1_000_000, *COIN, 0.95)
    assert found.value == 300_000
    assert found.standard_error == pytest.approx(math.sqrt(1_000_000 * 3 / 16) * 2)
    assert 1.95 * found.standard_error < found.high - found.value < 1.97 * found.standard_error


def test_many_answers_are_estimated_as_one_by_one() -> None:
    together = estimates([3, 9, 3, 0], 12, *COIN, 0.9)
    assert together == [estimated(marks, 12, *COIN, 0.9) for marks in (3, 9, 3, 0)]


def test_a_million_possible_answers_are_counted_once_for_each_number_of_marks() -> None:
    found = Choice(2**20, 1).estimate([7] * 10)
    assert len(found) == 2**20
    assert len({id(each) for each in found.values()}) == 2


@pytest.mark.parametrize("epsilon", [1e-6, 37, 40, 64])
def test_every_price_that_is_taken_can_be_estimated(epsilon: float) -> None:
    """At a high price nearly everybody tells the truth, and at a low one nothing is known."""
    for people in (10, 2000):
        found = YesNo(epsilon).estimate([True] * (people - 3) + [False] * 3)
        assert (found.low, found.high) == ((people - 3, people - 3) if epsilon > 1 else (found.low, people))
        shares = Choice(3, epsilon).estimate([1] * people)
        assert shares[1].high == people
        for optimised in (True, False):
            unary = Unary(3, epsilon, optimised=optimised)
            assert unary.estimate(np.ones((people, 3), dtype=np.bool_))[0].high == people


def test_levels_near_1_widen_the_interval_and_1_is_refused() -> None:
    widths = [
        found.high - found.low for found in (estimated(500, 1000, *COIN, level) for level in (0.9, 1 - 1e-9, 1 - 1e-15))
    ]
    assert widths == sorted(set(widths))
    assert widths[-1] < 600
    for level in (1, 1 - Fraction(1, 10**31), 0, -1):
        with pytest.raises(LouverError, match=r"^level must be greater than 0"):
            estimated(500, 1000, *COIN, level)


def test_an_estimate_is_written_in_plain_numbers() -> None:
    found = estimated(40, 100, *COIN, 0.95)
    assert str(found) == "30 of 100 (30.0%); 12 to 47 in at least 95% of surveys"
    assert "level=0.95" in repr(found)
    assert str(estimated(0, 10, Fraction(99, 100), Fraction(1, 100), 0.999)).startswith("0 of 10 (-1.0%); 0 to ")
