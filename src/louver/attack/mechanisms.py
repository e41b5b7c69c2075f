"""The mechanisms that a study compares, each with one parameter: counts of days in, releases out.

Laplace, PeGaSus and segments are Louver's own streams, whose parameter is the price of one person at one tick. Rotating
pseudonyms have a time to live, no noise and no promise. The last releases the true counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from louver.attack.law import DiscreteLaplace, Law, NoNoise
from louver.errors import ParameterError
from louver.noise.bits import SYSTEM, Bits
from louver.source.names import instead_of

if TYPE_CHECKING:
    from louver.attack.truth import Truth

Floats = NDArray[np.float64]


class Mechanism(Protocol):
    """A name; what its parameter is called, and the range of it that is searched; whether a release is drawn."""

    @property
    def name(self) -> str: ...
    @property
    def parameter(self) -> str: ...
    @property
    def smallest(self) -> float: ...
    @property
    def largest(self) -> float: ...
    @property
    def is_random(self) -> bool: ...

    def releases(self, truth: Truth, days: slice, value: float, runs: int = 1, bits: Bits = SYSTEM) -> Floats:
        """(runs, days, ticks, regions): each day of each run anew."""

    def law(self, value: float) -> Law | None:
        """What the noise does to a count, where that is known."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A mechanism of `louver.stream`: epsilon for one person at one tick."""

    name: str
    smallest: float = 1e-4
    largest: float = 32.0
    parameter: str = "epsilon"
    is_random: bool = True

    def releases(self, truth: Truth, days: slice, value: float, runs: int = 1, bits: Bits = SYSTEM) -> Floats:
        from louver import stream

        counts = truth.counts[days]
        across, ticks, regions = counts.shape
        rows = np.tile(counts.transpose(1, 0, 2).reshape(ticks, -1), runs)  # ticks by run, day and region
        kinds = {"laplace": stream.Laplace, "pegasus": stream.Pegasus, "segment": stream.Segment}
        made = kinds[self.name](exact(value), rows.shape[1], bits=bits).run(rows)
        return np.asarray(made, dtype=np.float64).reshape(ticks, runs, across, regions).transpose(1, 2, 0, 3)

    def law(self, value: float) -> Law | None:
        return DiscreteLaplace(exact(value)) if self.name == "laplace" else None


@dataclass(frozen=True, slots=True)
class Pseudonyms:
    """Counts of pseudonyms that change every so many seconds, for everybody at once or each device from its first
    event on. Nothing is drawn, so that every run is alike."""

    name: str = "ttl"
    per_device: bool = False
    smallest: float = 1.0
    largest: float = 86_400.0
    parameter: str = "seconds"
    is_random: bool = False

    def releases(self, truth: Truth, days: slice, value: float, runs: int = 1, bits: Bits = SYSTEM) -> Floats:  # noqa: ARG002
        counted = truth.pseudonyms(exact(value), per_device=self.per_device)[days]
        return np.broadcast_to(counted.astype(np.float64), (runs, *counted.shape))

    def law(self, value: float) -> Law | None:  # noqa: ARG002
        return None


@dataclass(frozen=True, slots=True)
class TrueCounts:
    """No mechanism at all."""

    name: str = "none"
    smallest: float = 1.0
    largest: float = 1.0
    parameter: str = ""
    is_random: bool = False

    def releases(self, truth: Truth, days: slice, value: float, runs: int = 1, bits: Bits = SYSTEM) -> Floats:  # noqa: ARG002
        counts = truth.counts[days].astype(np.float64)
        return np.broadcast_to(counts, (runs, *counts.shape))

    def law(self, value: float) -> Law | None:  # noqa: ARG002
        return NoNoise()


MECHANISMS: dict[str, Mechanism] = {
    each.name: each
    for each in (
        Stream("laplace"),
        Stream("pegasus"),
        Stream("segment"),
        Pseudonyms(),
        Pseudonyms("ttl-device", per_device=True),
        TrueCounts(),
    )
}


def named(name: str) -> Mechanism:
    if name not in MECHANISMS:
        raise ParameterError(f"There is no mechanism {name!r}{instead_of(name, MECHANISMS)}.")
    return MECHANISMS[name]


def exact(value: float) -> Fraction:
    """The parameter that is used where this one is found: the same to three digits, as it is reported.

    >>> exact(0.123456)
    Fraction(123, 1000)
    """
    return Fraction(f"{value:.3g}")
