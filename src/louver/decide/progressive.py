"""Step by step: a very noisy look first, and clearer ones only at keys that are not yet decided.

Releases the keys that are flagged and, for each look and key, the level at which it stopped (-1: never looked at).
Neighbours differ in all rows of one unit. Reserved is the last level's price per touch (see `touch`); charged is less
where keys are decided early. Levels and limits come from `louver.privacy.grid_levels`, on one chain of gradual noise
per key of a look. In a tree, looks come one after the other, and a key whose answer no longer hangs on a leaf is not
looked at again for it. What it does not promise: that the charge is small; only keys far from their threshold are
cheap.

The promise. A leaf's answer depends on its own chain only: stopping early leaves out answers that could not change the
key's. So each leaf keeps its part of the rates, whichever level is taken next (the grid is calibrated for every rule),
and `tree` joins them.

Why this is private. Seeing a chain of `louver.noise.levels` down to a level tells no more than seeing that level alone,
and which chain is looked at next depends on values seen before only. So a key that stops at level g of a look has an
outcome whose probability moving its aligned margin by d changes by a factor of at most exp(e_g |d|); a key never looked
at, by none. `payers` adds up what one unit moves, at the largest price where the unit does not keep keys apart. Charges
depend on the released levels only, so that what is charged tells nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.decide import tree
from louver.decide.decision import Decision
from louver.decide.program import Look
from louver.noise import Bits, bernoulli, levels
from louver.noise.bits import SYSTEM
from louver.privacy import LevelGrid, Outcome, grid_levels, one_shot
from louver.privacy.calibrate.grid import LARGEST_LEVELS
from louver.privacy.plan import registered
from louver.source.measures import View

LAST_SHARE = Fraction(1, 2)
LEVELS = 7
CHUNK = 1 << 18

_calibrated = lru_cache(maxsize=256)(grid_levels)
_last_test = lru_cache(maxsize=256)(one_shot)


@registered("progressive")
@dataclass(frozen=True, slots=True, init=False)
class Progressive(Decision):
    """The plan of looking at each key until it is decided, at most `levels` times."""

    levels: int
    mechanism: ClassVar[str] = "progressive"
    gradual: ClassVar[bool] = True

    def __init__(self, *given: Any, levels: int = LEVELS, **named: Any) -> None:
        object.__setattr__(self, "levels", parameters.integer("levels", levels, 1, LARGEST_LEVELS))
        Decision.__init__(self, *given, **named)
        _ = self.grids  # refuses levels that cannot keep the promise

    @property
    def grids(self) -> list[LevelGrid]:
        """The levels and limits of each look."""
        return [
            _calibrated(miss, look.slack, alarm, look.touch.step, levels=self.levels, last_share=LAST_SHARE)
            for look, (miss, alarm) in zip(self.program.looks, self.rates, strict=True)
        ]

    def price_of(self, look: Look, miss_rate: Fraction, false_alarm_rate: Fraction) -> Fraction:
        share = LAST_SHARE if self.levels > 1 else 1
        return _last_test(miss_rate * share, look.slack, false_alarm_rate * share, look.touch.step).epsilon

    def next_level(self, grid: LevelGrid, level: int, seen: NDArray[np.int64]) -> int:  # noqa: ARG002 the schedule is fixed
        """The level that comes after `level`; -1 is before the first. `seen` are noisy margins that are still open."""
        return level + 1

    def run(self, view: View, bits: Bits) -> Outcome:
        walk = _Walk(self, view, bits)
        flagged = walk.to_the_end()
        reached = [[int(level) for level in stopped] for stopped in walk.stopped]
        charged = [
            charge
            for look, grid, stopped in zip(self.program.looks, self.grids, reached, strict=True)
            for charge in self.charges(look, stopped, grid.levels)
        ]
        return Outcome({**self.answer(flagged), "levels": reached}, tuple(charged))

    def _given(self) -> dict[str, Any]:
        return {**Decision._given(self), "levels": self.levels}

    def parameters(self) -> dict[str, Any]:
        return {**Decision.parameters(self), "levels": self.levels}


def decide(
    margins: NDArray[np.int64], grid: LevelGrid, bits: Bits = SYSTEM
) -> tuple[NDArray[np.bool_], NDArray[np.int8]]:
    """One leaf over as many keys as there are: which are flagged, and the level at which each stopped.

    What `Progressive` does for a question of one leaf, in chunks, so that memory does not grow with levels times keys.
    """
    flagged = np.empty(len(margins), dtype=np.bool_)
    stopped = np.empty(len(margins), dtype=np.int8)
    for start in range(0, len(margins), CHUNK):
        chunk = slice(start, start + CHUNK)
        flagged[chunk], stopped[chunk] = _decided(grid.aligned(margins[chunk]), grid, bits)
    return flagged, stopped


def _decided(margins: NDArray[np.int64], grid: LevelGrid, bits: Bits) -> tuple[NDArray[np.bool_], NDArray[np.int8]]:
    flagged = np.zeros(len(margins), dtype=np.bool_)
    stopped = np.full(len(margins), len(grid.levels) - 1, dtype=np.int8)
    open_keys = np.arange(len(margins))
    for level, noise in enumerate(levels(grid.levels, len(margins), bits=bits)):
        eliminated, accepted = grid.limits(level)
        seen = margins[open_keys] + noise[open_keys]
        yes, no = seen >= accepted, seen <= eliminated
        flagged[open_keys[yes]] = True
        stopped[open_keys[yes | no]] = level
        open_keys = open_keys[~(yes | no)]
    flagged[open_keys] = bernoulli(grid.last.coin, len(open_keys), bits=bits)
    return flagged, stopped


class _Walk:
    """One run through the levels: what was seen, what is decided, where each key of each look stopped."""

    def __init__(self, plan: Progressive, view: View, bits: Bits) -> None:
        self._plan, self._bits = plan, bits
        program = plan.program
        sizes = [len(plan.reading.keys[look.keys]) for look in program.looks]
        self._grids = plan.grids
        self._noise = [levels(grid.levels, size, bits=bits) for grid, size in zip(self._grids, sizes, strict=True)]
        self._margins = [
            self._grids[leaf.look].aligned(exact)
            for leaf, exact in zip(program.leaves, plan.margins(view), strict=True)
        ]
        # Each leaf's answers over the keys of its look.
        self._decided = [np.full(len(exact), tree.OPEN, dtype=np.int8) for exact in self._margins]
        self._level = [-1] * len(sizes)
        self.stopped = [np.full(size, -1, dtype=np.int64) for size in sizes]

    def to_the_end(self) -> NDArray[np.bool_]:
        while (result := tree.value(self._plan.program.tree, self._on_keys())) is not None:
            if not (result == tree.OPEN).any():
                break
            for number in range(len(self.stopped)):
                self._look(number)
        return np.asarray(result == tree.YES)

    def _on_keys(self) -> list[NDArray[np.int8]]:
        """The leaves' answers over the keys of the question."""
        program = self._plan.program
        return [
            decided[program.positions[leaf.keys]] for leaf, decided in zip(program.leaves, self._decided, strict=True)
        ]

    def _look(self, number: int) -> None:
        """Take one look's next level, at the keys whose answer still hangs on it."""
        grid, look = self._grids[number], self._plan.program.looks[number]
        wanted = self._wanted(number)
        if not wanted.any():
            return
        before = self._level[number]
        first = self._margins[look.leaves[0]]
        seen = (first + self._noise[number][before])[wanted] if before >= 0 else np.zeros(0, dtype=np.int64)
        level = self._plan.next_level(grid, before, seen)
        self._level[number] = level
        self.stopped[number][wanted] = level
        for leaf in look.leaves:
            self._decide(leaf, level, wanted)

    def _wanted(self, number: int) -> NDArray[np.bool_]:
        program = self._plan.program
        look = program.looks[number]
        wanted = np.zeros(len(self.stopped[number]), dtype=np.bool_)
        for leaf, keys in tree.needed(program.tree, self._on_keys()).items():
            if leaf in look.leaves:
                wanted[program.positions[look.keys][keys]] = True
        return wanted

    def _decide(self, number: int, level: int, wanted: NDArray[np.bool_]) -> None:
        leaf = self._plan.program.leaves[number]
        grid, decided = self._grids[leaf.look], self._decided[number]
        eliminated, accepted = grid.limits(level)
        seen = self._margins[number] + leaf.sense * self._noise[leaf.look][level]
        open_here = wanted & (decided == tree.OPEN)
        decided[open_here & (seen <= eliminated)] = tree.NO
        decided[open_here & (seen >= accepted)] = tree.YES
        if level == len(grid.levels) - 1:  # the last level leaves one value open, and a coin decides it
            left = open_here & (decided == tree.OPEN)
            coins = bernoulli(grid.last.coin, len(decided), bits=self._bits)
            decided[left] = np.where(coins[left], tree.YES, tree.NO)
