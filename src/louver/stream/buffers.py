"""The square root of counting by a handful of buffers: a sum of exponentials in place of 1 / sqrt(pi k).

The square-root factorisation has the generating function 1 / sqrt(z), z = 1 - x, and 1 / sqrt(z) = (2 / pi) integral of
dt / (z + t^2). The trapezoidal rule in ln t, from t = LOWEST / sqrt(n) to HIGHEST, turns it into `kept + sum_i a_i / (1
- theta_i x)`, theta_i = 1 / (1 + t_i^2): so coefficient k is sum_i a_i theta_i^k, and each term is one number that
decays and is added to. What lies above HIGHEST is nearly constant in z, and `kept` stands for it. The maximum error for
n ticks is within 0.1% of the square root's with about 4 + ln(n) / 2 buffers. The family of mechanisms: Dvijotham,
McMahan, Pillutla, Steinke and Thakurta (2024).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from louver.stream.together import squared_length

Floats = NDArray[np.float64]

LOWEST, HIGHEST, STEP = 0.07, 1.3, 1.05
KEPT_SHARE = 0.9  # of what the rule leaves out above: all of it would weigh on the first coefficient too much
_FIRST_TICKS = 4096
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


@dataclass(frozen=True)
class Buffers:
    """F_0 = kept + sum(sizes), F_k = sum_i sizes_i (1 - losses_i)^k."""

    kept: float
    sizes: Floats
    losses: Floats

    @property
    def first(self) -> float:
        return self.kept + float(self.sizes.sum())

    def coefficients(self, count: int) -> Floats:
        found = self.sizes @ np.power(1 - self.losses[:, None], np.arange(count))
        found[0] += self.kept
        return np.asarray(found)

    def squares(self, ticks: int) -> float:
        """The sum of the squares of the first coefficients."""
        return _squares(self.sizes, self.losses, ticks) + self.first**2 - float(self.sizes.sum()) ** 2

    def squares_together(self, changes: int, ticks: int) -> float:
        """The same for the rows that several different ticks are in, at most (see `together`)."""
        return squared_length(changes, lambda lag: self._product(lag, ticks))

    def _product(self, lag: int, ticks: int) -> float:
        """The sum over k < ticks of F_k F_(k+lag); `kept` is part of F_0 alone."""
        if lag == 0:
            return self.squares(ticks)
        later = self.sizes * (1 - self.losses) ** lag
        pairs = self.losses[:, None] + self.losses - self.losses[:, None] * self.losses
        return float(self.sizes @ _geometric(pairs, ticks) @ later) + self.kept * float(later.sum())

    def total(self, ticks: int) -> float:
        """The sum of the first coefficients."""
        return self.kept + float((self.sizes * _geometric(self.losses, ticks)).sum())

    @cached_property
    def undone(self) -> tuple[Floats, Floats]:
        """The same for the prefix sums of the inverse: its coefficients are sum_i sizes_i (1 - losses_i)^k.

        The inverse is the feedback of the buffers, a diagonal matrix less one of rank one, which is made symmetric.
        """
        feedback = np.sqrt(self.sizes * (1 - self.losses) / self.first)
        losses, turned = np.linalg.eigh(np.diag(self.losses) + np.outer(feedback, feedback))
        sizes = (turned.T @ feedback) ** 2 / losses
        return np.append(sizes, 1 - sizes.sum()) / self.first, np.append(losses, 0.0)

    def undone_squares(self, ticks: float) -> float:
        return _squares(*self.undone, ticks)

    def undone_squares_in_all(self, ticks: int) -> float:
        """`undone_squares` added up over 1 to `ticks`: one by one, and where it is smooth by its integral."""
        early = min(ticks, _FIRST_TICKS)
        sizes, losses = self.undone
        undone = sizes @ np.power(1 - losses[:, None], np.arange(early))
        found = float(np.cumsum(undone**2).sum())
        low = early + 0.5
        while low < ticks:
            high = min(2 * low, ticks + 0.5)
            at = (low + high) / 2 + _NODES * (high - low) / 2
            found += float(_WEIGHTS @ [self.undone_squares(each) for each in at]) * (high - low) / 2
            low = high
        return found


@lru_cache(maxsize=64)
def buffers_for(ticks: int) -> Buffers:
    """The buffers of a stream of so many ticks."""
    low, high = math.log(LOWEST / math.sqrt(ticks)), math.log(HIGHEST)
    count = 1 + math.ceil((high - low) / STEP)
    step = (high - low) / (count - 1)
    nodes = np.exp(np.linspace(low, high, count))
    losses = nodes**2 / (1 + nodes**2)
    kept = KEPT_SHARE * 2 / (math.pi * HIGHEST * math.exp(step / 2))
    return Buffers(kept, 2 / math.pi * step * nodes * (1 - losses), losses)


def _squares(sizes: Floats, losses: Floats, ticks: float) -> float:
    """The sum over k < ticks of (sum_i sizes_i (1 - losses_i)^k)^2."""
    pairs = losses[:, None] + losses - losses[:, None] * losses
    return float(sizes @ _geometric(pairs, ticks) @ sizes)


def _geometric(losses: Floats, ticks: float) -> Floats:
    """The sum over k < ticks of (1 - loss)^k. A loss above 1 is small feedback that turns: it is soon over."""
    safe = np.where(losses > 0, losses, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        gone = np.where(losses < 1, -np.expm1(ticks * np.log1p(-losses)), 1.0)
    return np.where(losses > 0, gone / safe, ticks)
