"""Shared by the tests of tables: bits that can be had again, invariants that overlap, exact laws on a lattice."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from louver.noise import Bits
from louver.table import Invariants
from tests.noise.laws import Law

# An audit's verdict is wrong with this probability at most.
AUDIT_FALSE_ALARM = 1e-9


def seeded(seed: int) -> Bits:
    return Bits._from(random.Random(seed).randbytes)


def margins(rows: int, columns: int) -> Invariants:
    """Row and column totals of a table, all but the last column's, which follows."""
    table = np.arange(rows * columns).reshape(rows, columns)
    sums = [np.isin(table, table[row]).ravel() for row in range(rows)]
    sums += [np.isin(table, table[:, column]).ravel() for column in range(columns - 1)]
    return Invariants(np.array(sums).astype(np.int64), name="the margins")


def lattice_law(matrix: list[list[int]], weight: Callable[[int], float], reach: int) -> Law:
    """The law of all whole vectors with C v = 0 and entries within reach, one by one."""
    rows = np.array(matrix)
    every = np.stack(np.meshgrid(*[np.arange(-reach, reach + 1)] * rows.shape[1], indexing="ij"), axis=-1)
    vectors = every.reshape(-1, rows.shape[1])
    vectors = vectors[~(vectors @ rows.T).any(axis=1)]
    weights = np.array([weight(entry) for entry in range(-reach, reach + 1)])
    products = weights[vectors + reach].prod(axis=1)
    table = dict(zip(map(tuple, vectors.tolist()), products.tolist(), strict=True))
    whole = math.fsum(table.values())
    return lambda vector: table.get(vector, 0.0) / whole


def sum_zero_cell(size: int, rate: float, reach: int = 2048) -> tuple[float, float]:
    """(Var(v_1), P(sum = 0)) for n independent discrete Laplace cells, the variance given that they sum to 0."""
    cell = math.tanh(rate / 2) * np.exp(-rate * np.abs(np.arange(-reach, reach)))
    turned = np.fft.rfft(np.fft.ifftshift(cell))
    rest = np.fft.fftshift(np.fft.irfft(turned ** (size - 1), 2 * reach))
    values = np.arange(-reach + 1, reach)
    joint = cell[reach + values] * rest[reach - values]
    return float((joint * values**2).sum() / joint.sum()), float(joint.sum())


def surely_lost(here: NDArray[np.bool_], there: NDArray[np.bool_]) -> float:
    """A lower bound on ln(P/P') of an event from draws of two neighbours (Hoeffding): wrong with AUDIT_FALSE_ALARM."""
    width = math.sqrt(math.log(2 / AUDIT_FALSE_ALARM) / (2 * min(len(here), len(there))))
    return math.log((here.mean() - width) / (there.mean() + width))
