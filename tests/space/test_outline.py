"""The outline is the best of all sets of cells, by trying them all on small grids."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from louver.errors import LouverError, ParameterError
from louver.space import outline
from louver.space.cut import Cut
from louver.space.decomposition import Decomposition
from louver.space.outline import BESIDE, CORNER, SMOOTHNESS, smooth
from louver.space.recipient import heatmap
from tests.space.fields import bump, seeded

ROWS, COLUMNS = 3, 4
SETS = np.array(list(itertools.product((False, True), repeat=ROWS * COLUMNS))).reshape(-1, ROWS, COLUMNS)


def borders(sets: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The length of each set's border inside the grid."""

    def changes(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.asarray((one != other).sum(axis=(1, 2)), dtype=np.float64)

    beside = changes(sets[:, 1:], sets[:, :-1]) + changes(sets[:, :, 1:], sets[:, :, :-1])
    corner = changes(sets[:, 1:, 1:], sets[:, :-1, :-1]) + changes(sets[:, 1:, :-1], sets[:, :-1, 1:])
    return np.asarray(BESIDE * beside + CORNER * corner)


LENGTHS = borders(SETS)


@given(st.lists(st.floats(-4, 4), min_size=ROWS * COLUMNS, max_size=ROWS * COLUMNS))
def test_no_set_of_cells_is_better(evidence: list[float]) -> None:
    """Up to the rounding of the capacities, 2^-16 each."""
    given_evidence = np.array(evidence).reshape(ROWS, COLUMNS)
    worth = (SETS * given_evidence).sum(axis=(1, 2)) - SMOOTHNESS * LENGTHS
    found = smooth(given_evidence)
    ours = (found * given_evidence).sum() - SMOOTHNESS * borders(found[None])[0]
    assert ours >= worth.max() - 1e-3


def test_a_lone_cell_needs_more_evidence_than_its_border() -> None:
    lone = np.full((5, 5), -1.0)
    for evidence, flagged in ((1.6, 0), (1.7, 1)):
        lone[2, 2] = evidence
        assert smooth(lone).sum() == flagged


def test_a_weak_cell_amid_strong_ones_is_taken_in() -> None:
    strong = np.full((5, 5), 3.0)
    strong[2, 2] = -1.0
    assert smooth(strong).all()


def test_no_evidence_and_overwhelming_evidence_make_an_outline() -> None:
    assert not smooth(np.full((3, 3), -np.inf)).any()
    assert not smooth(np.zeros((3, 3))).any()
    assert smooth(np.full((3, 3), np.inf)).all()
    assert smooth(np.full((1, 1), 1.0)).all()


def test_the_outline_finds_the_bump() -> None:
    released = Cut(1, readings=50_000).release(bump(50_000, atoms=256), bits=seeded(1))
    flags = heatmap(released, 80, 50, rule="cut")
    assert flags[25, 25]
    assert 120 < flags.sum() < 240
    assert not flags[:10].any()


def test_a_tree_has_no_outline() -> None:
    released = Decomposition(1).release(bump(20_000), bits=seeded(2))
    with pytest.raises(ParameterError, match="regular grid"):
        heatmap(released, 80, 10, rule="cut")


def test_too_many_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outline, "MOST_CELLS", 8)
    with pytest.raises(ParameterError, match="at most 8 cells"):
        smooth(np.zeros((3, 3)))


def test_without_scipy_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(LouverError, match=r"pip install .louver\[maps\]"):
        smooth(np.ones((2, 2)))
