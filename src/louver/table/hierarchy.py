"""A table with levels, such as county, state, nation: noise in the cells, sums upwards, and one level exact.

Releases every level. Noise is drawn once, in the cells, with sum 0 in each group of the exact level, and added up: so
all levels fit together, the exact level and all above it are as they are, and the price is that of the cells alone
(`WholeTable`). Drawing children given a noisy parent instead would cost more: each condition's normaliser depends on
the data.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError
from louver.table.invariants import Invariants
from louver.table.whole import WholeTable

CELLS = "cells"


class Hierarchy:
    """Levels by their labels of each cell, from the finest to the coarsest.

    >>> levels = {"state": ["IL", "IL", "OH", "OH"], "nation": ["US"] * 4}
    >>> table = Hierarchy(levels, exact="state", epsilon=1).release([10, 20, 30, 40])
    >>> table["state"], table["nation"]
    ({'IL': 30, 'OH': 70}, {'US': 100})
    """

    def __init__(self, levels: Mapping[str, Sequence[Hashable]], *, exact: str, **options: Any) -> None:
        if exact not in levels:
            raise ParameterError(f"The exact level must be one of the levels: {', '.join(map(str, levels))}.")
        if options.get("queries") is not None:
            raise ParameterError("A hierarchy publishes the counts of its levels; it takes no other queries.")
        self._levels = {name: list(labels) for name, labels in levels.items()}
        for name, labels in self._levels.items():
            if any(label is None for label in labels):
                raise ParameterError(f"Level {name!r} must have a label for each cell.")
        self._check_nested()
        self.table = WholeTable(Invariants.groups(self._levels[exact], name=f"the {exact} totals"), **options)

    def release(self, counts: object) -> dict[str, Any]:
        """The cells as an array under "cells", and each level as totals by label."""
        return self.totals(self.table.release(counts))

    def totals(self, cells: NDArray[np.int64]) -> dict[str, Any]:
        """Every level of a released table."""
        found: dict[str, Any] = {CELLS: cells}
        for name, labels in self._levels.items():
            sums = Invariants.groups(labels, name=name).of(cells).tolist()
            found[name] = dict(zip(dict.fromkeys(labels), sums, strict=True))
        return found

    def _check_nested(self) -> None:
        names = list(self._levels)
        if CELLS in names:
            raise ParameterError(f"No level can be named {CELLS!r}: that is the finest one.")
        if len({len(labels) for labels in self._levels.values()}) > 1:
            raise ParameterError("Every level must have one label for each cell.")
        for finer, coarser in itertools.pairwise(names):
            above: dict[Hashable, Hashable] = {}
            for low, high in zip(self._levels[finer], self._levels[coarser], strict=True):
                if above.setdefault(low, high) != high:
                    raise ParameterError(f"Each {finer} must lie in one {coarser}, but one of them lies in two.")
