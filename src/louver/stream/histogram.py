"""How a stream's values are distributed: at every tick, how many so far fell into each of some public bins.

Releases one running count per bin, of each region where there are several. Bin 0 is below the first edge, the last one
at or above the last edge; a missing value (None, NaN) is in none. Price: epsilon. Neighbours: one tick's value is there
or not ("presence"), which touches one bin, so that every bin is counted at the whole of epsilon; or it is changed
("replace"), which may touch two bins, so that every bin is counted at half of it. A unit in w ticks pays w times as
much.

Why this is private. Bins share no value, so the counts of one bin tell of its own values only: `ContinualSum` over the
bins as regions pays once for each bin that a changed tick touches.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise.bits import SYSTEM, Bits
from louver.noise.grid import LARGEST_STEPS
from louver.privacy import Pure
from louver.stream.laplace import stated
from louver.stream.mechanism import Mechanism, Rows, alike
from louver.stream.present import PRESENCE, REPLACE, checked_neighbours, present
from louver.stream.truncated import COUNTINGS, known

MOST_EDGES = 2**16


class Histogram(Mechanism):
    """Running counts of a stream's values in bins between whole-numbered edges.

    >>> stream = Histogram(epsilon=300, edges=[10, 20], horizon=1000)
    >>> stream.update(12), stream.run([3, None, 20, 25])[-1]
    (array([0, 1, 0]), array([1, 1, 2]))
    """

    kind: ClassVar[str] = "histogram"

    def __init__(
        self,
        epsilon: parameters.Number | str,
        edges: Sequence[int],
        horizon: int,
        *,
        counting: str = "kary",
        neighbours: str = REPLACE,
        regions: int | None = None,
        bits: Bits = SYSTEM,
    ) -> None:
        super().__init__(regions, low=-LARGEST_STEPS, bits=bits)
        self.epsilon = stated("epsilon", epsilon)
        self.edges = np.array(_rising(edges), dtype=np.int64)
        self.horizon = parameters.integer("horizon", horizon, 1, 2**40)
        self.counting = known("counting", counting, COUNTINGS)
        self.neighbours = checked_neighbours(neighbours)
        each = self.epsilon if self.neighbours == PRESENCE else self.epsilon / 2
        self._cells = self._width * (len(self.edges) + 1)
        self._counts = COUNTINGS[self.counting](self.horizon, epsilon=each, high=1, regions=self._cells, bits=bits)

    @property
    def price(self) -> Pure:
        return Pure(self.epsilon)

    def error_at(self, ticks: int) -> float:
        """The standard deviation of every bin's count after so many ticks."""
        return self._counts.error_at(ticks)

    def largest_error(self, ticks: int) -> float:
        """The standard deviation at the worst of so many ticks."""
        return self._counts.largest_error(ticks)

    def rms_error(self, ticks: int) -> float:
        """The same in the root mean square."""
        return self._counts.rms_error(ticks)

    def update(self, value: object) -> NDArray[Any]:
        """One tick: a number or None, or one for each region. Returns the count of every bin."""
        shape = () if self.regions is None else (self.regions,)
        tick = np.full(shape, None) if value is None else self._array(value, batch=False)
        if tick.shape != shape:
            raise self._misshapen(batch=False)
        return np.asarray(self.run(tick[np.newaxis])[0])

    def run(self, values: ArrayLike) -> NDArray[Any]:
        """A batch of ticks. Returns ticks by bins; those of one region are beside each other."""
        array = self._array(values, batch=True)
        rows = self._read(array, array.shape[:1] or (0,))
        self._go_within()
        released = self._released(np.where(present(array, rows.shape), rows, LARGEST_STEPS + 1))
        self._over(len(rows))
        return released

    def _released(self, rows: Rows) -> NDArray[Any]:
        bins = np.searchsorted(self.edges, rows, side="right")
        entered = np.zeros((*rows.shape, len(self.edges) + 1), dtype=np.int64)
        ticks, regions = np.nonzero(rows <= LARGEST_STEPS)
        entered[ticks, regions, bins[ticks, regions]] = 1
        return self._counts.run(entered.reshape(len(rows), self._cells))

    def _parameters(self) -> dict[str, Any]:
        return {
            "epsilon": str(self.epsilon),
            "edges": self.edges.tolist(),
            "horizon": self.horizon,
            "counting": self.counting,
            "neighbours": self.neighbours,
            "regions": self.regions,
        }

    def _state(self) -> dict[str, Any]:
        return {"counts": self._counts.to_dict()}

    def _restore(self, state: Mapping[str, Any]) -> None:
        counts = type(self._counts).from_dict(state["counts"], bits=self._bits)
        self._counts = alike(counts, self._counts, self.ticks)


def _rising(edges: object) -> list[int]:
    listed = list(edges) if isinstance(edges, Sequence | np.ndarray) and not isinstance(edges, str | bytes) else []
    whole = [parameters.integer("An edge", each, -LARGEST_STEPS, LARGEST_STEPS) for each in listed[: MOST_EDGES + 1]]
    if not 1 <= len(whole) <= MOST_EDGES or any(b <= a for a, b in itertools.pairwise(whole)):
        raise ParameterError(f"The edges must be 1 to {MOST_EDGES:,} whole numbers, each above the one before.")
    return whole
