"""Which set of releases tells most: chosen on some releases, counted on others.

An event is all releases whose score is on one side of a limit; where charges differ by what came out, all of those with
one charge. Choosing is rough, because it need not be right: only what is counted afterwards is a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver.attack.losses import least_loss, stated
from louver.attack.scores import Floats, Rows, Score
from louver.privacy.guarantee import Guarantee

EVENTS = 8
MOST_CHARGES = 16
_CAUTION = 5.0  # standard deviations that an event must be clear of chance to be chosen
_LEAST_DUE = 1e-9
_TAILS = 2.0 ** -np.arange(6, 20)
_SHARES = np.concatenate((np.linspace(0.02, 0.98, 49), _TAILS, 1 - _TAILS))

Paid: TypeAlias = "Callable[[Rows], Floats]"
"""What each release is charged."""
Both: TypeAlias = "tuple[Floats, Floats]"
"""Of releases without the unit, and with it."""


class Event(NamedTuple):
    """Releases with a score from a limit on, or up to it; `charge` is None where all pay the same."""

    score: Score
    limit: float
    is_above: bool
    charge: float | None
    is_likelier_with: bool

    def times(self, rows: Rows, paid: Paid | None) -> int:
        found = self.score(rows)
        inside = found >= self.limit if self.is_above else found <= self.limit
        if self.charge is not None and paid is not None:
            inside = inside & (paid(rows) == self.charge)
        return int(inside.sum())


def chosen(
    learned: Sequence[Score], without: Rows, having: Rows, promise: Guarantee, paid: Paid | None = None
) -> list[Event]:
    """The events that lose most for what is promised for them."""
    charges = None if paid is None else (paid(without), paid(having))
    sizes = len(without), len(having)
    found: list[tuple[float, Event]] = []
    for score in learned:
        for charge, scored in _by_charge((score(without), score(having)), charges):
            due = stated(promise) if charge is None else charge
            for lost, limit, is_above, is_likelier_with in _limits(scored, sizes, promise):
                found.append((excess(lost, due), Event(score, limit, is_above, charge, is_likelier_with)))
    found.sort(key=lambda each: -each[0])
    return [event for _, event in found[:EVENTS]]


def excess(lost: float, due: float) -> float:
    """How many times what is due was lost: above 1, a promise is broken."""
    return lost / max(due, _LEAST_DUE)


def _by_charge(scored: Both, charges: Both | None) -> Iterator[tuple[float | None, Both]]:
    if charges is None:
        yield None, scored
        return
    every, times = np.unique(np.concatenate(charges), return_counts=True)
    for charge in every[np.argsort(-times)[:MOST_CHARGES]].tolist():
        yield charge, (scored[0][charges[0] == charge], scored[1][charges[1] == charge])


def _limits(scored: Both, sizes: tuple[int, int], promise: Guarantee) -> Iterator[tuple[float, float, bool, bool]]:
    """For either side of a limit and either data set, the limit that loses most."""
    together = np.sort(np.concatenate(scored))
    if not len(together):
        return
    limits = np.unique(together[(_SHARES * len(together)).astype(np.int64)])
    ordered = np.sort(scored[0]), np.sort(scored[1])
    for is_above, is_likelier_with in product((True, False), repeat=2):
        bounds = [_roughly(_beyond(each, limits, is_above), size) for each, size in zip(ordered, sizes, strict=True)]
        (often, _), (_, rarely) = bounds[::-1] if is_likelier_with else bounds
        lost = least_loss(often, rarely, promise)
        best = int(np.argmax(lost))
        yield float(lost[best]), float(limits[best]), is_above, is_likelier_with


def _beyond(ordered: Floats, limits: Floats, is_above: bool) -> NDArray[np.int64]:
    if is_above:
        return np.asarray(len(ordered) - np.searchsorted(ordered, limits, side="left"))
    return np.searchsorted(ordered, limits, side="right")


def _roughly(times: NDArray[np.int64], trials: int) -> Both:
    """Wilson's bounds."""
    square = _CAUTION**2
    centre = (times + square / 2) / (trials + square)
    half = _CAUTION / (trials + square) * np.sqrt(times * (trials - times) / trials + square / 4)
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
