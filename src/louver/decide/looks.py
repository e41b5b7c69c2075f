"""What each strategy would cost for a whole question: the tables of its looks, joined.

A question of several comparisons may take several looks. What one unit pays for them adds up, or is the larger one
where no unit can be in two of them. Margins of different looks are taken to be independent. In a tree a key that is
decided by one look may be spared another; that saving is left out, so that mean prices are rather too high.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver.decide.choose import MOST_LEVELS, Candidate, Expected, Table, estimate, expected, joined_candidate
from louver.decide.decision import Decision
from louver.decide.program import Look
from louver.decide.spread import Margins, guessed
from louver.decide.survey import dearest
from louver.privacy import largest_total

SLACKS_REACHED = 10  # where a threshold says nothing about how far margins reach
MOST_PRICES = 64
Floats: TypeAlias = NDArray[np.float64]


def table_of(plan: Decision, known: Margins | None = None) -> Table:
    """The candidates for a plan's question and promise. `known` is about its dearest look."""
    looks = plan.program.looks
    spreads = [_guessed(plan, look) for look in looks]
    if known is not None:
        spreads[dearest(looks)] = known
    if len(plan.program.leaves) == 1:
        (look,), (spread,), ((miss, alarm),) = looks, spreads, plan.rates
        return estimate(
            spread,
            miss_rate=miss,
            slack=look.slack,
            false_alarm_rate=alarm,
            sensitivity=look.touch.step,
            times=look.touch.times,
            together=_pay_together(plan, look),
        )
    candidates = tuple(_candidate(plan, spreads, levels) for levels in range(1, MOST_LEVELS + 1))
    return Table(candidates, len(plan.program.keys), _source(spreads, known))


def one_look(plan: Decision) -> Fraction:
    """What one look at each key would cost for the same question and promise: the least worst price."""
    from louver.decide.shift import Shift

    return largest_total(Shift(**Decision._given(plan)).worst).price


def _guessed(plan: Decision, look: Look) -> Margins:
    """Margins reach as far as the threshold, or some slacks where that is no number to count from."""
    offsets = [abs(offset) for leaf in look.leaves for offset in plan.program.leaves[leaf].margin.offsets]
    reach = max(offsets) // look.touch.step
    return guessed(len(plan.reading.keys[look.keys]), reach if reach > 1 else SLACKS_REACHED * look.steps)


def _pay_together(plan: Decision, look: Look) -> bool:
    return not all(plan.unit.fixes(column) for column in plan.reading.keys[look.keys].columns)


def _source(spreads: Sequence[Margins], known: Margins | None) -> str:
    if len(spreads) == 1:
        return spreads[0].source
    if known is None:
        return f"nothing known, so margins of its {len(spreads)} looks are taken to be uniform around the threshold"
    return f"{known.source} for its dearest look, and nothing known about the others"


def _candidate(plan: Decision, spreads: Sequence[Margins], levels: int) -> Candidate:
    looks = plan.program.looks
    parts = [
        expected(spread, miss, look.slack, alarm, look.touch.step, levels, look.touch.times, _pay_together(plan, look))
        for look, spread, (miss, alarm) in zip(looks, spreads, plan.rates, strict=True)
    ]
    charges = [
        charge
        for look, part in zip(looks, parts, strict=True)
        for charge in plan.reserved(look, part.worst / look.touch.times)
    ]
    whole = _joined(parts, len(plan.program.keys), _apart(plan))
    return joined_candidate(levels, largest_total(charges).price, whole)


def _apart(plan: Decision) -> bool:
    """Whether no unit can have rows in two of the looks."""
    boxes = [look.box.for_unit(plan.unit) for look in plan.program.looks]
    return all(one.disjoint(other) for one, other in combinations(boxes, 2))


def _joined(parts: Iterable[Expected], keys: int, apart: bool) -> Expected:
    """What the keys of the question pay for all looks: each level of one with each level of the others."""
    first, *others = parts
    prices, shares = first.prices, first.counts / first.counts.sum()
    for part in others:
        own = part.counts / part.counts.sum()
        both = np.maximum.outer(prices, part.prices) if apart else np.add.outer(prices, part.prices)
        prices, shares = _fewer(both.ravel(), np.multiply.outer(shares, own).ravel())
    order = np.argsort(prices)
    return Expected(first.worst, prices[order], shares[order] * keys)


def _fewer(prices: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """The same with at most so many prices: neighbours are put together at their mean."""
    order = np.argsort(prices, kind="stable")
    prices, shares = prices[order], shares[order]
    bins = np.minimum((np.cumsum(shares) * MOST_PRICES).astype(np.int64), MOST_PRICES - 1)
    found, which = np.unique(bins if len(prices) > MOST_PRICES else np.arange(len(prices)), return_inverse=True)
    sizes = np.zeros(len(found))
    means = np.zeros(len(found))
    np.add.at(sizes, which, shares)
    np.add.at(means, which, shares * prices)
    kept = sizes > 0
    return means[kept] / sizes[kept], sizes[kept]
