"""Which moves leave all invariants as they are: a basis of the whole v with C v = 0, short where it can be had."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError
from louver.table import smith
from louver.table.elimination import independent_columns, inverse

SHORT = 8  # the squared length of moves that need not be shortened
LARGEST_REDUCED = 64  # moves: the algorithm grows with the fourth power
LARGEST_CELLS = 1024


def lattice_basis(matrix: NDArray[np.int64]) -> NDArray[np.int64]:
    """One move a row; every whole v with C v = 0 is a sum of whole multiples of them.

    Where some cells can be solved for in whole numbers, each other cell has a move of its own, as 2 x 2 cells of a
    two-way table. Otherwise, and where such moves are long, the Smith normal form has a basis, and it is reduced.

    >>> lattice_basis(np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]])).tolist()
    [[1, -1, -1, 1]]
    """
    if matrix.shape[1] > LARGEST_CELLS:
        raise ParameterError(f"Tables with totals that overlap may have at most {LARGEST_CELLS} cells.")
    moves = _solved(matrix)
    if moves is not None and (moves**2).sum(axis=1).max() <= SHORT:
        return moves
    if matrix.shape[1] - len(matrix) > LARGEST_REDUCED:
        raise ParameterError(
            "These invariants overlap in too many ways for a table as large as this; keep fewer exact."
        )
    found = smith.moves(matrix.tolist()) if moves is None else smith.reduced(moves.tolist())
    if max(abs(entry) for move in found for entry in move) > 2**20:
        raise ParameterError("These invariants need moves with too large numbers; use smaller entries.")
    return np.array(found, dtype=np.int64)


def _solved(matrix: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """For each cell that is no pivot: one more of it, and what the pivots make of that; None if they need fractions."""
    pivots = independent_columns(matrix)
    adjugate, determinant = inverse(matrix[:, pivots])
    if abs(determinant) != 1:
        return None
    free = np.setdiff1d(np.arange(matrix.shape[1]), pivots)
    moves = np.zeros((len(free), matrix.shape[1]), dtype=object)
    moves[np.arange(len(free)), free] = 1
    moves[:, pivots] = -(determinant * (adjugate @ matrix[:, free].astype(object))).T
    return moves.astype(np.int64) if max(map(abs, moves.ravel().tolist())) < 2**20 else None
