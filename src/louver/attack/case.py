"""One mechanism under audit: two data sets that differ in one unit, as badly as it gets, and what is promised."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from louver.attack.events import Paid
from louver.attack.membership import Draw
from louver.attack.scores import LEARNED, Learn, Rows
from louver.noise.bits import Bits
from louver.privacy.guarantee import Guarantee


def everything(rows: Rows) -> Rows:
    return rows


@dataclass(frozen=True, slots=True)
class Case:
    """`room` and `mechanism` name it, `differs` says what the unit changes; `draw(has_unit, count, bits)` releases.

    `trials` are as many releases of each data set as a short audit takes, and `hears` those from which on it hears half
    of the noise, which tests try out; where it would never hear that, `deaf` says why. `whole` picks what is whole
    numbers in every release, and is None where all numbers are weighted means.
    """

    room: str
    mechanism: str
    differs: str
    promise: Guarantee
    draw: Callable[[bool, int, Bits], Rows]
    trials: int = 16_000
    hears: int = 0
    whole: Callable[[Rows], Rows] | None = everything
    paid: Paid | None = None
    scores: Sequence[Learn] = LEARNED
    deaf: str = ""

    @property
    def name(self) -> str:
        return f"{self.room} {self.mechanism}"

    @property
    def without(self) -> Draw:
        return lambda count, bits: self.draw(False, count, bits)

    @property
    def having(self) -> Draw:
        return lambda count, bits: self.draw(True, count, bits)


def one_by_one(release: Callable[[bool, Bits], Any]) -> Callable[[bool, int, Bits], Rows]:
    """Draws for a mechanism that makes one release at a time."""
    return lambda has_unit, count, bits: np.array([np.ravel(release(has_unit, bits)) for _ in range(count)])


def in_parts(most: int, draw: Callable[[bool, int, Bits], Rows]) -> Callable[[bool, int, Bits], Rows]:
    """The same for one that makes at most so many at a time."""

    def drawn(has_unit: bool, count: int, bits: Bits) -> Rows:
        sizes: Iterable[int] = (min(most, count - start) for start in range(0, count, most))
        return np.concatenate([draw(has_unit, size, bits) for size in sizes])

    return drawn
