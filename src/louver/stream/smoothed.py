"""What smoothing mechanisms share: noisy counts go in, and each region says which of its ticks look alike.

All that a `Trace` holds may be published: it is what the mechanism's price pays for, or follows from that.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.noise import Bits
from louver.noise.bits import SYSTEM
from louver.privacy import Pure
from louver.stream.laplace import LARGEST_SENSITIVITY, stated
from louver.stream.mechanism import Mechanism, Rows

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class Trace:
    """The ticks of one call, ticks by regions: what was released, and where it came from.

    `noisy` holds the counts with fresh noise; `levels` the value on which the last `lengths` ticks of a region agree.
    """

    released: Floats
    noisy: Rows
    levels: Floats
    lengths: Rows


class Smoothed(Mechanism):
    """A mechanism whose released values follow from noisy counts and a grouping of ticks; pure epsilon, once."""

    trace: Trace

    def __init__(
        self,
        epsilon: parameters.Number | str,
        regions: int | None = None,
        *,
        sensitivity: int = 1,
        bits: Bits = SYSTEM,
    ) -> None:
        super().__init__(regions, bits=bits)
        self.epsilon = stated("epsilon", epsilon)
        self.sensitivity = parameters.integer("sensitivity", sensitivity, 1, LARGEST_SENSITIVITY)
        nothing = np.empty((0, self._width))
        self.trace = Trace(nothing, nothing.astype(np.int64), nothing, nothing.astype(np.int64))

    @property
    def price(self) -> Pure:
        return Pure(self.epsilon)

    @abstractmethod
    def _traced(self, rows: Rows) -> Trace:
        """The next ticks."""

    @abstractmethod
    def _places(self) -> Sequence[Any]:
        """What each region remembers; each has `to_dict` and `from_dict`."""

    @abstractmethod
    def variances(self) -> Floats:
        """An estimate, from released values only, of how much each region's last value scatters around the truth."""

    def _released(self, rows: Rows) -> Floats:
        self.trace = self._traced(rows)
        return self.trace.released

    def _state(self) -> dict[str, Any]:
        return {"regions": [place.to_dict() for place in self._places()]}

    def _restore(self, state: Mapping[str, Any]) -> None:
        places = self._places()
        for place, plain in zip(places, state["regions"], strict=True):
            place.take(plain)

    def _parameters(self) -> dict[str, Any]:
        return {"epsilon": str(self.epsilon), "regions": self.regions, "sensitivity": self.sensitivity}


def columns(rows: Rows) -> Iterator[list[int]]:
    """Each region's ticks as Python ints: a loop over ticks is faster on those, and they never overflow."""
    yield from rows.T.tolist()


def traced(noisy: Rows, per_region: Sequence[tuple[list[float], list[float], list[int]]]) -> Trace:
    """A trace from each region's released values, levels and lengths."""
    released, levels, lengths = np.array(per_region, dtype=np.float64).transpose(1, 2, 0)
    return Trace(released, noisy, levels, lengths.astype(np.int64))


def whole_numbers(plain: object) -> list[int]:
    """A stored list of whole numbers."""
    if not isinstance(plain, list) or any(type(value) is not int for value in plain):
        raise ValueError
    return list(plain)
