"""The noise of a table: on the lattice of what is exact, or free where nothing is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.noise import Bits, discrete_gaussian, discrete_laplace
from louver.noise.gaussian import LARGEST_VARIANCE, SMALLEST_VARIANCE
from louver.noise.laplace import noise_rate
from louver.table.invariants import Invariants
from louver.table.whole import WholeTable


class Noisy:
    """Counts with whole-number noise, at a price for up to `moved` entries of one unit.

    With groups, `WholeTable`: total by total exact. Without, independent noise: Laplace of rate epsilon/moved, or
    Gaussian of variance moved^2 / (2 rho), because one unit's entries are `moved` at most.
    """

    def __init__(
        self, groups: Sequence[int] | None, epsilon: Fraction | None, rho: Fraction | None, moved: int, bits: Bits
    ) -> None:
        self._bits = bits
        self.is_gaussian = rho is not None
        self._whole: WholeTable | None = None
        if groups is not None:
            law = "laplace" if rho is None else "gaussian"
            invariants = Invariants.groups(groups, name="the exact totals")
            self._whole = WholeTable(invariants, epsilon, rho=rho, noise=law, moved=moved, bits=bits)  # type: ignore[arg-type]
            self.parameter = self._whole.parameter
        elif rho is not None:
            variance = Fraction(moved**2) / (2 * rho)
            self.parameter = parameters.within(
                "The variance that rho asks for", variance, SMALLEST_VARIANCE, LARGEST_VARIANCE
            )
        else:
            self.parameter = noise_rate("epsilon over sensitivity", (epsilon or Fraction(0)) / moved)

    def release(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        if self._whole is not None:
            return self._whole.release(counts)
        table = parameters.integers("The counts", counts)
        draw = discrete_gaussian if self.is_gaussian else discrete_laplace
        return np.asarray(table + draw(self.parameter, len(table), bits=self._bits))

    def reach(self, level: Fraction) -> int:
        """How far one count is off at most, with at least this probability.

        From the noise without exact totals, which reaches farther: given that the others make up a sum of 0, a count's
        noise has its law times that of the others' sum, which falls on both sides of 0 because it is log-concave.
        """
        beyond = float(1 - level)
        if self.is_gaussian:  # P(|X| >= r) <= 2 exp(-r^2 / (2 variance))
            return math.ceil(math.sqrt(2 * float(self.parameter) * math.log(2 / beyond)))
        rate = float(self.parameter)  # P(|X| > r) = 2 a^(r+1) / (1+a)
        return max(0, math.ceil(math.log(2 / (1 + math.exp(-rate)) / beyond) / rate * (1 + 1e-12)) - 1)
