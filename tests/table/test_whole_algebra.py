from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.table.elimination import DependentRowError, independent_columns, inverse
from louver.table.smith import has_whole_solution, moves, reduced, smith

matrices = st.integers(1, 4).flatmap(
    lambda rows: st.integers(1, 5).flatmap(
        lambda columns: st.lists(
            st.lists(st.integers(-6, 6), min_size=columns, max_size=columns), min_size=rows, max_size=rows
        )
    )
)


@settings(max_examples=150)
@given(
    st.integers(1, 5).flatmap(
        lambda n: st.lists(st.lists(st.integers(-9, 9), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
def test_the_adjugate_inverts_exactly_or_the_row_is_named(rows: list[list[int]]) -> None:
    square = np.array(rows)
    try:
        adjugate, determinant = inverse(square)
    except DependentRowError as dependent:
        before = np.linalg.matrix_rank(square[: dependent.row]) if dependent.row else 0
        assert np.linalg.matrix_rank(square[: dependent.row + 1]) == before
        return
    assert abs(determinant) == round(abs(np.linalg.det(square)))
    assert (square.astype(object) @ adjugate == determinant * np.eye(len(rows), dtype=int)).all()


@settings(max_examples=150)
@given(matrices)
def test_columns_said_to_be_independent_are_and_none_is_left_out(rows: list[list[int]]) -> None:
    matrix = np.array(rows)
    chosen = independent_columns(matrix)
    assert len(chosen) == np.linalg.matrix_rank(matrix)
    assert np.linalg.matrix_rank(matrix[:, chosen]) == len(chosen) if chosen else True


@settings(max_examples=150)
@given(matrices)
def test_the_smith_form_is_diagonal_and_its_sides_are_unimodular(rows: list[list[int]]) -> None:
    left, diagonal, right = (np.array(part, dtype=object) for part in smith(rows))
    assert (left @ np.array(rows, dtype=object) @ right == diagonal).all()
    for side in (left, right):
        assert abs(inverse(side)[1]) == 1
    off = diagonal.copy()
    np.fill_diagonal(off, 0)
    assert not off.any()


@settings(max_examples=100)
@given(matrices)
def test_moves_leave_the_invariants_and_make_up_every_change_that_does(rows: list[list[int]]) -> None:
    matrix = np.array(rows)
    basis = np.array(moves(rows), dtype=object).reshape(-1, matrix.shape[1])
    assert not (matrix.astype(object) @ basis.T).any()
    assert len(basis) == matrix.shape[1] - np.linalg.matrix_rank(matrix)
    if len(basis):
        # A basis of all whole solutions, not of a coarser lattice: its own Smith form has ones only.
        _, diagonal, _ = smith(basis.tolist())
        assert all(abs(diagonal[step][step]) == 1 for step in range(len(basis)))


def test_a_long_basis_becomes_short() -> None:
    assert sorted(sum(map(abs, vector)) for vector in reduced([[1, -1, 0], [100, -101, 1]])) == [2, 2]


@pytest.mark.parametrize(
    ("rows", "totals", "exists"), [([[2, 4]], [7], False), ([[2, 3]], [7], True), ([[1, 1], [1, -1]], [3, 2], False)]
)
def test_totals_that_no_whole_table_has_are_known(rows: list[list[int]], totals: list[int], exists: bool) -> None:
    assert has_whole_solution(rows, totals) is exists
