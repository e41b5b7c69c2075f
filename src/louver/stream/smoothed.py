"""What smoothing mechanisms share: noisy counts go in, and each region says which of its ticks look alike.

All that a `Trace` holds may be published: it is what the mechanism's price pays for, or follows from that.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.noise import Bits
from louver.noise.bits import SYSTEM
from louver.stream.laplace import LARGEST_SENSITIVITY
from louver.stream.mechanism import Mechanism, Rows

Floats = NDArray[np.float64]


class Ticks(NamedTuple):
    """Of each tick, region after region: the released value, the level, how many ticks agree on it, what was noticed.

    All regions write into the same four lists: a live stream would spend half its time on lists of one number.
    """

    values: list[float]
    levels: list[float]
    lengths: list[int]
    noticed: list[float]

    @classmethod
    def none(cls) -> Self:
        return cls([], [], [], [])


@dataclass(frozen=True, eq=False, slots=True)
class Trace:
    """The ticks of one call, ticks by regions: what was released, and where it came from.

    `noisy` holds the counts with fresh noise; `levels` the value on which the last `lengths` ticks of a region agree;
    `variances` an estimate, from what is released, of how much each value scatters around the truth.
    """

    released: Floats
    noisy: Rows
    levels: Floats
    lengths: Rows
    variances: Floats | None = None


class Smoothed(Mechanism):
    """A mechanism whose released values follow from noisy counts and a grouping of ticks; what it costs, once."""

    def __init__(self, regions: int | None = None, *, sensitivity: int = 1, bits: Bits = SYSTEM) -> None:
        super().__init__(regions, bits=bits)
        self.sensitivity = parameters.integer("sensitivity", sensitivity, 1, LARGEST_SENSITIVITY)
        self._latest: Trace | tuple[Rows, Ticks] = (np.empty((0, self._width), dtype=np.int64), Ticks.none())

    @property
    def trace(self) -> Trace:
        """The ticks of the last call; made of them when somebody asks, which a live stream seldom does."""
        if not isinstance(self._latest, Trace):
            self._latest = self._trace(*self._latest)
        return self._latest

    @abstractmethod
    def _traced(self, rows: Rows) -> tuple[Rows, Ticks]:
        """The noisy counts of the next ticks, and what each region makes of them."""

    @abstractmethod
    def _estimated(self, lengths: Rows, noticed: Floats, apart: Floats) -> Floats:
        """How much values scatter: from the lengths of their groups, from what regions noticed, and from how far each
        is apart from its noisy count."""

    @abstractmethod
    def _places(self) -> Sequence[Any]:
        """What each region remembers; each has `to_dict` and `from_dict`."""

    @abstractmethod
    def variances(self) -> Floats:
        """An estimate, from released values only, of how much each region's last value scatters around the truth."""

    def _released(self, rows: Rows) -> Floats:
        self._latest = self._traced(rows)
        return np.array(self._latest[1].values).reshape(rows.shape[::-1]).T

    def _nothing(self, rows: Rows) -> Floats:
        self._latest = (rows, Ticks.none())
        return super()._nothing(rows)

    def _trace(self, noisy: Rows, ticks: Ticks) -> Trace:
        released, levels, noticed = (
            np.array(each, dtype=np.float64).reshape(noisy.shape[::-1]).T
            for each in (ticks.values, ticks.levels, ticks.noticed)
        )
        lengths = np.array(ticks.lengths, dtype=np.int64).reshape(noisy.shape[::-1]).T
        return Trace(released, noisy, levels, lengths, self._estimated(lengths, noticed, noisy - released))

    def _state(self) -> dict[str, Any]:
        return {"regions": [place.to_dict() for place in self._places()]}

    def _restore(self, state: Mapping[str, Any]) -> None:
        places = self._places()
        for place, plain in zip(places, state["regions"], strict=True):
            place.take(plain)

    def _parameters(self) -> dict[str, Any]:
        return {"regions": self.regions, "sensitivity": self.sensitivity}


def columns(rows: Rows) -> Iterator[list[int]]:
    """Each region's ticks as Python ints: a loop over ticks is faster on those, and they never overflow."""
    yield from rows.T.tolist()


def whole_numbers(plain: object) -> list[int]:
    """A stored list of whole numbers."""
    if not isinstance(plain, list) or any(type(value) is not int for value in plain):
        raise ValueError
    return list(plain)
