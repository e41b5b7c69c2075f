from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import LouverError
from louver.table import Invariants
from tests.misuse import anything, assert_made_or_refused
from tests.table.tools import margins


def test_groups_and_their_matrix_say_the_same() -> None:
    groups = Invariants.groups(["b", "a", None, "b", "a"])
    written = Invariants(groups.matrix, name="the same")
    assert written.apart
    assert written.group_of.tolist() == groups.group_of.tolist() == [0, 1, -1, 0, 1]
    table = np.array([[1, 2, 3, 4, 5], [0, 0, 9, 0, 1]])
    assert groups.of(table).tolist() == written.of(table).tolist() == (table @ groups.matrix.T).tolist()


def test_invariants_that_overlap_are_kept_as_a_matrix() -> None:
    two_way = margins(2, 3)
    assert not two_way.apart
    assert two_way.of([1, 2, 3, 4, 5, 6]).tolist() == [6, 15, 5, 7]
    assert {tuple(map(abs, move)) for move in two_way.moves()} <= {
        (1, 1, 0, 1, 1, 0),
        (1, 0, 1, 1, 0, 1),
        (0, 1, 1, 0, 1, 1),
    }


def test_the_words_say_what_is_exact_and_what_is_protected() -> None:
    words = Invariants.total(3, name="the headcount").sentence()
    assert words.startswith("Published exactly and not protected: the headcount")
    assert "Protected: how the table is made up beyond that" in words


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        ([[1, 2, 1], [2, 4, 2]], r"^Row 2 of the invariants follows from the rows before it; leave it out\.$"),
        ([[1, 1, 0], [0, 1, 1], [1, 2, 1]], r"^Row 3 of the invariants follows"),
        ([[1, 1], [0, 0]], r"^Row 2 of the invariants is 0 everywhere"),
        ([[0.5, 0.5]], r"^The invariants must be made of whole numbers; multiply each row by its denominator\.$"),
        ([[Fraction(1, 2), 1]], r"whole numbers"),
        ([[math.nan, 1]], r"whole numbers"),
        ([[1, 2], [1]], r"^The invariants must be a matrix"),
        ([], r"^The invariants must be a matrix"),
        ([[2**21, 1]], r"entries of at most"),
        (np.ones((129, 400), dtype=int), r"can be at most 128"),
    ],
)
def test_bad_invariants_are_refused_in_one_sentence(matrix: object, sentence: str) -> None:
    with pytest.raises(LouverError, match=sentence):
        Invariants(matrix, name="the totals")


@pytest.mark.parametrize(
    ("matrix", "totals", "sentence"),
    [
        ([[1, 1, 0], [0, 1, 1], [1, 2, 1]], [1, 1, 5], r"follows from the rows before it, and its total contradicts"),
        ([[2, 4, 2], [0, 1, 1]], [7, 1], r"^No table of whole numbers has these totals"),
        ([[1, 1, 0], [0, 1, 1]], [1], r"^There are 2 invariants but 1 totals"),
    ],
)
def test_totals_that_cannot_be_are_refused(matrix: object, totals: list[int], sentence: str) -> None:
    with pytest.raises(LouverError, match=sentence):
        Invariants(matrix, name="the totals", totals=totals)


def test_a_table_that_contradicts_declared_totals_is_refused_without_a_number() -> None:
    known = Invariants.total(3, name="the headcount", totals=[100])
    known.check(np.array([50, 25, 25]))
    with pytest.raises(LouverError, match=r"^The table does not agree with the declared totals of the headcount\.$"):
        known.check(np.array([50, 25, 24]))


@pytest.mark.parametrize("labels", [5, "abc", [], [None, None], [[1], [2]]])
def test_what_are_no_groups_is_refused(labels: object) -> None:
    with pytest.raises(LouverError, match=r"\.$"):
        Invariants.groups(labels)  # type: ignore[arg-type]


@given(anything | st.lists(st.lists(st.integers(-3, 3), max_size=3), max_size=3), anything)
def test_whatever_is_passed_gives_invariants_or_a_sentence(matrix: object, name: object) -> None:
    assert_made_or_refused(lambda: Invariants(matrix, name=name))  # type: ignore[arg-type]
    assert_made_or_refused(lambda: Invariants(matrix, name="x"))
