"""The exact law of what an adaptive plan releases about its only key: its own code, run on every noise that matters.

As `outcomes`, but levels may be skipped, by what the key showed. So noise is followed level by level: at each level it
falls into a region on which the leaves are decided alike and the next level is the same one. The plan runs once at each
end of these regions; levels that should not be looked at are given absurd noise, on the one run far above and on the
other far below, and both must give the same outcome.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.decide import progressive, tree
from louver.decide.adaptive_plan import Adaptive
from louver.decide.decision import Decision
from louver.noise import Bits
from louver.privacy import LevelGrid
from tests.decide.asked import view
from tests.decide.exactly import Seen, _laplace, _mixed, _window, by_prediction
from tests.decide.outcomes import Outcome, Region, _end, _inside, _regions

ABSURD = 10**8

Laws: TypeAlias = "list[dict[Outcome, float]]"


@dataclass(frozen=True)
class Path:
    """Levels that are looked at in turn, the region of noise at each, and its probability for each factor of rates."""

    steps: tuple[tuple[int, Region], ...]
    weights: tuple[float, ...]

    def chain(self, levels: int, end: int) -> NDArray[np.int64]:
        noise = np.full((levels, 1), ABSURD if end else -ABSURD)
        for level, region in self.steps:
            noise[level] = _end(region, end)
        return noise


def laws(plan: Adaptive, values: Mapping[int, int], factors: Sequence[int] = (1, 2)) -> Laws:
    """For each factor by which the noise's rates are multiplied, the probability of each (flagged, levels)."""
    program, rows = plan.program, view(plan, dict(values))
    margins = [int(each[0]) for each in plan.margins(rows)]
    found: Laws = [{} for _ in factors]
    parts = []
    for look, grid in zip(program.looks, plan.grids, strict=True):
        seen = tuple((int(grid.aligned(margins[at])), program.leaves[at].sense) for at in look.leaves)
        parts.append(list(paths(grid, seen, factors)))
    sizes = [len(grid.levels) for grid in plan.grids]
    for chosen in itertools.product(*parts):
        low, high = (
            list(_outcomes(plan, rows, [path.chain(size, end) for path, size in zip(chosen, sizes, strict=True)]))
            for end in (0, 1)
        )
        assert low == high, "two noises of one region, or at levels that are not looked at, give different outcomes"
        for outcome, chance in low:
            for number, law in enumerate(found):
                weight = math.prod(path.weights[number] for path in chosen) * chance
                law[outcome] = law.get(outcome, 0.0) + weight
    assert all(abs(sum(law.values()) - 1) < 1e-9 for law in found)
    return found


def paths(grid: LevelGrid, seen: Sequence[Seen], factors: Sequence[int]) -> Iterator[Path]:
    """All that can happen to the leaves of one look."""
    places, last = _window(grid), len(grid.levels) - 1
    rates = [[factor * float(level) for level in grid.levels] for factor in factors]
    begun = (0, (tree.OPEN,) * len(seen), (), [np.ones(len(places)) for _ in factors])
    going: list[tuple[int, tuple[int, ...], tuple[tuple[int, Region], ...], list[NDArray[np.float64]]]] = [begun]
    while going:
        level, state, steps, laws = going.pop()
        for region, after in _pieces(grid, level, seen):
            inside = [law * _inside(places, region) for law in laws]
            taken = (*steps, (level, region))
            left = _decided(grid, level, seen, state, _end(region, 0))
            if level == last or tree.OPEN not in left:
                chances = [np.sum(_laplace(rate[level], places) * law) for rate, law in zip(rates, inside, strict=True)]
                yield Path(taken, tuple(map(float, chances)))
            else:
                mixed = [_mixed(law, rate[level], rate[after]) for rate, law in zip(rates, inside, strict=True)]
                going.append((after, left, taken, mixed))


def _pieces(grid: LevelGrid, level: int, seen: Sequence[Seen]) -> Iterator[tuple[Region, int]]:
    """The regions of noise at one level, each with the level that comes after it."""
    margin, sense = seen[0]
    for low, high in _regions(seen, *grid.limits(level)):
        if low is None or high is None or level == len(grid.levels) - 1:
            yield (low, high), -1  # everything is decided there
            continue
        after = by_prediction(grid, level, margin + sense * np.arange(low, high + 1))
        starts = [low, *(low + 1 + np.flatnonzero(np.diff(after))).tolist(), high + 1]
        for start, end in itertools.pairwise(starts):
            yield (start, end - 1), int(after[start - low])


def _decided(grid: LevelGrid, level: int, seen: Sequence[Seen], state: tuple[int, ...], noise: int) -> tuple[int, ...]:
    eliminated, accepted = grid.limits(level)
    shown = [margin + sense * noise for margin, sense in seen]
    now = [tree.NO if each <= eliminated else tree.YES if each >= accepted else tree.OPEN for each in shown]
    return tuple(new if old == tree.OPEN else old for old, new in zip(state, now, strict=True))


def _outcomes(plan: Adaptive, rows: Any, chains: Sequence[NDArray[np.int64]]) -> Iterator[tuple[Outcome, float]]:
    """What the plan's code makes of these chains, for each way that its coins may fall."""
    open_throws: list[tuple[bool, ...]] = [()]
    while open_throws:
        throws = open_throws.pop()
        asked: list[float] = []

        def throw(
            chance: Any, size: int, throws: tuple[bool, ...] = throws, asked: list[float] = asked, **_: Any
        ) -> Any:
            yes = throws[len(asked)] if len(asked) < len(throws) else True
            asked.append(float(chance if yes else 1 - chance))
            return np.full(size, yes)

        drawn = iter(chains)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(progressive, "levels", lambda *_, drawn=drawn, **__: next(drawn))
            patch.setattr(progressive, "bernoulli", throw)
            patch.setattr(Decision, "charges", lambda *_: ())
            answer = plan.run(rows, Bits()).answer
        if len(asked) > len(throws):
            open_throws += [(*throws, True), (*throws, False)]
        else:
            stopped = [levels[0] for levels in answer["levels"]]
            yield (len(answer["flagged"]) == 1, *stopped), math.prod(asked)
