"""The mechanisms that a stream plan may name: how each is made, what it takes, and what is known of its error.

A *running sum* releases at each tick the sum of all ticks so far; the others release a number for each tick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError
from louver.noise import Bits
from louver.privacy import Pure, ZeroConcentrated
from louver.source.names import instead_of
from louver.stream.accuracy import laplace_factor, normal_factor, sum_factor
from louver.stream.laplace import reach
from louver.stream.mechanism import Mechanism

DEFAULT = "segment"
LARGEST_COUNT, LARGEST_SUM = 2**20, 2**34  # of one tick, for running sums; what is beyond is cut off

Price: TypeAlias = "Pure | ZeroConcentrated"
Floats: TypeAlias = "NDArray[np.float64]"


@dataclass(frozen=True, slots=True)
class Shape:
    """What a mechanism is built for: regions and ticks, and how much one touch moves one of them."""

    regions: int
    ticks: int
    sensitivity: int
    largest: int
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Kernel:
    """One mechanism by its name. `factor` turns the standard deviation of a released value into a band."""

    home: str
    factor: Callable[[Fraction], float] | None = None
    is_sum: bool = False
    pure: bool = True
    concentrated: bool = False
    options: tuple[str, ...] = ()
    fixed: tuple[tuple[str, Any], ...] = ()
    """Options that make it what it is."""
    is_live: bool = True
    """Whether it stays private where later rows react to what was released."""

    @property
    def loaded(self) -> type[Mechanism]:
        module, name = self.home.split(":")
        found: type[Mechanism] = getattr(import_module(f"louver.stream.{module}"), name)
        return found


KERNELS: dict[str, Kernel] = {
    "segment": Kernel("segment:Segment", laplace_factor, options=("tuning",)),
    "laplace": Kernel("laplace:Laplace"),
    "pegasus": Kernel("pegasus:Pegasus", options=("smoother", "split")),
    "tree": Kernel("tree:Tree", sum_factor, is_sum=True, concentrated=True),
    "kary": Kernel("kary:KAry", sum_factor, is_sum=True, concentrated=True, options=("arity",)),
    "signed": Kernel(
        "kary:KAry",
        sum_factor,
        is_sum=True,
        concentrated=True,
        options=("arity",),
        fixed=(("signed", True), ("adaptive", False)),
        is_live=False,
    ),
    "toeplitz": Kernel("toeplitz:Toeplitz", normal_factor, is_sum=True, pure=False, concentrated=True),
    "buffered": Kernel("buffered:Buffered", normal_factor, is_sum=True, pure=False, concentrated=True),
    "truncated": Kernel("truncated:TruncatedSum", is_sum=True, options=("lag",)),
}


def kernel(name: object) -> Kernel:
    if not isinstance(name, str) or name not in KERNELS:
        raise ParameterError(f"There is no stream mechanism {str(name)[:40]!r}{instead_of(name, KERNELS)}.")
    return KERNELS[name]


def made(name: str, price: Price, shape: Shape, options: Mapping[str, Any], bits: Bits) -> Mechanism:
    """The mechanism, ready for its first tick."""
    used = kernel(name)
    _check(name, used, price, shape, options)
    named: dict[str, Any] = {**dict(used.fixed), **options, "regions": shape.regions, "bits": bits}
    named |= {"epsilon": price.epsilon} if isinstance(price, Pure) else {"rho": price.rho}
    kind: Any = used.loaded
    if name == "truncated":
        found = kind(high=shape.largest, horizon=shape.ticks, **named)
    elif used.is_sum:
        low = -shape.largest if shape.signed else 0
        found = kind(shape.ticks, sensitivity=shape.sensitivity, low=low, high=shape.largest, **named)
    else:
        found = kind(sensitivity=shape.sensitivity, **named)
    return found  # type: ignore[no-any-return]


def _check(name: str, used: Kernel, price: Price, shape: Shape, options: Mapping[str, Any]) -> None:
    odd = next((each for each in options if each not in used.options), None)
    if odd is not None:
        raise ParameterError(f"The mechanism {name!r} does not take {str(odd)[:40]}{instead_of(odd, used.options)}.")
    if isinstance(price, ZeroConcentrated) and not used.concentrated:
        raise ParameterError(f"The mechanism {name!r} has a pure price; give epsilon in place of rho.")
    if isinstance(price, Pure) and not used.pure:
        raise ParameterError(f"The mechanism {name!r} draws Gaussian noise, which has no pure price; give rho.")
    if shape.signed and (not used.is_sum or name == "truncated"):
        raise ParameterError(
            f"The mechanism {name!r} takes values of 0 or more; declare a lower bound of 0, or take a running sum."
        )


def run(mechanism: Mechanism, name: str, rows: NDArray[np.int64]) -> tuple[NDArray[Any], Floats | None]:
    """The released values, ticks by regions, and where they follow from those, their estimated standard deviations."""
    if name != "segment":
        return mechanism.run(rows), None
    values, deviations = np.empty(rows.shape), np.empty(rows.shape)
    for tick, row in enumerate(rows):
        values[tick] = mechanism.update(row)
        deviations[tick] = np.sqrt(mechanism.variances())  # type: ignore[attr-defined]
    return values, deviations


def band(
    mechanism: Mechanism,
    name: str,
    shape: Shape,
    level: Fraction,
    deviations: Floats | None,
    only: int | None = None,
) -> Floats | None:
    """Half the width of the error band at each tick and region, in steps; None where nothing is known of the error.

    `only` is the number of the one tick that is asked about.
    """
    factor = kernel(name).factor
    ticks = range(shape.ticks) if only is None else range(only, only + 1)
    if name == "laplace":
        return np.full((len(ticks), shape.regions), float(noise_reach(mechanism, level)))
    if factor is None:
        return None
    if name == "segment":
        return None if deviations is None else deviations * factor(level)
    half = np.array([mechanism.error_at(tick + 1) for tick in ticks])[:, None] * factor(level)  # type: ignore[attr-defined]
    if factor is sum_factor:  # noise of whole steps, whose quantiles are whole too
        half = np.ceil(half)
    return np.repeat(half, shape.regions, axis=1)


def noise_reach(mechanism: Mechanism, level: Fraction) -> int:
    """How far the fresh noise on one tick reaches at this level, in steps."""
    return reach(mechanism.rate, (1 - level) / 2)  # type: ignore[attr-defined]
