"""Sums of tree nodes: the noise of one node, and what it costs.

A tick lies in one node of each level of a tree. Whatever the tree, one unit moves as many nodes as there are levels, by
at most its sensitivity each.

A unit in w ticks. Pure prices add up what each node is moved by, and on each level all nodes together are moved w
times: w times the price. There is no less, because an outcome in which all nodes are large is exp(w epsilon) times as
likely. Gaussian prices add up squares. On a level whose nodes have b ticks, no node is moved more than min(w, b) times,
so the squares add up to at most w min(w, b). That is reached where whole nodes are filled.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError
from louver.noise import discrete_gaussian, discrete_laplace
from louver.noise.bits import Bits
from louver.noise.gaussian import LARGEST_VARIANCE, SMALLEST_VARIANCE
from louver.noise.laplace import LARGEST_RATE, SMALLEST_RATE
from louver.privacy import Pure, ZeroConcentrated
from louver.stream.continual import LARGEST_SUM, ContinualSum, gaussian_variance
from louver.stream.digits import Digits
from louver.stream.mechanism import GaussianNoise

MOST_LEVELS = 64  # no tree over as many ticks as there can be has so many


@dataclass(frozen=True)
class NodeNoise:
    """Noise for many whole numbers, of which one unit moves `levels` by at most `sensitivity` each.

    Discrete Laplace of rate epsilon / (levels sensitivity) on each is epsilon-private: the losses of the nodes add up.
    Discrete Gaussian of variance levels sensitivity^2 / (2 rho) on each is rho-zCDP for the same reason. Both hold when
    later nodes depend on earlier noisy ones.
    """

    price: Pure | ZeroConcentrated
    levels: int
    sensitivity: int

    def draw(self, shape: tuple[int, ...], bits: Bits) -> NDArray[np.int64]:
        count = math.prod(shape)
        if self.pure:
            return discrete_laplace(self.parameter, count, bits=bits).reshape(shape)
        return discrete_gaussian(self.parameter, count, bits=bits).reshape(shape)

    @property
    def pure(self) -> bool:
        return isinstance(self.price, Pure)

    @cached_property
    def parameter(self) -> Fraction:
        """The rate, or the variance, and what a sampler takes at least where less would do."""
        if isinstance(self.price, Pure):
            return min(self.price.epsilon / (self.levels * self.sensitivity), LARGEST_RATE)
        return max(self.levels * Fraction(self.sensitivity) ** 2 / (2 * self.price.rho), SMALLEST_VARIANCE)

    @property
    def variance(self) -> float:
        """The variance of one draw: 1 / (2 sinh^2(rate / 2)), or that of the discrete Gaussian."""
        if self.pure:
            rate = float(self.parameter)
            return 0.5 / math.sinh(rate / 2) ** 2 if rate < 700 else 0.0
        return gaussian_variance(float(self.parameter))


@dataclass(frozen=True)
class NodeSpread:
    """Variances of prefixes made of nodes."""

    variance: float
    nodes: Digits

    def at(self, tick: int) -> float:
        return self.variance * self.nodes.at(tick)

    def total(self, ticks: int) -> float:
        return self.variance * self.nodes.total(ticks)

    def largest(self, ticks: int) -> float:
        return self.variance * self.nodes.largest(ticks)


class NodeSums(ContinualSum):
    """Sums of a stream from noisy sums of nodes."""

    def __init__(self, horizon: int | None = None, **shared: Any) -> None:
        super().__init__(horizon, **shared)
        most = self._noise_of(MOST_LEVELS)
        if most.parameter < SMALLEST_RATE if most.pure else most.parameter > LARGEST_VARIANCE:
            raise ParameterError("This price is too small for so large a sensitivity; use a coarser grid or pay more.")

    def _open_epoch(self, length: int) -> None:
        if length * max(abs(self.low), abs(self.high)) > LARGEST_SUM:
            raise ParameterError("Sums of so many ticks of this size do not fit 64 bits; use a coarser grid.")
        super()._open_epoch(length)

    @abstractmethod
    def _widths(self, length: int) -> list[int]:
        """How many ticks a node of each level has in an epoch of this length."""

    def _share(self, changes: int) -> Fraction:
        widths = self._widths(self._asked(None))
        return Fraction(sum(min(changes, width) for width in widths), len(widths))

    def _gaussian_noise(self, changes: int) -> GaussianNoise | None:
        if self.horizon is None:
            return None
        noise = self._noise_of(len(self._widths(self.horizon)))
        return None if noise.pure else GaussianNoise(noise.parameter, noise.levels * changes)

    def _noise_of(self, levels: int) -> NodeNoise:
        return NodeNoise(self._price, levels, self.sensitivity)
