"""Whole-number tables with exact invariants: counts plus noise that is 0 in every invariant.

Releases A h + v, v whole-number noise with C v = 0, P(v) proportional to exp(-rate |v|_1) or, for `noise="gaussian"`,
to exp(-|v|_2^2 / (2 variance)). This is the extension of Gao, Gong and Yu (2022) with Laplace noise, independent but
for the invariants, and on the lattice, as Dharangutte, Gao, Gong and Yu (2023) ask for. Unbiased, because v and -v are
equally likely; never clipped or rounded afterwards, so that a count can come out below 0.

Price: epsilon = rate * sensitivity between any two tables that agree in all invariants and differ by at most `moved`
records that moved; one move changes two counts, so the sensitivity of plain counts is 2 * moved. Not promised: anything
between tables whose invariants differ; not even the part of the release beside them, for on the lattice the two can be
bound together: of two cells with a known total, each has the parity that the total and the other leave it.

Why this is private. `WholeTable.release` adds `WholeTable.draw`, whose law is exact. For agreeing tables d = A h - A h'
is itself in the lattice, so both releases have the same possible outcomes, and |v + d|_1 <= |v|_1 + |d|_1 bounds the
ratio of their probabilities by exp(rate |d|_1). Gaussian: the sum of exp(-|v - x|^2 / (2 s^2)) over a lattice is
largest at x = 0, so the divergence of order a is at most a |d|_2^2 / (2 s^2), as without invariants.
"""

from __future__ import annotations

import contextlib
from fractions import Fraction
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise import Bits
from louver.noise.bits import SYSTEM
from louver.noise.gaussian import LARGEST_VARIANCE, SMALLEST_VARIANCE
from louver.noise.laplace import noise_rate
from louver.privacy import Subspace, ZeroConcentrated
from louver.table.ambient import one_of
from louver.table.completion import Completion, Law
from louver.table.group_noise import group_noise
from louver.table.invariants import Invariants
from louver.table.lattice import lattice_basis
from louver.table.lattice_mixture import LatticeMixture, Mixture
from louver.table.queries import Queries

MOST_MOVED = 2**20
FEW_ROWS = 8  # that overlap: completion is quick then
LARGEST_MIXTURE_VARIANCE = 2**30


class WholeTable:
    """Counts with exact totals, in whole numbers.

    Give `epsilon`, or `rho` with `noise="gaussian"`.

    >>> rooms = Invariants.total(4, name="the headcount")
    >>> int(WholeTable(rooms, epsilon=1).release([30, 5, 0, 65]).sum())
    100
    """

    def __init__(
        self,
        invariants: Invariants,
        epsilon: parameters.Number | None = None,
        *,
        rho: parameters.Number | None = None,
        queries: Any = None,
        noise: Law = "laplace",
        moved: int = 1,
        bits: Bits = SYSTEM,
    ) -> None:
        if not isinstance(invariants, Invariants):
            raise ParameterError("Say what stays exact by Invariants.total, Invariants.groups or Invariants.")
        self.invariants = invariants
        self.queries = Queries(invariants.cells if queries is None else queries)
        if invariants.cells != self.queries.answers:
            raise ParameterError(f"The invariants must have {self.queries.answers} columns, one for each answer.")
        self.noise: Law = one_of("noise", noise, get_args(Law))
        self.moved = parameters.integer("moved", moved, 1, MOST_MOVED)
        check_that_records_can_move(invariants, self.queries, self.moved)
        self._bits = bits
        if self.noise == "laplace":
            if rho is not None:
                raise ParameterError("Laplace noise is priced by epsilon; rho is for noise='gaussian'.")
            self.epsilon = parameters.positive("epsilon", epsilon)
            sensitivity = self.moved * self.queries.l1("change")
            self.parameter = noise_rate("epsilon over sensitivity", self.epsilon / sensitivity)
        else:
            if epsilon is not None:
                raise ParameterError("Gaussian noise is priced by rho; epsilon follows from it by price(delta).")
            self.rho = parameters.positive("rho", rho)
            square = self.moved**2 * self.queries.l2_squared("change")
            self.parameter = parameters.within(
                "The variance that rho asks for", square / (2 * self.rho), SMALLEST_VARIANCE, LARGEST_VARIANCE
            )
        self._sampler = None if invariants.apart else _overlapping(invariants.matrix, self.noise, self.parameter)

    def price(self, delta: parameters.Number = 0) -> Subspace:
        """What up to `moved` records that move can change, where the invariants stay as they are."""
        if self.noise == "laplace":
            return Subspace(self.epsilon, 0, self.invariants.name)
        return Subspace(ZeroConcentrated(self.rho).as_approximate(delta).epsilon, delta, self.invariants.name)

    def release(self, counts: object) -> NDArray[np.int64]:
        """The answers with noise, in whole numbers of 1/`queries.denominator`."""
        answers = self.queries.of(counts)
        self.invariants.check(answers)
        return np.asarray(answers + self.draw(1)[0])

    def draw(self, number: int, *, bits: Bits | None = None) -> NDArray[np.int64]:
        """Noise for so many releases, one a row. From the same `bits` every machine draws the same."""
        count = parameters.count("The number of releases", number)
        source = self._bits if bits is None else bits
        if self._sampler is None:
            return group_noise(self.invariants, self.noise, self.parameter, count, source)
        return (self._sampler if bits is None else self._alike_everywhere).draw(count, source)

    @cached_property
    def _alike_everywhere(self) -> Completion:
        """A sampler without linear algebra in floats, which may differ in a last bit from machine to machine."""
        if isinstance(self._sampler, Completion):
            return self._sampler
        return Completion(self.invariants.matrix, self.noise, self.parameter)


def check_that_records_can_move(invariants: Invariants, queries: Queries, moved: int) -> None:
    """That one record can move without the invariants showing it: two cells must count alike in all of them."""
    if invariants.number == queries.answers:
        raise ParameterError(f"The whole table follows from {invariants.name}, so there is nothing to protect.")
    if invariants.apart and queries.matrix is None:
        alike = invariants.sizes.max() > 1 or int((invariants.group_of < 0).sum()) > 1
    else:
        matrix = invariants.matrix
        shown = matrix if queries.matrix is None else matrix @ queries.matrix
        alike = len(np.unique(shown, axis=1).T) < queries.cells
    if not alike and moved == 1:
        raise ParameterError(
            f"No single record can move without {invariants.name} showing it, so nothing would be protected; "
            "say how many move together, such as moved=2."
        )


def _overlapping(matrix: NDArray[np.int64], law: Law, parameter: Fraction) -> Completion | LatticeMixture:
    """The sampler for rows that overlap. Gaussian noise on many of them goes along moves; both ways have one law."""
    if law == "gaussian" and len(matrix) > FEW_ROWS and parameter <= LARGEST_MIXTURE_VARIANCE:
        # A variance a little too large costs nothing: the price is that of `parameter`.
        variance = np.nextafter(float(parameter), np.inf)
        with contextlib.suppress(ParameterError):
            return LatticeMixture(matrix, lattice_basis(matrix), Mixture((float(variance),), (1.0,)))
    return Completion(matrix, law, parameter)
