from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from louver.local import estimate
from louver.local.estimate import _binomial, estimated

COIN = (Fraction(3, 4), Fraction(1, 4))


def covered(people: int, with_answer: int, chances: tuple[Fraction, Fraction], level: float) -> float:
    """The exact chance that the interval holds the true number."""
    p, q = map(float, chances)
    law = np.convolve(_binomial(with_answer, p), _binomial(people - with_answer, q))
    found = [estimated(marks, people, *chances, level) for marks in range(people + 1)]
    return float(sum(chance for chance, each in zip(law, found, strict=True) if each.low <= with_answer <= each.high))


@pytest.mark.parametrize("chances", [COIN, (Fraction(1, 2), Fraction(1, 20))])
@pytest.mark.parametrize("with_answer", [0, 1, 7, 20, 39, 40])
@pytest.mark.parametrize("exact", [True, False])
def test_intervals_hold_the_truth_at_least_as_often_as_they_say(
    chances: tuple[Fraction, Fraction], with_answer: int, exact: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate, "LARGEST_EXACT", 1024 if exact else 0)
    for level in (0.5, 0.95, 0.999):
        assert covered(40, with_answer, chances, level) >= level


def test_exact_intervals_are_not_much_wider_than_need_be() -> None:
    assert covered(40, 20, COIN, 0.95) < 0.98
    found = estimated(500, 1000, *COIN, 0.95)
    assert found.high - found.low < 1.05 * 2 * 1.96 * found.standard_error


def test_bounded_intervals_hold_the_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    for marks in (0, 150, 300, 600):
        near = estimated(marks, 600, *COIN, 0.95)
        monkeypatch.setattr(estimate, "LARGEST_EXACT", 0)
        wide = estimated(marks, 600, *COIN, 0.95)
        monkeypatch.undo()
        assert wide.low <= near.low <= near.high <= wide.high


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
    assert 1.9 * found.standard_error < found.high - found.value < 3.2 * found.standard_error
