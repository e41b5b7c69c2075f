"""What every stream mechanism shares: one value per tick and region comes in, one released value goes out.

Neighbours are streams in which one unit changes one tick of one region by at most `sensitivity`; `price` is what that
unit pays. A unit that touches w ticks pays at most w times as much (`price.for_group(w)`), whatever the mechanism.

Numbers that come in are private, so none of them can stop a stream: they are rounded to whole numbers and clamped to
the stated bounds, and a missing tick, or what is masked or no number, counts as 0. Only their shape is checked.

A call that is interrupted (by Ctrl-C, or for want of memory) may leave half a tick behind. If that tick came again it
would be in twice, and its units would pay twice: so nothing comes in after it, and nothing is stored.
"""

from __future__ import annotations

import base64
import binascii
from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise.bits import SYSTEM, Bits
from louver.noise.grid import LARGEST_STEPS, Grid, unmasked
from louver.privacy import gaussian
from louver.privacy.guarantee import Approximate, Guarantee, Pure, ZeroConcentrated

FORMAT = 1
LARGEST_REGIONS = 2**20

Released: TypeAlias = "int | float | NDArray[np.int64] | NDArray[np.float64]"
Rows: TypeAlias = NDArray[np.int64]
"""Ticks by regions; one column where a stream has no regions."""


class GaussianNoise(NamedTuple):
    """The parameter of the discrete Gaussian noise on whole numbers, and how many of those some changes move."""

    variance: Fraction
    moved: int


Inner = TypeVar("Inner", bound="Mechanism")


class Mechanism(ABC):
    """A stream of values, one per tick (`regions=None`) or one per tick and region.

    A mechanism says its `kind`, its `price`, `_released`, and its `_parameters` and `_state` as plain JSON values.
    """

    kind: ClassVar[str]
    ticks: int

    def __init__(
        self, regions: int | None = None, *, low: int = 0, high: int = LARGEST_STEPS, bits: Bits = SYSTEM
    ) -> None:
        self.regions = None if regions is None else parameters.integer("regions", regions, 1, LARGEST_REGIONS)
        self.low = parameters.integer("The smallest value", low, -LARGEST_STEPS, LARGEST_STEPS)
        self.high = parameters.integer("The largest value", high, self.low, LARGEST_STEPS)
        self.ticks = 0
        self._is_within = False  # a call that has begun and is not over
        self._bits = bits
        self._grid = Grid(self.low, self.high, 1)

    @property
    @abstractmethod
    def price(self) -> Guarantee:
        """What one unit pays for the whole stream when it changes one tick of one region."""

    def price_of(self, changes: int) -> Guarantee:
        """What is paid where so many different cells change, ticks of regions, each by at most `sensitivity`.

        Divided by `changes` it never falls as they grow, so that caps hold for windows too (see `together`).
        """
        price: Any = self.price
        together: Guarantee = price.for_group(changes)
        return together

    def approximately(self, delta: parameters.Number, changes: int = 1) -> Approximate:
        """The same as (epsilon, delta) for a chosen delta; for Gaussian noise as tight as its law allows."""
        price = self.price_of(changes)
        if isinstance(price, ZeroConcentrated):
            return self.approximately_at(price.rho, delta, changes)
        if isinstance(price, Approximate):
            return price
        if isinstance(price, Pure):
            return price.as_approximate()
        raise ParameterError("This price has no epsilon and delta.")

    def approximately_at(self, rho: Fraction, delta: parameters.Number, changes: int) -> Approximate:
        """The same where so many changes, of whatever cells, cost rho."""
        noise = self._gaussian_noise(changes)
        if noise is None:
            return ZeroConcentrated(rho).as_approximate(delta)
        return gaussian.approximately(rho, delta, variance=noise.variance, moved=noise.moved)

    def _gaussian_noise(self, changes: int) -> GaussianNoise | None:  # noqa: ARG002
        """The noise behind `price_of(changes)`, where all of it is discrete Gaussian of one variance."""
        return None

    @abstractmethod
    def _released(self, rows: Rows) -> NDArray[Any]:
        """The released values of the next ticks, shaped as `rows`; moves the state on."""

    def _next(self, row: Rows) -> NDArray[Any]:
        """What `_released` gives for one tick, which mechanisms may have a shorter way to."""
        found: NDArray[Any] = self._released(row)[0]
        return found

    def _single(self, value: int) -> int | float:
        """The same for a stream without regions, as a plain number."""
        found: int | float = self._next(np.array([[value]], dtype=np.int64))[0].item()
        return found

    def _nothing(self, rows: Rows) -> NDArray[Any]:
        """What `_released` gives for no ticks."""
        return rows.astype(np.float64)

    @abstractmethod
    def _parameters(self) -> dict[str, Any]:
        """The arguments of the constructor as plain values; `bits` is left out."""

    @abstractmethod
    def _state(self) -> dict[str, Any]:
        """All that changes from tick to tick, as plain values."""

    @abstractmethod
    def _restore(self, state: Mapping[str, Any]) -> None:
        """Takes over what `_state` gave."""

    def update(self, value: object) -> Any:
        """One tick: a number, or one number per region; None for a missing tick. Returns what may be published."""
        if self.regions is None:
            number = self._whole(value)
            self._go_within()
            released: Any = self._single(number)
        else:
            row = self._read(value, ())
            self._go_within()
            released = self._next(row)
        self._over(1)
        return released

    def run(self, values: ArrayLike) -> NDArray[Any]:
        """A batch of ticks, shaped (ticks,) or (ticks, regions), with the same law as that many updates."""
        array = self._array(values, batch=True)
        rows = self._read(array, array.shape[:1] or (0,))
        self._go_within()
        released = self._released(rows) if len(rows) else self._nothing(rows)
        self._over(len(rows))
        return released[:, 0] if self.regions is None else released

    def to_dict(self) -> dict[str, Any]:
        """The whole state as plain JSON values. It holds private numbers: keep it as you keep the data."""
        self._check_whole()
        return {
            "format": FORMAT,
            "kind": self.kind,
            "parameters": self._parameters(),
            "ticks": self.ticks,
            "state": self._state(),
        }

    @classmethod
    def from_dict(cls, plain: object, *, bits: Bits = SYSTEM) -> Self:
        """A mechanism that goes on exactly where `to_dict` left off. Run only one copy of it: two would pay twice."""
        if not isinstance(plain, Mapping) or plain.get("format") != FORMAT or plain.get("kind") != cls.kind:
            raise ParameterError(f"This is not the stored state of a {cls.kind} stream of format {FORMAT}.")
        try:
            made = cls(**plain["parameters"], bits=bits)
            made.ticks = parameters.integer("ticks", plain["ticks"], 0, 2**62)
            made._restore(plain["state"])
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, IndexError):
            raise ParameterError(
                f"The stored state of this {cls.kind} stream is damaged; start it again from the ledger's books."
            ) from None
        return made

    def __repr__(self) -> str:
        """Says what runs, and nothing about its numbers."""
        return f"<{type(self).__name__} stream, state not shown>"

    def _go_within(self) -> None:
        self._check_whole()
        self._is_within = True

    def _over(self, ticks: int) -> None:
        self.ticks += ticks
        self._is_within = False

    def _check_whole(self) -> None:
        if self._is_within:
            raise ParameterError(
                "This stream was interrupted within a tick, which may be half in it; go on from a state that was "
                "stored before, or begin another stream."
            )

    @property
    def _width(self) -> int:
        return 1 if self.regions is None else self.regions

    def _whole(self, value: object) -> int:
        """One number as `_read` has it."""
        if isinstance(value, int | np.integer):
            return min(max(int(value), self.low), self.high)
        return int(self._read(value, ())[0, 0])

    def _read(self, values: object, ticks: tuple[int, ...]) -> Rows:
        """Whole, clamped numbers, ticks by regions."""
        shape = ticks if self.regions is None else (*ticks, self.regions)
        if values is None and not ticks:
            return np.zeros((1, self._width), dtype=np.int64)
        array = self._array(values, bool(ticks))
        if array.shape != shape:
            raise self._misshapen(bool(ticks))
        if array.dtype.kind == "i":
            steps = np.minimum(np.maximum(array.astype(np.int64, copy=False), self.low), self.high)
        else:
            steps = self._grid.quantise(array)
        return steps.reshape((-1, self._width))

    def _array(self, values: object, batch: bool) -> NDArray[Any]:
        try:
            return np.asarray(unmasked(values))
        except ValueError:  # rows of different lengths
            raise self._misshapen(batch) from None

    def _misshapen(self, batch: bool) -> ParameterError:
        each = "one number" if self.regions is None else f"one number for each of {self.regions} regions"
        if not batch:
            return ParameterError(f"A tick must be {each}.")
        return ParameterError(f"A batch must be an array with one row for each tick, each with {each}.")


def alike(restored: Inner, made: Inner, ticks: int) -> Inner:
    """A restored inner stream, if it is what its outer one makes and after as many ticks; otherwise ValueError."""
    if restored.ticks != ticks or restored._parameters() != made._parameters():
        raise ValueError
    return restored


def packed(array: NDArray[Any]) -> dict[str, Any]:
    """An array as plain values, exactly."""
    order = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return {
        "type": array.dtype.name,
        "shape": list(array.shape),
        "base64": base64.b64encode(order.tobytes()).decode("ascii"),
    }


def unpacked(plain: Mapping[str, Any], shape: tuple[int, ...], dtype: type[np.generic]) -> NDArray[Any]:
    """The array behind `packed`, if it has this shape and type; otherwise ValueError."""
    if plain["type"] != np.dtype(dtype).name or tuple(plain["shape"]) != shape:
        raise ValueError
    try:
        raw = base64.b64decode(plain["base64"], validate=True)
    except binascii.Error:
        raise ValueError from None
    return np.frombuffer(raw, dtype=np.dtype(dtype).newbyteorder("<")).astype(dtype).reshape(shape)
