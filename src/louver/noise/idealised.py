"""Continuous Laplace noise in floating point, as the papers write it: for reproducing them, never for a release.

Floats have gaps, and the gaps betray the value that noise was added to. Nothing here is private; the type `Idealised`
marks what it returns.
"""

from __future__ import annotations

from typing import NewType

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise.bits import SYSTEM, Bits
from louver.noise.gradual import level_rates
from louver.noise.laplace import noise_rate

Idealised = NewType("Idealised", NDArray[np.float64])
"""Numbers that carry no privacy guarantee."""


def laplace(rate: parameters.Number, count: int, *, bits: Bits = SYSTEM) -> Idealised:
    """Draws of density rate/2 exp(-rate |x|)."""
    exact = float(noise_rate("The rate", rate))
    count = parameters.count("The number of draws", count)
    sign = np.where(_uniform(count, bits) < 0.5, -1.0, 1.0)
    return Idealised(sign * _exponential(count, bits) / exact)


def clearer(
    noise: Idealised, rate: parameters.Number, clearer_rate: parameters.Number, *, bits: Bits = SYSTEM
) -> Idealised:
    """Laplace noise of the larger rate, given noise of the smaller (Koufogiannis et al. 2015).

    Stay with probability (e1/e2) exp(-(e2-e1)|y|); else land below 0, between 0 and y, or beyond y.
    """
    noisy, clear = level_rates((rate, clearer_rate))
    noise = _finite("The noise", noise)
    size, count = np.abs(noise), len(noise)
    gap, both = float(clear - noisy), float(clear + noisy)
    with np.errstate(over="ignore"):
        exponent = -gap * size
    stays = _uniform(count, bits) < float(noisy / clear) * np.exp(exponent)
    # Weights of the three pieces, each divided by exp(-e1 y): no exponent is positive.
    below, beyond = np.full(count, 1 / both), np.exp(exponent) / both
    between = -np.expm1(exponent) / gap
    pick = _uniform(count, bits) * (below + between + beyond)
    outer = _exponential(count, bits) / both
    inner = -np.log1p(_uniform(count, bits) * np.expm1(exponent)) / gap
    moved = np.where(pick < below, -outer, np.where(pick < below + between, inner, size + outer))
    return Idealised(np.where(stays, noise, np.where(noise < 0, -moved, moved)))


def _finite(name: str, values: object) -> Idealised:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        array = np.array(np.nan)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise ParameterError(f"{name} must be one array of finite numbers, with a value for each key.")
    return Idealised(array)


def _uniform(count: int, bits: Bits) -> NDArray[np.float64]:
    return (bits.words64(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _exponential(count: int, bits: Bits) -> NDArray[np.float64]:
    return -np.log1p(-_uniform(count, bits))
