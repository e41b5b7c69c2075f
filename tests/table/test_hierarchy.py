from __future__ import annotations

import numpy as np
import pytest

from louver.errors import LouverError
from louver.table import Hierarchy
from tests.table.tools import seeded

LEVELS = {
    "county": ["a", "b", "b", "c", "d", "d"],
    "state": ["IL", "IL", "IL", "OH", "OH", "OH"],
    "nation": ["US"] * 6,
}


def test_all_levels_fit_together_and_the_exact_one_is_exact() -> None:
    hierarchy = Hierarchy(LEVELS, exact="state", epsilon=1, bits=seeded(1))
    table = np.array([1, 2, 3, 4, 5, 6])
    changed = 0
    for _ in range(200):
        release = hierarchy.release(table)
        counties, cells = release["county"], release["cells"]
        assert release["state"] == {"IL": 6, "OH": 15}
        assert release["nation"] == {"US": 21}
        assert counties["a"] + counties["b"] == 6
        assert counties == {"a": cells[0], "b": cells[1] + cells[2], "c": cells[3], "d": cells[4] + cells[5]}
        changed += counties["a"] != 1
    assert changed > 50


def test_the_price_is_that_of_the_cells_alone() -> None:
    hierarchy = Hierarchy(LEVELS, exact="nation", epsilon=1)
    assert hierarchy.table.price().epsilon == 1
    assert hierarchy.table.price().invariants == "the nation totals"
    assert float(hierarchy.table.parameter) == 0.5


@pytest.mark.parametrize(
    ("levels", "exact", "sentence"),
    [
        (LEVELS, "planet", r"^The exact level must be one of the levels: county, state, nation\.$"),
        ({"a": [1, 1, 2], "b": [1, 2, 2]}, "b", r"^Each a must lie in one b"),
        ({"a": [1, 1], "b": [1]}, "b", r"^Every level must have one label"),
        ({"a": [1, None]}, "a", r"^Level 'a' must have a label"),
        ({"cells": [1, 1]}, "cells", r"^No level can be named 'cells'"),
    ],
)
def test_levels_that_do_not_nest_are_refused(levels: dict[str, list[object]], exact: str, sentence: str) -> None:
    with pytest.raises(LouverError, match=sentence):
        Hierarchy(levels, exact=exact, epsilon=1)


def test_a_hierarchy_takes_no_queries() -> None:
    with pytest.raises(LouverError, match="no other queries"):
        Hierarchy(LEVELS, exact="state", epsilon=1, queries=[[1] * 6])
