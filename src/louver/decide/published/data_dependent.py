"""DPPWLM, the thesis' data-dependent algorithm (algorithms 3 and 4), as printed. It breaks its promise.

After a first look at ε_1 it picks the next level by the min-entropy that it expects, among m_f fine steps in each of
the intervals between planned levels; a level in the r-th interval ahead may use r shares of β/m. What is wrong with it:

- Shares can sum to β(m+1)/m: after an inner step of the last interval one planned level, ε_m, is left, and gets a share
  though none is. At the thesis' defaults (m = 4, ε_1 = 1e-5, m_f = 3, β = 0.05) and counts just above their threshold
  it always goes 1e-5, 0.0176, 1.264, 3.689 with 1, 2, 1 and 1 shares (200 keys). The exact miss rate of that path is
  0.0593. With m = 2 it is 0.0702. Five shares bound it by 0.0625, so a figure of 0.0635 is chance, and no reading of
  the text.
- Also with the sum repaired (`repaired=True`) the proof does not hold: it adds up shares as if a level's noise did not
  depend on how the level was picked. Where levels are close, the worst rule misses 8% instead of 5%.
- The prediction (equation 5.9) is that of fresh noise, but the noise is correlated.
- The rule lets every key that stays open pay ε_m, and therefore jumps too far (`louver.decide.adaptive`).
- The loop is printed as "while ε_j <= ε_m", which looks beyond the end of the plan; here it ends at ε_m.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.decide.published.decision import Decision, Floats, margins
from louver.noise.bits import SYSTEM, Bits
from louver.noise.idealised import clearer, laplace
from louver.parameters import Number
from louver.privacy import min_entropy, predict_fresh
from louver.privacy import ppwlm as planned

MOST_FINE_STEPS = 100


def dppwlm(
    counts: object,
    thresholds: object,
    *,
    beta: Number,
    alpha: Number,
    first_epsilon: Number,
    steps: int,
    fine_steps: int,
    repaired: bool = False,
    bits: Bits = SYSTEM,
) -> Decision:
    """Algorithm 3. `repaired` ends at an inner step of the last interval, where all shares are spent."""
    above = margins(counts, thresholds)
    fine = parameters.integer("fine_steps", fine_steps, 1, MOST_FINE_STEPS)
    plan = [float(level) for level in planned(beta, alpha, first_epsilon, steps).levels]
    share, last = float(parameters.error_rate("beta", beta)) / len(plan), plan[-1]
    level, shift = plan[0], _shift(share, plan[0])
    noise = laplace(level, len(above), bits=bits)
    seen = above + noise
    accepted, is_open = seen > shift, np.abs(seen) <= shift
    paid = np.where(is_open, last, level)
    while level < last and is_open.any():
        nearer, used, plan = _next_step(paid, seen, plan, is_open, level, share, fine)
        noise = clearer(noise, level, nearer, bits=bits)
        level, shift, seen = nearer, _shift(used * share, nearer), above + noise
        accepted |= is_open & (seen > shift)
        still = is_open & (np.abs(seen) <= shift)
        paid[is_open & ~still] = level
        is_open = still
        if repaired and len(plan) == 1:
            paid[is_open] = level
            break
    return Decision(accepted | is_open, paid)


def _next_step(
    paid: Floats, seen: Floats, plan: list[float], is_open: NDArray[np.bool_], level: float, share: float, fine: int
) -> tuple[float, int, list[float]]:
    """Algorithm 4: the next level, how many shares it may use, and the planned levels left."""
    places = np.flatnonzero(is_open)
    candidate, best, chosen = plan[0], 0.0, (plan[0], 1)
    for r in range(1, len(plan)):
        for step in range(1, fine + 1):
            candidate = plan[r] if step == fine else candidate + (plan[r] - plan[r - 1]) / fine
            shift = _shift(r * share, candidate)
            staying = round(float(predict_fresh(seen[places], level, candidate, -shift, shift).sum()))
            guessed = paid.copy()
            guessed[places[: len(places) - staying]] = candidate
            found = min_entropy(guessed).value
            if best <= found:
                best, chosen = found, (candidate, r)
    return *chosen, plan[chosen[1] :]


def _shift(rate: float, level: float) -> float:
    return math.log(1 / (2 * rate)) / level
