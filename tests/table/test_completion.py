"""Laws are compared with the false-alarm probability `laws.FALSE_ALARM`, 1e-9."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from louver.errors import LouverError
from louver.table import completion
from louver.table.completion import Completion, Law
from tests.noise.laws import assert_follows, assert_rejects
from tests.table.tools import lattice_law, margins, seeded

DRAWS = 60_000


@pytest.mark.parametrize(
    ("matrix", "reach"),
    [
        ([[1, 2, 3]], 14),  # pivots that are whole by themselves
        ([[2, 3, 5]], 14),  # pivots that are whole in one of two cases only
        ([[1, -1, 0, 1], [0, 2, 1, 1]], 9),
        ([[1, 1, 1, 0], [0, 0, 1, 1]], 9),
        ([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]], 9),
        ([[1, 1, 1, 0, 0], [0, 0, 0, 1, 2]], 8),  # a group that no pivot touches
    ],
)
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_draws_follow_the_exact_law_on_the_lattice_and_not_one_15_percent_off(
    matrix: list[list[int]], reach: int, law: Law
) -> None:
    parameter = Fraction(3, 2) if law == "laplace" else Fraction(1)

    def exact(factor: float) -> object:
        if law == "laplace":
            return lattice_law(matrix, lambda entry: math.exp(-1.5 * factor * abs(entry)), reach)
        return lattice_law(matrix, lambda entry: math.exp(-entry * entry * factor / 2), reach)

    draws = Completion(np.array(matrix), law, parameter).draw(DRAWS, seeded(1))
    assert not (draws @ np.array(matrix).T).any()
    assert_follows(draws, exact(1))  # type: ignore[arg-type]
    assert_rejects(draws, exact(1.15))  # type: ignore[arg-type]
    assert_rejects(draws, exact(0.85))  # type: ignore[arg-type]


def test_groups_beside_the_pivots_are_drawn_as_a_whole() -> None:
    """Of a table with three rows and fixed margins, one row is solved for and two are drawn with sum 0."""
    sampler = Completion(margins(3, 4).matrix, "laplace", Fraction(1))
    assert len(sampler._whole) == 2
    assert len(sampler._pivots) == 4


def test_margins_of_a_two_way_table_stay_exact() -> None:
    two_way = margins(4, 4)
    draws = Completion(two_way.matrix, "laplace", Fraction(1)).draw(2000, seeded(2))
    assert not draws.reshape(-1, 4, 4).sum(axis=1).any()
    assert not draws.reshape(-1, 4, 4).sum(axis=2).any()
    assert draws.any(axis=1).mean() > 0.6


def test_what_is_too_rarely_found_is_refused_before_there_is_a_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completion, "MOST_TRIED_CELLS", 2**14)
    with pytest.raises(LouverError, match=r"^Noise on these invariants is too rarely found by completion"):
        Completion(margins(12, 12).matrix, "laplace", Fraction(1, 10))


def test_numbers_too_large_to_solve_for_are_refused() -> None:
    rows = np.array([[2**20, 1, 0, 0], [0, 2**20, 1, 0], [0, 0, 2**20, 1]])
    with pytest.raises(LouverError, match=r"too large to solve for"):
        Completion(rows[:, ::-1].copy(), "laplace", Fraction(1, 2**20))
    with pytest.raises(LouverError, match=r"do not overlap only\.$"):
        Completion(margins(2, 3).matrix, "gaussian", Fraction(2**31))


def test_what_is_hopeless_is_refused_before_anything_is_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("Elimination takes seconds here.")

    monkeypatch.setattr(completion, "inverse", refuse)
    for law, parameter in (("laplace", Fraction(1, 4)), ("gaussian", Fraction(8))):
        with pytest.raises(LouverError, match=r"^Noise on these invariants is too rarely found by completion"):
            Completion(margins(30, 30).matrix, law, parameter)  # type: ignore[arg-type]
