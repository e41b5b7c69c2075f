"""What a mechanism's noise does to a count: ln f(y | z), the law an attacker is taken to know.

A law gives the log of the probability (or density) of a released value for each true count that it may stand for. It
may leave out what does not depend on the count.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise.bits import SYSTEM, Bits

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

TAIL = 1e-16  # what a sum over outcomes may leave out on either side
_NODES = 8  # of Gauss and Legendre in each panel; more change nothing at double precision


class Law(Protocol):
    """Anything with the likelihood of released values, which are broadcast against true counts."""

    def log_likelihood(self, released: Floats, counts: Whole) -> Floats: ...


def log_likelihoods(law: Law, released: Floats, counts: Whole) -> Floats:
    """ln f(y | z) for each released value and each of its possible counts, on a last axis; NaN was not released, and
    says nothing about any count."""
    missing = np.isnan(released)
    if not missing.any():
        return law.log_likelihood(released[..., None], counts)
    found = law.log_likelihood(np.where(missing, 0.0, released)[..., None], counts)
    return np.where(missing[..., None], 0.0, found)


class NoiseLaw(Law, Protocol):
    """A law that can also say how likely each release is for a given count, and draw one."""

    def outcomes(self, counts: Whole, most: int) -> tuple[Floats, Floats]:
        """Released values (n,) and their weights (n, ...) for each count; `most` is the largest possible count."""

    def draw(self, counts: Whole, bits: Bits = SYSTEM) -> Floats:
        """Released values for true counts."""


@dataclass(frozen=True)
class NoNoise:
    """The true counts themselves."""

    def log_likelihood(self, released: Floats, counts: Whole) -> Floats:
        return np.where(released == counts, 0.0, -np.inf)

    def outcomes(self, counts: Whole, most: int) -> tuple[Floats, Floats]:
        values = np.arange(most + 1)
        return values.astype(float), _spread(values, counts) == 0

    def draw(self, counts: Whole, bits: Bits = SYSTEM) -> Floats:  # noqa: ARG002
        return counts.astype(np.float64)


@dataclass(frozen=True)
class DiscreteLaplace:
    """Louver's own noise of this rate: P(x) = (1 - a) / (1 + a) a^|x|, a = exp(-rate).

    Values below 0, and above the largest possible count, tell the same as 0 and as that count: all likelihoods change
    by one factor. So no more than these values have to be summed.
    """

    rate: parameters.Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", parameters.positive("The rate", self.rate))

    def log_likelihood(self, released: Floats, counts: Whole) -> Floats:
        rate = float(self.rate)
        return math.log(math.tanh(rate / 2)) - rate * np.abs(released - counts)

    def outcomes(self, counts: Whole, most: int) -> tuple[Floats, Floats]:
        rate, values = float(self.rate), np.arange(most + 1)
        weights = math.tanh(rate / 2) * np.exp(-rate * np.abs(_spread(values, counts)))
        tail = 1 / (1 + math.exp(-rate))
        weights[0], weights[-1] = tail * np.exp(-rate * counts), tail * np.exp(-rate * (most - counts))
        return values.astype(float), weights if most else np.ones_like(weights)

    def draw(self, counts: Whole, bits: Bits = SYSTEM) -> Floats:
        from louver.noise.laplace import discrete_laplace

        noise = discrete_laplace(parameters.fraction("The rate", self.rate), counts.size, bits=bits)
        return (counts + noise.reshape(counts.shape)).astype(np.float64)


@dataclass(frozen=True)
class DiscreteGaussian:
    """Louver's own Gaussian noise: P(x) proportional to exp(-x^2 / (2 variance)) on the whole numbers."""

    variance: parameters.Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", parameters.positive("The variance", self.variance))

    def log_likelihood(self, released: Floats, counts: Whole) -> Floats:
        return -((released - counts) ** 2) / (2 * float(self.variance)) - self._log_total

    def outcomes(self, counts: Whole, most: int) -> tuple[Floats, Floats]:  # noqa: ARG002
        values = np.arange(int(counts.min()) - self._reach, int(counts.max()) + self._reach + 1)
        return values.astype(float), np.exp(self.log_likelihood(_spread(values, counts), np.zeros(1, np.int64)))

    def draw(self, counts: Whole, bits: Bits = SYSTEM) -> Floats:
        from louver.noise.gaussian import discrete_gaussian

        noise = discrete_gaussian(parameters.fraction("The variance", self.variance), counts.size, bits=bits)
        return (counts + noise.reshape(counts.shape)).astype(np.float64)

    @property
    def _reach(self) -> int:
        return math.ceil(math.sqrt(-2 * float(self.variance) * math.log(TAIL))) + 1

    @property
    def _log_total(self) -> float:
        offsets = np.arange(-self._reach, self._reach + 1)
        return math.log(np.exp(-(offsets**2) / (2 * float(self.variance))).sum())


@dataclass(frozen=True)
class ContinuousLaplace:
    """The papers' noise, of density rate/2 exp(-rate |x|); never Louver's, whose noise is whole numbers."""

    rate: parameters.Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", parameters.positive("The rate", self.rate))

    def log_likelihood(self, released: Floats, counts: Whole) -> Floats:
        rate = float(self.rate)
        return math.log(rate / 2) - rate * np.abs(released - counts)

    def outcomes(self, counts: Whole, most: int) -> tuple[Floats, Floats]:
        """Quadrature in panels between whole numbers, where the likelihood has its kinks, no wider than 1/rate.

        The ends stand for all beyond them."""
        rate, parts = float(self.rate), math.ceil(self.rate)
        panels, width = np.arange(most * parts) / parts, 1 / parts
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        inside = (panels[:, None] + width * (nodes + 1) / 2).ravel()
        values = np.concatenate([[0.0], inside, [float(most)]])
        steps = np.tile(weights * width / 2, len(panels))
        within = _along(steps, counts) * rate / 2 * np.exp(-rate * np.abs(_spread(inside, counts)))
        below, above = np.exp(-rate * counts) / 2, np.exp(-rate * (most - counts)) / 2
        return values, np.concatenate([below[None], within, above[None]])

    def draw(self, counts: Whole, bits: Bits = SYSTEM) -> Floats:
        from louver.noise.idealised import laplace

        return np.asarray(
            counts + laplace(parameters.fraction("The rate", self.rate), counts.size, bits=bits).reshape(counts.shape)
        )


@dataclass(frozen=True)
class Additive:
    """Noise that is added to the count, of any law: the log probability (or density) of y - z as a function."""

    log_pmf: Callable[[Floats], Floats]

    def log_likelihood(self, released: Floats, counts: Whole) -> Floats:
        return np.asarray(self.log_pmf(released - counts), dtype=np.float64)


@dataclass(frozen=True)
class Tabled:
    """The same from a list of log probabilities of the whole numbers from `first` on; all others have none."""

    log_pmf: ArrayLike
    first: int

    def __post_init__(self) -> None:
        table = np.asarray(self.log_pmf, dtype=np.float64)
        if table.ndim != 1 or not table.size or np.isnan(table).any():
            raise ParameterError("A law is one list of log probabilities, at least one, and none of them NaN.")
        object.__setattr__(self, "log_pmf", table)

    def log_likelihood(self, released: Floats, counts: Whole) -> Floats:
        table = np.append(np.asarray(self.log_pmf), -np.inf)
        at = np.asarray(released - counts) - self.first
        possible = (at >= 0) & (at < len(table) - 1) & (at == np.floor(at))
        found: Floats = table[np.where(possible, at, len(table) - 1).astype(np.int64)]
        return found

    def outcomes(self, counts: Whole, most: int) -> tuple[Floats, Floats]:  # noqa: ARG002
        values = np.arange(int(counts.min()) + self.first, int(counts.max()) + self.first + np.size(self.log_pmf))
        return values.astype(float), np.exp(self.log_likelihood(_spread(values, counts), np.zeros(1, np.int64)))

    def draw(self, counts: Whole, bits: Bits = SYSTEM) -> Floats:
        """By inversion in floats: good enough for an attacker's own practice, and for nothing that protects."""
        reached = np.cumsum(np.exp(np.asarray(self.log_pmf)))
        uniform = (bits.words64(counts.size) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        noise = self.first + np.searchsorted(reached, uniform * reached[-1], side="right")
        return np.asarray(counts + noise.reshape(counts.shape), dtype=np.float64)


def _spread(values: NDArray[np.int64] | Floats, counts: Whole) -> Floats:
    """Each value less each count: (n, ...)."""
    return _along(values, counts) - counts


def _along(values: NDArray[np.int64] | Floats, counts: Whole) -> Floats:
    return np.asarray(values, dtype=np.float64).reshape(-1, *(1,) * counts.ndim)
