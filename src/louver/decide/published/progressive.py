"""A fixed schedule of levels, as printed: MiM's algorithm 2 and the thesis' PPWLM (algorithm 2).

Both keep their miss rate, by a union bound over the levels. Both are dearer than they must be: shares are even, so that
the last level, which decides the price, gets only β/m; and a key is accepted only beyond c + α_j, although everything
from c - 2α on is free to be accepted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from louver import parameters
from louver.decide.published.decision import Decision, margins, shares
from louver.errors import ParameterError
from louver.noise.bits import SYSTEM, Bits
from louver.noise.idealised import clearer, laplace
from louver.parameters import Number
from louver.privacy import ppwlm as calibrated


def mim_progressive(
    counts: object,
    thresholds: object,
    *,
    epsilons: Sequence[Number],
    betas: Sequence[Number],
    bits: Bits = SYSTEM,
) -> Decision:
    """MiM's algorithm 2: level j drops the keys with x + noise <= c - ln(1/(2β_j))/ε_j; β is the sum of all β_j.

    It never accepts early, so that keys far above their threshold always pay the last ε, and it sees a false alarm as a
    matter of luck: nothing bounds it.
    """
    above, rates = margins(counts, thresholds), shares("betas", betas)
    if not isinstance(epsilons, list | tuple) or len(epsilons) != len(rates):
        raise ParameterError("epsilons and betas must be lists of the same length.")
    levels = [parameters.positive("each of epsilons", epsilon) for epsilon in epsilons]
    if any(noisy >= clear for noisy, clear in pairwise(levels)):
        raise ParameterError("epsilons must rise, from noisy to clear.")
    noise = laplace(levels[0], len(above), bits=bits)
    inside, paid = np.ones(len(above), dtype=np.bool_), np.full(len(above), float(levels[-1]))
    for j, (level, rate) in enumerate(zip(levels, rates, strict=True)):
        if j:
            noise = clearer(noise, levels[j - 1], level, bits=bits)
        dropped = inside & (above + noise <= -math.log(1 / (2 * rate)) / float(level))
        paid[dropped] = float(level)
        inside &= ~dropped
    return Decision(inside, paid)


def ppwlm(
    counts: object,
    thresholds: object,
    *,
    beta: Number,
    alpha: Number,
    first_epsilon: Number,
    steps: int,
    bits: Bits = SYSTEM,
) -> Decision:
    """Progressive predicate-wise Laplace mechanism: levels in equal ratios from ε_1 to ln(m/(2β))/α.

    Level j accepts x + noise > c + α_j and drops x + noise <= c - α_j, α_j = ln(m/(2β))/ε_j; the last accepts what is
    left. The thesis adds that the losses must stay secret; with this noise they need not (`louver.decide.progressive`).
    """
    above = margins(counts, thresholds)
    plan = calibrated(beta, alpha, first_epsilon, steps)
    noise = laplace(plan.levels[0], len(above), bits=bits)
    accepted, is_open = np.zeros(len(above), dtype=np.bool_), np.ones(len(above), dtype=np.bool_)
    paid = np.full(len(above), float(plan.levels[-1]))
    for j, (level, shift) in enumerate(zip(plan.levels, map(float, plan.shifts), strict=True)):
        if j:
            noise = clearer(noise, plan.levels[j - 1], level, bits=bits)
        over, under = above + noise > shift, above + noise <= -shift
        accepted |= is_open & over
        paid[is_open & (over | under)] = float(level)
        is_open &= ~(over | under)
    return Decision(accepted | is_open, paid)
