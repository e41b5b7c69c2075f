"""What is asked of a table, the counts or sums of them by a query matrix; and how far one record moves the answers.

`Queries(n)` asks for the n counts. `Queries(A)` asks for A h, one row of A for each answer, entries whole or fractions;
fractions are brought to one denominator, so that answers are whole numbers of 1/denominator.

Neighbours: "presence" puts one record into one cell or takes it out; "change" moves one record from a cell to another.
Sensitivities are rounded up, never down: `in_null_space` computes in floats and adds a bound on their rounding.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.table.invariants import LARGEST_CELLS, LARGEST_ENTRY, LARGEST_MATRIX, Invariants

Neighbours = Literal["presence", "change"]
_BLOCK = 2**22
_UNIT = 2.0**-52


class Queries:
    """The counts, or the answers of a query matrix.

    >>> Queries(3).answers, Queries([[1, 1, 0], [0, 0.5, 0.5]]).denominator
    (3, 2)
    """

    def __init__(self, asked: Any) -> None:
        self.matrix: NDArray[np.int64] | None = None
        self.denominator = 1
        if isinstance(asked, int | np.integer):
            self.cells = self.answers = parameters.integer("The number of cells", asked, 1, LARGEST_CELLS)
            return
        self.matrix, self.denominator = _to_whole(asked)
        self.answers, self.cells = self.matrix.shape

    def of(self, counts: object) -> NDArray[np.int64]:
        """The true answers in whole numbers of 1/denominator: private."""
        table = parameters.integers("The counts", counts)
        if len(table) != self.cells:
            raise ParameterError(f"The table must have {self.cells} cells, as the queries have.")
        if self.matrix is None:
            return table
        exact = self.matrix.astype(object) @ table.astype(object)
        bounded = np.clip(exact, -parameters.LARGEST_PRIVATE, parameters.LARGEST_PRIVATE)
        return np.asarray(bounded, dtype=np.int64)

    def l1(self, neighbours: Neighbours) -> int:
        """The most that one record moves all answers together, in whole numbers of 1/denominator."""
        if self.matrix is None:
            return 1 if neighbours == "presence" else min(2, 2 * (self.cells - 1))
        single = int(np.abs(self.matrix).sum(axis=0).max())
        if neighbours == "presence":
            return single
        columns = np.unique(self.matrix.T, axis=0)
        if len(columns) ** 2 * self.answers > 2**31:
            return 2 * single
        return max(int(np.abs(columns - column).sum(axis=1).max()) for column in columns)

    def l2_squared(self, neighbours: Neighbours) -> Fraction:
        """The square of the most that one record moves the answers in straight distance."""
        if self.matrix is None:
            return Fraction(1 if neighbours == "presence" else min(2, 2 * (self.cells - 1)))
        return _largest(self.matrix, self.cells, neighbours, None)

    def in_null_space(self, invariants: Invariants, neighbours: Neighbours) -> Fraction:
        """max |P_N d|^2 over what one record does, d: what the invariants show already does not count."""
        if invariants.cells != self.answers:
            raise ParameterError(f"The invariants must have {self.answers} columns, one for each answer.")
        if self.matrix is None and invariants.apart:
            return _of_groups(invariants, neighbours)
        shown = invariants.matrix if self.matrix is None else invariants.matrix @ self.matrix
        adjugate, determinant = invariants.gram_inverse
        middle = np.array([[float(Fraction(entry, determinant)) for entry in row] for row in adjugate.tolist()])
        return _largest(self.matrix, self.cells, neighbours, (shown.astype(np.float64), middle))


def _largest(
    matrix: NDArray[np.int64] | None,
    cells: int,
    neighbours: Neighbours,
    taken: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
) -> Fraction:
    """The largest squared length of a column, or of a difference of two, rounded up.

    Products are a_i a_j, less W_i B W_j where (W, B) is `taken`: the part that the invariants show.
    """
    asked = np.eye(1) if matrix is None else matrix.astype(np.float64)
    shown, middle = (np.zeros((1, cells)), np.zeros((1, 1))) if taken is None else taken
    # Each product is a sum of so many rounded terms at most.
    slack = (2 * len(asked) + 4 * len(middle) + 16) * _UNIT

    def inner(rows: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The products of these columns with all, and a bound on how far each is off."""
        if matrix is None:
            plain = size = (np.arange(cells)[rows, None] == np.arange(cells)).astype(np.float64)
        else:
            plain, size = asked[:, rows].T @ asked, np.abs(asked[:, rows]).T @ np.abs(asked)
        weighed = np.abs(shown[:, rows]).T @ np.abs(middle) @ np.abs(shown)
        return plain - shown[:, rows].T @ middle @ shown, slack * (size + weighed)

    block = max(1, _BLOCK // cells)
    blocks = [slice(start, min(start + block, cells)) for start in range(0, cells, block)]
    plain = np.ones(cells) if matrix is None else (asked**2).sum(axis=0)
    weighed = (np.abs(shown) * (np.abs(middle) @ np.abs(shown))).sum(axis=0)
    lengths, off = plain - (shown * (middle @ shown)).sum(axis=0), slack * (plain + weighed)
    if neighbours == "presence":
        return _up(float((lengths + off).max()))
    most = 0.0
    for rows in blocks:
        products, rounding = inner(rows)
        apart = lengths[rows, None] + lengths - 2 * products + off[rows, None] + off + 2 * rounding
        apart[np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop)] = 0
        most = max(most, float(apart.max()))
    return _up(most)


def _up(value: float) -> Fraction:
    """Past the few roundings that came after the bound on roundings."""
    return Fraction(max(0.0, value) * (1 + 16 * _UNIT))


def _of_groups(invariants: Invariants, neighbours: Neighbours) -> Fraction:
    """|P_N e_i|^2 = 1 - 1/n in a group of n cells, 1 outside all groups; a move inside a group is 2."""
    outside = int((invariants.group_of < 0).sum())
    single = [1 - Fraction(1, int(size)) for size in np.unique(invariants.sizes)]
    if outside:
        single.append(Fraction(1))
    if neighbours == "presence":
        return max(single)
    if invariants.sizes.max() > 1 or outside > 1:
        return Fraction(2)
    # At most one cell is free: only the move between it and an exact one is seen, and only at the free one.
    return max(single)


def _to_whole(asked: Any) -> tuple[NDArray[np.int64], int]:
    try:
        rows = np.asarray(asked, dtype=object)
    except ValueError:
        rows = np.empty(0, dtype=object)
    if rows.ndim != 2 or not rows.size:
        raise ParameterError("The queries must be a matrix, every row as long as the others, with at least one row.")
    if rows.size > LARGEST_MATRIX:
        raise ParameterError(f"The queries may have at most {LARGEST_MATRIX} entries.")
    exact = [[parameters.fraction("Each entry of the queries", entry) for entry in row] for row in rows.tolist()]
    denominator = math.lcm(*{entry.denominator for row in exact for entry in row})
    if denominator > LARGEST_ENTRY or any(abs(entry * denominator) > LARGEST_ENTRY for row in exact for entry in row):
        raise ParameterError(
            f"The queries need a common denominator and entries of at most {LARGEST_ENTRY}; write 0.1 as "
            "Fraction(1, 10)."
        )
    if not any(entry for row in exact for entry in row):
        raise ParameterError("The queries are 0 everywhere and ask for nothing.")
    return np.array([[int(entry * denominator) for entry in row] for row in exact], dtype=np.int64), denominator
