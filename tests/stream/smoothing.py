"""What the tests of smoothing mechanisms share: bits from a seed, noise from a list, and noise made too small."""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.noise import Bits, discrete_laplace
from louver.stream import laplace, pegasus, segment


def seeded(seed: int) -> Bits:
    return Bits._from(random.Random(seed).randbytes)


def halve_noise(patch: pytest.MonkeyPatch) -> None:
    """Noise of twice the rate, wherever these mechanisms draw it."""

    def half(rate: Any, size: int, *, bits: Bits) -> NDArray[np.int64]:
        return discrete_laplace(2 * rate, size, bits=bits)

    for module in (laplace, pegasus, segment):
        patch.setattr(module, "discrete_laplace", half)


def script_noise(patch: pytest.MonkeyPatch, seed: int) -> None:
    """The same noise in the same order for each rate, however many are drawn at a time."""
    draws: defaultdict[Fraction, np.random.Generator] = defaultdict(lambda: np.random.default_rng(seed))

    def scripted(rate: Fraction, size: int, **_: Bits) -> NDArray[np.int64]:
        return np.array([round(draws[rate].laplace(0, 1 / float(rate))) for _ in range(size)], dtype=np.int64)

    for module in (laplace, pegasus, segment):
        patch.setattr(module, "discrete_laplace", scripted)
