"""Linear algebra in whole numbers: nothing is rounded, so what is called exact is.

Fraction-free elimination (Bareiss 1968): every number on the way is a minor of the matrix, so divisions leave no rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_PRIME = 2**31 - 1  # products of two residues fit into 63 bits


class DependentRowError(Exception):
    """A matrix is singular: `row` follows from the rows before it."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


def inverse(square: NDArray[Any]) -> tuple[NDArray[np.object_], int]:
    """(adjugate, determinant) with square @ adjugate = determinant * identity, in Python's whole numbers.

    >>> adjugate, determinant = inverse(np.array([[2, 1], [1, 1]]))
    >>> adjugate.tolist(), determinant
    ([[1, -1], [-1, 2]], 1)
    """
    size = len(square)
    # Columns are swapped, not rows, so that a missing pivot names a row.
    work = np.concatenate([square.astype(object), _identity(size)], axis=1)
    order = list(range(size))
    before = 1
    for step in range(size):
        places = [place for place in range(step, size) if work[step, place] != 0]
        if not places:
            raise DependentRowError(step)
        place = places[0]
        work[:, [step, place]] = work[:, [place, step]]
        order[step], order[place] = order[place], order[step]
        pivot = work[step, step]
        for row in range(size):
            if row != step:
                work[row] = (work[row] * pivot - work[step] * work[row, step]) // before
        before = pivot
    adjugate = np.empty((size, size), dtype=object)
    adjugate[order] = work[:, size:]
    return adjugate, int(before)


def independent_columns(matrix: NDArray[np.int64]) -> list[int]:
    """The first columns that are linearly independent, for sure; nearly always as many as there are.

    Found modulo a prime: what is independent there is independent.
    """
    work = matrix.astype(np.int64) % _PRIME
    chosen: list[int] = []
    for column in range(work.shape[1]):
        if len(chosen) == len(work):
            break
        step = len(chosen)
        rows = np.flatnonzero(work[step:, column])
        if not len(rows):
            continue
        work[[step, step + rows[0]]] = work[[step + rows[0], step]]
        work[step] = work[step] * pow(int(work[step, column]), -1, _PRIME) % _PRIME
        below = work[step + 1 :, column].copy()
        work[step + 1 :] = (work[step + 1 :] - below[:, None] * work[step] % _PRIME) % _PRIME
        chosen.append(column)
    return chosen


def _identity(size: int) -> NDArray[np.object_]:
    return np.array([[int(row == column) for column in range(size)] for row in range(size)], dtype=object).reshape(
        size, size
    )
