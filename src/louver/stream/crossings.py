"""Events in a stream: when a count crosses its threshold.

Post-processing: nothing is paid beyond the stream. There are two ways to decide, and only one of them promises:

- `smoothed`: the released value is above the threshold. It is wrong least often where counts hold still, and promises
  nothing, because no law says how far a smoothed value is from the truth just after a change.
- `promised`: the noisy count, which carries fresh `discrete_laplace` noise at each tick, is above the threshold less a
  shift. At any one tick, a count above the threshold is missed with at most the miss rate, and a count `slack` or more
  below it is flagged with at most the false-alarm rate. It is a promise for one tick and region, not for all ticks of
  an event at once: a count that stays above for k ticks is missed at all of them with at most (miss rate)^k.

For one tick, `louver.privacy.one_shot` gives the least price of such a promise; here the price is that of the stream,
and the slack follows from it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.stream.laplace import reach
from louver.stream.pegasus import Pegasus
from louver.stream.segment import Segment
from louver.stream.smoothed import Trace


class Crossings:
    """Which regions are above their threshold, from what a stream released.

    >>> crossings = Crossings(Segment(epsilon=1), 100, miss_rate=0.05)
    >>> crossings.shift, crossings.slack
    (2, 4)
    """

    def __init__(
        self,
        stream: Pegasus | Segment,
        thresholds: ArrayLike,
        miss_rate: parameters.Number,
        false_alarm_rate: parameters.Number | None = None,
    ) -> None:
        missed = parameters.error_rate("miss_rate", miss_rate)
        flagged = missed if false_alarm_rate is None else parameters.error_rate("false_alarm_rate", false_alarm_rate)
        regions = stream.regions or 1
        given = np.asarray(thresholds)
        if given.dtype.kind != "i" or given.shape not in ((), (regions,)):
            raise ParameterError("thresholds must be one whole number, or one for each region.")
        self.thresholds = np.broadcast_to(given.astype(np.int64), (regions,))
        self.shift = reach(stream.rate, missed)
        self.slack = self.shift + reach(stream.rate, flagged)

    def promised(self, trace: Trace) -> NDArray[np.bool_]:
        """With the promise: P(noise < -shift) is at most the miss rate."""
        return trace.noisy > self.thresholds - self.shift

    def smoothed(self, trace: Trace) -> NDArray[np.bool_]:
        """Without one."""
        return trace.released > self.thresholds
