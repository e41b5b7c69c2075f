"""Sliding windows and second thoughts: what the latest ticks look like, given all that was released since.

Post-processing of what a mechanism released: nothing is paid. Three ways, by what is released:

- `Recent`, for numbers of each tick. When a group or run of ticks takes a new level, all its ticks that are still in
  the window take it: the sum over a window is the sum over groups of |group in window| times the group's level
  (PeGaSus, sliding windows).
- `Anchored`, for segments: the same sum, kept near the sum of the noisy counts. Levels are late where counts rise or
  fall, and the errors of all ticks in the window then add up; those of noisy counts cancel out.
- `Differences`, for running sums: the sum so far less what it was when the window began, with the noise of both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from louver import parameters
from louver.stream.mechanism import Mechanism, packed, unpacked
from louver.stream.segment import Segment
from louver.stream.smoothed import Floats, Trace

LARGEST_WINDOW = 2**20
ALLOWED = 0.5  # between the two sums, in standard deviations of the sum of the noise


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


class Anchored(Recent):
    """The sum of levels over the last `window` ticks, at most `allowed` away from the sum of their noisy counts.

    So it is never off by more than the sum of the noise and `allowed`.

    >>> from louver.stream.segment import Segment
    >>> stream = Segment(epsilon=100)
    >>> recent = Anchored(stream, window=3)
    >>> stream.run([5, 5, 5, 90]).tolist()
    [5.0, 5.0, 5.0, 90.0]
    >>> recent.sums(stream.trace).round(6).tolist()
    [[5.0], [10.0], [15.0], [100.0]]
    """

    def __init__(self, stream: Segment, window: int) -> None:
        super().__init__(stream, window)
        self.allowed = ALLOWED * math.sqrt(self.window * stream.noise_variance)
        self._noisy: NDArray[Any] = np.zeros((self.window, _width(stream)))

    def sums(self, trace: Trace) -> Floats:
        known = np.concatenate((self._noisy, trace.noisy))
        noisy = sliding_window_view(known, self.window, axis=0)[1:].sum(axis=-1)
        self._noisy = known[-self.window :]
        return np.clip(super().sums(trace), noisy - self.allowed, noisy + self.allowed)

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"noisy": packed(self._noisy)}

    def take(self, plain: Mapping[str, Any]) -> None:
        super().take(plain)
        self._noisy = unpacked(plain["noisy"], self._noisy.shape, np.float64)


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
