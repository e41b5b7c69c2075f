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
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise.bernoulli import enclosed_bernoulli
from louver.noise.bits import SYSTEM, Bits
from louver.noise.enclosure import Enclosure, exp
from louver.noise.laplace import SMALLEST_RATE, discrete_laplace, geometric, noise_rate

LARGEST_LEVEL_COUNT = 1024


def levels(rates: Sequence[parameters.Number], count: int, *, bits: Bits = SYSTEM) -> NDArray[np.int64]:
    """Chains for `count` keys as an array of shape (levels, keys); row 0 is the noisiest and is revealed first.

    >>> levels([0.1, 1], 5).shape
    (2, 5)
    """
    ascending = level_rates(rates)
    chains = np.empty((len(ascending), parameters.count("The number of keys", count)), dtype=np.int64)
    chains[-1] = discrete_laplace(ascending[-1], count, bits=bits)
    for level in range(len(ascending) - 2, -1, -1):
        noisy, clear = ascending[level], ascending[level + 1]
        chains[level] = chains[level + 1]
        moved = np.flatnonzero(~_same_value(noisy, clear, chains.shape[1], bits))
        chains[level, moved] += discrete_laplace(noisy, len(moved), bits=bits)
    return chains


def clearer(
    noise: NDArray[np.int64], rate: parameters.Number, clearer_rate: parameters.Number, *, bits: Bits = SYSTEM
) -> NDArray[np.int64]:
    """Noise of the larger rate, given noise of the smaller rate: the on-demand step of the chain."""
    noisy, clear = level_rates((rate, clearer_rate))
    noise = np.asarray(noise, dtype=np.int64)
    if noise.ndim != 1:
        raise ParameterError("The noise must be one array with a value for each key.")
    size = np.abs(noise)
    result = noise.copy()
    moved = np.flatnonzero(~_stays(size, noisy, clear, bits))
    drawn = _moved(size[moved], noisy, clear, bits)
    result[moved] = np.where(noise[moved] < 0, -drawn, drawn)
    return result


def level_rates(rates: Sequence[parameters.Number]) -> tuple[Fraction, ...]:
    """Exact rates of at least one level, strictly rising and far enough apart to be told apart."""
    try:
        exact = tuple(noise_rate("Each level's rate", rate) for rate in rates)
    except TypeError:
        raise ParameterError("The levels must be a list of rates, from noisy to clear.") from None
    if not 1 <= len(exact) <= LARGEST_LEVEL_COUNT:
        raise ParameterError(f"There must be between 1 and {LARGEST_LEVEL_COUNT} levels, not {len(exact)}.")
    if any(clear - noisy < SMALLEST_RATE for noisy, clear in itertools.pairwise(exact)):
        raise ParameterError("The levels' rates must rise from noisy to clear, by at least 2**-48 each.")
    return exact


def same_value_probability(noisy: Fraction, clear: Fraction, working: int) -> Enclosure:
    """w0 = (b/a) ((1-a)/(1-b))^2: the probability that two neighbouring levels share their value from above."""
    shrink = (1 - exp(-noisy, working)) / (1 - exp(-clear, working))
    return exp(noisy - clear, working) * shrink * shrink


def _same_value(noisy: Fraction, clear: Fraction, count: int, bits: Bits) -> NDArray[np.bool_]:
    return enclosed_bernoulli(
        ("same value", noisy, clear), lambda working: same_value_probability(noisy, clear, working), count, bits
    )


def _stays(size: NDArray[np.int64], noisy: Fraction, clear: Fraction, bits: Bits) -> NDArray[np.bool_]:
    """True with probability r^(|y|+1) (1-a^2)/(1-b^2): a coin for the constant, a geometric for the power of |y|."""

    def constant(working: int) -> Enclosure:
        squares = (1 - exp(-2 * noisy, working)) / (1 - exp(-2 * clear, working))
        return exp(noisy - clear, working) * squares

    coin = enclosed_bernoulli(("stays", noisy, clear), constant, len(size), bits)
    return coin & (geometric(clear - noisy, len(size), bits=bits) >= size)


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
    both = noisy + clear

    def below_zero(working: int) -> Enclosure:
        a, b = exp(-noisy, working), exp(-clear, working)
        return b * (a - b) / (1 - b * b)

    def beyond(working: int) -> Enclosure:
        a, b = exp(-noisy, working), exp(-clear, working)
        return a * (a - b) / (1 - a * b)

    negative = enclosed_bernoulli(("below zero", noisy, clear), below_zero, len(size), bits)
    inner = geometric(clear - noisy, len(size), bits=bits)
    over = ~negative & (inner > size)
    kept = enclosed_bernoulli(("beyond", noisy, clear), beyond, len(size), bits)
    outer = np.flatnonzero(negative | over)
    proposed = inner
    steps = geometric(both, len(outer), bits=bits)
    proposed[outer] = np.where(negative[outer], -1 - steps, size[outer] + 1 + steps)
    return proposed, ~over | kept
