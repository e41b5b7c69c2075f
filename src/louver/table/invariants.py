"""Invariants: the linear sums of a table that are published exactly, and so are not protected.

C is a matrix of whole numbers with a row for each invariant. Most are totals of groups that do not overlap: those are
kept as one group number a cell, which is fast for any number of cells; whatever else is kept as a matrix. The
invariants are public by choice: whoever declares them gives up hiding what they show, for everybody in the table.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.table import smith
from louver.table.elimination import DependentRowError, independent_columns, inverse

LARGEST_CELLS = 2**20
LARGEST_ENTRY = 2**20
MOST_ROWS = 128  # of a matrix whose rows overlap: elimination grows with their cube
LARGEST_MATRIX = 2**24
LARGEST_SMITH = 2**12
LARGEST_MOVES = 2**8


class Invariants:
    """What stays exact. `Invariants.total`, `Invariants.groups`, or any matrix with independent rows.

    >>> states = Invariants.groups(["IL", "IL", "OH", "IL", "OH"], name="the state totals")
    >>> states.of([1, 2, 3, 4, 5]).tolist()
    [7, 8]
    >>> margins = Invariants([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]], name="the margins")
    >>> margins.moves()
    [[1, -1, -1, 1]]
    """

    def __init__(self, matrix: Any, *, name: str, totals: Sequence[int] | None = None) -> None:
        rows = _whole_matrix("The invariants", matrix)
        self.name = _named(name)
        self.cells = rows.shape[1]
        empty = np.flatnonzero(~rows.any(axis=1))
        if len(empty):
            raise ParameterError(
                f"Row {empty[0] + 1} of the invariants is 0 everywhere and says nothing; leave it out."
            )
        self._rows: NDArray[np.int64] | None = rows
        self.group_of = _as_groups(rows)
        if not self.apart:
            self._check_independent(totals)
        self.totals = None if totals is None else self._checked_totals(totals)

    @classmethod
    def total(cls, cells: int, *, name: str = "the total", totals: Sequence[int] | None = None) -> Invariants:
        """The sum of all cells: occupancy with a fixed headcount."""
        number = parameters.integer("The number of cells", cells, 1, LARGEST_CELLS)
        return cls.groups([0] * number, name=name, totals=totals)

    @classmethod
    def groups(
        cls, labels: Sequence[Hashable], *, name: str = "the group totals", totals: Sequence[int] | None = None
    ) -> Invariants:
        """The total of each group of cells, groups in order of first appearance; a cell labelled None is in none."""
        made = cls.__new__(cls)
        made.name = _named(name)
        made.group_of = _numbered(labels)
        made.cells = len(made.group_of)
        made._rows = None
        made.totals = None if totals is None else made._checked_totals(totals)
        return made

    @property
    def apart(self) -> bool:
        """Whether all invariants are totals of groups that do not overlap; then `group_of` has each cell's, or -1."""
        return len(self.group_of) > 0

    @property
    def number(self) -> int:
        """How many invariants there are."""
        return int(self.group_of.max()) + 1 if self.apart else len(self.matrix)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many cells each group has; of groups only."""
        return np.bincount(self.group_of[self.group_of >= 0], minlength=self.number)

    @cached_property
    def _ordered(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The cells group by group, and where each group begins."""
        order = np.argsort(self.group_of, kind="stable")
        return order[int((self.group_of < 0).sum()) :], np.cumsum(self.sizes) - self.sizes

    @property
    def matrix(self) -> NDArray[np.int64]:
        """C, written out."""
        if self._rows is None:
            if self.number * self.cells > LARGEST_MATRIX:
                raise ParameterError(f"The invariants are too many to be written out as a matrix of {LARGEST_MATRIX}.")
            self._rows = (self.group_of == np.arange(self.number)[:, None]).astype(np.int64)
        return self._rows

    def of(self, table: Any) -> NDArray[np.int64] | NDArray[np.object_]:
        """The invariants of a table, or of each row of tables: exact."""
        cells = np.asarray(table)
        if cells.shape[-1:] != (self.cells,):
            raise ParameterError(f"The table must have {self.cells} cells, as the invariants have.")
        if not self.apart:
            return np.asarray(cells.astype(object) @ self.matrix.T.astype(object))
        order, starts = self._ordered
        return np.asarray(np.add.reduceat(cells[..., order], starts, axis=-1))

    def check(self, table: NDArray[np.int64]) -> None:
        """Refuse a table whose invariants are not the declared totals. Both are public, and no number is shown."""
        if self.totals is not None and self.of(table).tolist() != self.totals:
            raise ParameterError(f"The table does not agree with the declared totals of {self.name}.")

    def moves(self) -> list[list[int]]:
        """Short changes of a table that leave all invariants as they are: every such change is a sum of them."""
        _check_small(self.matrix)
        return smith.moves(self.matrix.tolist())

    def sentence(self) -> str:
        """What is exact and what is protected."""
        return (
            f"Published exactly and not protected: {self.name}, and whatever follows from them. "
            "Protected: how the table is made up beyond that, which is what can change while they stay as they are."
        )

    def _checked_totals(self, totals: Sequence[int]) -> list[int]:
        given = parameters.integers("The totals", totals).tolist()
        if len(given) != self.number:
            raise ParameterError(f"There are {self.number} invariants but {len(given)} totals; give one for each.")
        if self.apart:
            return [int(total) for total in given]
        _check_small(self.matrix)
        if not smith.has_whole_solution(self.matrix.tolist(), given):
            raise ParameterError("No table of whole numbers has these totals; check them against the invariants.")
        return [int(total) for total in given]

    @cached_property
    def gram_inverse(self) -> tuple[NDArray[np.object_], int]:
        """The adjugate and the determinant of C C^T, exact: entries up to 2^20 in 2^20 cells stay below 2^60."""
        return inverse(self.matrix @ self.matrix.T)

    def _check_independent(self, totals: Sequence[int] | None) -> None:
        if len(self.matrix) > MOST_ROWS:
            raise ParameterError(
                f"Invariants whose rows overlap can be at most {MOST_ROWS}; totals of groups apart from each other can "
                "be any number."
            )
        if len(independent_columns(self.matrix)) == len(self.matrix):  # quick, and sure where it says so
            return
        try:
            self.gram_inverse  # noqa: B018
        except DependentRowError as dependent:
            agrees = totals is None or _consistent(self.matrix, totals, dependent.row)
            extra = "" if agrees else ", and its total contradicts theirs"
            raise ParameterError(
                f"Row {dependent.row + 1} of the invariants follows from the rows before it{extra}; leave it out."
            ) from None


def _check_small(rows: NDArray[np.int64]) -> None:
    if rows.size > LARGEST_SMITH or rows.shape[1] > LARGEST_MOVES:
        raise ParameterError("Invariants that overlap are too large here for this; leave totals out, and ask no moves.")


def _consistent(rows: NDArray[np.int64], totals: Sequence[int], last: int) -> bool:
    given = parameters.integers("The totals", totals).tolist()
    return len(given) > last and smith.has_whole_solution(rows[: last + 1].tolist(), given[: last + 1])


def _whole_matrix(what: str, matrix: Any) -> NDArray[np.int64]:
    try:
        rows = np.asarray(matrix)
    except ValueError:
        rows = np.empty(0)
    if rows.ndim != 2 or not rows.size:
        raise ParameterError(f"{what} must be a matrix, every row as long as the others, with at least one row.")
    if rows.dtype.kind == "f" and np.isfinite(rows).all() and (rows == np.floor(rows)).all():
        rows = np.clip(rows, -(2.0**53), 2.0**53).astype(np.int64)
    if rows.dtype.kind not in "biu":
        raise ParameterError(f"{what} must be made of whole numbers; multiply each row by its denominator.")
    if rows.size > LARGEST_MATRIX or rows.shape[1] > LARGEST_CELLS:
        raise ParameterError(f"{what} may have at most {LARGEST_MATRIX} entries and {LARGEST_CELLS} columns.")
    if rows.max() > LARGEST_ENTRY or rows.min() < -LARGEST_ENTRY:
        raise ParameterError(f"{what} must have entries of at most {LARGEST_ENTRY}.")
    return rows.astype(np.int64)


def _as_groups(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The group of each cell where rows are plain sums that do not overlap; else nothing."""
    if rows.min() < 0 or rows.max() > 1 or rows.sum(axis=0).max() > 1:
        return np.empty(0, dtype=np.int64)
    return np.where(rows.any(axis=0), rows.argmax(axis=0), -1)


def _numbered(labels: Sequence[Hashable]) -> NDArray[np.int64]:
    if isinstance(labels, str | bytes) or not isinstance(labels, Sequence | np.ndarray):
        raise ParameterError("The groups must be a list with one label for each cell.")
    if not 1 <= len(labels) <= LARGEST_CELLS:
        raise ParameterError(f"There must be between 1 and {LARGEST_CELLS} cells.")
    numbers: dict[Hashable, int] = {}
    try:
        found = [-1 if label is None else numbers.setdefault(label, len(numbers)) for label in labels]
    except TypeError:
        raise ParameterError("Each group's label must be a text or a number.") from None
    if not numbers:
        raise ParameterError("No cell has a group, so there is no invariant; name at least one.")
    return np.array(found, dtype=np.int64)


def _named(name: object) -> str:
    if not isinstance(name, str) or not 1 <= len(name.strip()) <= 128:
        raise ParameterError("Name the invariants in 1 to 128 characters, such as 'the state totals'.")
    return name
