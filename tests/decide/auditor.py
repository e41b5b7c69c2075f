"""An auditor who sees outcomes only: a lower bound on what they lose beyond their charge, from trials.

Events are picked on one half of the trials and tested on the other, by Clopper-Pearson bounds which in each audit are
wrong with probability 1e-6 in all (`CERTAIN`).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from scipy.stats import beta

from louver.decide import bands, naive, progressive, shift, sparse, spread, within
from louver.decide.progressive import Progressive
from louver.noise import Bits, discrete_laplace, levels, reaches
from tests.decide.outcomes import Outcome

CERTAIN = 1e-6
EVENTS = 8


def least_excess(
    near: Counter[Outcome], far: Counter[Outcome], paid: Callable[[Outcome], Fraction], chosen: Sequence[Outcome]
) -> float:
    """A lower bound on the largest loss less charge of the chosen events, true with probability 1 - CERTAIN."""
    level = CERTAIN / (4 * max(1, len(chosen)))
    sizes = sum(near.values()), sum(far.values())

    def low(times: int, trials: int) -> float:
        return float(beta.ppf(level, times, trials - times + 1)) if times else 0.0

    def high(times: int, trials: int) -> float:
        return float(beta.isf(level, times + 1, trials - times)) if times < trials else 1.0

    found = [-math.inf]
    for outcome in chosen:
        for (one, one_size), (two, two_size) in itertools.permutations(zip((near, far), sizes, strict=True)):
            least, most = low(one[outcome], one_size), high(two[outcome], two_size)
            if least:
                found.append(math.log(least / most) - float(paid(outcome)))
    return max(found)


def audited(
    draw: Callable[[bool], Counter[Outcome]], paid: Callable[[Outcome], Fraction], events: int = EVENTS
) -> float:
    """Trials of both neighbours; on the first half the most telling events are chosen, the second half tests them."""
    first, second = [draw(False), draw(True)], [draw(False), draw(True)]

    def promise(outcome: Outcome) -> float:
        near, far = (each[outcome] + 1 for each in first)
        spread = 5 * math.sqrt(1 / near + 1 / far)
        return abs(math.log(near / far)) - spread - float(paid(outcome))

    seen = sorted(set(first[0]) | set(first[1]), key=repr)
    return least_excess(second[0], second[1], paid, sorted(seen, key=promise)[-events:])


def halve_noise(patch: pytest.MonkeyPatch) -> None:
    """Noise of twice the rate, wherever a strategy draws it."""

    def half(rate: Any, size: int, *, bits: Bits) -> Any:
        return discrete_laplace(2 * rate, size, bits=bits)

    for module in (bands, naive, shift, sparse, spread, within):
        patch.setattr(module, "discrete_laplace", half)
    patch.setattr(sparse, "reaches", lambda values, rate, cut, *, bits: reaches(values, 2 * rate, cut, bits=bits))
    patch.setattr(progressive, "levels", lambda rates, size, *, bits: levels([2 * e for e in rates], size, bits=bits))


def assert_audited(draw: Callable[[bool], Counter[Outcome]], paid: Callable[[Outcome], Fraction]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Progressive, "charges", lambda *_: ())  # for so many keys they take seconds
        assert audited(draw, paid) <= 0
        halve_noise(patch)
        assert audited(draw, paid) > 0
