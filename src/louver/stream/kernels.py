"""The mechanisms that a stream plan may name: how each is made, what it takes, and what is known of its error.

A *running sum* releases at each tick the sum of all ticks so far; the others release a number for each tick. Numbers
of each tick carry *fresh* noise, which is smoothed or not; those behind a *cut* are cut off at a private threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError
from louver.noise import Bits
from louver.noise.bits import SYSTEM
from louver.privacy import Approximate, Pure, ZeroConcentrated
from louver.source.names import instead_of
from louver.stream import gaussian, together
from louver.stream.accuracy import laplace_factor, normal_factor, sum_factor
from louver.stream.continual import gaussian_variance
from louver.stream.laplace import reach, scale_of
from louver.stream.mechanism import Mechanism, Rows
from louver.stream.places import edges_of

DEFAULT, HISTOGRAM = "segment", "histogram"
UNSMOOTHED = ("laplace", "gaussian")
CUT_OPTIONS = ("lag", "threshold", "factor", "share", "threshold_part")
LARGEST_COUNT, LARGEST_SUM = 2**20, 2**34  # of one tick, for running sums; what is beyond is cut off

Price: TypeAlias = "Pure | Approximate | ZeroConcentrated"
Floats: TypeAlias = "NDArray[np.float64]"


@dataclass(frozen=True, slots=True)
class Shape:
    """What a mechanism is built for: regions and ticks, and how much one touch moves one of them.

    With totals, the tree of them by the `parents` of its nodes; with a histogram, the `edges` of its bins in steps.
    """

    regions: int
    ticks: int
    sensitivity: int
    largest: int
    signed: bool = False
    parents: tuple[int | None, ...] | None = None
    edges: tuple[int, ...] | None = None

    @property
    def width(self) -> int:
        """How many numbers a tick releases."""
        if self.parents is not None:
            return len(self.parents)
        return self.regions * (1 if self.edges is None else len(self.edges) + 1)


@dataclass(frozen=True, slots=True)
class Kernel:
    """One mechanism by its name. `factor` turns the standard deviation of a released value into a band."""

    home: str
    factor: Callable[[Fraction], float] | None = None
    is_sum: bool = False
    is_fresh: bool = False
    is_cut: bool = False
    pure: bool = True
    concentrated: bool = False
    options: tuple[str, ...] = ()
    fixed: tuple[tuple[str, Any], ...] = ()
    """Options that make it what it is."""
    is_live: bool = True
    """Whether it stays private where later rows react to what was released."""
    named: tuple[tuple[str, str], ...] = ()
    """Options that the mechanism itself has another name for."""
    needed: tuple[str, ...] = ()
    """Options without which it is not made."""
    tells_missing: bool = False
    """Whether a tick without rows is a missing one for it, and not one of 0."""

    @property
    def loaded(self) -> type[Mechanism]:
        module, name = self.home.split(":")
        found: type[Mechanism] = getattr(import_module(f"louver.stream.{module}"), name)
        return found


KERNELS: dict[str, Kernel] = {
    "segment": Kernel("segment:Segment", laplace_factor, is_fresh=True, concentrated=True, options=("tuning",)),
    "laplace": Kernel("laplace:Laplace", is_fresh=True),
    "gaussian": Kernel("gaussian:Gaussian", is_fresh=True, pure=False, concentrated=True),
    "pegasus": Kernel("pegasus:Pegasus", is_fresh=True, options=("smoother", "split")),
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
    "truncated": Kernel("truncated:TruncatedSum", is_sum=True, is_cut=True, options=CUT_OPTIONS),
    "running-mean": Kernel("means:RunningMean", is_cut=True, options=CUT_OPTIONS),
    "window-mean": Kernel(
        "means:WindowMean", is_cut=True, options=(*CUT_OPTIONS, "over"), named=(("over", "window"),), needed=("over",)
    ),
    "present-mean": Kernel("means:PresentMean", is_cut=True, options=CUT_OPTIONS, tells_missing=True),
    HISTOGRAM: Kernel("histogram:Histogram", sum_factor, options=("bins",)),
}


def kernel(name: object) -> Kernel:
    if not isinstance(name, str) or name not in KERNELS:
        raise ParameterError(f"There is no stream mechanism {str(name)[:40]!r}{instead_of(name, KERNELS)}.")
    return KERNELS[name]


def edges(name: object, options: Mapping[str, Any] | None) -> tuple[Fraction, ...] | None:
    """The edges of a histogram's bins; None for the other mechanisms, which have none."""
    if kernel(name) is not KERNELS[HISTOGRAM]:
        return None
    if not options or "bins" not in options:
        raise ParameterError("A histogram needs the edges of its bins, like bins='10, 20, 50'.")
    return edges_of(options["bins"])


def made(name: str, price: Price, shape: Shape, options: Mapping[str, Any], bits: Bits) -> Mechanism:
    """The mechanism, ready for its first tick."""
    used = kernel(name)
    _check(name, used, price, shape, options)
    given = {dict(used.named).get(each, each): value for each, value in options.items() if each != "bins"}
    named: dict[str, Any] = {**dict(used.fixed), **given, "regions": shape.regions, "bits": bits}
    named |= {part.name: getattr(price, part.name) for part in fields(price)}
    kind: Any = used.loaded
    if shape.parents is not None:
        found: Any = _totals(name, price, shape, options, bits)
    elif shape.edges is not None:
        found = kind(edges=shape.edges, horizon=shape.ticks, **named)
    elif used.is_cut:
        found = kind(high=shape.largest, horizon=shape.ticks, **named)
    elif used.is_sum:
        low = -shape.largest if shape.signed else 0
        found = kind(shape.ticks, sensitivity=shape.sensitivity, low=low, high=shape.largest, **named)
    else:
        found = kind(sensitivity=shape.sensitivity, **named)
    return found  # type: ignore[no-any-return]


@lru_cache(maxsize=256)
def rho_of_one(
    name: str, rho: Fraction, shape: Shape, options: tuple[Any, ...], different: int, again: int
) -> Fraction:
    """See `together.rho_of_one`."""
    narrow = replace(shape, regions=1)
    return together.rho_of_one(
        lambda one: made(name, ZeroConcentrated(one), narrow, dict(options), SYSTEM), rho, different, again
    )


def _totals(name: str, price: Price, shape: Shape, options: Mapping[str, Any], bits: Bits) -> Mechanism:
    from louver.stream.hierarchy import INNER, Hierarchy

    if name not in INNER or not isinstance(price, Pure):
        raise ParameterError(
            f"Totals are for the mechanisms {', '.join(INNER)} at a price of epsilon, not for {name!r}."
        )
    given: Any = shape.parents
    return Hierarchy(price.epsilon, given, inner=name, sensitivity=shape.sensitivity, options=dict(options), bits=bits)


def _check(name: str, used: Kernel, price: Price, shape: Shape, options: Mapping[str, Any]) -> None:
    odd = next((each for each in options if each not in used.options), None)
    if odd is not None:
        raise ParameterError(f"The mechanism {name!r} does not take {str(odd)[:40]}{instead_of(odd, used.options)}.")
    missing = next((each for each in used.needed if each not in options), None)
    if missing is not None:
        raise ParameterError(f"The mechanism {name!r} needs its option {missing}, a number of ticks.")
    if isinstance(price, ZeroConcentrated) and not used.concentrated:
        raise ParameterError(f"The mechanism {name!r} has a pure price; give epsilon in place of rho.")
    if isinstance(price, Approximate) and not used.is_cut:
        raise ParameterError(f"The mechanism {name!r} has no price with a delta; leave delta out.")
    if isinstance(price, Pure) and not used.pure:
        raise ParameterError(f"The mechanism {name!r} draws Gaussian noise, which has no pure price; give rho.")
    if used.is_sum and not used.is_cut and shape.sensitivity > shape.largest:
        raise ParameterError(
            "One unit can move a tick by more steps than a tick of a running sum may have; count fewer rows of a unit, "
            "or give the sum a larger step."
        )
    if shape.signed and (not used.is_sum or used.is_cut) and name != HISTOGRAM:
        raise ParameterError(
            f"The mechanism {name!r} takes values of 0 or more; declare a lower bound of 0, or take a running sum."
        )


class Ran(NamedTuple):
    """What some ticks released, ticks by regions, in steps; deviations where they follow from released values.

    `levels` are the numbers on which the last `lengths` ticks of a region agree, and `noisy` those with fresh noise.
    """

    values: NDArray[Any]
    deviations: Floats | None = None
    noisy: Rows | None = None
    levels: Floats | None = None
    lengths: Rows | None = None


def run(mechanism: Mechanism, name: str, rows: Rows) -> Ran:
    """The released values of the next ticks, and what else is known of them."""
    if mechanism.kind == "hierarchy":
        values = mechanism.run(rows)
        return Ran(values, mechanism.deviations, None, values, np.ones(values.shape, dtype=np.int64))  # type: ignore[attr-defined]
    if not kernel(name).is_fresh:
        return Ran(mechanism.run(rows))
    values, trace = mechanism.run(rows), getattr(mechanism, "trace", None)
    if trace is None:
        return Ran(values, None, values, values, np.ones(values.shape, dtype=np.int64))
    deviations = np.sqrt(trace.variances) if name == "segment" else None
    return Ran(values, deviations, trace.noisy, trace.levels, trace.lengths)


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
    if shape.parents is not None:
        return None if deviations is None else deviations * sum_factor(level)
    if name in UNSMOOTHED:
        return np.full((len(ticks), shape.regions), float(noise_reach(mechanism, level)))
    if factor is None:
        return None
    if name == "segment":
        return None if deviations is None else deviations * cast("Any", mechanism).factor(level)
    half = np.array([mechanism.error_at(tick + 1) for tick in ticks])[:, None] * factor(level)  # type: ignore[attr-defined]
    if factor is sum_factor:  # noise of whole steps, whose quantiles are whole too
        half = np.ceil(half)
    return np.repeat(half, shape.width, axis=1)


def noise_reach(mechanism: Mechanism, level: Fraction) -> int:
    """How far the fresh noise on one tick reaches at this level, in steps."""
    beyond, used = (1 - level) / 2, cast("Any", mechanism)
    return gaussian.reach(used.variance, beyond) if getattr(used, "variance", 0) else reach(used.rate, beyond)


def sum_reach(mechanism: Mechanism, ticks: int, level: Fraction) -> int:
    """The same for the sum over so many ticks, whose noise is independent."""
    if ticks == 1:
        return noise_reach(mechanism, level)
    used = cast("Any", mechanism)
    parameter = getattr(used, "variance", 0)
    one = gaussian_variance(float(parameter)) if parameter else 2 * scale_of(used.rate) ** 2
    factor = normal_factor if parameter else sum_factor
    return math.ceil(factor(level) * math.sqrt(ticks * one))


def price_of_noise(name: str, rate: Fraction, shape: Shape, options: Mapping[str, Any]) -> Pure:
    """What a mechanism costs whose fresh noise has this rate; the one is in proportion to the other."""
    epsilon = Fraction(shape.sensitivity)
    known: Any = made(name, Pure(epsilon), shape, options, SYSTEM)
    return Pure(rate * epsilon / known.rate)
