"""Streams under audit: one person more, or one value other, at one tick of one place.

Each release is a whole stream of two places side by side, of which only the first changes, so that noise that is shared
among ticks or places cancels out and is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from louver.attack.case import Case, everything, in_parts, one_by_one
from louver.attack.scores import Rows
from louver.noise.bits import Bits
from louver.privacy import Approximate, Pure, ZeroConcentrated
from louver.stream import kernels
from louver.stream.above import Above
from louver.stream.hierarchy import Hierarchy
from louver.stream.kernels import Shape
from louver.stream.laplace import Laplace
from louver.stream.mechanism import Mechanism
from louver.stream.quantiles import quantile
from louver.stream.smooth_quantile import SmoothQuantile
from louver.stream.tail import look_at_tail
from louver.stream.threshold import PenalisedThreshold

EPSILON, RHO = Fraction(1), Fraction(1, 2)
PERSON = "one person at one tick of one place"
VALUE = "the value of one tick of one place"
COUNTS = (3, 4, 3)
VALUES = (8, 8, 1, 1)
LARGEST = 8
EDGES = (5,)
AHEAD, BEYOND = 40, 10  # candidates for a quantile on either side of it
_SLOW = {"pegasus", "segment"}
# From how many releases on half of the noise is heard. 4,000, unless many numbers must agree, or it is less.
_HEARS = {
    "histogram": 16_000,
    "laplace": 1_500,
    "running-mean": 1_200,
    "tree": 10_000,
    "truncated": 1_200,
    "truncated smooth": 2_000,
    "window-mean": 5_000,
}
_DEAF = {
    "present-mean": "what is released is a ratio of two noisy numbers, and tells little of either",
    "smooth quantile": "the width of the noise is itself a secret, and the promise has a delta",
    "tail": "one value is in three numbers, which pay a part of the price each and hardly ever come together",
}
_WEIGHTED = {"buffered", "toeplitz", "tree"}  # what they release is whole numbers times public weights

Make = Callable[[int, Bits], Mechanism]


def stream_cases() -> Iterator[Case]:
    for name, kernel in kernels.KERNELS.items():
        for price in (Pure(EPSILON), ZeroConcentrated(RHO)):
            if kernel.pure if isinstance(price, Pure) else kernel.concentrated:
                yield _kernel(name, price)
    smooth = Approximate(EPSILON, Fraction(1, 1000))
    yield _cut("truncated", smooth, {"threshold": "smooth"})
    yield Case("stream", "hierarchy", PERSON, Pure(EPSILON), _of_hierarchy, 10_000, 10_000, None)
    yield Case("stream", "above", PERSON, Pure(EPSILON), _above, hears=2_000)
    yield from _thresholds()


def _kernel(name: str, price: Pure | ZeroConcentrated) -> Case:
    if kernels.KERNELS[name].is_cut:
        return _cut(name, price, {"over": 2} if name == "window-mean" else {})
    if name == kernels.HISTOGRAM:
        made = _maker(name, price, EDGES, {"bins": "5"})
        return _case(name, VALUE, price, made, COUNTS, (3, 9, 3))
    return _case(name, PERSON, price, _maker(name, price), COUNTS, (3, 5, 3))


def _cut(name: str, price: Any, options: dict[str, Any], changed: int = 3) -> Case:
    """Before the second tick is over there is no threshold; a changed value pays for finding it, or for the sums."""
    made = _maker(name, price, None, {"lag": 2, **options}, ticks=len(VALUES), largest=LARGEST)
    without, having = ([*VALUES[:changed], value, *VALUES[changed + 1 :]] for value in (0, LARGEST))
    return _case(name, VALUE, price, made, without, having)


def _maker(
    name: str,
    price: Any,
    edges: tuple[int, ...] | None = None,
    options: dict[str, Any] | None = None,
    *,
    ticks: int = len(COUNTS),
    largest: int = 100,
) -> Make:
    def made(regions: int, bits: Bits) -> Mechanism:
        shape = Shape(regions, ticks, 1, largest, edges=edges)
        return kernels.made(name, price, shape, options or {}, bits)

    return made


def _case(name: str, differs: str, price: Any, made: Make, without: Sequence[int], having: Sequence[int]) -> Case:
    gaussian = " gaussian" if isinstance(price, ZeroConcentrated) and kernels.KERNELS[name].pure else ""
    smooth = " smooth" if isinstance(price, Approximate) else ""

    def draw(has_unit: bool, count: int, bits: Bits) -> Rows:
        streams = np.empty((len(without), count, 2), dtype=np.int64)
        streams[:, :, 0] = np.array(having if has_unit else without)[:, np.newaxis]
        streams[:, :, 1] = np.array(without)[:, np.newaxis]
        mechanism: Any = made(2 * count, bits)
        return side_by_side(mechanism.run(streams.reshape(len(without), -1)), count, mechanism)

    full = name + gaussian + smooth
    is_cut = kernels.KERNELS[name].is_cut
    hears = _HEARS.get(full, 2_000 if is_cut else 4_000)
    trials = max(hears, 2_000 if is_cut else 6_000 if name in _SLOW else 16_000)
    drawing = in_parts(20_000, draw)
    return Case("stream", full, differs, price, drawing, trials, hears, _whole(name), deaf=_DEAF.get(full, ""))


def _whole(name: str) -> Callable[[Rows], Rows] | None:
    """Smoothed numbers are means, but those before smoothing are whole; of what is cut, the thresholds are."""
    if name in _SLOW:
        return lambda rows: rows[:, 2 * len(COUNTS) :]
    if kernels.KERNELS[name].is_cut:
        return lambda rows: rows[:, 2 * len(VALUES) :]
    return None if name in _WEIGHTED else everything


def side_by_side(released: Rows, count: int, mechanism: Any) -> Rows:
    """One row for each pair of places, with all that is public about them; sums in units of a public threshold."""
    seen = [np.nan_to_num(released)]
    if getattr(mechanism, "thresholds", None) is not None:
        thresholds = np.array([mechanism.thresholds])
        seen = [seen[0] / thresholds, thresholds]
    if getattr(mechanism, "trace", None) is not None:
        seen += [mechanism.trace.noisy, mechanism.trace.lengths]
    return np.concatenate([each.reshape(len(each), count, -1) for each in seen]).transpose(1, 0, 2).reshape(count, -1)


def _of_hierarchy(has_unit: bool, count: int, bits: Bits) -> Rows:
    """Trees of a floor with two rooms, as many beside each other."""
    parents: list[int | None] = [place for tree in range(count) for place in (None, 3 * tree, 3 * tree)]
    mechanism = Hierarchy(EPSILON, parents, inner="laplace", bits=bits)
    rooms = np.tile(np.array([[3, 3], [4 + has_unit, 3]]), (1, count))
    released = mechanism.run(rooms)
    return released.reshape(len(rooms), count, 3).transpose(1, 0, 2).reshape(count, -1)


def _above(has_unit: bool, count: int, bits: Bits) -> Rows:
    """Which counts are above a limit of 3, by a coin on the boundary, beside the noisy counts that it is read off."""
    streams = np.tile(np.array(COUNTS)[:, np.newaxis], (1, count))
    streams[1] += has_unit
    noisy = Laplace(EPSILON, count, bits=bits).run(streams)
    flags = Above(EPSILON, Fraction(1, 20)).flags(noisy, np.full(count, 3), bits)
    return np.concatenate((noisy, flags)).T


def _thresholds() -> Iterator[Case]:
    """What looks at values to find one number; one value goes from one end to the other."""
    penalised = PenalisedThreshold(EPSILON, high=LARGEST, horizon=10, error=0.01)
    smooth = SmoothQuantile(EPSILON, Fraction(1, 10), high=LARGEST, share=Fraction(1, 4))
    candidates = np.arange(AHEAD + 1 + BEYOND)
    half = Fraction(1, 2)
    finders: dict[str, tuple[Any, Callable[[Any, Bits], Any]]] = {
        "quantile": (Pure(EPSILON), lambda values, bits: quantile(values, half, candidates, EPSILON, bits=bits)),
        "penalised threshold": (penalised.price, lambda values, bits: penalised.find(values, bits=bits)),
        "smooth quantile": (smooth.price, lambda values, bits: smooth.find(values, bits=bits)),
        "tail": (Pure(EPSILON), _tail),
    }
    # One value ahead of all candidates, one at the middle one and one beyond the last: the one that moves takes sides.
    others = {"penalised threshold": [0, 0], "quantile": [0, AHEAD, 100]}
    for name, (price, find) in finders.items():
        beside = others.get(name, [0, LARGEST])
        highest = 100 if name == "quantile" else LARGEST

        def release(has_unit: bool, bits: Bits, find: Any = find, beside: Any = beside, highest: int = highest) -> Any:
            return find(np.array([*beside, highest if has_unit else 0]), bits)

        hears = 8_000 if name == "quantile" else 5_000
        yield Case("stream", name, "one value", price, one_by_one(release), hears, hears, deaf=_DEAF.get(name, ""))


def _tail(values: Any, bits: Bits) -> list[int]:
    found = look_at_tail(values, LARGEST, EPSILON, bits=bits)
    return [found.quantile, found.near, found.far]
