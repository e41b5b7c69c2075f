"""Noise that can be cleared step by step: one correlated chain per key, from noisy to clear.

Levels are rates e_1 < ... < e_m. Each X_j is discrete Laplace of rate e_j, and seeing X_1, ..., X_j tells no more about
the count than seeing X_j alone: the loss of everything revealed is e_j, not the sum.

Two ways to the same joint law, both exact on integers (a = exp(-e_j), b = exp(-e_{j+1}), r = b/a):
- `levels` draws the clearest first and goes up: X_j = X_{j+1} with probability w0 = r ((1-a)/(1-b))^2, else X_{j+1}
  plus fresh discrete Laplace noise of rate e_j. Reveal in reverse.
- `clearer` goes down from a value already revealed, for a level that was not known beforehand.

The chain's unrevealed levels are as secret as the count. One chain serves one key of one question, never two.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise.bits import SYSTEM, Bits
from louver.noise.coins import enclosed_bernoulli
from louver.noise.enclosure import Enclosure, exp
from louver.noise.laplace import LARGEST_RATE, SMALLEST_RATE, discrete_laplace, geometric, noise_rate

LARGEST_LEVEL_COUNT = 256
LARGEST_LEVEL_RATE = LARGEST_RATE / 2  # two of them add up in the on-demand step
Real = TypeVar("Real", Fraction, Enclosure)


def levels(rates: Sequence[parameters.Number], count: int, *, bits: Bits = SYSTEM) -> NDArray[np.int64]:
    """Chains for `count` keys as an array of shape (levels, keys); row 0 is the noisiest and is revealed first.

    >>> levels([0.1, 1], 5).shape
    (2, 5)
    """
    ascending = level_rates(rates)
    count = parameters.count("The number of keys", count)
    if count * len(ascending) > parameters.LARGEST_COUNT:
        raise ParameterError(f"One call draws at most {parameters.LARGEST_COUNT} values; take fewer keys at a time.")
    chains = np.empty((len(ascending), count), dtype=np.int64)
    chains[-1] = discrete_laplace(ascending[-1], count, bits=bits)
    for level in range(len(ascending) - 2, -1, -1):
        noisy, clear = ascending[level], ascending[level + 1]
        chains[level] = chains[level + 1]
        moved = np.flatnonzero(~_coins(same_value, noisy, clear, count, bits))
        chains[level, moved] += discrete_laplace(noisy, len(moved), bits=bits)
    return chains


def clearer(
    noise: NDArray[np.int64], rate: parameters.Number, clearer_rate: parameters.Number, *, bits: Bits = SYSTEM
) -> NDArray[np.int64]:
    """Noise of the larger rate, given noise of the smaller rate: the on-demand step of the chain."""
    noisy, clear = level_rates((rate, clearer_rate))
    noise = parameters.integers("The noise", noise)
    size = np.abs(noise)
    result = noise.copy()
    moved = np.flatnonzero(~_stays(size, noisy, clear, bits))
    drawn = _moved(size[moved], noisy, clear, bits)
    result[moved] = np.where(noise[moved] < 0, -drawn, drawn)
    return result


def level_rates(rates: Sequence[parameters.Number]) -> tuple[Fraction, ...]:
    """Exact rates of at least one level, strictly rising and far enough apart to be told apart."""
    try:
        exact = tuple(noise_rate("Each level's rate", rate, LARGEST_LEVEL_RATE) for rate in rates)
    except TypeError:
        raise ParameterError("The levels must be a list of rates, from noisy to clear.") from None
    if not 1 <= len(exact) <= LARGEST_LEVEL_COUNT:
        raise ParameterError(f"There must be between 1 and {LARGEST_LEVEL_COUNT} levels, not {len(exact)}.")
    if any(clear - noisy < SMALLEST_RATE for noisy, clear in itertools.pairwise(exact)):
        raise ParameterError("The levels' rates must rise from noisy to clear, by at least 2**-48 each.")
    return exact


def same_value(a: Real, b: Real, r: Real) -> Real:
    """w0 = r ((1-a)/(1-b))^2: the chance that a noisier level takes over the clearer level's value."""
    shrink = (1 - a) / (1 - b)
    return r * shrink * shrink


def stay_at_zero(a: Real, b: Real, r: Real) -> Real:
    """r (1-a^2)/(1-b^2): the chance that the clearer level keeps a value of 0; at y it is this times r^|y|."""
    return r * ((1 - a * a) / (1 - b * b))


def opposite_side(a: Real, b: Real, r: Real) -> Real:  # noqa: ARG001
    """The chance that a proposal lands on the other side of 0: (1-r)ab/(1-ab) out of that plus 1."""
    return b * (a - b) / (1 - b * b)


def beyond(a: Real, b: Real, r: Real) -> Real:  # noqa: ARG001
    """The chance that a proposal past y stands: (a^2-ab)/(1-ab)."""
    return a * (a - b) / (1 - a * b)


def _coins(
    chance: Callable[[Enclosure, Enclosure, Enclosure], Enclosure],
    noisy: Fraction,
    clear: Fraction,
    count: int,
    bits: Bits,
) -> NDArray[np.bool_]:
    def enclosed(working: int) -> Enclosure:
        return chance(exp(-noisy, working), exp(-clear, working), exp(noisy - clear, working))

    return enclosed_bernoulli((chance.__name__, noisy, clear), enclosed, count, bits)


def _stays(size: NDArray[np.int64], noisy: Fraction, clear: Fraction, bits: Bits) -> NDArray[np.bool_]:
    """A coin for the constant, a geometric for the power of |y|."""
    coins = _coins(stay_at_zero, noisy, clear, len(size), bits)
    return coins & (geometric(clear - noisy, len(size), bits=bits) >= size)


def _moved(size: NDArray[np.int64], noisy: Fraction, clear: Fraction, bits: Bits) -> NDArray[np.int64]:
    """Draws of P(x) proportional to b^|x| a^|y-x| for y = size >= 0, by proposals whose chances do not involve y.

    The attempts per key double from round to round, so that levels close together, where most proposals fail, take few
    rounds.
    """
    drawn = np.empty_like(size)
    open_keys = np.arange(len(size))
    attempts = 1
    while len(open_keys):
        proposed, accepted = _propose(np.repeat(size[open_keys], attempts), noisy, clear, bits)
        accepted = accepted.reshape(-1, attempts)
        first = accepted.argmax(axis=1)
        rows = np.flatnonzero(accepted.any(axis=1))
        drawn[open_keys[rows]] = proposed.reshape(-1, attempts)[rows, first[rows]]
        open_keys = np.delete(open_keys, rows)
        attempts = min(2 * attempts, max(1, (1 << 20) // max(1, len(open_keys))))
    return drawn


def _propose(
    size: NDArray[np.int64], noisy: Fraction, clear: Fraction, bits: Bits
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """One proposal per key and whether it stands.

    Weights, times (1-r)/a^y: x < 0 has (1-r)ab/(1-ab) in all; 0 <= x <= y has 1-r^(y+1), the chance that a geometric g
    of ratio r is at most y; x > y has r^(y+1) (a^2-ab)/(1-ab), the chance that g > y and a fixed coin falls True.
    """
    other_side = _coins(opposite_side, noisy, clear, len(size), bits)
    proposed = geometric(clear - noisy, len(size), bits=bits)
    past = ~other_side & (proposed > size)
    stands = ~past | _coins(beyond, noisy, clear, len(size), bits)
    outside = np.flatnonzero(other_side | past)
    steps = geometric(noisy + clear, len(outside), bits=bits)
    proposed[outside] = np.where(other_side[outside], -1 - steps, size[outside] + 1 + steps)
    return proposed, stands
