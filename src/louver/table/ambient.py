"""Answers with exact invariants, by independent noise pressed into their null space: A h + P_N z.

Releases A h + P_N z as exact fractions: the row space of C is as it is, the null space N carries noise. Unbiased, and
never rounded or clipped afterwards. `way="projection"` measures the noise by what one record does to A h;
`way="extension"` by what it does inside N, which is never more. After Gao, Gong and Yu, *Subspace Differential
Privacy* (2022).

Price: rho of zero-concentrated privacy (`Gaussian`) or epsilon (`Laplace`, projection only), for the null space part of
the release, between tables that differ by one record: moved ("change"), or present or absent ("presence", the papers'
choice). `price` is always that of a record that moves while the invariants stay as they are. Not promised: anything
about what the invariants show, of anybody.

Why this is private. What `Ambient.release` publishes besides the invariants is P_N (A h + z), written as reduced
fractions and thus a function of that vector alone. z is drawn on a grid of step g = 2^-k that holds all of A h. Let d
be the difference of A h between neighbours.

Projection: A h + z is private by the law of z with the sensitivity max |d|; the rest is post-processing.

Extension: for every grid vector r in the row space, P_N (A h' + d + z) = P_N (A h' + d + r + z), so the two releases
are post-processed from z shifted by d + r and from z, for whichever r makes that shift shortest. The multiples g c_i
of the rows of C span a lattice in the row space, and rounding -P_R d to it plane by plane leaves at most half of each
row: |P_R d + r|^2 <= g^2/4 sum |c_i|^2. Being orthogonal to P_N d, this adds in squares, so that

    |d + r|^2 <= |P_N d|^2 + g^2/4 sum |c_i|^2, and r = 0 gives |d|^2.

`Gaussian.sensitivity_squared` is the smaller of the two maxima, and a discrete Gaussian of parameter s^2 on the grid,
shifted by a grid vector of length l, is l^2/(2 s^2)-zCDP (Canonne, Kamath and Steinke 2020).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise import Bits, discrete_gaussian, discrete_laplace
from louver.noise.bits import SYSTEM
from louver.noise.gaussian import LARGEST_VARIANCE, SMALLEST_VARIANCE
from louver.noise.laplace import noise_rate
from louver.privacy import Subspace, ZeroConcentrated
from louver.table.invariants import Invariants
from louver.table.null_space import null_part, shares
from louver.table.queries import Neighbours, Queries
from louver.table.released import Released

Way = Literal["projection", "extension"]
FINEST_STEP = 30  # binary places of the grid
_FINE_ENOUGH = Fraction(1, 2**20)  # how much of the sensitivity the grid may cost
_PRICE_STEPS = 40
_FAR = 2**14  # noise passes so many times its scale with probability exp(-2^14)


class Ambient(ABC):
    """What both laws of noise share."""

    step = Fraction(1)

    def __init__(self, invariants: Invariants, queries: Any, neighbours: Neighbours, bits: Bits) -> None:
        if not isinstance(invariants, Invariants):
            raise ParameterError("Say what stays exact by Invariants.total, Invariants.groups or Invariants.")
        self.invariants = invariants
        self.queries = Queries(invariants.cells if queries is None else queries)
        self.neighbours: Neighbours = one_of("neighbours", neighbours, get_args(Neighbours))
        self._bits = bits
        self.inside_squared = self.queries.in_null_space(invariants, self.neighbours)
        if not self.inside_squared:
            raise ParameterError("One record changes nothing but the invariants, so there is nothing to protect.")

    def release(self, counts: object) -> Released:
        """The answers with noise; the invariants of the answers are exact."""
        answers = self.queries.of(counts)
        self.invariants.check(answers)
        above, below = null_part(self.invariants, self._noise(1)[0])
        return Released.of(answers, above, below * (1 / self.step).numerator, self.queries.denominator)

    def variances(self) -> NDArray[np.float64]:
        """How much each answer scatters around the true one."""
        return shares(self.invariants) * self._ambient_variance() / self.queries.denominator**2

    @abstractmethod
    def _noise(self, count: int) -> NDArray[np.int64]:
        """z in steps, one row for each release."""

    @abstractmethod
    def _ambient_variance(self) -> float:
        """How much one number of z scatters."""


class Gaussian(Ambient):
    """Discrete Gaussian noise on a fine grid, pressed into the null space.

    >>> rooms = Invariants.total(4, name="the headcount")
    >>> release = Gaussian(rooms, rho=0.5).release([30, 5, 0, 65])
    >>> sum(release.exact())
    Fraction(100, 1)
    """

    def __init__(
        self,
        invariants: Invariants,
        rho: parameters.Number,
        *,
        queries: Any = None,
        way: Way = "extension",
        neighbours: Neighbours = "change",
        bits: Bits = SYSTEM,
    ) -> None:
        super().__init__(invariants, queries, neighbours, bits)
        self._plain_squared = self.queries.l2_squared(self.neighbours)
        self.rho = parameters.positive("rho", rho)
        self.way: Way = one_of("way", way, get_args(Way))
        self.step = self._chosen_step()
        variance = self.sensitivity_squared / (2 * self.rho) / self.step**2
        self.variance = parameters.within(
            "The variance that rho asks for", variance, SMALLEST_VARIANCE, LARGEST_VARIANCE
        )

    @classmethod
    def at_price(
        cls, invariants: Invariants, epsilon: parameters.Number, delta: parameters.Number, **options: Any
    ) -> Gaussian:
        """The least noise whose price is at most (epsilon, delta); needs dp-accounting."""
        most = parameters.positive("epsilon", epsilon)
        low, high = Fraction(0), most
        for _ in range(_PRICE_STEPS):
            middle = (low + high) / 2
            fits = ZeroConcentrated(middle).as_approximate(delta).epsilon <= most
            low, high = (middle, high) if fits else (low, middle)
        return cls(invariants, low, **options)

    def price(self, delta: parameters.Number) -> Subspace:
        """The price for a record that moves while the invariants stay; more than rho's where that is for presence."""
        moving = self.queries.l2_squared("change") / (2 * self.variance * self.step**2)
        if self.neighbours == "change":
            moving = self.rho
        return Subspace(ZeroConcentrated(moving).as_approximate(delta).epsilon, delta, self.invariants.name)

    @property
    def sensitivity_squared(self) -> Fraction:
        """The square of the shift that hides one record, in units of the answers' denominator."""
        if self.way == "projection":
            return self._plain_squared
        on_grid = self.inside_squared + self.step**2 * _row_squares(self.invariants) / 4
        return min(self._plain_squared, on_grid)

    def _chosen_step(self) -> Fraction:
        """As fine as makes the grid's cost negligible, as far as the sampler's range allows."""
        if self.way == "projection":
            return Fraction(1)
        wanted = math.log2(_row_squares(self.invariants) / (4 * _FINE_ENOUGH * self.inside_squared)) / 2
        room = math.log2(LARGEST_VARIANCE * 2 * self.rho / (2 * self._plain_squared)) / 2
        return Fraction(1, 2 ** max(0, min(math.ceil(wanted), math.floor(room), FINEST_STEP)))

    def _noise(self, count: int) -> NDArray[np.int64]:
        cells = self.invariants.cells
        return discrete_gaussian(self.variance, count * cells, bits=self._bits).reshape(count, cells)

    def _ambient_variance(self) -> float:
        return float(self.variance * self.step**2)


class Laplace(Ambient):
    """Discrete Laplace noise pressed into the null space: the projection. The extension is `WholeTable`.

    >>> sum(Laplace(Invariants.total(4), epsilon=1).release([30, 5, 0, 65]).exact())
    Fraction(100, 1)
    """

    def __init__(
        self,
        invariants: Invariants,
        epsilon: parameters.Number,
        *,
        queries: Any = None,
        neighbours: Neighbours = "change",
        bits: Bits = SYSTEM,
    ) -> None:
        super().__init__(invariants, queries, neighbours, bits)
        self.epsilon = parameters.positive("epsilon", epsilon)
        self.rate = noise_rate("epsilon over sensitivity", self.epsilon / self.queries.l1(self.neighbours))
        if invariants.cells * _FAR / self.rate > parameters.LARGEST_PRIVATE:
            raise ParameterError("Noise as wide as this does not fit so many cells; use a larger epsilon.")

    @property
    def price(self) -> Subspace:
        """The price for a record that moves while the invariants stay; more than epsilon where that is for presence."""
        return Subspace(self.rate * self.queries.l1("change"), 0, self.invariants.name)

    def _noise(self, count: int) -> NDArray[np.int64]:
        cells = self.invariants.cells
        return discrete_laplace(self.rate, count * cells, bits=self._bits).reshape(count, cells)

    def _ambient_variance(self) -> float:
        return laplace_variance(self.rate)


def laplace_variance(rate: Fraction) -> float:
    """2a/(1-a)^2, a = exp(-rate)."""
    return 1 / (2 * math.sinh(min(float(rate), 700.0) / 2) ** 2)


def one_of(name: str, given: Any, choices: tuple[str, ...]) -> Any:
    if given not in choices:
        raise ParameterError(f"{name} must be {' or '.join(map(repr, choices))}.")
    return given


def _row_squares(invariants: Invariants) -> int:
    """sum |c_i|^2."""
    if invariants.apart:
        return int(invariants.sizes.sum())
    return int((invariants.matrix.astype(object) ** 2).sum())
