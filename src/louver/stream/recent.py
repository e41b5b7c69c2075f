"""Sliding windows and second thoughts: what the latest ticks look like, given all that was released since.

Post-processing of what a mechanism released: nothing is paid. Two ways, by what is released:

- `Recent`, for numbers of each tick. When a group or run of ticks takes a new level, all its ticks that are still in
  the window take it: the sum over a window is the sum over groups of |group in window| times the group's level
  (PeGaSus, sliding windows).
- `Differences`, for running sums: the sum so far less what it was when the window began, with the noise of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.stream.mechanism import Mechanism, packed, unpacked
from louver.stream.smoothed import Floats, Trace

LARGEST_WINDOW = 2**20


class Recent:
    """The levels of the last `window` ticks of a stream, or of so many regions; before the first tick they are 0.

    >>> from louver.stream.pegasus import Pegasus
    >>> stream = Pegasus(epsilon=100, patience=200)
    >>> recent = Recent(stream, window=3)
    >>> stream.run([5, 5, 5, 5]).tolist()
    [5.0, 5.0, 5.0, 5.0]
    >>> recent.sums(stream.trace).tolist()
    [[5.0], [10.0], [15.0], [15.0]]
    """

    def __init__(self, stream: Mechanism | int, window: int) -> None:
        self.window = parameters.integer("window", window, 1, LARGEST_WINDOW)
        self._levels = np.zeros((_width(stream), self.window))
        self._ages = np.arange(self.window)[::-1]

    def sums(self, trace: Trace) -> Floats:
        """The sum over the window that ends at each tick, ticks by regions."""
        return np.array([levels.sum(axis=1) for levels in self._moved(trace)]).reshape(trace.released.shape)

    def lagged(self, trace: Trace) -> Floats:
        """The level of the window's first tick, as seen from its last: `window` - 1 ticks late, and steadier."""
        return np.array([levels[:, 0].copy() for levels in self._moved(trace)]).reshape(trace.released.shape)

    def _moved(self, trace: Trace) -> Iterator[Floats]:
        for level, length in zip(trace.levels, trace.lengths, strict=True):
            self._levels[:, :-1] = self._levels[:, 1:]
            np.copyto(self._levels, level[:, None], where=self._ages < length[:, None])
            yield self._levels

    def to_dict(self) -> dict[str, Any]:
        """The window as plain JSON values; all of it follows from what was released."""
        return {"levels": packed(self._levels)}

    def take(self, plain: Mapping[str, Any]) -> None:
        """Takes over what `to_dict` gave."""
        self._levels = unpacked(plain["levels"], self._levels.shape, np.float64)


class Differences:
    """The sum of the last `window` ticks as the difference of two running sums; before the first tick the sum is 0.

    >>> from louver.stream.kary import KAry
    >>> stream = KAry(8, epsilon=1000)
    >>> recent = Differences(stream, window=2)
    >>> recent.sums(stream.run([5, 1, 1, 7])).tolist()
    [[5], [6], [2], [8]]
    """

    def __init__(self, stream: Mechanism | int, window: int) -> None:
        self.window = parameters.integer("window", window, 1, LARGEST_WINDOW)
        self._sums: NDArray[Any] = np.zeros((1, _width(stream)), dtype=np.int64)

    def sums(self, released: NDArray[Any]) -> NDArray[Any]:
        """From the running sums of the next ticks, ticks by regions."""
        known = np.concatenate((self._sums, released.reshape(len(released), -1)))
        newest = np.arange(len(self._sums), len(known))
        self._sums = known[-self.window :]
        return np.asarray(known[newest] - known[np.maximum(newest - self.window, 0)])

    def to_dict(self) -> dict[str, Any]:
        """The last running sums as plain JSON values."""
        return {"sums": packed(self._sums)}

    def take(self, plain: Mapping[str, Any]) -> None:
        """Takes over what `to_dict` gave."""
        kind = np.int64 if plain["sums"]["type"] == "int64" else np.float64
        ticks = parameters.integer("ticks", plain["sums"]["shape"][0], 1, self.window)
        self._sums = unpacked(plain["sums"], (ticks, self._sums.shape[1]), kind)


def _width(stream: Mechanism | int) -> int:
    return stream if isinstance(stream, int) else stream.regions or 1
