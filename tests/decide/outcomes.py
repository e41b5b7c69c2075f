"""The exact law of what a plan releases about one key: its own code, run on every noise that makes a difference.

Noise matters only by the region in which it falls: between which limits it puts each leaf at each level. So the plan
runs with one noise of each region in the place of random ones, over a domain with one key for each combination, and
each outcome weighs what its regions weigh under the law of the noise. Both ends of every region are tried, and must
give the same outcome. Probabilities are floats; those above `LEAST` are right to one part in a million.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.decide import bands, progressive, shift
from louver.decide.bands import Bands
from louver.decide.decision import Decision
from louver.decide.progressive import Progressive
from louver.decide.shift import Shift
from louver.noise import Bits
from louver.source.filters import Both, Compare, Filter
from louver.source.measures import BEYOND, SUM, Measure
from tests.decide.asked import Shape, view
from tests.decide.exactly import _laplace, _mixed

LEAST = 1e-8
NEPERS_KEPT = 45
BEYOND_ALL = 10**6

Outcome: TypeAlias = "tuple[Any, ...]"
Region: TypeAlias = "tuple[int | None, int | None]"
Row: TypeAlias = "Mapping[str, Any]"


@dataclass(frozen=True)
class Cell:
    """One look at one key: the rates of its levels, and for each level the regions of noise that differ."""

    rates: tuple[float, ...]
    regions: tuple[tuple[Region, ...], ...]
    coins: tuple[Fraction, ...]

    def paths(self) -> list[tuple[tuple[Region, ...], float]]:
        """Each combination of regions, level by level, and its probability."""
        reach = math.ceil(2 * NEPERS_KEPT / self.rates[0])
        places = np.arange(-reach, reach + 1)
        found: dict[tuple[Region, ...], NDArray[np.float64]] = {(): np.ones(len(places))}
        for level, rate in enumerate(self.rates):
            if level:
                found = {path: _mixed(law, self.rates[level - 1], rate) for path, law in found.items()}
            found = {
                (*path, region): law * _inside(places, region)
                for path, law in found.items()
                for region in self.regions[level]
            }
        weights = _laplace(self.rates[-1], places)
        return [(path, float(weights @ law)) for path, law in found.items()]


def _inside(places: NDArray[np.int64], region: Region) -> NDArray[np.bool_]:
    low, high = region
    inside = np.ones(len(places), dtype=np.bool_)
    if low is not None:
        inside &= places >= low
    if high is not None:
        inside &= places <= high
    return inside


def cells(plan: Decision, margins: Sequence[int], faster: int = 1) -> list[Cell]:
    """The cells of a key with these margins; `faster` multiplies the rates, to see what less noise would do."""
    program, made = plan.program, []
    levels: tuple[Fraction, ...]
    regions: tuple[tuple[Region, ...], ...]
    if isinstance(plan, Bands):
        first = -(-margins[0] // program.looks[0].touch.step)
        seen = [(first + int(moved[0]), 1) for moved in plan.shifts]
        regions = (_regions(seen, plan.test.boundary - 1, plan.test.boundary + 1),)
        return [Cell((faster * float(plan.test.epsilon),), regions, (plan.test.coin,))]
    for number, look in enumerate(program.looks):
        seen = [(-(-margins[at] // look.touch.step), program.leaves[at].sense) for at in look.leaves]
        if isinstance(plan, Shift):
            test = plan.tests[number]
            levels, coin = (test.epsilon,), test.coin
            regions = (_regions(seen, test.boundary - 1, test.boundary + 1),)
        else:
            assert isinstance(plan, Progressive)
            grid = plan.grids[number]
            levels, coin = grid.levels, grid.last.coin
            regions = tuple(_regions(seen, *grid.limits(level)) for level in range(len(levels)))
        made.append(Cell(tuple(faster * float(level) for level in levels), regions, (coin,) * len(seen)))
    return made


def _regions(seen: Sequence[tuple[int, int]], eliminated: int, accepted: int) -> tuple[Region, ...]:
    """The noises in pieces, on each of which every leaf (margin + sense * noise) is eliminated, accepted or open."""
    starts: set[int] = set()
    for margin, sense in seen:
        if sense > 0:
            starts |= {eliminated - margin + 1, accepted - margin}
        else:
            starts |= {margin - accepted + 1, margin - eliminated}
    ordered = sorted(starts)
    ends: list[int | None] = [each - 1 for each in ordered]
    return tuple(zip([None, *ordered], [*ends, None], strict=True))


def law(
    shape: Shape, make: type[Decision], values: Mapping[int, int], *, faster: int = 1, **changed: Any
) -> dict[Outcome, float]:
    """The probability of each (flagged, levels) of a key whose measures have these values."""
    small = shape.plan(make, **changed)
    return law_of(small, lambda size: shape.plan(make, size, **changed), values, faster)


def law_of(small: Any, sized: Any, values: Mapping[int, int], faster: int = 1) -> dict[Outcome, float]:
    margins = [int(each[0]) for each in small.margins(view(small, dict(values)))]
    parts = cells(small, margins, faster)
    combined = list(itertools.product(*(cell.paths() for cell in parts)))
    coins = [coin for cell in parts for coin in cell.coins]
    throws = list(itertools.product((True, False), repeat=len(coins)))
    large = sized(len(combined) * len(throws))
    found: dict[Outcome, float] = {}
    low, high = (_outcomes(large, values, parts, combined, throws, end) for end in (0, 1))
    assert low == high, "two noises of one region give different outcomes"
    weights = [
        math.prod(weight for _, weight in paths)
        * math.prod(float(p if yes else 1 - p) for p, yes in zip(coins, throw, strict=True))
        for paths in combined
        for throw in throws
    ]
    for outcome, weight in zip(low, weights, strict=True):
        found[outcome] = found.get(outcome, 0.0) + weight
    assert abs(sum(found.values()) - 1) < 1e-9
    return found


def _outcomes(
    plan: Any, values: Mapping[int, int], parts: Sequence[Cell], combined: Any, throws: Any, end: int
) -> list[Outcome]:
    """What the plan's code makes of the noises at one end of their regions."""
    noises = []
    for at in range(len(parts)):
        columns = [[_end(region, end) for region in paths[at][0]] for paths in combined]
        noises.append(np.repeat(np.array(columns, dtype=np.int64).T, len(throws), axis=1))
    coins = iter(np.tile(np.array(throws, dtype=np.bool_).reshape(len(throws), -1).T, (1, len(combined))))
    drawn = iter(noises)
    with pytest.MonkeyPatch.context() as patch:
        for module in (shift, bands):
            patch.setattr(module, "discrete_laplace", lambda *_, **__: next(drawn)[0])
        patch.setattr(progressive, "levels", lambda *_, **__: next(drawn))
        for each in (shift, bands, progressive):
            patch.setattr(each, "bernoulli", lambda *_, **__: next(coins))
        patch.setattr(Decision, "charges", lambda *_: ())
        answer = plan.run(view(plan, dict(values)), Bits()).answer
    assert next(drawn, None) is None, "not all of the noise was used"
    if "classes" in answer:
        return [(name,) for name in answer["classes"]]
    flagged = set(answer["flagged"])
    stopped = list(zip(*answer["levels"], strict=True)) if "levels" in answer else [()] * answer["keys"]
    return [(number in flagged, *levels) for number, levels in enumerate(stopped)]


def _end(region: Region, end: int) -> int:
    low, high = region
    if low is None:
        return (high or 0) - end * BEYOND_ALL
    return low if end == 0 else high if high is not None else low + BEYOND_ALL


def losses(one: Mapping[Outcome, float], other: Mapping[Outcome, float]) -> Iterator[tuple[Outcome, float]]:
    """For each outcome that is not too rare, the logarithm of how much more probable it is here than there."""
    for outcome, chance in one.items():
        there = other.get(outcome, 0.0)
        if chance > LEAST:
            yield outcome, math.log(chance / there) if there > LEAST / 1e4 else math.inf


def contribution(measure: Measure, row: Row, key: int = 0) -> int:
    """What one row adds to a measure at its key."""
    if not passes(measure.where, row):
        return 0
    if measure.kind == SUM:
        assert measure.grid is not None
        return int(measure.grid.quantise([row[measure.column or ""]])[0])
    if measure.kind == BEYOND:
        assert measure.limits is not None
        value, limit = Fraction(row[measure.column or ""]), measure.limits[key]
        return int(
            {">": value > limit, ">=": value >= limit, "<": value < limit, "<=": value <= limit}[measure.sign or ""]
        )
    return 1


def passes(where: Filter, row: Row) -> bool:
    if isinstance(where, Both):
        return all(passes(part, row) for part in where.parts)
    assert isinstance(where, Compare)
    assert where.sign == "="
    return bool(row[where.column] == where.value)
