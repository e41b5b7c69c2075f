"""Sums of real values whose bound is far too loose: a threshold first, then noise in proportion to it.

Takes whole numbers of steps from 0 to `high` and releases, from tick `lag` on, the private sum of all ticks so far,
each cut off at a private threshold (Perrier, Asghar and Kaafar 2019). Before that nothing is released: the value is
NaN. What it does not promise: the sum of what was cut off. The thresholds are public once found.

Neighbours differ in one tick of one region, by any change within the bounds; a missing value is 0. Price: epsilon,
pure; with the "smooth" threshold (epsilon, delta). A unit in w ticks pays w times as much, `price.for_group(w)`.

Why this is private. The first `lag` ticks pay for the threshold (see `threshold`, `smooth_quantile`) and for one sum of
values cut off at it, of sensitivity threshold: `discrete_laplace` at the rate of what is left of epsilon, over the
threshold. Later ticks pay for a `ContinualSum` of the same sensitivity at the whole of epsilon. A changed tick is one
or the other, so the price is the larger of the two, and both are epsilon. Everything after the threshold takes it as
given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise import discrete_laplace
from louver.noise.bits import SYSTEM, Bits
from louver.noise.laplace import LARGEST_RATE, noise_rate
from louver.privacy import Approximate, Pure
from louver.stream.continual import LARGEST_SUM, ContinualSum
from louver.stream.kary import KAry
from louver.stream.laplace import scale_of, stated
from louver.stream.mechanism import Mechanism, Rows, alike, packed, unpacked
from louver.stream.smooth_quantile import SHARE_ABOVE, SmoothQuantile
from louver.stream.threshold import LARGEST_VALUE, PenalisedThreshold
from louver.stream.tree import Tree

PENALISED, SMOOTH = "penalised", "smooth"
THRESHOLD_PARTS = {PENALISED: Fraction(3, 5), SMOOTH: Fraction(4, 5)}
"""Of epsilon, for the threshold; the rest is for the sum of the first ticks."""
SMALLEST_PART = Fraction(1, 100)
LONGEST_LAG = 50_000
LAG_SHARE = 5
_UNIT = 2**20  # a sensitivity so large that noise is in proportion to it

COUNTINGS: dict[str, Callable[..., ContinualSum]] = {
    "kary": KAry,
    "signed": partial(KAry, signed=True, adaptive=False),
    "tree": Tree,
    "binary": partial(KAry, arity=2),
}
"""How the later ticks are counted. "signed" has the least noise, for streams that do not react to what is released."""


class Threshold(Protocol):
    """What finds a threshold, and what it costs."""

    @property
    def price(self) -> Pure | Approximate: ...
    def find(self, values: NDArray[np.int64], *, bits: Bits = SYSTEM) -> int: ...


class TruncatedSum(Mechanism):
    """Private sums of values cut off at a private threshold.

    >>> stream = TruncatedSum(epsilon=1000, high=10**6, horizon=1000)
    >>> released = stream.run(np.full(1000, 7))
    >>> stream.lag, int(np.isnan(released).sum())
    (200, 199)
    >>> bool(abs(released[-1] - 7000) < 50)
    True
    """

    kind: ClassVar[str] = "truncated-sum"

    def __init__(
        self,
        epsilon: parameters.Number | str,
        high: int,
        horizon: int,
        *,
        lag: int | None = None,
        counting: str = "kary",
        threshold: str = PENALISED,
        delta: parameters.Number | str | None = None,
        factor: parameters.Number | str = 1,
        share: parameters.Number | str = SHARE_ABOVE,
        threshold_part: parameters.Number | str | None = None,
        regions: int | None = None,
        bits: Bits = SYSTEM,
    ) -> None:
        super().__init__(regions, high=parameters.integer("The largest value", high, 1, LARGEST_VALUE), bits=bits)
        self.epsilon = stated("epsilon", epsilon)
        self.horizon = parameters.integer("horizon", horizon, 2, 2**40)
        self.lag = parameters.integer("lag", default_lag(horizon) if lag is None else lag, 1, self.horizon - 1)
        self.counting = known("counting", counting, COUNTINGS)
        self.method = known("threshold", threshold, THRESHOLD_PARTS)
        self.delta = Fraction(1, self.horizon**2) if delta is None else stated("delta", delta)
        self.factor, self.share = stated("factor", factor), stated("share", share)
        if self.method == PENALISED and (self.factor != 1 or self.share != SHARE_ABOVE):
            raise ParameterError(f"factor and share are for the threshold {SMOOTH!r}.")
        part = THRESHOLD_PARTS[self.method] if threshold_part is None else stated("threshold_part", threshold_part)
        self.threshold_part = parameters.within("threshold_part", part, SMALLEST_PART, 1 - SMALLEST_PART)
        self._finder = self._make_finder()
        self._refuse_what_a_threshold_could_not_have()
        self._first: list[Rows] = []
        self._thresholds: tuple[int, ...] = ()
        self._base = np.zeros(self._width, dtype=np.int64)
        self._later: list[ContinualSum] = []

    @property
    def price(self) -> Pure | Approximate:
        return Pure(self.epsilon) if self.method == PENALISED else Approximate(self.epsilon, self.delta)

    @property
    def thresholds(self) -> tuple[int, ...] | None:
        """One for each region, in steps; public, and None until the lag has passed."""
        return self._thresholds or None

    @property
    def is_found(self) -> bool:
        """Whether the ticks of the lag are enough to say something about the threshold."""
        return not isinstance(self._finder, PenalisedThreshold) or self._finder.hears(self.lag)

    def error_at_bound(self, tick: int) -> float:
        """The standard deviation of the noise at a tick from the lag on, if the threshold comes out at the bound."""
        first = math.sqrt(2) * scale_of(self._first_rate(self.high))
        return math.hypot(first, self._later_error(tick))

    def _later_error(self, tick: int) -> float:
        """Of the ticks after the lag alone."""
        return self._sums_of(self.high, SYSTEM).error_at(tick - self.lag) if tick > self.lag else 0.0

    def _make_finder(self) -> Threshold:
        paid = self.epsilon * self.threshold_part
        if self.method == SMOOTH:
            return SmoothQuantile(paid, self.delta, self.high, share=self.share, factor=self.factor)
        error = self._sums_of(_UNIT, SYSTEM).rms_error() / _UNIT
        return PenalisedThreshold(paid, self.high, self.horizon, error)

    def _refuse_what_a_threshold_could_not_have(self) -> None:
        """The threshold is not known yet, so whatever could go wrong with one must go wrong now."""
        noise_rate("epsilon over the largest value", self._first_rate(self.high))
        self._sums_of(self.high, SYSTEM)
        if self.horizon * self.high > LARGEST_SUM:
            raise ParameterError("So many values of this size do not fit 64 bits; use a coarser grid.")

    def _first_rate(self, threshold: int) -> Fraction:
        rest = self.epsilon * (1 - self.threshold_part)
        return min(rest / threshold, LARGEST_RATE)

    def _sums_of(self, threshold: int, bits: Bits) -> ContinualSum:
        return COUNTINGS[self.counting](
            self.horizon - self.lag, epsilon=self.epsilon, sensitivity=threshold, high=threshold, bits=bits
        )

    def _released(self, rows: Rows) -> NDArray[np.float64]:
        released = np.full(rows.shape, np.nan)
        waiting = max(self.lag - self.ticks, 0)
        if waiting:
            self._first.append(rows[:waiting])
            if len(rows) >= waiting:
                self._settle()
                released[waiting - 1] = self._base
        later = rows[waiting:]
        if len(later):
            columns = [sums.run(later[:, region]) for region, sums in enumerate(self._later)]
            released[waiting:] = self._base + np.stack(columns, axis=1)
        return released

    def _first_rows(self) -> Rows:
        return np.concatenate((np.zeros((0, self._width), dtype=np.int64), *self._first))

    def _settle(self) -> None:
        """The end of the lag: thresholds, the sums so far, and nothing kept of the first values."""
        values = self._first_rows().T
        self._thresholds = tuple(self._finder.find(each, bits=self._bits) for each in values)
        for region, threshold in enumerate(self._thresholds):
            noise = discrete_laplace(self._first_rate(threshold), 1, bits=self._bits)[0]
            self._base[region] = np.minimum(values[region], threshold).sum() + noise
        self._later = [self._sums_of(threshold, self._bits) for threshold in self._thresholds]
        self._first = []

    def _parameters(self) -> dict[str, Any]:
        return {
            "epsilon": str(self.epsilon),
            "high": self.high,
            "horizon": self.horizon,
            "lag": self.lag,
            "counting": self.counting,
            "threshold": self.method,
            "delta": str(self.delta),
            "factor": str(self.factor),
            "share": str(self.share),
            "threshold_part": str(self.threshold_part),
            "regions": self.regions,
        }

    def _state(self) -> dict[str, Any]:
        return {
            "first": packed(self._first_rows()),
            "thresholds": list(self._thresholds),
            "base": packed(self._base),
            "later": [sums.to_dict() for sums in self._later],
        }

    def _restore(self, state: Mapping[str, Any]) -> None:
        waited = self.ticks if self.ticks < self.lag else 0
        self._first = [unpacked(state["first"], (waited, self._width), np.int64)]
        regions = 0 if self.ticks < self.lag else self._width
        self._thresholds = tuple(parameters.integer("threshold", each, 1, self.high) for each in state["thresholds"])
        self._base = unpacked(state["base"], (self._width,), np.int64)
        self._later = [
            self._restored(threshold, plain) for threshold, plain in zip(self._thresholds, state["later"], strict=True)
        ]
        if len(self._later) != regions:
            raise ValueError

    def _restored(self, threshold: int, plain: Any) -> ContinualSum:
        made = self._sums_of(threshold, self._bits)
        return alike(type(made).from_dict(plain, bits=self._bits), made, self.ticks - self.lag)


def default_lag(horizon: int) -> int:
    """How many ticks to wait: a fifth of the stream, and at most the 50,000 that the paper found to be enough."""
    return max(min(LONGEST_LAG, parameters.integer("horizon", horizon, 2, 2**40) // LAG_SHARE), 1)


def known(name: str, value: object, known: Mapping[str, object]) -> str:
    if not isinstance(value, str) or value not in known:
        raise ParameterError(f"{name} must be one of {', '.join(known)}, not {str(value)[:40]!r}.")
    return value
