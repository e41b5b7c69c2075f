"""Maps under audit: one reading of the largest value more, in a cell that has some already.

Cells of a first grid whose size is public have noise of their own. So a map of many cells is many releases at once: one
for each pair of cells, of which only the first changes. Where all cells hang on one root, a map is one release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from louver.attack.case import Case
from louver.attack.scores import LEARNED, Rows, known
from louver.noise.bits import SYSTEM, Bits
from louver.space.adaptive import Adaptive
from louver.space.cut import Cut
from louver.space.decomposition import Decomposition
from louver.space.field import Field
from louver.space.released import Map
from louver.space.structure import Structure
from louver.space.two_level import TwoLevel
from louver.space.uniform import Uniform

EPSILON = Fraction(2)
ATOMS = 64
SIDE = 6400
MANY = 60_000  # readings, as publicly foreseen: some hundred cells
DIVIDED = 200  # readings in a cell that is divided for them

Integers = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


def space_cases() -> Iterator[Case]:
    skewed = Fraction(1, 5)  # losses that are spread evenly over many numbers hardly ever come together
    yield _case(Uniform(EPSILON, readings=MANY), 2, 8_000)
    yield _case(TwoLevel(EPSILON, readings=MANY, level_share=skewed), DIVIDED, 8_000)
    yield _case(Adaptive(EPSILON, readings=MANY, level_share=skewed), DIVIDED, 8_000)
    yield _case(Cut(EPSILON, readings=MANY), 2, 8_000)
    yield _case(Decomposition(EPSILON, depth=1, stop="count", least=2, level_share=skewed), 2, 3_000)


def _case(structure: Structure, readings: int, hears: int) -> Case:
    scores = (known(lambda rows: rows[:, :2].sum(axis=1)), *LEARNED)
    trials = max(hears, 4_000)
    draw = many_cells(structure, readings)
    return Case("space", structure.kind, "one reading", structure.price, draw, trials, hears, None, None, scores)


def many_cells(structure: Structure, readings: int) -> Callable[[bool, int, Bits], Rows]:
    origins = _origins(structure.release(_readings(np.empty((0, 2), dtype=np.int64)), bits=SYSTEM))
    pairs = max(1, len(origins) // 2)
    usual = np.repeat(origins, readings, axis=0)
    fields = _readings(usual), _readings(np.concatenate((usual, origins[::2])))

    def draw(has_unit: bool, count: int, bits: Bits) -> Rows:
        maps = (structure.release(fields[has_unit], bits=bits) for _ in range(-(-count // pairs)))
        leaning = [_leaning(each, origins, readings)[: 2 * pairs].reshape(pairs, -1) for each in maps]
        return np.concatenate(leaning)[:count]

    return draw


def _origins(released: Map) -> Integers:
    """The south-western atoms of the cells that have no cell above them."""
    return np.asarray(released.rectangles[released.parents < 0, :2])


def _readings(atoms: Integers) -> Field:
    x, y = ((atoms[:, axis] + 0.5) * SIDE / ATOMS for axis in (0, 1))
    return Field.of(x, y, np.full(len(atoms), 100.0), (0, 0, SIDE, SIDE), high=100, atoms=ATOMS, step=4)


def _leaning(released: Map, origins: Integers, readings: int) -> Rows:
    """How far the numbers of all nodes around each cell's readings lean towards one more: nearly the log ratio."""
    places = np.full((ATOMS, ATOMS), -1)
    places[tuple(origins.T)] = np.arange(len(origins))
    cell = places[tuple(released.rectangles[:, :2].T)]
    around = cell >= 0
    counts, sums, count_variances, sum_variances = (column[around] for column in released.noisy)
    step = float(released.values.highest - released.centre)
    by_count = np.clip(counts - readings, 0, 1) / np.sqrt(count_variances)
    by_sum = np.clip(sums / step - readings, 0, 1) * step / np.sqrt(sum_variances)
    added = [np.bincount(cell[around], part, minlength=len(origins)) for part in (by_count, by_sum)]
    return np.stack(added, axis=1)
