"""Whole-number noise on any lattice C v = 0, exactly, by completing free draws.

Law: P(v) proportional to exp(-rate |v|_1), or exp(-|v|_2^2 / (2 variance)), on all whole v with C v = 0.

Rows of C that are plain sums and do not overlap are groups; the others are the rest. A group that no pivot touches is
drawn as a whole by the exact sampler of vectors with sum 0. Of the remaining cells, as many as there are remaining rows
are pivots, chosen so that the rows can be solved for them; the others are drawn freely. The pivots follow, and the
vector stands if they are whole numbers, with the probability exp(-rate |pivots|_1) that they owe. So each v comes up
with probability proportional to its weight: no chain has to mix, and no total-variation term enters the price.

The chance to stand falls with the number of pivots. It depends on C and the rate, which are public, and on no count:
so it is tried out when the sampler is made, and where it is too small, that is refused: at once where the normal law or
the mean of some chances, in floats, says so.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError
from louver.noise import Bits, discrete_gaussian, discrete_laplace, fixed_sum, gaussian_fixed_sum, geometric
from louver.noise.bits import SYSTEM
from louver.table.elimination import independent_columns, inverse

Law = Literal["laplace", "gaussian"]
MOST_TRIED_CELLS = 2**22  # before giving up on the first vector: some seconds
LARGEST_VARIANCE = 2**30
_BATCH_CELLS = 2**20
_GLANCE_CELLS = 2**17
_FEW_PIVOTS = 8
_HOPELESS = 1e-3  # vectors that would stand among all that are tried
_FORESEEN_TOO_LOW = 2.0
_LARGEST_SAFE = 2**62


class Completion:
    """The sampler for one C and one law; `parameter` is the rate or the variance."""

    def __init__(self, matrix: NDArray[np.int64], law: Law, parameter: Fraction) -> None:
        self._law, self._parameter = law, parameter
        self._cells = matrix.shape[1]
        groups, rest = _split(matrix)
        self._whole, solved = _untouched(matrix, groups, rest)
        columns = np.setdiff1d(np.arange(self._cells), np.concatenate([*self._whole, np.empty(0, dtype=np.int64)]))
        rows = matrix[solved]
        pivots = independent_columns(rows[:, columns])
        if len(pivots) < len(solved):
            raise ParameterError("These invariants cannot be solved for their cells; leave out those that follow.")
        self._pivots = columns[pivots]
        self._free = np.setdiff1d(columns, self._pivots)
        others = np.setdiff1d(np.arange(self._cells), self._pivots)
        if len(pivots) > _FEW_PIVOTS:
            self._foresee(matrix, rows[:, self._pivots])
            self._glance(rows[:, self._pivots], rows[:, others], others)
        adjugate, self._divisor = inverse(rows[:, self._pivots])
        solving = -(adjugate @ rows[:, others].astype(object))
        width = 2**14 * (1 / parameter if law == "laplace" else parameter + 1)  # never reached, but for exp(-2^14)
        if max(map(abs, solving.ravel().tolist()), default=0) * self._cells * width > _LARGEST_SAFE:
            raise ParameterError("These invariants need numbers too large to solve for; use smaller entries.")
        if law == "gaussian" and parameter > LARGEST_VARIANCE:
            raise ParameterError("Gaussian noise as wide as this is drawn for totals that do not overlap only.")
        self._others, self._solving = others, solving.astype(np.int64)
        self._try_out()

    def draw(self, count: int, bits: Bits) -> NDArray[np.int64]:
        drawn = np.empty((count, self._cells), dtype=np.int64)
        batch = max(1, _BATCH_CELLS // self._cells)
        filled, tried = 0, 0
        while filled < count:
            # About as many as are still wanted, by how many stood so far.
            number = min(batch, 64 + (count - filled) * (tried + 1) // (filled + 1) * 5 // 4)
            proposed, stands = self._propose(number, bits)
            kept = proposed[stands][: count - filled]
            drawn[filled : filled + len(kept)] = kept
            filled, tried = filled + len(kept), tried + number
        return drawn

    def _try_out(self) -> None:
        """Refuse before anything is paid for: no count is known yet, so nothing is told."""
        number, tries = min(64, max(1, _BATCH_CELLS // self._cells)), 0
        while not self._propose(number, SYSTEM)[1].any():
            tries += number
            if tries * self._cells > MOST_TRIED_CELLS:
                raise _too_rare()
            number = min(2 * number, max(1, _BATCH_CELLS // self._cells))

    def _foresee(self, matrix: NDArray[np.int64], solved: NDArray[np.int64]) -> None:
        """Refuse what the normal law says is hopeless: the chance that all rows come out 0, over that of what is given.

        ln of the chance is found to be 1 to 1.3 above this where noise spreads over several values.
        """
        if self._law != "laplace" or self._parameter > 1:
            return
        rows, ratio = matrix.astype(np.float64), math.exp(-float(self._parameter))
        spread = math.log(2 * math.pi * 2 * ratio / (1 - ratio) ** 2)
        log_chance = -(len(rows) * spread + np.linalg.slogdet(rows @ rows.T)[1]) / 2
        log_chance += np.linalg.slogdet(solved.astype(np.float64))[1]  # at most so many residues
        log_chance += sum(spread + math.log(len(cells)) for cells in self._whole) / 2
        log_chance -= len(solved) * math.log((1 - ratio) / (1 + ratio))
        if log_chance + _FORESEEN_TOO_LOW + math.log(MOST_TRIED_CELLS / self._cells) < 0:
            raise _too_rare()

    def _glance(self, solved: NDArray[np.int64], given: NDArray[np.int64], others: NDArray[np.int64]) -> None:
        """Refuse what is hopeless before anything is solved exactly. Only public numbers are looked at."""
        drawn = self._drawn(max(16, _GLANCE_CELLS // self._cells), SYSTEM)[:, others].astype(np.float64)
        pivots = np.linalg.solve(solved.astype(np.float64), given.astype(np.float64) @ drawn.T)
        if self._law == "laplace":
            owed = np.abs(pivots).sum(axis=0) * float(self._parameter)
        else:
            owed = (pivots**2).sum(axis=0) / (2 * float(self._parameter))
        if np.exp(-owed).mean() * MOST_TRIED_CELLS < _HOPELESS * self._cells:
            raise _too_rare()

    def _drawn(self, number: int, bits: Bits) -> NDArray[np.int64]:
        """All but the pivots, which are 0."""
        proposed = np.zeros((number, self._cells), dtype=np.int64)
        free = number * len(self._free)
        if self._law == "laplace":
            proposed[:, self._free] = discrete_laplace(self._parameter, free, bits=bits).reshape(number, -1)
        else:
            proposed[:, self._free] = discrete_gaussian(self._parameter, free, bits=bits).reshape(number, -1)
        group_draw = fixed_sum if self._law == "laplace" else gaussian_fixed_sum
        for cells in self._whole:
            proposed[:, cells] = group_draw(len(cells), self._parameter, number, bits=bits)
        return proposed

    def _propose(self, number: int, bits: Bits) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        proposed = self._drawn(number, bits)
        scaled = proposed[:, self._others] @ self._solving.T
        proposed[:, self._pivots] = scaled // self._divisor
        whole = (scaled % self._divisor == 0).all(axis=1)
        return proposed, whole & self._coins(proposed[:, self._pivots], bits)

    def _coins(self, pivots: NDArray[np.int64], bits: Bits) -> NDArray[np.bool_]:
        """True with the probability that the pivots owe: one geometric variable reaches their sum of sizes."""
        if self._law == "laplace":
            return np.asarray(geometric(self._parameter, len(pivots), bits=bits) >= np.abs(pivots).sum(axis=1))
        near = np.minimum(np.abs(pivots), 2**27)
        return np.asarray(geometric(1 / (2 * self._parameter), len(pivots), bits=bits) >= (near**2).sum(axis=1))


def _too_rare() -> ParameterError:
    return ParameterError(
        "Noise on these invariants is too rarely found by completion, because too many of them overlap; take "
        "louver.table.CrossedTable, or keep fewer exact."
    )


def _split(matrix: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    """Rows that are plain sums and do not overlap, found one after the other; and the other rows."""
    groups: list[int] = []
    taken = np.zeros(matrix.shape[1], dtype=np.bool_)
    for number, row in enumerate(matrix):
        support = row != 0
        if (row[support] == 1).all() and not (taken & support).any():
            groups.append(number)
            taken |= support
    return groups, [number for number in range(len(matrix)) if number not in groups]


def _untouched(
    matrix: NDArray[np.int64], groups: list[int], rest: list[int]
) -> tuple[list[NDArray[np.int64]], list[int]]:
    """The cells of the groups that can be drawn as a whole, and the rows to be solved by pivots elsewhere.

    Groups are opened one after the other, small ones first, until the opened cells can solve for all the rest.
    """
    supports = {group: np.flatnonzero(matrix[group]) for group in groups}
    open_cells = np.setdiff1d(np.arange(matrix.shape[1]), np.concatenate([*supports.values(), np.empty(0, np.int64)]))
    waiting = sorted(groups, key=lambda group: len(supports[group]))
    solved = list(rest)
    while waiting and len(independent_columns(matrix[solved][:, open_cells])) < len(solved):
        opened = waiting.pop(0)
        solved.append(opened)
        open_cells = np.union1d(open_cells, supports[opened])
    return [supports[group] for group in waiting], solved
