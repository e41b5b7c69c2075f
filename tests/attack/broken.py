"""Mechanisms that are broken on purpose, in the ways that happen."""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from louver import noise
from louver.attack.membership import Draw
from louver.attack.scores import Rows
from louver.noise import Bits, discrete_laplace
from louver.stream.kernels import KERNELS

TICKS = np.array([3, 4, 3, 5])
PERSON = np.array([0, 1, 0, 0])


def seeded(seed: int) -> Bits:
    return Bits._from(random.Random(seed).randbytes)


def fresh(counts: Rows, rate: int = 1) -> Draw:
    """The intact one: fresh noise at each tick."""
    return lambda size, bits: counts + discrete_laplace(rate, size * len(counts), bits=bits).reshape(size, -1)


def reused(counts: Rows) -> Draw:
    """One noise for all ticks."""
    return lambda size, bits: counts + discrete_laplace(1, size, bits=bits)[:, np.newaxis]


def reseeded(counts: Rows, pool: int) -> Callable[[], Draw]:
    """Each release is drawn from one of so many seeds, whatever bits it is given."""
    releases = itertools.count()

    def made() -> Draw:
        def draw(size: int, _: Bits) -> Rows:
            return np.array([fresh(counts)(1, seeded(next(releases) * 7919 % pool))[0] for _ in range(size)])

        return draw

    return made


def fresh_levels(count: int, rates: tuple[Fraction, ...]) -> Draw:
    """Fresh noise for each level, where the chain's price is that of the clearest one alone."""
    return lambda size, bits: count + np.stack([discrete_laplace(rate, size, bits=bits) for rate in rates], axis=1)


def halve_noise(patch: pytest.MonkeyPatch) -> None:
    """Noise of half the width, wherever a mechanism draws it."""
    halved: dict[str, Callable[..., Any]] = {
        "discrete_laplace": lambda rate, count, **given: noise.discrete_laplace(2 * Fraction(rate), count, **given),
        "geometric": lambda rate, count, **given: noise.geometric(2 * Fraction(rate), count, **given),
        "levels": lambda rates, count, **given: noise.levels([2 * rate for rate in rates], count, **given),
        "reaches": lambda margins, rate, cut, **given: noise.reaches(margins, 2 * rate, cut, **given),
        "discrete_gaussian": lambda variance, count, **given: noise.discrete_gaussian(variance / 4, count, **given),
        "fixed_sum": lambda size, rate, count, **given: noise.fixed_sum(size, 2 * rate, count, **given),
        "gaussian_fixed_sum": lambda size, variance, count, **given: noise.gaussian_fixed_sum(
            size, variance / 4, count, **given
        ),
    }
    rooms = tuple(f"louver.{room}" for room in ("decide", "stream", "space", "table", "attack.cases"))
    for kernel in KERNELS.values():
        assert kernel.loaded, "what is loaded later would draw all of its noise"
    for name, module in list(sys.modules.items()):
        if name.startswith(rooms):
            for sampler, half in halved.items():
                if getattr(module, sampler, None) is getattr(noise, sampler):
                    patch.setattr(module, sampler, half)
