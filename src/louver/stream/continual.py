"""Continual sums: at every tick the private sum of all ticks so far.

What is shared here are epochs, and what errors to expect. A mechanism is built for a number of ticks, its length. When
they have passed, the next epoch begins, `growth` times as long, and what was last released is carried over as it was
released. An unknown horizon starts with an epoch of `first_length`. A tick belongs to one epoch only, so that a unit
that changes one tick pays for one epoch, and the price of the stream is that of an epoch, however many there are. The
same holds after `reset`, where the count starts at 0 again.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise.bits import SYSTEM, Bits
from louver.privacy import Pure, ZeroConcentrated
from louver.stream.mechanism import Mechanism, Rows, packed, unpacked

LARGEST_TICK = 2**20
LARGEST_HORIZON = 2**40
LARGEST_SUM = 2**61  # what went before an epoch is less than the epoch, and noise needs room too

Number: TypeAlias = "parameters.Number | str"


class Spread(Protocol):
    """The variance of what one epoch adds to each of its ticks, counted from 1."""

    def at(self, tick: int) -> float: ...
    def total(self, ticks: int) -> float: ...
    def largest(self, ticks: int) -> float: ...


def gaussian_variance(parameter: float) -> float:
    """The variance of the discrete Gaussian, which from 1 on is its parameter to within 1e-6."""
    if parameter > 1:
        return parameter
    weights = [math.exp(-x * x / (2 * parameter)) for x in range(40)]
    return 2 * math.fsum(x * x * w for x, w in enumerate(weights)) / (2 * math.fsum(weights) - 1)


class ContinualSum(Mechanism):
    """A mechanism whose released value at tick t is the private sum of the ticks 1 to t.

    `horizon` is the number of ticks it is built for; it goes on after them, with more noise, and needs none. The price
    is `epsilon` (pure) or `rho` (zCDP) for a unit that changes one tick of one region by at most `sensitivity`; a unit
    in w ticks pays `price_of(w)`.
    """

    first_length: ClassVar[int] = 4096
    growth: ClassVar[int] = 16  # the error of an epoch grows slowly with its length, and each adds its own
    longest: ClassVar[int] = LARGEST_HORIZON
    dtype: ClassVar[type[np.int64] | type[np.float64]] = np.int64

    def __init__(
        self,
        horizon: int | None = None,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        sensitivity: int = 1,
        regions: int | None = None,
        low: int = 0,
        high: int = LARGEST_TICK,
        bits: Bits = SYSTEM,
    ) -> None:
        super().__init__(regions, low=low, high=high, bits=bits)
        self.horizon = None if horizon is None else parameters.integer("horizon", horizon, 1, self.longest)
        self.sensitivity = parameters.integer("sensitivity", sensitivity, 1, max(self.high - self.low, 1))
        self._price = price_in(epsilon, rho)
        self._start(next(self._lengths()))

    @property
    def price(self) -> Pure | ZeroConcentrated:
        return self._price

    def price_of(self, changes: int) -> Pure | ZeroConcentrated:
        """Of so many different ticks and regions, within the horizon; without one, as of a group."""
        price, most = self._price, self._price.for_group(changes)
        if isinstance(price, Pure) or isinstance(most, Pure) or self.horizon is None:
            return most
        return ZeroConcentrated(min(most.rho, changes * price.rho * self._share(min(changes, self.horizon))))

    @abstractmethod
    def _share(self, changes: int) -> Fraction:
        """What each of so many changed ticks of one region costs with Gaussian noise, in prices of one tick alone.

        It never falls as they grow.
        """

    @abstractmethod
    def _spread(self, length: int) -> Spread:
        """The variances of an epoch of this length."""

    @abstractmethod
    def _begin(self, length: int) -> None:
        """A fresh state for an epoch of this length."""

    @abstractmethod
    def _estimates(self, rows: Rows) -> NDArray[Any]:
        """The private sums within the epoch at its next ticks; never called past its length."""

    @abstractmethod
    def _epoch_state(self) -> dict[str, Any]: ...

    @abstractmethod
    def _restore_epoch(self, state: Mapping[str, Any]) -> None:
        """Takes over what `_epoch_state` gave, after `_begin` and with `_passed` in place."""

    def _estimate(self, row: Rows) -> NDArray[Any]:
        """The same for one tick."""
        found: NDArray[Any] = self._estimates(row)[0]
        return found

    def _rounded(self, length: int) -> int:
        """A length of about this size, where one is free to choose it."""
        return length

    def reset(self) -> None:
        """Counts from 0 again. When to do so must not depend on the data, other than on what was released."""
        self._start(next(self._lengths()))

    def error_at(self, tick: int) -> float:
        """The standard deviation of what is released at this tick after the start or a reset."""
        left, variance = parameters.integer("tick", tick, 1, LARGEST_HORIZON), 0.0
        for length, spread in self._epochs(left):
            variance += spread.at(min(length, left))
            left -= length
        return math.sqrt(variance)

    def rms_error(self, ticks: int | None = None) -> float:
        """The root of the mean squared error over the first ticks, or over the horizon."""
        asked = self._asked(ticks)
        carried = total = 0.0
        passed = 0
        for length, spread in self._epochs(asked):
            part = min(length, asked - passed)
            total += part * carried + spread.total(part)
            carried += spread.at(part)
            passed += part
        return math.sqrt(total / asked)

    def largest_error(self, ticks: int | None = None) -> float:
        """The largest standard deviation of the first ticks, or of the horizon."""
        asked = self._asked(ticks)
        carried = worst = 0.0
        passed = 0
        for length, spread in self._epochs(asked):
            part = min(length, asked - passed)
            worst = max(worst, carried + spread.largest(part))
            carried += spread.at(part)
            passed += part
        return math.sqrt(worst)

    def _asked(self, ticks: int | None) -> int:
        wanted = self.horizon if ticks is None else ticks
        if wanted is None:
            raise ParameterError("Without a horizon, say for how many ticks the error is asked.")
        return parameters.integer("ticks", wanted, 1, LARGEST_HORIZON)

    def _lengths(self) -> Iterator[int]:
        length = self._rounded(self.first_length) if self.horizon is None else self.horizon
        while True:
            yield length
            length = self._length_after(length)

    def _length_after(self, length: int) -> int:
        return min(self._rounded(self.growth * length), self.longest)

    def _epochs(self, ticks: int) -> Iterator[tuple[int, Spread]]:
        for length in self._lengths():
            yield length, self._spread(length)
            ticks -= length
            if ticks <= 0:
                return

    def _start(self, length: int) -> None:
        self._carried: NDArray[Any] = np.zeros(self._width, dtype=self.dtype)
        self._latest = self._carried
        self._open_epoch(length)

    def _open_epoch(self, length: int) -> None:
        self._length, self._passed = length, 0
        self._begin(length)

    def _next(self, row: Rows) -> NDArray[Any]:
        self._go_on()
        released: NDArray[Any] = self._carried + self._estimate(row)
        self._latest = released.copy()
        self._passed += 1
        return released

    def _go_on(self) -> None:
        """Into the next epoch, where one is over."""
        if self._passed == self._length:
            self._carried = self._latest
            self._open_epoch(self._length_after(self._length))

    def _released(self, rows: Rows) -> NDArray[Any]:
        parts = []
        while len(rows):
            self._go_on()
            now, rows = np.split(rows, [self._length - self._passed])
            released = self._carried + self._estimates(now)
            self._latest = released[-1].copy()
            self._passed += len(now)
            parts.append(released)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _parameters(self) -> dict[str, Any]:
        price = self._price
        return {
            "horizon": self.horizon,
            **({"epsilon": str(price.epsilon)} if isinstance(price, Pure) else {"rho": str(price.rho)}),
            "sensitivity": self.sensitivity,
            "regions": self.regions,
            "low": self.low,
            "high": self.high,
        }

    def _state(self) -> dict[str, Any]:
        return {
            "length": self._length,
            "passed": self._passed,
            "carried": packed(self._carried),
            "latest": packed(self._latest),
            "epoch": self._epoch_state(),
        }

    def _restore(self, state: Mapping[str, Any]) -> None:
        length = parameters.integer("length", state["length"], 1, self.longest)
        self._open_epoch(length)
        self._passed = parameters.integer("passed", state["passed"], 0, length)
        self._carried = unpacked(state["carried"], (self._width,), self.dtype)
        self._latest = unpacked(state["latest"], (self._width,), self.dtype)
        self._restore_epoch(state["epoch"])


def price_in(epsilon: Number | None, rho: Number | None) -> Pure | ZeroConcentrated:
    """The price of a stream, which is said in one of two ways."""
    if (epsilon is None) == (rho is None):
        raise ParameterError("Say the price of a stream as epsilon (pure) or as rho (zero-concentrated), one of them.")
    if epsilon is not None:
        return Pure(parameters.positive("epsilon", _number("epsilon", epsilon)))
    return ZeroConcentrated(parameters.positive("rho", _number("rho", rho)))


def _number(name: str, value: Number | None) -> object:
    """A number, or the text of a fraction, as stored states have it."""
    try:
        return Fraction(value) if isinstance(value, str) else value
    except (ValueError, ZeroDivisionError):
        raise ParameterError(f"{name} must be a number, or a fraction like '1/3' as a text.") from None
