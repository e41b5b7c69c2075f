"""Sliding windows and second thoughts: what the latest ticks look like, given all that was released since.

Post-processing of a `Smoothed` mechanism's trace: nothing is paid. When a group or run of ticks takes a new level, all
its ticks that are still in the window take it: the sum over a window is the sum over groups of |group in window| times
the group's level (PeGaSus, sliding windows).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from louver import parameters
from louver.stream.smoothed import Floats, Smoothed, Trace

LARGEST_WINDOW = 2**20


class Recent:
    """The levels of the last `window` ticks; before a stream's first tick they are 0.

    >>> from louver.stream.pegasus import Pegasus
    >>> stream = Pegasus(epsilon=1000, patience=50)
    >>> recent = Recent(stream, window=3)
    >>> stream.run([5, 5, 5, 5]).tolist()
    [5.0, 5.0, 5.0, 5.0]
    >>> recent.sums(stream.trace).tolist()
    [[5.0], [10.0], [15.0], [15.0]]
    """

    def __init__(self, stream: Smoothed, window: int) -> None:
        self.window = parameters.integer("window", window, 1, LARGEST_WINDOW)
        self._levels = np.zeros((stream.regions or 1, self.window))
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
