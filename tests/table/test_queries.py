from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.errors import LouverError
from louver.table import Invariants, Queries
from tests.misuse import anything, assert_made_or_refused


@pytest.mark.parametrize("cells", [2, 3, 10, 64])
def test_a_fixed_total_leaves_one_record_less_than_its_whole_length(cells: int) -> None:
    total = Invariants.total(cells)
    assert Queries(cells).in_null_space(total, "presence") == 1 - Fraction(1, cells)
    assert Queries(cells).in_null_space(total, "change") == 2


@settings(max_examples=80)
@given(
    st.lists(st.lists(st.integers(-4, 4), min_size=4, max_size=4), min_size=1, max_size=3),
    st.none() | st.lists(st.lists(st.integers(-5, 5), min_size=3, max_size=3), min_size=4, max_size=4),
)
def test_sensitivities_are_never_too_small_and_hardly_too_large(rows: list[list[int]], asked: object) -> None:
    try:
        invariants = Invariants(rows, name="some sums")
        queries = Queries(4 if asked is None else asked)
    except LouverError:
        return
    matrix = np.eye(4, dtype=int) if asked is None else np.array(asked)
    adjugate, determinant = Invariants(rows, name="x").gram_inverse
    wide = np.array(rows, dtype=object)
    projector = determinant * np.eye(4, dtype=int) - wide.T @ adjugate @ wide

    def exact(change: np.ndarray) -> Fraction:
        inside = projector @ change.astype(object)
        return Fraction(int((inside * inside).sum()), determinant**2)

    columns = list(matrix.T)
    singles = max(exact(column) for column in columns)
    pairs = max(exact(first - second) for first, second in itertools.combinations(columns, 2))
    for found, true in (
        (queries.in_null_space(invariants, "presence"), singles),
        (queries.in_null_space(invariants, "change"), pairs),
    ):
        assert true <= found <= true * (1 + Fraction(1, 10**9)) + Fraction(1, 10**9)
    lengths = [max(np.abs(c).sum() for c in columns), max(np.abs(a - b).sum() for a in columns for b in columns)]
    assert [queries.l1("presence"), queries.l1("change")] == lengths


def test_fractions_come_to_one_denominator() -> None:
    means = Queries([[Fraction(1, 2), Fraction(1, 2), 0], [0, 0, Fraction(1, 3)]])
    assert means.denominator == 6
    assert means.of([2, 3, 5]).tolist() == [15, 10]
    assert means.l1("presence") == 3


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ([[0.1, 1]], "common denominator"),
        ([[0, 0]], "0 everywhere"),
        ([[1, 2], [1]], "must be a matrix"),
        ([], "must be a matrix"),
        ([[math.nan]], "finite"),
        ([["x"]], "number"),
        (0, "number of cells"),
    ],
)
def test_bad_queries_are_refused(asked: object, sentence: str) -> None:
    with pytest.raises(LouverError, match=sentence):
        Queries(asked)


def test_a_table_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(LouverError, match=r"^The table must have 3 cells, as the queries have\.$"):
        Queries(3).of([1, 2])
    with pytest.raises(LouverError, match=r"^The invariants must have 3 columns, one for each answer\.$"):
        Queries(3).in_null_space(Invariants.total(4), "change")


@given(anything)
def test_whatever_is_asked_gives_queries_or_a_sentence(asked: object) -> None:
    assert_made_or_refused(lambda: Queries(asked))
