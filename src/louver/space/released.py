"""The released map: rectangles with a noisy count and a noisy sum each. It holds no private number.

Whoever has it can ask about any region, grid and threshold, without the data and at no price, because all that follows
is post-processing. `to_dict` makes it a small JSON object: the noisy numbers and their variances; estimates are made
anew from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from louver import parameters
from louver.errors import ParameterError
from louver.noise.grid import Grid
from louver.privacy import Pure
from louver.space.bounds import Bounds
from louver.space.field import ALONE, MOST_ATOMS, Floats, Integers, scale
from louver.space.inference import Tree
from louver.space.measure import Measured
from louver.space.written import exact

FORMAT = 1
GEOJSON = ("FeatureCollection", "Feature", "Polygon", "MultiPolygon")
MOST_NODES = MOST_ATOMS**2 * 2
DEEPEST = 20
MOST_WORDS = 1000
MOST_ROUNDS = 10_000
MARK = 32  # letters
LARGEST = 1e60  # of a noisy number; its variance is at most the square, and that has a finite square too
LEAST_VARIANCE = 1e-40  # far below that of any noise, and its square is no zero
HOLES = "The cells of the stored map overlap or leave holes; build it again."


@dataclass(frozen=True, eq=False, repr=False)
class Map:
    """Nodes level by level: rectangles of atoms (west, south, east, north), parents (-1 for none), noisy numbers.

    Sums are in steps above `centre`, which itself is in steps above the lowest value. `about` has words for people: the
    names of the columns, and who is protected. `rounds` has the prices of the rounds that were made into one map, whose
    counts and sums are then those of one round; it is empty where there was one. `marks` tells those rounds apart.
    """

    kind: str
    price: Pure
    bounds: Bounds
    columns: int
    rows: int
    values: Grid
    centre: int
    rectangles: Integers
    parents: Integers
    noisy: Measured
    about: Mapping[str, str] = field(default_factory=dict)
    rounds: tuple[Pure, ...] = ()
    marks: tuple[str, ...] = ()

    @cached_property
    def tree(self) -> Tree:
        return Tree(self.parents)

    @cached_property
    def counts(self) -> Floats:
        """The estimated number of readings in each node; neither rounded nor clipped, so it may be negative."""
        return self.tree.consistent(self.noisy.counts, self.noisy.count_variances)

    @cached_property
    def sums(self) -> Floats:
        """The estimated sum of values in each node, in steps above the centre."""
        return self.tree.consistent(self.noisy.sums, self.noisy.sum_variances)

    @property
    def alone(self) -> bool:
        """Whether it is a map of counts alone: every reading had the value 1, and sums are the same noisy counts."""
        return self.values == ALONE and np.array_equal(self.noisy.counts, self.noisy.sums)

    @property
    def counted(self) -> str:
        """What counts are counts of."""
        return f"readings of one of {len(self.rounds):,} rounds" if self.rounds else "readings"

    @property
    def paid(self) -> str:
        """What was paid, in words: of rounds, by whoever is in one of them, and by whoever is in all."""
        whole = f"epsilon {float(self.price.epsilon):g}"
        if not self.rounds:
            return whole
        most = max(float(each.epsilon) for each in self.rounds)
        return f"epsilon {most:g} in one round, {whole} for somebody who is in all of the {len(self.rounds):,} rounds"

    @property
    def depth(self) -> int:
        """The deepest level; a single grid has only level 0."""
        return int(self.tree.levels.max())

    @property
    def zero(self) -> float:
        """The value that sums are counted from."""
        return float((self.values.lowest + self.centre) * self.values.step)

    @property
    def step(self) -> float:
        return float(self.values.step)

    def in_steps(self, threshold: parameters.Number) -> float:
        """A threshold on the values, in steps above the centre."""
        exact = parameters.within("The threshold", threshold, self.values.low, self.values.high)
        return float(exact / self.values.step) - (self.values.lowest + self.centre)

    def occupied(self, sure: float) -> Integers:
        """The leaves whose estimated count is so many standard errors above 0; all of them where that is 0."""
        leaves = self.tree.leaves
        errors = np.sqrt(self.tree.variances(self.noisy.count_variances)[leaves])
        return leaves[self.counts[leaves] > sure * errors] if sure else leaves

    def edges(self, columns: int, rows: int) -> tuple[Floats, Floats]:
        """The lines of a grid over the bounds, in atoms."""
        across = parameters.integer("The number of columns", columns, 1, MOST_ATOMS)
        along = parameters.integer("The number of rows", rows, 1, MOST_ATOMS)
        return np.linspace(0, self.columns, across + 1), np.linspace(0, self.rows, along + 1)

    def to_dict(self) -> dict[str, Any]:
        """Plain values that JSON can carry."""
        laws, law = np.unique(
            np.stack((self.noisy.count_variances, self.noisy.sum_variances)), axis=1, return_inverse=True
        )
        return {
            "format": FORMAT,
            "kind": self.kind,
            "epsilon": str(self.price.epsilon),
            "bounds": self.bounds.to_dict(),
            "atoms": [self.columns, self.rows],
            "values": {"low": str(self.values.low), "high": str(self.values.high), "step": str(self.values.step)},
            "centre": self.centre,
            "variances": laws.T.tolist(),
            "law": law.ravel().tolist(),
            "parents": self.parents.tolist(),
            "rectangles": self.rectangles.tolist(),
            "counts": _plain(self.noisy.counts),
            "sums": _plain(self.noisy.sums),
            **({"about": dict(sorted(self.about.items()))} if self.about else {}),
            **({"rounds": [str(each.epsilon) for each in self.rounds]} if self.rounds else {}),
            **({"marks": list(self.marks)} if self.marks else {}),
        }

    @classmethod
    def from_dict(cls, plain: object) -> Map:
        """The map again; refused with a sentence where it is not one."""
        if isinstance(plain, Mapping) and plain.get("type") in GEOJSON:
            raise ParameterError("This is GeoJSON, for GIS tools; a map is read from the .json that was built.")
        if not isinstance(plain, Mapping) or plain.get("format") != FORMAT:
            raise ParameterError(f"A stored map must be an object with format {FORMAT}; build it again.")
        try:
            return _restored(plain)
        except (KeyError, TypeError, ValueError, OverflowError, IndexError, ZeroDivisionError):
            raise ParameterError("The stored map is incomplete or was changed; build it again.") from None

    def __repr__(self) -> str:
        return f"<map: {self.kind}, {len(self.parents)} nodes, epsilon {self.price.epsilon}>"


def _plain(values: Floats) -> list[float | int]:
    """Whole numbers as such, others to a millionth: they are noisy from the first digit before the point."""
    return [int(value) if value.is_integer() else round(value, 6) for value in values.tolist()]


def _restored(plain: Mapping[str, Any]) -> Map:
    columns, rows = (parameters.integer("The number of atoms", side, 1, MOST_ATOMS) for side in plain["atoms"])
    values = scale(*(exact(plain["values"][name]) for name in ("low", "high", "step")))
    law = _whole(plain["law"])
    if (law < 0).any():
        raise ValueError("no such law")
    laws = _finite(plain["variances"], LARGEST**2)[law]
    restored = Map(
        str(plain["kind"])[:40],
        _price(plain["epsilon"]),
        Bounds.from_dict(plain["bounds"]),
        columns,
        rows,
        values,
        parameters.integer("The centre", plain["centre"], 0, values.highest - values.lowest),
        _whole(plain["rectangles"]),
        _whole(plain["parents"]),
        Measured(_finite(plain["counts"]), _finite(plain["sums"]), laws[:, 0], laws[:, 1]),
        {str(name)[:40]: str(words)[:MOST_WORDS] for name, words in dict(plain.get("about", {})).items()},
        tuple(_price(each) for each in list(plain.get("rounds", ()))[:MOST_ROUNDS]),
        tuple(str(each)[:MARK] for each in list(plain.get("marks", ()))[:MOST_ROUNDS]),
    )
    _check(restored)
    return restored


def _price(text: object) -> Pure:
    epsilon = exact(text)
    if epsilon > LARGEST:
        raise ValueError("no such price")
    return Pure(epsilon)


def _check(given: Map) -> None:
    size = len(given.parents)
    west, south, east, north = given.rectangles.T
    if not (
        0 < size <= MOST_NODES
        and all(len(each) == size for each in (given.rectangles, *given.noisy))
        and ((west >= 0) & (west < east) & (east <= given.columns)).all()
        and ((south >= 0) & (south < north) & (north <= given.rows)).all()
        and (np.minimum(given.noisy.count_variances, given.noisy.sum_variances) >= LEAST_VARIANCE).all()
        and (given.parents >= -1).all()
        and (np.diff(given.parents) >= 0).all()
    ):
        raise ValueError("not a map")
    _check_depth(given.parents)
    areas = ((east - west) * (north - south)).astype(np.float64)
    tree = given.tree
    inside = np.bincount(given.parents[given.parents >= 0], areas[given.parents >= 0], minlength=size)
    inner = np.setdiff1d(np.arange(size), tree.leaves)
    if not (inside[inner] == areas[inner]).all():
        raise ValueError("children that do not fill their parent")
    _check_cells(given)


def _check_cells(given: Map) -> None:
    """Every atom lies in one leaf, and children lie in their parents; then each level's nodes share no atom either."""
    below = given.parents >= 0
    inner, outer = given.rectangles[below], given.rectangles[given.parents[below]]
    nested = (inner[:, :2] >= outer[:, :2]).all() and (inner[:, 2:] <= outer[:, 2:]).all()
    leaves = given.rectangles[given.tree.leaves]
    across, along = (np.union1d(leaves[:, side::2], [0, past]) for side, past in ((0, given.columns), (1, given.rows)))
    west, south, east, north = (
        np.searchsorted(lines, leaves[:, side]) for side, lines in enumerate((across, along, across, along))
    )
    corners = np.zeros((len(along), len(across)), dtype=np.int32)
    for row, column, sign in ((south, west, 1), (south, east, -1), (north, west, -1), (north, east, 1)):
        np.add.at(corners, (row, column), sign)
    held = corners.cumsum(axis=0, dtype=np.int32).cumsum(axis=1, dtype=np.int32)[:-1, :-1]
    if not nested or not (held == 1).all():
        raise ParameterError(HOLES)


def _check_depth(parents: Integers) -> None:
    """Nodes level by level, and not so deep that following them takes long."""
    past = int(np.searchsorted(parents, 0))
    for _ in range(DEEPEST):
        if past == len(parents):
            return
        past = int(np.searchsorted(parents, past))
    raise ValueError("too deep")


def _whole(values: Sequence[Any]) -> Integers:
    array = np.asarray(values)
    if array.dtype.kind != "i":
        raise ValueError("not whole numbers")
    return array.astype(np.int64)


def _finite(values: Sequence[Any], largest: float = LARGEST) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if not np.abs(array).max() <= largest:
        raise ValueError("not finite")
    return array
