"""The ways to build a map, by their names, and what fits together in a plan of one."""

from __future__ import annotations

import math
from collections.abc import Callable

from louver import parameters
from louver.errors import ParameterError
from louver.privacy import Unit
from louver.source.measures import MOST_PER_UNIT, Bound
from louver.space.adaptive import Adaptive
from louver.space.cut import Cut
from louver.space.decomposition import Decomposition, Splitting
from louver.space.located import Located
from louver.space.structure import Structure
from louver.space.two_level import TwoLevel
from louver.space.uniform import Uniform

CUT, UNIFORM, TREE = "cut", "uniform", "decomposition"
ATOMS = 256
MOST_ROUNDS = 10_000
MOST_READINGS = 2**40
WAYS: dict[str, Callable[..., Structure]] = {
    CUT: Cut,
    UNIFORM: Uniform,
    "two-level": TwoLevel,
    "adaptive": Adaptive,
    TREE: Decomposition,
}


def sized_for_rounds(readings: int, rounds: int) -> int:
    """How many readings size the grid of one round of several: its noise is that of one map, less their root."""
    return min(round(parameters.integer("readings", readings, 1, MOST_READINGS) * math.sqrt(rounds)), MOST_READINGS)


def check_way(
    located: Located, way: object, readings: object, count_share: object, rounds: object, splitting: Splitting | None
) -> None:
    if not isinstance(way, str) or way not in WAYS:
        raise ParameterError(f"A map is built in one of these ways: {', '.join(WAYS)}.")
    if way == TREE and readings is not None:
        raise ParameterError("A decomposition is not sized by a number of readings; leave readings out.")
    if splitting is not None and (way != TREE or not isinstance(splitting, Splitting)):
        raise ParameterError("stop, depth, level_share and least say how a decomposition is split, and no other way.")
    if (located.value is None) != (count_share == 1):
        raise ParameterError("All of a price goes to counts where there are no values, and only there.")
    if rounds != 1 and way not in (CUT, UNIFORM):
        raise ParameterError("Rounds are combined on one grid: build them by cut or uniform.")
    if rounds != 1 and readings is None:
        raise ParameterError("Rounds share one grid, so its size must be public: give readings, about, of one round.")
    if located.value is None and way == CUT:
        raise ParameterError("A cut is made between averages; a map without values takes another way, such as uniform.")


def check_parts(located: object, unit: object, bound: object) -> None:
    if not isinstance(located, Located):
        raise ParameterError(f"The plan of a map needs a Located, not a {type(located).__name__}.")
    if not isinstance(unit, Unit):
        raise ParameterError(f"The plan of a map needs a Unit, not a {type(unit).__name__}.")
    if bound is not None and not isinstance(bound, Bound):
        raise ParameterError(f"A map needs a Bound on what one unit contributes, not a {type(bound).__name__}.")
    if bound is not None and unit.is_row:
        raise ParameterError("Where the unit is the row itself there is nothing to bound per unit.")
    if bound is not None and bound.rows * (bound.keys or 1) > MOST_PER_UNIT:
        raise ParameterError(f"One unit can be at most {MOST_PER_UNIT:,} readings of a map; bound it more tightly.")
