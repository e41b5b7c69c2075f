"""At which level a key stops and with which answer: the exact law of deciding step by step, without simulation.

A key with aligned margin m shows y_g = m + X_g at level g of a `LevelGrid`, X the chain of `louver.noise.levels`, and
goes on while y_g is strictly between the level's limits, in I_g. Let V_g(y) be the probability that levels 1 to g all
leave it open, given y_g = y. Seen from one level, the noisier ones do not depend on m, so

    V_1 = 1 on I_1,   V_{g+1} = w V_g + (1-w) (V_g * f_g) on I_{g+1},   P(open after g) = (V_g * f_g)(m),

with f_g the law of X_g, w the chance that two levels show the same value, and V_g = 0 outside I_g. An exponential on an
interval, convolved with f_g, is a sum of exponentials again. So V_g is a sum of at most 2g of them, and the law for all
margins follows from about G² numbers, however wide the intervals are (compare `louver.privacy.calibrate.chain`).

In floats, because nothing is promised by it: the terms have both signs, and grow as neighbouring levels come closer.
For up to 10 levels over a span of 64 the error is below 1e-12.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver.privacy import LevelGrid

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
FADED = 800.0  # exp(-800) is 0 in floats


@dataclass(frozen=True, slots=True)
class Stops:
    """For each margin (columns): the chance of stopping at each level (rows), and of being flagged in the end."""

    at: Floats
    flagged: Floats


def stops(grid: LevelGrid, margins: Whole) -> Stops:
    """The law of taking every level of the grid in turn, for keys with these aligned margins."""
    rates = [float(level) for level in grid.levels]
    eliminated, accepted = grid.limits(0)
    flagged = _reaches(accepted - margins, rates[0])
    pieces = [_Piece(eliminated + 1, accepted - 1, {0.0: 1.0})]  # what is open after level 0
    alive, at = np.ones(len(margins)), np.zeros((len(rates), len(margins)))
    for level, rate in enumerate(rates):
        if level:
            eliminated, accepted = grid.limits(level)
            seen = pieces[0].shown_next(rates[level - 1], rate)
            flagged = flagged + sum(piece.within(accepted, math.inf).smeared(rate, margins) for piece in seen)
            pieces = [piece.within(eliminated + 1, accepted - 1) for piece in seen[:1]]
        still = np.clip(pieces[0].smeared(rate, margins), 0.0, alive)
        at[level] = alive - still
        alive = still
    # What the last level leaves open, a coin decides.
    at[-1] += alive
    return Stops(at, np.clip(flagged + float(grid.last.coin) * alive, 0.0, 1.0))


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sum of exponentials on the integers from `low` to `high`, 0 elsewhere; `high` may be infinite.

    `falling` has the sizes, by rate, of exp(-rate (y - low)), and `rising` of exp(-rate (high - y)).
    """

    low: int
    high: float
    falling: Mapping[float, float]
    rising: Mapping[float, float] | None = None

    def within(self, low: int, high: float) -> _Piece:
        """The part between the given ends, which lie within or around the piece."""
        new_low, new_high = max(low, self.low), min(high, self.high)
        if new_low > new_high:
            return _Piece(0, -1, {})
        falling = {rate: size * _fade(rate, new_low - self.low) for rate, size in self.falling.items()}
        rising = {rate: size * _fade(rate, self.high - new_high) for rate, size in (self.rising or {}).items()}
        return _Piece(new_low, new_high, falling, rising)

    def shown_next(self, rate: float, next_rate: float) -> list[_Piece]:
        """w V + (1-w) V * f of this V, on the piece and right of it: what the next level shows where this is open."""
        stay = same_value(rate, next_rate)
        falling = {term: stay * size for term, size in self.falling.items()}
        rising = {term: stay * size for term, size in (self.rising or {}).items()}
        falling[rate] = rising[rate] = beyond = 0.0
        width = self.high - self.low
        for same, other, terms in ((falling, rising, self.falling), (rising, falling, self.rising or {})):
            for term, size in terms.items():
                law = _Smeared(term, rate, width)
                moved = (1 - stay) * size
                same[term] += moved * law.kept
                same[rate] -= moved * law.near
                other[rate] -= moved * law.far
                beyond += moved * (law.after if same is falling else law.before)
        right = _Piece(int(self.high) + 1, math.inf, {rate: beyond * math.exp(-rate)})
        return [_Piece(self.low, self.high, falling, rising), right]

    def smeared(self, rate: float, places: Whole) -> Floats:
        """The convolution with discrete Laplace noise of this rate, at the given places."""
        total = np.zeros(len(places))
        if self.high < self.low:
            return total
        left = (places - self.low).astype(np.float64)
        right = (self.high - places).astype(np.float64)
        for terms, near, far in ((self.falling, left, right), (self.rising or {}, right, left)):
            for term, size in terms.items():
                law = _Smeared(term, rate, self.high - self.low)
                inside = law.kept * _fades(term, near) - law.near * _fades(rate, near) - law.far * _fades(rate, far)
                outside = np.where(near < 0, law.before * _fades(rate, -near), law.after * _fades(rate, -far))
                total += size * np.where((near >= 0) & (far >= 0), inside, outside)
        return total


class _Smeared:
    """What becomes of exp(-term n), n = 0..width, under discrete Laplace noise of a larger rate.

    Inside it is kept exp(-term n) - near exp(-rate n) - far exp(-rate (width - n)); d steps before its beginning it is
    before exp(-rate d), and d steps after its end after exp(-rate d).
    """

    def __init__(self, term: float, rate: float, width: float) -> None:
        centre = math.tanh(rate / 2)
        gap, both = -math.expm1(term - rate), -math.expm1(-term - rate)
        self.kept = math.expm1(-rate) ** 2 / (gap * both)
        self.near = centre * math.exp(term - rate) / gap
        self.far = centre * math.exp(-term - rate) * _fade(term, width) / both
        self.before = centre * (1 - _fade(term + rate, width + 1)) / both
        self.after = centre * _fade(term, width) * (1 - _fade(rate - term, width + 1)) / gap


def same_value(rate: float, next_rate: float) -> float:
    """w = (b/a) ((1-a)/(1-b))²: see `louver.noise.gradual.same_value`."""
    return math.exp(rate - next_rate) * (math.expm1(-rate) / math.expm1(-next_rate)) ** 2


def _fade(rate: float, distance: float) -> float:
    return 1.0 if rate == 0 else math.exp(-min(rate * distance, FADED))


def _fades(rate: float, distance: Floats) -> Floats:
    """exp(-rate distance); distances below 0 are not used and stand for 0."""
    return np.asarray(np.exp(-np.minimum(rate * np.maximum(distance, 0.0), FADED)))


def _reaches(least: Whole, rate: float) -> Floats:
    """P(X >= least) for discrete Laplace noise."""
    tail = np.exp(-np.minimum(rate * np.where(least > 0, least, 1 - least), FADED)) / (1 + math.exp(-rate))
    return np.where(least > 0, tail, 1 - tail)
