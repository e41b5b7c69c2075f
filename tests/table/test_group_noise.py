"""Laws are compared with the false-alarm probability `laws.FALSE_ALARM`, 1e-9."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from louver.table import Invariants
from louver.table.completion import Law
from louver.table.group_noise import FEW_SIZES, completed, group_noise
from tests.noise.laws import assert_follows, assert_rejects, same_law
from tests.table.tools import lattice_law, seeded

SIZES = np.array([3, 1, 2, 5, 3, 4, 6])


def weight(law: Law, factor: float) -> object:
    if law == "laplace":
        return lambda entry: math.exp(-factor * abs(entry))
    return lambda entry: math.exp(-factor * entry * entry / 4)


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_groups_completed_together_follow_the_law_of_each_and_not_one_10_percent_off(law: Law) -> None:
    parameter = Fraction(1) if law == "laplace" else Fraction(2)
    draws = completed(np.tile(SIZES, 50_000), law, parameter, seeded(1)).reshape(50_000, -1)
    starts = np.cumsum(SIZES) - SIZES
    assert not np.add.reduceat(draws, starts, axis=1).any()
    for group in (0, 2, 4):
        cells = draws[:, starts[group] : starts[group] + SIZES[group]]
        matrix = [[1] * int(SIZES[group])]
        assert_follows(cells, lattice_law(matrix, weight(law, 1), 40))  # type: ignore[arg-type]
        assert_rejects(cells, lattice_law(matrix, weight(law, 1.1), 40))  # type: ignore[arg-type]


def test_groups_completed_together_are_independent() -> None:
    draws = completed(np.tile([2, 3], 100_000), "laplace", Fraction(1), seeded(2)).reshape(-1, 5)
    pair = lattice_law([[1, 1]], lambda entry: math.exp(-abs(entry)), 40)
    assert_follows(draws[1:, 0] * 100 + draws[:-1, 0], lambda code: product(pair, code))


def product(pair: object, code: int) -> float:
    high = round(code / 100)
    low = code - 100 * high
    return pair((high, -high)) * pair((low, -low))  # type: ignore[operator, no-any-return]


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_many_sizes_and_few_have_one_law(law: Law) -> None:
    """The last cell of a group of 9, drawn beside groups of many other sizes and by itself."""
    parameter = Fraction(1, 2) if law == "laplace" else Fraction(8)
    labels = [number for number in range(1, FEW_SIZES + 8) for _ in range(number)]
    many = Invariants.groups(labels)
    beside = np.concatenate([group_noise(many, law, parameter, 900, seeded(seed)) for seed in range(3, 23)])
    alone = group_noise(Invariants.total(9), law, parameter, len(beside), seeded(3))
    wider = group_noise(Invariants.total(9), law, parameter * Fraction(4, 3), len(beside), seeded(4))
    assert not many.of(beside).any()
    place = labels.index(9) + 8
    assert same_law(beside[:, place], alone[:, 8]) > 1e-9
    assert same_law(beside[:, place], wider[:, 8]) < 1e-9


def test_cells_outside_all_groups_are_free_beside_many_sizes() -> None:
    labels = [None, *(number for number in range(1, FEW_SIZES + 3) for _ in range(number)), None]
    noise = group_noise(Invariants.groups(labels), "laplace", Fraction(1), 500, seeded(5))
    assert noise[:, [0, -1]].any(axis=0).all()
    assert not noise[:, 1].any()
