"""Truncated-uniform-Laplace noise: the law behind the cheapest private yes or no.

N = discrete Laplace of this rate + uniform on [-1/2, 1/2). For a count of sensitivity 1, "count + N >= cut" is the most
powerful rate-private test there is (Awan and Slavkovic 2018): its acceptance probability falls from count to count as
fast as privacy lets it. With delta > 0 both tails are cut off where the cumulative probability is q/2 and 1 - q/2,
q = 2 delta b / (1 - b + 2 delta b), b = exp(-rate), and the noise is (rate, delta)-private.
"""

from __future__ import annotations

import functools
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise.bits import SYSTEM, Bits
from louver.noise.coins import bernoulli, enclosed_bernoulli
from louver.noise.enclosure import Enclosure, certain_floor, exp, ln
from louver.noise.laplace import discrete_laplace, noise_rate

LARGEST_FRACTION_BITS = 40
LARGEST_CUT = 2**40
SMALLEST_DELTA = Fraction(1, 2**200)
LARGEST_DELTA = Fraction(1, 4)
LARGEST_DELTA_PER_RATE = 16  # one draw in 33 lies between the tails then


def reaches(
    margins: NDArray[np.int64], rate: parameters.Number, cut: parameters.Number, *, bits: Bits = SYSTEM
) -> NDArray[np.bool_]:
    """For each integer margin, whether margin + N >= cut; exact for every rational cut.

    The uniform part matters only where margin + discrete Laplace lands in the cut's own cell: there one coin decides.

    >>> reaches(np.array([-100, 100]), 5, 0)
    array([False,  True])
    """
    exact_cut = parameters.within("The cut", cut, -LARGEST_CUT, LARGEST_CUT)
    margins = parameters.integers("The margins", margins)
    cell = (exact_cut + Fraction(1, 2)).__floor__()
    noisy = margins + discrete_laplace(rate, len(margins), bits=bits)
    coins = bernoulli(Fraction(1, 2) - (exact_cut - cell), len(margins), bits=bits)
    return np.where(noisy == cell, coins, noisy > cell)


def acceptance(margin: int, rate: Fraction, cut: Fraction, working: int) -> Enclosure:
    """P(margin + N >= cut): what `reaches` does, as a number."""
    cell = (cut + Fraction(1, 2)).__floor__()
    gap = cell - margin
    ratio = exp(-rate, working)
    coin = Fraction(1, 2) - (cut - cell)
    above = ratio ** (gap + 1) / (1 + ratio) if gap >= 0 else 1 - ratio ** (-gap) / (1 + ratio)
    return above + coin * ((1 - ratio) / (1 + ratio) * ratio ** abs(gap))


def uniform_laplace(
    rate: parameters.Number,
    count: int,
    *,
    delta: parameters.Number = 0,
    fraction_bits: int = 32,
    bits: Bits = SYSTEM,
) -> NDArray[np.int64]:
    """`count` draws of floor(2^fraction_bits * N): the noise on a binary grid, as whole numbers of grid steps."""
    exact = noise_rate("The rate", rate)
    chance = parameters.within("delta", delta, 0, LARGEST_DELTA)
    if 0 < chance < SMALLEST_DELTA:
        raise ParameterError("delta must be 0 or at least 2**-200.")
    if chance > LARGEST_DELTA_PER_RATE * exact:
        raise ParameterError(
            f"delta must be at most {LARGEST_DELTA_PER_RATE} times the rate; most of the noise is cut."
        )
    places = parameters.integer("The number of fraction bits", fraction_bits, 1, LARGEST_FRACTION_BITS)
    # so that a value passes 2^63 with probability under exp(-2^14)
    if exact < Fraction(2) ** (places - 49):
        raise ParameterError(
            f"The rate must be at least 2**{places - 49}, or values on so fine a grid would not fit 64 bits."
        )
    drawn = np.empty(parameters.count("The number of draws", count), dtype=np.int64)
    open_draws = np.arange(len(drawn))
    while len(open_draws):
        whole = discrete_laplace(exact, len(open_draws), bits=bits)
        part = (bits.words64(len(open_draws)) >> np.uint64(64 - places)).astype(np.int64)
        drawn[open_draws] = (whole << places) + part - (1 << (places - 1))
        open_draws = open_draws[~_inside(whole, part, exact, chance, places, bits)]
    return drawn


def _inside(
    whole: NDArray[np.int64], part: NDArray[np.int64], rate: Fraction, delta: Fraction, places: int, bits: Bits
) -> NDArray[np.bool_]:
    """Whether a draw lies between the two tails; the law is symmetric, so both are looked at from the left."""
    if delta == 0:
        return np.ones(len(whole), dtype=np.bool_)
    mirrored = whole > 0
    cell = np.where(mirrored, -whole, whole)
    step = np.where(mirrored, (1 << places) - 1 - part, part)
    edge_cell, edge_step = _edge(rate, delta, places)
    tie = (cell == edge_cell) & (step == edge_step)
    inside = np.greater(cell, edge_cell) | (np.equal(cell, edge_cell) & np.greater(step, edge_step))
    name = ("tail edge", rate, delta, places)
    inside[tie] = enclosed_bernoulli(
        name,
        lambda working: 1 - (_edge_within_cell(rate, delta, edge_cell, working) * (1 << places) - edge_step),
        int(tie.sum()),
        bits,
    )
    return inside


@functools.lru_cache(maxsize=256)
def _edge(rate: Fraction, delta: Fraction, places: int) -> tuple[int, int]:
    """The cell, and the grid step within it, in which the left tail ends."""
    cell = _edge_cell(rate, delta)
    return cell, certain_floor(lambda working: _edge_within_cell(rate, delta, cell, working) * (1 << places), 0)


def _tail(ratio: Enclosure, delta: Fraction) -> Enclosure:
    """q/2 = delta b / (1 - b + 2 delta b)."""
    return delta * ratio / (1 - ratio + 2 * delta * ratio)


def _edge_cell(rate: Fraction, delta: Fraction) -> int:
    """The cell k < 0 in which the cumulative probability passes q/2: b^(1-k)/(1+b) <= q/2 < b^(-k)/(1+b)."""

    def position(working: int) -> Enclosure:
        ratio = exp(-rate, working)
        below = _tail(ratio, delta) * (1 + ratio)
        if below.low <= 0:
            return Enclosure(-(1 << 2 * working), 1 << working, working)
        logarithm = Enclosure(ln(below.lower, working).low, ln(below.upper, working).high, working)
        return 1 + logarithm / rate

    return certain_floor(position, 0)


def _edge_within_cell(rate: Fraction, delta: Fraction, cell: int, working: int) -> Enclosure:
    """How far into the cell, from 0 to 1, the tail reaches: (q/2 (1+b) b^k - b) / (1 - b)."""
    ratio = exp(-rate, working + int(2 * rate * (-1 - cell)) + 8)
    reached = delta * (1 + ratio) / (1 - ratio + 2 * delta * ratio) / ratio ** (-1 - cell)
    return (reached - ratio) / (1 - ratio)
