"""Two runs that see the same: what one unit adds in the one, the noise has more in the other.

What is released follows from noisy values. Where a run without the unit, on noise that is moved by what the unit adds,
releases the same, the release is less probable there by no larger a factor than the moved noise is. That factor is
known exactly, outcome by outcome, for any number of keys, looks and releases: no trials are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.decide import naive, progressive, shift, spread
from louver.noise import bernoulli, discrete_laplace, levels

ABSURD = 10**8

Whole: TypeAlias = "NDArray[np.int64]"
# What each draw is moved by, at each of its values.
Moves: TypeAlias = "Sequence[Whole]"


@dataclass(frozen=True)
class Draw:
    """Noise of these rates, a row for each; and for each column the row that was looked at last, or -1."""

    rates: tuple[Fraction, ...]
    noise: Whole

    def moved(self, by: Whole, reached: Whole, absurd: int) -> Whole:
        """The noise of the other run. What was not looked at is absurd there, and must make no difference."""
        rows = np.arange(len(self.rates))[:, None]
        return np.where(rows <= reached, self.noise + by, absurd)

    def loss(self, by: Whole, reached: Whole) -> Fraction:
        """The logarithm of how much more probable the noise is than the moved one.

        Seeing a chain down to a level is as probable as that level's noise, times what does not hang on its place.
        """
        total = Fraction(0)
        for column, row in enumerate(reached.tolist()):
            if row >= 0:
                here = int(self.noise[row, column])
                total += self.rates[row] * (abs(here + int(by[column])) - abs(here))
        return total


class Noise:
    """All noise of one run, and the same moved for another; `faster` multiplies the rates at which it is drawn."""

    def __init__(self, faster: int = 1, shape: Callable[[Whole], Whole] = np.asarray) -> None:
        """`shape` may change what is drawn: any noise is possible, and what it loses is exact."""
        self._faster, self._shape = faster, shape
        self.draws: list[Draw] = []
        self._coins: list[NDArray[np.bool_]] = []

    @contextmanager
    def recorded(self) -> Iterator[None]:
        def one(rate: Any, size: int, **_: Any) -> Whole:
            (kept,) = self._kept((rate,), discrete_laplace(self._faster * Fraction(rate), size)[None])
            return np.asarray(kept)

        def chain(rates: Sequence[Any], size: int, **_: Any) -> Whole:
            return self._kept(tuple(rates), levels([self._faster * each for each in rates], size))

        def coins(chance: Any, size: int, **_: Any) -> NDArray[np.bool_]:
            self._coins.append(bernoulli(chance, size))
            return self._coins[-1]

        with _patched(one, chain, coins):
            yield

    def _kept(self, rates: Sequence[Any], noise: Whole) -> Whole:
        shaped = self._shape(noise)
        self.draws.append(Draw(tuple(self._faster * Fraction(each) for each in rates), shaped))
        return shaped

    @contextmanager
    def moved(self, by: Moves, reached: Sequence[Whole], absurd: int = ABSURD) -> Iterator[None]:
        made = iter([draw.moved(move, row, absurd) for draw, move, row in zip(self.draws, by, reached, strict=True)])
        thrown = iter(self._coins)
        with _patched(
            lambda *_, **__: next(made)[0],
            lambda *_, **__: next(made),
            lambda *_, **__: next(thrown),
        ):
            yield
        assert next(made, None) is None, "the two runs did not draw alike"

    def loss(self, by: Moves, reached: Sequence[Whole]) -> Fraction:
        return sum((draw.loss(*each) for draw, *each in zip(self.draws, by, reached, strict=True)), Fraction(0))


@contextmanager
def _patched(one: Callable[..., Any], chain: Callable[..., Any], coins: Callable[..., Any]) -> Iterator[None]:
    drawing: list[ModuleType] = [naive, shift, spread]
    with pytest.MonkeyPatch.context() as patch:
        for module in drawing:
            patch.setattr(module, "discrete_laplace", one)
        patch.setattr(progressive, "levels", chain)
        for module in (shift, progressive):
            patch.setattr(module, "bernoulli", coins)
        yield
