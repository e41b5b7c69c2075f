"""Whole-number noise on any lattice C v = 0 whose cells are Gaussian, or mixtures of Gaussians: exactly, with no chain.

Law: P(v) proportional to p(v_1) ... p(v_n) on all whole v with C v = 0, p(x) = sum of w_m exp(-x^2 / (2 tau_m)).

Each cell has a hidden variance tau_i; given all of them v is a discrete Gaussian on the lattice. Both are drawn in
three steps, each of which corrects the one before by a coin.

1. tau_i by itself, with weight Q_i(m) at least w_m tau_m^((1 - h_i) / 2), where h_i = (C' (C C')^-1 C)_ii.
2. All of them stand with the chance a(tau), nearly sqrt(det C C' tau_1^h_1 ... tau_n^h_n / det C T C'), T the diagonal
   matrix of all tau. It is at most 1: ln det C T C' is convex in ln tau (Cauchy and Binet), and h its slope at 0.
3. v from the last move of a basis to the first (Klein 2000): how often each is made is Gaussian around what the later
   ones leave, in the directions of Gram and Schmidt. v stands with the chance R, by which this misses the lattice's own
   law (Brakerski, Langlois, Peikert, Regev and Stehlé 2013, Lemma 2.3).

Why this is exact. Directions, centres and a(tau) are computed as floats, and from then on mean the binary fractions
that they are: step 3 draws exactly from what it was given, and R is the weight that (tau, v) should have over the
weight with which it was drawn. So rounding on the way makes R a little larger or smaller, and nothing else. R is found
in floats and, where its coin is too close, in whole numbers of any length. It must not pass 1: for exact directions it
is below exp(-SPARE), and a draw where rounding took it past that would end with an error and release nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from louver.errors import LouverError, ParameterError
from louver.noise import Bits, enclosure
from louver.noise.bits import SYSTEM
from louver.noise.enclosure import Enclosure
from louver.table.centred import centred_gaussian
from louver.table.lattice_mass import mass
from louver.table.sure_coins import Chance, sure_coins

SPARE = 2.0**-14
LEAST_SPREAD = 0.1  # the smallest variance along a move, below which R would be small
LEAST_CHANCE = 2.0**-13  # of a(tau): some seconds a table
_CLOSE = 2.0**-28  # far above what floats lose in ln R
_TRIED = 512
_BATCH = 2**22  # numbers at once
_WEIGHT_BITS = 48
_LOWEST = -700.0  # a chance must not become 0; one too high is made good by R


@dataclass(frozen=True)
class Mixture:
    """p(x) = the sum of weight exp(-x^2 / (2 variance)); floats, which mean the binary fractions that they are."""

    variances: tuple[float, ...]
    weights: tuple[float, ...]


class LatticeMixture:
    """The sampler for one C, a basis of its lattice, and one mixture."""

    def __init__(self, matrix: NDArray[np.int64], basis: NDArray[np.int64], mixture: Mixture) -> None:
        self._rows, self._basis, self._mixture = matrix.astype(np.float64), basis, mixture
        self._variances, self._log_weights = np.array(mixture.variances), np.log(mixture.weights)
        self._cells = matrix.shape[1]
        gram = self._rows @ self._rows.T
        # Rounded, so that cells alike share a table; what this adds to a(tau) is far below SPARE.
        self._shares = np.round((self._rows * np.linalg.solve(gram, self._rows)).sum(axis=0), 9)
        self._log_gram = _log_det(gram)
        self._tables, self._log_scale = self._proposals()
        spread = min(mixture.variances) / int((self._basis**2).sum(axis=1).max())
        if spread < LEAST_SPREAD:
            raise ParameterError("Noise on these invariants would be narrower than their moves; pay less.")
        # ln of what R is divided by: for exact directions, R is at most exp(-SPARE).
        moves = len(self._basis)
        square = self._basis.astype(np.float64)
        self._log_most = float(
            SPARE
            + moves * (math.log(2 * math.pi) / 2 + math.log1p(2.1 * math.exp(-2 * math.pi**2 * spread)))
            - _log_det(square @ square.T) / 2
            - self._log_scale
        )
        if len(mixture.variances) > 1:
            _, chances = self._hidden(_TRIED, SYSTEM)
            if chances.mean() < LEAST_CHANCE:
                raise ParameterError(
                    "Too many of these invariants overlap for this noise; take WholeTable with noise='gaussian', or "
                    "keep fewer exact."
                )

    def draw(self, count: int, bits: Bits) -> NDArray[np.int64]:
        drawn = np.empty((count, self._cells), dtype=np.int64)
        filled, most = 0, max(1, _BATCH // self._cells**2)
        while filled < count:
            # About six of ten stand at worst, and of too many the first count, as if they had been made one by one.
            hidden, chances = self._standing(min((count - filled) * 5 // 3 + 1, most), bits)
            tables = self._along(hidden, chances, bits)[: count - filled]
            drawn[filled : filled + len(tables)] = tables
            filled += len(tables)
        return drawn

    def _standing(self, most: int, bits: Bits) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """So many rows of hidden variances that passed step 2, and the chances that they had."""
        if len(self._variances) == 1:
            return np.zeros((most, self._cells), dtype=np.int64), np.ones(most)
        batch = max(16, min(_TRIED, _BATCH // (self._cells * len(self._rows))))
        found: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        while sum(len(chances) for _, chances in found) < most:
            hidden, chances = self._hidden(batch, bits)
            stands = sure_coins(chances, chances, lambda at, given=chances: _rational(given[at]), bits)  # type: ignore[misc]
            found.append((hidden[stands], chances[stands]))
        return np.concatenate([hidden for hidden, _ in found])[:most], np.concatenate([c for _, c in found])[:most]

    def _proposals(self) -> tuple[dict[float, tuple[NDArray[np.int64], NDArray[np.int64]]], float]:
        """For each share h the weights Q, in whole numbers of 2^-48, and their running sums; and ln of their scale."""
        tables = {}
        scale = 0.0
        for share, cells in zip(*np.unique(self._shares, return_counts=True), strict=True):
            logs = self._log_weights + (1 - share) / 2 * np.log(self._variances)
            weights = np.ceil(np.exp(logs - logs.max()) * 2**_WEIGHT_BITS * (1 + 2**-40)).astype(np.int64)
            tables[float(share)] = (weights, np.cumsum(weights))
            scale -= float(cells) * float(logs.max())
        return tables, scale

    def _hidden(self, number: int, bits: Bits) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Steps 1 and 2: which variance each cell has, and the chance that they stand."""
        hidden = np.empty((number, self._cells), dtype=np.int64)
        for share, (_, sums) in self._tables.items():
            cells = np.flatnonzero(self._shares == share)
            uniform = bits.below(np.full(number * len(cells), sums[-1]))
            hidden[:, cells] = np.searchsorted(sums, uniform, side="right").reshape(number, -1)
        variances = self._variances[hidden]
        turned = _log_det(_weighted_gram(self._rows, variances))
        excess = (
            self._log_over_proposed(hidden)
            + self._log_scale
            + (np.log(variances).sum(axis=1) - turned + self._log_gram) / 2
        )
        return hidden, np.exp(np.clip(excess, _LOWEST, 0.0))

    def _log_over_proposed(self, hidden: NDArray[np.int64]) -> NDArray[np.float64]:
        """The sum of ln(w / Q) over all cells."""
        total = np.zeros(len(hidden))
        for share, (weights, _) in self._tables.items():
            cells = np.flatnonzero(self._shares == share)
            each = self._log_weights - np.log(np.ldexp(weights.astype(np.float64), -_WEIGHT_BITS))
            total += each[hidden[:, cells]].sum(axis=1)
        return total

    def _along(self, hidden: NDArray[np.int64], chances: NDArray[np.float64], bits: Bits) -> NDArray[np.int64]:
        """Step 3 for each row of hidden variances; those that stand."""
        basis, variances = self._basis, self._variances[hidden]
        distinct = 1 if len(self._variances) == 1 else len(hidden)
        lower = np.linalg.cholesky(_weighted_gram(basis.astype(np.float64), 1 / variances[:distinct]))
        upper = np.broadcast_to(lower.transpose(0, 2, 1), (len(hidden), len(basis), len(basis)))
        times = np.zeros((len(hidden), len(basis)), dtype=np.int64)
        centres, spreads = np.zeros(times.shape), np.empty(times.shape)
        for move in range(len(basis) - 1, -1, -1):
            length = upper[:, move, move]
            later = (upper[:, move, move + 1 :] * times[:, move + 1 :]).sum(axis=1)
            centres[:, move], spreads[:, move] = -later / length, 1 / length**2
            times[:, move] = centred_gaussian(centres[:, move], spreads[:, move], bits)
        tables = times @ basis
        log_chance = (
            self._log_over_proposed(hidden)
            - np.log(chances)
            - (tables**2 / (2 * variances)).sum(axis=1)
            + ((times - centres) ** 2 / (2 * spreads) + _log_mass(centres, spreads)).sum(axis=1)
            - self._log_most
        )
        if log_chance.max() > -SPARE / 2:
            raise LouverError("Rounding went too far to draw this noise exactly, so nothing is released.")

        def exact(at: int) -> Chance:
            return self._chance(hidden[at], float(chances[at]), tables[at], times[at], centres[at], spreads[at])

        stands = sure_coins(np.exp(log_chance - _CLOSE), np.exp(log_chance + _CLOSE), exact, bits)
        return np.asarray(tables[stands])

    def _chance(
        self,
        hidden: NDArray[np.int64],
        chance: float,
        table: NDArray[np.int64],
        times: NDArray[np.int64],
        centres: NDArray[np.float64],
        spreads: NDArray[np.float64],
    ) -> Chance:
        """R of one draw, to any precision."""
        ratio = 1 / Fraction(chance)
        exponent = Fraction(0)
        for cell, which in enumerate(hidden.tolist()):
            weights, _ = self._tables[float(self._shares[cell])]
            ratio *= Fraction(self._mixture.weights[which]) * 2**_WEIGHT_BITS / int(weights[which])
            exponent -= Fraction(int(table[cell]) ** 2) / (2 * Fraction(self._mixture.variances[which]))
        for made, centre, spread in zip(times.tolist(), centres.tolist(), spreads.tolist(), strict=True):
            exponent += (made - Fraction(centre)) ** 2 / (2 * Fraction(spread))
        # The constant may be any number that all draws share: the float it was rounded to.
        exponent -= Fraction(self._log_most)
        sizes = abs(ratio.numerator.bit_length() - ratio.denominator.bit_length()) + 2 * abs(math.ceil(exponent))
        guard = 64 + sizes + math.ceil(float(np.log2(spreads + 9).sum()))

        def enclosed(working: int) -> Enclosure:
            wide = working + guard
            product = enclosure.exp(exponent, wide) * ratio
            for centre, spread in zip(centres.tolist(), spreads.tolist(), strict=True):
                product = product * mass(centre, spread, wide)
            return Enclosure(product.low >> wide - working, -(-product.high >> wide - working), working)

        return enclosed


def smallest_variance(basis: NDArray[np.int64]) -> float:
    """A variance of cells from which on six of ten draws stand in step 3: all moves' ripples add up to 1/2 at most."""
    spread = -math.log(math.expm1(0.5 / len(basis)) / 2.1) / (2 * math.pi**2)
    return max(spread, 1.01 * LEAST_SPREAD) * int((basis**2).sum(axis=1).max())


def _rational(chance: float) -> Callable[[int], Enclosure]:
    return lambda working: Enclosure.of(Fraction(float(chance)), working)


def _weighted_gram(rows: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows times a diagonal matrix times rows, for each row of weights."""
    size = len(rows)
    turned = np.ascontiguousarray(rows.T)
    return ((rows * weights[:, None, :]).reshape(-1, rows.shape[1]) @ turned).reshape(len(weights), size, size)


def _log_det(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.linalg.slogdet(matrices)[1])


def _log_mass(centres: NDArray[np.float64], spreads: NDArray[np.float64]) -> NDArray[np.float64]:
    """ln of the sum of exp(-(x - centre)^2 / (2 spread)) over whole x, by Poisson's sum: for spreads from 1/10."""
    ripple = np.zeros(centres.shape)
    for wave in range(1, 7):
        ripple += 2 * np.exp(-2 * math.pi**2 * wave**2 * spreads) * np.cos(2 * math.pi * wave * centres)
    return np.asarray(np.log(2 * math.pi * spreads) / 2 + np.log1p(ripple))
