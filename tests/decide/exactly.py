"""With which probability a plan flags a key: from the noise law itself, by other means than the planner's own.

One look at a time: the noise of a look decides all leaves on it, and noises of different looks are independent. For
one look the law is a sum of a few geometric tails, in decimals of 60 digits. For a chain of levels it is a convolution
on a window of integers, in floats; what lies outside weighs less than exp(-40), so that probabilities are right to
1e-11 (`CHAIN_ERROR`).
"""

from __future__ import annotations

import decimal
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from louver.decide import tree
from louver.decide.adaptive_plan import Adaptive
from louver.decide.bands import Bands
from louver.decide.decision import Decision
from louver.decide.naive import Naive
from louver.decide.progressive import Progressive
from louver.decide.shift import Shift
from louver.privacy import LevelGrid, predict_gradual
from tests.decide.asked import view

DIGITS = 60
CHAIN_ERROR = 1e-11
NEPERS_KEPT = 45
FAR = 10**7

Answers: TypeAlias = "tuple[bool, ...]"
Floats: TypeAlias = "NDArray[np.float64]"
Whole: TypeAlias = "NDArray[np.int64]"
# From grid, level and what the first leaf shows there: the next level for each.
Rule: TypeAlias = "Callable[[LevelGrid, int, Whole], Whole]"
# The aligned margin of a leaf, and 1 or -1 as its margin runs with the look's noise or against it.
Seen: TypeAlias = "tuple[int, int]"


@dataclass(frozen=True)
class Case:
    """One value of each look's measure: the leaves' margins, and whether the condition holds, also with slack."""

    margins: tuple[int, ...]
    holds: bool
    nearly_holds: bool
    values: Mapping[int, int]


def decimals(exact: Fraction) -> Decimal:
    return Decimal(exact.numerator) / Decimal(exact.denominator)


def laplace_reaches(rate: Fraction, least: int) -> Decimal:
    """P(X >= least), X discrete Laplace."""
    with decimal.localcontext(prec=DIGITS):
        a = (-decimals(rate)).exp()
        return a**least / (1 + a) if least > 0 else 1 - a ** (1 - least) / (1 + a)


def cases(plan: Decision) -> Iterator[Case]:
    """All combinations of leaves that are just true, just false with their slack, far true and far false."""
    program = plan.program
    choices = []
    for look in program.looks:
        found: dict[int, None] = {}
        number = plan.reading.measures.index(program.leaves[look.leaves[0]].margin.terms[0].measure)
        for at in look.leaves:
            leaf = program.leaves[at]
            factor, offset = leaf.margin.terms[0].coefficients[0], leaf.margin.offsets[0]
            for wanted in (1, -leaf.slack, FAR, -FAR):
                found[(wanted - offset) // factor] = None
        choices.append([(number, value) for value in found])
    for chosen in itertools.product(*choices):
        yield case(plan, dict(chosen))


def case(plan: Decision, values: Mapping[int, int]) -> Case:
    """What is true where each measure has this value."""
    margins = tuple(int(each[0]) for each in plan.margins(view(plan, dict(values))))
    slacks = [leaf.slack for leaf in plan.program.leaves]
    holds = tree.holds(plan.program.tree, [margin > 0 for margin in margins])
    nearly = tree.holds(plan.program.tree, [m > -slack for m, slack in zip(margins, slacks, strict=True)])
    return Case(margins, holds, nearly, values)


def flagged(plan: Decision, case: Case) -> Decimal:
    """The probability that the only key of a plan is flagged if it has these margins.

    That no key is looked at again whose answer is known changes no answer, and so nothing here.
    """
    total = Decimal(0)
    laws = [list(look_law(plan, number, case.margins).items()) for number in range(len(plan.program.looks))]
    with decimal.localcontext(prec=DIGITS):
        for chosen in itertools.product(*laws):
            given = [False] * len(plan.program.leaves)
            for look, (answers, _) in zip(plan.program.looks, chosen, strict=True):
                for leaf, answer in zip(look.leaves, answers, strict=True):
                    given[leaf] = answer
            if tree.holds(plan.program.tree, given):
                total += math.prod((chance for _, chance in chosen), start=Decimal(1))
    return total


def look_law(plan: Decision, number: int, margins: Sequence[int]) -> dict[Answers, Decimal]:
    """The joint law of the answers of all leaves on one look."""
    look, leaves = plan.program.looks[number], plan.program.leaves
    step = look.touch.step
    seen = tuple((-(-margins[at] // step), leaves[at].sense) for at in look.leaves)
    if isinstance(plan, Shift):
        test = plan.tests[number]
        return one_look(test.epsilon, test.boundary, test.coin, seen)
    if isinstance(plan, Naive):
        return one_look(plan.rate, 0, Fraction(0), seen)
    assert isinstance(plan, Progressive)
    rule = by_prediction if isinstance(plan, Adaptive) else in_turn
    return {answers: Decimal(chance) for answers, chance in chain_law(plan.grids[number], seen, rule).items()}


def in_turn(grid: LevelGrid, level: int, shown: Whole) -> Whole:  # noqa: ARG001 whatever was seen
    return np.full(len(shown), level + 1)


def by_prediction(grid: LevelGrid, level: int, shown: Whole) -> Whole:
    """What the adaptive strategy takes after this level where it has one key, for each value that it shows."""
    found = np.full(len(shown), len(grid.levels) - 1)
    for clearer in reversed(range(level + 1, len(grid.levels) - 1)):
        low, high = grid.limits(clearer)
        stays = predict_gradual(shown, grid.levels[level], grid.levels[clearer], low + 0.5, high - 0.5)
        found[stays <= 0.5] = clearer
    return found


@lru_cache(maxsize=4096)
def one_look(rate: Fraction, boundary: int, coin: Fraction, seen: tuple[Seen, ...]) -> dict[Answers, Decimal]:
    """Each leaf says yes above the boundary, no below it, and throws its own coin there; all share one noise."""
    found: dict[Answers, Decimal] = {}
    with decimal.localcontext(prec=DIGITS):
        for low, high in _regions({sense * (boundary - margin) for margin, sense in seen}):
            inside = _between(rate, low, high)
            some = low if low is not None else high
            shown = [margin + sense * (some or 0) for margin, sense in seen]
            sure = [Fraction(value > boundary) if value != boundary else coin for value in shown]
            for answers in itertools.product((True, False), repeat=len(seen)):
                chance = math.prod(p if yes else 1 - p for p, yes in zip(sure, answers, strict=True))
                if chance:
                    found[answers] = found.get(answers, Decimal(0)) + inside * decimals(Fraction(chance))
    return found


def _regions(points: set[int]) -> Iterator[tuple[int | None, int | None]]:
    """The integers in pieces: each point by itself, and what is between, before and after them."""
    ordered = sorted(points)
    yield None, ordered[0] - 1
    for at, point in enumerate(ordered):
        yield point, point
        after = ordered[at + 1] - 1 if at + 1 < len(ordered) else None
        if after is None or after > point:
            yield point + 1, after


def _between(rate: Fraction, low: int | None, high: int | None) -> Decimal:
    least = Decimal(1) if low is None else laplace_reaches(rate, low)
    return least - (Decimal(0) if high is None else laplace_reaches(rate, high + 1))


@lru_cache(maxsize=4096)
def chain_law(grid: LevelGrid, seen: tuple[Seen, ...], rule: Rule = in_turn) -> dict[Answers, float]:
    """The answers of leaves on one chain of noise, levels being taken by the rule until all are decided.

    With V_g(x, s) the probability that level g is taken and the levels before leave the leaves in the state s, given
    noise x at level g: where level g leads to level h, V_h gets w V_g + (1-w) (V_g convolved with the law of level g).
    """
    places = _window(grid)
    first = seen[0][0] + seen[0][1] * places
    rates = [float(level) for level in grid.levels]
    arriving: list[dict[tuple[int, ...], Floats]] = [{} for _ in rates]
    arriving[0] = {(tree.OPEN,) * len(seen): np.ones(len(places))}
    found: dict[Answers, float] = {}
    for level, rate in enumerate(rates):
        states = arriving[level]
        for at, (margin, sense) in enumerate(seen):
            states = _decided(states, at, margin + sense * places, grid, level, level == len(rates) - 1)
        for state, values in states.items():
            if tree.OPEN not in state:
                answers = tuple(each == tree.YES for each in state)
                found[answers] = found.get(answers, 0.0) + float(_laplace(rate, places) @ values)
                continue
            some = np.flatnonzero(values)
            after = rule(grid, level, first[some])
            for clearer in np.unique(after).tolist():
                going = np.zeros(len(places))
                going[some[after == clearer]] = values[some[after == clearer]]
                arrived = arriving[clearer].get(state, 0.0)
                arriving[clearer][state] = arrived + _mixed(going, rate, rates[clearer])
    return found


def _decided(
    states: Mapping[tuple[int, ...], Floats],
    at: int,
    shown: NDArray[np.int64],
    grid: LevelGrid,
    level: int,
    is_last: bool,
) -> dict[tuple[int, ...], Floats]:
    """The states after one leaf has looked at one level."""
    eliminated, accepted = grid.limits(level)
    after: dict[tuple[int, ...], Floats] = {}
    for state, values in states.items():
        parts: list[tuple[int, Any]]
        if state[at] != tree.OPEN:
            parts = [(state[at], 1.0)]
        else:
            between = ((shown > eliminated) & (shown < accepted)).astype(np.float64)
            heads = float(grid.last.coin) if is_last else 0.0
            tails = 1 - heads if is_last else 0.0
            parts = [
                (tree.NO, (shown <= eliminated) + tails * between),
                (tree.YES, (shown >= accepted) + heads * between),
            ]
            if not is_last:
                parts.append((tree.OPEN, between))
        for decided, share in parts:
            key = (*state[:at], decided, *state[at + 1 :])
            after[key] = after.get(key, 0.0) + values * share
    return after


def beyond_cut(plan: Bands, cut: int, aggregate: int) -> Decimal:
    """The probability that a key with this aggregate is put above a cut."""
    offset = plan.program.leaves[0].margin.offsets[0]
    aligned = -(-(aggregate + offset) // plan.program.looks[0].touch.step) + int(plan.shifts[cut][0])
    law = one_look(plan.test.epsilon, plan.test.boundary, plan.test.coin, ((aligned, 1),))
    return law[(True,)]


def outside(rate: Fraction, distance: int) -> Decimal:
    """P(|X| > distance)."""
    with decimal.localcontext(prec=DIGITS):
        return 2 * laplace_reaches(rate, distance + 1)


def _window(grid: LevelGrid) -> NDArray[np.int64]:
    reach = math.ceil(2 * NEPERS_KEPT / grid.levels[0])
    return np.arange(-reach, reach + 1)


def _laplace(rate: float, places: NDArray[np.int64]) -> Floats:
    return math.tanh(rate / 2) * np.exp(-rate * np.abs(places))


def _mixed(values: Floats, noisy: float, clear: float) -> Floats:
    """w V + (1-w) V convolved with noise of the noisy rate, w the chance that both levels show the same."""
    a, b = math.exp(-noisy), math.exp(-clear)
    stay = b / a * ((1 - a) / (1 - b)) ** 2
    from_left = lfilter([1.0], [1.0, -a], values)
    from_right = lfilter([1.0], [1.0, -a], values[::-1])[::-1]
    return np.asarray(stay * values + (1 - stay) * math.tanh(noisy / 2) * (from_left + from_right - values))
