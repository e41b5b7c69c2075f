"""Whole-number tables whose exact totals cross, such as both margins of a large two-way table.

Releases h + v, v whole-number noise with C v = 0 and P(v) proportional to p(v_1) ... p(v_n), p the mixture of Gaussians
of `louver.table.smooth_laplace`. `WholeTable` does the same with Laplace noise, by completion, which takes too long for
margins of 9 x 9 cells and more. `louver.table.lattice_mixture` draws this law exactly too: there is no chain of steps
that would have to mix, and so no distance from the law to add to delta. Unbiased, because v and -v are equally likely.

Price: (epsilon, delta) between any two tables that agree in all invariants and differ by at most `moved` records that
moved. Delta is there because p falls like a Gaussian in the end, far out.

Why this is private. Let d = h - h', which is in the lattice, with |d|_1 <= 2 moved and no entry above moved. From each
x to the next ln p changes by at most rate = epsilon / (2 moved) while |x| <= reach. So where |v_i| <= reach - moved in
all cells, the probabilities of v and v + d differ by at most the factor exp(rate |d|_1) <= exp(epsilon). A cell passes
reach - moved with at most the sum of p(x) / p(0) there: P(v_i = x) is proportional to p(x) N(x), N(x) the weight of all
other cells given x, and N(x) <= N(0), because Gaussian weights of a shifted lattice are never above those of the
lattice itself, and N is a mixture of such. Added up over all cells that is at most delta.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise import Bits
from louver.noise.bits import SYSTEM
from louver.privacy import Subspace
from louver.table.invariants import Invariants
from louver.table.lattice import lattice_basis
from louver.table.lattice_mixture import LatticeMixture, smallest_variance
from louver.table.queries import Queries
from louver.table.smooth_laplace import smooth_laplace
from louver.table.whole import check_that_records_can_move

MOST_MOVED = 2**10
SMALLEST_DELTA = Fraction(1, 10**15)
LARGEST_DELTA = Fraction(1, 100)


class CrossedTable:
    """Counts with exact totals that overlap, in whole numbers.

    >>> margins = Invariants([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]], name="the margins")
    >>> mechanism = CrossedTable(margins, epsilon=1, moved=2)
    >>> margins.of(mechanism.release([7, 3, 2, 8])).tolist()
    [10, 10, 9]
    """

    def __init__(
        self,
        invariants: Invariants,
        epsilon: parameters.Number,
        *,
        delta: parameters.Number = Fraction(1, 10**12),
        moved: int = 1,
        bits: Bits = SYSTEM,
    ) -> None:
        if not isinstance(invariants, Invariants):
            raise ParameterError("Say what stays exact by Invariants.total, Invariants.groups or Invariants.")
        self.invariants, self._bits = invariants, bits
        self.queries = Queries(invariants.cells)
        self.moved = parameters.integer("moved", moved, 1, MOST_MOVED)
        check_that_records_can_move(invariants, self.queries, self.moved)
        self.epsilon = parameters.positive("epsilon", epsilon)
        self.delta = parameters.within("delta", delta, SMALLEST_DELTA, LARGEST_DELTA)
        basis = lattice_basis(invariants.matrix)
        self.noise = smooth_laplace(
            self.epsilon / (2 * self.moved),
            smallest=smallest_variance(basis),
            shift=self.moved,
            beyond=float(self.delta) / invariants.cells * (1 - 2**-20),
        )
        self._sampler = LatticeMixture(invariants.matrix, basis, self.noise.mixture)

    def price(self) -> Subspace:
        """What up to `moved` records that move can change, where the invariants stay as they are."""
        return Subspace(self.epsilon, self.delta, self.invariants.name)

    def release(self, counts: object) -> NDArray[np.int64]:
        """The counts with noise."""
        table = self.queries.of(counts)
        self.invariants.check(table)
        return np.asarray(table + self.draw(1)[0])

    def draw(self, number: int, *, bits: Bits | None = None) -> NDArray[np.int64]:
        """Noise for so many releases, one a row."""
        return self._sampler.draw(
            parameters.count("The number of releases", number), self._bits if bits is None else bits
        )
