"""Means of real values at every tick: of all ticks so far, of the last ones, or of the values that were there.

The first two are made of what `TruncatedSum` releases and cost nothing more; the number of ticks is public.
`PresentMean` is for streams whose ticks may be missing and where that is private too: it also pays for a running count.
Like the sums they are made of, they are means of values cut off at a threshold, in steps, and NaN until the lag is
over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.privacy import Approximate, Pure
from louver.stream.laplace import stated
from louver.stream.mechanism import Rows, alike, packed, unpacked
from louver.stream.present import present
from louver.stream.truncated import COUNTINGS, TruncatedSum

LARGEST_WINDOW = 2**24
COUNT_SHARE = Fraction(1, 4)
_MISSING = -1


class RunningMean(TruncatedSum):
    """The mean of all ticks so far.

    >>> RunningMean(epsilon=1000, high=10**6, horizon=1000).run(np.full(1000, 7))[-1].round()
    np.float64(7.0)
    """

    kind: ClassVar[str] = "running-mean"

    def error_at_bound(self, tick: int) -> float:
        return super().error_at_bound(tick) / tick

    def _released(self, rows: Rows) -> NDArray[np.float64]:
        passed = np.arange(self.ticks + 1, self.ticks + len(rows) + 1)
        return super()._released(rows) / passed[:, np.newaxis]


class WindowMean(TruncatedSum):
    """The mean of the last `window` ticks, or of all while there are fewer: a difference of two released sums.

    A window that begins within the lag begins where no sum was released: NaN. The noise is that of two sums, whatever
    the window; for a few ticks `Laplace` on values cut off at `thresholds` is more exact.
    """

    kind: ClassVar[str] = "window-mean"

    def __init__(
        self, epsilon: parameters.Number | str, high: int, horizon: int, *, window: int, **shared: Any
    ) -> None:
        super().__init__(epsilon, high, horizon, **shared)
        self.window = parameters.integer("window", window, 1, LARGEST_WINDOW)
        self._sums = np.zeros((1, self._width))  # the last released sums, the newest at the end; at tick 0 it is 0

    def error_at_bound(self, tick: int) -> float:
        """Of two sums, where the noise of the first values is in both and goes away."""
        if tick <= self.window:
            return super().error_at_bound(tick) / tick
        return math.hypot(self._later_error(tick), self._later_error(tick - self.window)) / self.window

    def _released(self, rows: Rows) -> NDArray[np.float64]:
        sums = np.concatenate((self._sums, super()._released(rows)))
        newest = np.arange(len(self._sums), len(sums))
        # While the window is not yet full, the oldest kept sum is that of tick 0.
        oldest = np.maximum(newest - self.window, 0)
        means = (sums[newest] - sums[oldest]) / (newest - oldest)[:, np.newaxis]
        self._sums = sums[-self.window :]
        return np.asarray(means)

    def _parameters(self) -> dict[str, Any]:
        return {**super()._parameters(), "window": self.window}

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "sums": packed(self._sums)}

    def _restore(self, state: Mapping[str, Any]) -> None:
        super()._restore(state)
        self._sums = unpacked(state["sums"], (min(self.ticks + 1, self.window), self._width), np.float64)


class PresentMean(TruncatedSum):
    """The mean of the values that were there, where None or NaN is a missing one and it is private which are missing.

    A quarter of epsilon goes to a running count of them, the rest to the sum; a tick is in both, so the two add up.
    While hardly any value was there, the count is mostly noise, and so is the mean.
    """

    kind: ClassVar[str] = "present-mean"

    def __init__(self, epsilon: parameters.Number | str, high: int, horizon: int, **shared: Any) -> None:
        self.whole = stated("epsilon", epsilon)
        super().__init__(self.whole * (1 - COUNT_SHARE), high, horizon, **shared)
        self._counts = COUNTINGS[self.counting](
            self.horizon, epsilon=self.whole * COUNT_SHARE, high=1, regions=self._width, bits=self._bits
        )

    @property
    def price(self) -> Pure | Approximate:
        return Pure(self.whole) if isinstance(super().price, Pure) else Approximate(self.whole, self.delta)

    def error_at_bound(self, tick: int) -> float:
        """About, if every tick so far has a value, all of them at the bound: noise of the sum, and of the count."""
        return math.hypot(super().error_at_bound(tick), self.high * self._counts.error_at(tick)) / tick

    def _read(self, values: object, ticks: tuple[int, ...]) -> Rows:
        rows = super()._read(values, ticks)
        return np.where(present(values, rows.shape), rows, _MISSING)

    def _released(self, rows: Rows) -> NDArray[np.float64]:
        counts = self._counts.run((rows != _MISSING).astype(np.int64))
        return np.asarray(super()._released(np.maximum(rows, 0)) / np.maximum(counts, 1))

    def _parameters(self) -> dict[str, Any]:
        return {**super()._parameters(), "epsilon": str(self.whole)}

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "counts": self._counts.to_dict()}

    def _restore(self, state: Mapping[str, Any]) -> None:
        super()._restore(state)
        counts = type(self._counts).from_dict(state["counts"], bits=self._bits)
        self._counts = alike(counts, self._counts, self.ticks)
