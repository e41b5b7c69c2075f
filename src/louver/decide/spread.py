"""How margins spread around 0, as far as that may be known: what the choice of a strategy looks at.

Three sources: public knowledge (`Margins`), a small private look that is paid for (`private_margins`), or a stated
guess (`guessed`).

`private_margins` releases, for each of a few public edges, a noisy number of keys whose aligned margin is at least that
edge. Neighbours differ in one unit. The price is the rate for each step that one unit moves a margin: the rate itself
where a unit moves one margin by one step, m times the rate where it moves several by m steps in all. Every key pays it,
for the counts tell about all of them.

Why this is private. The edges are whole numbers and different, so a margin that moves by one step passes at most one of
them, and changes one of the numbers by 1. Each number gets discrete Laplace noise of this rate of its own, so a step
changes the probability of the outcome by a factor of at most exp(rate), and m steps by exp(m rate). Sorting the noisy
numbers and clamping them is post-processing. (Numbers of keys between edges would be changed in two places by one
step, and would need twice the price for noise that is no smaller.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise import Bits, discrete_laplace
from louver.noise.bits import SYSTEM
from louver.privacy import LevelGrid

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
FARTHEST = 2**40
GUESSED_PLACES = 401
EDGES_PER_SIDE = 4


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Margins:
    """Aligned margins and how many keys have them, in expectation: public, or paid for.

    >>> Margins({-100: 20, 5: 4}).keys
    24.0
    """

    values: Whole
    weights: Floats
    source: str

    def __init__(self, number_of_keys: Mapping[int, float], source: str = "margins as stated") -> None:
        places = [parameters.integer("Each margin", margin, -FARTHEST, FARTHEST) for margin in number_of_keys]
        sizes = [float(parameters.fraction("Each number of keys", size)) for size in number_of_keys.values()]
        if not sizes or min(sizes) < 0 or sum(sizes) <= 0:
            raise ParameterError("Margins need at least one key, and no number of keys below 0.")
        order = np.argsort(places)
        object.__setattr__(self, "values", np.array(places, dtype=np.int64)[order])
        object.__setattr__(self, "weights", np.array(sizes)[order])
        object.__setattr__(self, "source", source)

    @property
    def keys(self) -> float:
        return float(self.weights.sum())

    @property
    def shares(self) -> Floats:
        return np.asarray(self.weights / self.weights.sum())


def guessed(keys: int, reach: int) -> Margins:
    """Where nothing is known: margins uniform within `reach` (say, the threshold in steps) on both sides."""
    keys = parameters.count("The number of keys", keys, 1)
    reach = parameters.integer("reach", reach, 0, FARTHEST)
    places = np.unique(np.linspace(-reach, reach, GUESSED_PLACES).round().astype(np.int64)).tolist()
    steps = "1 step" if reach == 1 else f"{reach:,} steps"
    source = f"nothing known, so margins are taken to be uniform within {steps} of the threshold"
    return Margins(dict.fromkeys(places, keys / len(places)), source)


def edges(grid: LevelGrid) -> tuple[int, ...]:
    """Public edges at which the levels of a grid begin to decide, coarse: both limits of every second level."""
    chosen = range(len(grid.levels) - 1, -1, -max(1, len(grid.levels) // EDGES_PER_SIDE))
    return tuple(sorted({limit for level in chosen for limit in grid.limits(level)}))


def private_margins(margins: Whole, edges: Sequence[int], rate: parameters.Number, *, bits: Bits = SYSTEM) -> Margins:
    """A rough histogram of private aligned margins; it costs `rate` for each step that one unit moves a margin.

    Keys between two edges are placed in the middle; those beyond the outer ones at twice their distance from 0.
    """
    cuts = np.array([parameters.integer("Each edge", edge, -FARTHEST, FARTHEST) for edge in edges], dtype=np.int64)
    if not len(cuts) or (np.diff(cuts) <= 0).any():
        raise ParameterError("The edges must be whole numbers, rising, and at least one.")
    values = parameters.integers("The margins", margins)
    reached = len(values) - np.searchsorted(np.sort(values), cuts, side="left")
    noisy = reached + discrete_laplace(rate, len(cuts), bits=bits)
    falling = np.clip(_falling(noisy.astype(np.float64)), 0.0, float(len(values)))
    sizes = -np.diff(np.concatenate(([float(len(values))], falling, [0.0])))
    lowest, highest = min(2 * cuts[0], cuts[0] - 1), max(2 * cuts[-1], cuts[-1])
    places = np.concatenate(([lowest], (cuts[:-1] + cuts[1:]) // 2, [highest]))
    source = f"a private look at {len(cuts)} edges with noise of rate {float(parameters.fraction('rate', rate)):.3g}"
    return Margins(dict(zip(places.tolist(), sizes.tolist(), strict=True)), source)


def _falling(values: Floats) -> Floats:
    """The nearest falling sequence in squares: neighbours that rise are averaged until none does."""
    blocks: list[tuple[float, int]] = []
    for value in values.tolist():
        mean, size = value, 1
        while blocks and blocks[-1][0] < mean:
            before, count = blocks.pop()
            mean, size = (before * count + mean * size) / (count + size), count + size
        blocks.append((mean, size))
    return np.repeat([mean for mean, _ in blocks], [size for _, size in blocks])
