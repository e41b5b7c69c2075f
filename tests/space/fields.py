"""What the tests of maps share: bits from a seed, small fields, noise that is scripted, halved or absent."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.noise import Bits, discrete_laplace
from louver.space import measure, structure
from louver.space.field import Field, scale
from louver.space.measure import Measured, Price

SQUARE = (0, 0, 100, 100)


def seeded(seed: int) -> Bits:
    return Bits._from(random.Random(seed).randbytes)


def readings(size: int, seed: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Spread evenly over the square, with a warm bump in the middle."""
    draw = np.random.default_rng(seed)
    x, y = draw.uniform(0, 100, (2, size))
    return x, y, 20 + 80 * np.exp(-((x - 50) ** 2 + (y - 50) ** 2) / 800)


def bump(size: int, atoms: int = 64, seed: int = 1) -> Field:
    return Field.of(*readings(size, seed), SQUARE, high=100, atoms=atoms)


def alike(count: int, total: int, side: int, high: int = 4) -> Field:
    """Every atom the same: as many independent trials of one cell as there are atoms."""
    counts = np.full((side, side), count, dtype=np.int64)
    return Field(counts, np.full_like(counts, total), SQUARE, scale(0, high, 1))


def halve_noise(patch: pytest.MonkeyPatch) -> None:
    """Noise of twice the rate, in the one place where maps draw it."""

    def half(rate: Fraction, size: int, *, bits: Bits) -> NDArray[np.int64]:
        return discrete_laplace(2 * rate, size, bits=bits)

    patch.setattr(measure, "discrete_laplace", half)


def no_noise(patch: pytest.MonkeyPatch) -> None:
    def zeros(_: Fraction, size: int, **__: Bits) -> NDArray[np.int64]:
        return np.zeros(size, dtype=np.int64)

    patch.setattr(measure, "discrete_laplace", zeros)


def script_noise(patch: pytest.MonkeyPatch, draws: list[list[int]]) -> Iterator[list[int]]:
    """The listed draws, one list for each call: counts, then sums, look by look."""
    left = iter(draws)

    def scripted(_: Fraction, size: int, **__: Bits) -> NDArray[np.int64]:
        drawn = np.array(next(left), dtype=np.int64)
        assert len(drawn) == size
        return drawn

    patch.setattr(measure, "discrete_laplace", scripted)
    return left


def watch_looks(patch: pytest.MonkeyPatch) -> list[tuple[NDArray[np.int64], Price]]:
    """Every look at the private numbers from now on: at which rectangles, and for what price."""
    looks: list[tuple[NDArray[np.int64], Price]] = []
    real = measure.measure

    def watched(field: Field, rectangles: NDArray[np.int64], price: Price, *rest: Any) -> Measured:
        looks.append((rectangles, price))
        return real(field, rectangles, price, *rest)

    patch.setattr(structure, "measure", watched)
    return looks
