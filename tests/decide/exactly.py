"""With which probability a plan flags a key: from the noise law itself, by other means than the planner's own.

One look at a time: the noise of a look decides all leaves on it, and noises of different looks are independent. For
`Shift` and `Bands` the law is a sum of a few geometric tails, in decimals of 60 digits. For a chain of levels it is a
convolution on a window of integers, in floats; what lies outside weighs less than exp(-40), so that probabilities are
right to 1e-11 (`CHAIN_ERROR`).
"""

from __future__ import annotations

import decimal
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from louver.decide import tree
from louver.decide.bands import Bands
from louver.decide.decision import Decision
from louver.decide.progressive import Progressive
from louver.decide.shift import Shift
from louver.privacy import LevelGrid
from tests.decide.asked import view

DIGITS = 60
CHAIN_ERROR = 1e-11
NEPERS_KEPT = 45
FAR = 10**7

Answers: TypeAlias = "tuple[bool, ...]"
Floats: TypeAlias = "NDArray[np.float64]"
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
    """The probability that a key with these margins is flagged, by the rule that takes every level in turn."""
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
    assert isinstance(plan, Progressive)
    return {answers: Decimal(chance) for answers, chance in chain_law(plan.grids[number], seen).items()}


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
def chain_law(grid: LevelGrid, seen: tuple[Seen, ...]) -> dict[Answers, float]:
    """The answers of leaves on one chain of noise, every level being taken until all are decided.

    With V_g(x, s) the probability that levels 1 to g leave the leaves in the state s, given noise x at level g:
    V_{g+1} is w V_g + (1-w) (V_g convolved with the law of level g), and then what level g+1 decides.
    """
    places = _window(grid)
    states: dict[tuple[int, ...], Floats] = {(tree.OPEN,) * len(seen): np.ones(len(places))}
    for level, rate in enumerate(map(float, grid.levels)):
        if level:
            before = float(grid.levels[level - 1])
            states = {state: _mixed(values, before, rate) for state, values in states.items()}
        is_last = level == len(grid.levels) - 1
        for at, (margin, sense) in enumerate(seen):
            states = _decided(states, at, margin + sense * places, grid, level, is_last)
    weights = _laplace(float(grid.levels[-1]), places)
    return {tuple(each == tree.YES for each in state): float(weights @ values) for state, values in states.items()}


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


def worst_rule(grid: LevelGrid, margin: int) -> float:
    """The largest probability that a key with this aligned margin ends on the wrong side, over all rules of choice.

    A rule begins at some level and goes on to any clearer one, picked by what it saw: the best that somebody could do
    who knows the margin and wants the error (a miss where the margin is above 0, else a false alarm).
    """
    places = _window(grid)
    shown = margin + places
    count = len(grid.levels)
    laws = [_laplace(float(level), places) for level in grid.levels]
    reached: list[Floats] = [np.zeros(0)] * count
    for level in reversed(range(count)):
        eliminated, accepted = grid.limits(level)
        wrong = shown <= eliminated if margin > 0 else shown >= accepted
        is_open = (shown > eliminated) & (shown < accepted)
        if level == count - 1:
            coin = float(1 - grid.last.coin if margin > 0 else grid.last.coin)
            reached[level] = wrong + coin * is_open
            continue
        best = np.zeros(len(places))
        with np.errstate(divide="ignore", invalid="ignore"):
            for clearer in range(level + 1, count):
                # P(clear = x | noisy = y) = P(clear = x) P(noisy = y | clear = x) / P(noisy = y).
                joint = _mixed(
                    laws[clearer] * reached[clearer], *map(float, (grid.levels[level], grid.levels[clearer]))
                )
                best = np.maximum(best, np.where(is_open, joint / laws[level], 0.0))
        reached[level] = np.where(is_open, best, wrong)
    return max(float(law @ value) for law, value in zip(laws, reached, strict=True))


@lru_cache(maxsize=4096)
def any_level_fails(grid: LevelGrid, margin: int) -> float:
    """The probability that at least one level would decide wrongly: a bound for every rule, in whatever order."""
    places = _window(grid)
    shown = margin + places
    fine = np.ones(len(places))
    for level, rate in enumerate(map(float, grid.levels)):
        if level:
            fine = _mixed(fine, float(grid.levels[level - 1]), rate)
        eliminated, accepted = grid.limits(level)
        is_last = level == len(grid.levels) - 1
        wrong = (shown <= eliminated if margin > 0 else shown >= accepted).astype(np.float64)
        if is_last:
            coin = float(1 - grid.last.coin if margin > 0 else grid.last.coin)
            wrong += coin * ((shown > eliminated) & (shown < accepted))
        fine = fine * (1 - wrong)
    return 1 - float(_laplace(float(grid.levels[-1]), places) @ fine)


def any_rule(plan: Progressive, case: Case) -> float:
    """A bound on the error of this case, whatever rule picks the levels of the looks.

    A look whose leaves must not fail does so with at most the sum of their chances; where it fails, all its leaves are
    taken to be wrong, and leaves that are within their slack to be on the wrong side anyway.
    """
    program = plan.program
    fails, wrong_side = [], not case.holds
    for number, look in enumerate(program.looks):
        sure = [at for at in look.leaves if _must_not_fail(plan, case, at)]
        step = look.touch.step
        fails.append(min(1.0, sum(any_level_fails(plan.grids[number], -(-case.margins[at] // step)) for at in sure)))
    total = 0.0
    for failed in itertools.product((True, False), repeat=len(fails)):
        given = [
            wrong_side if failed[leaf.look] or not _must_not_fail(plan, case, at) else case.margins[at] > 0
            for at, leaf in enumerate(program.leaves)
        ]
        if tree.holds(program.tree, given) == wrong_side:
            total += math.prod(p if yes else 1 - p for p, yes in zip(fails, failed, strict=True))
    return total


def _must_not_fail(plan: Decision, case: Case, at: int) -> bool:
    """Whether the promise binds this leaf here: it holds and must be found, or fails with its slack and must not be."""
    return case.margins[at] > 0 if case.holds else case.margins[at] <= -plan.program.leaves[at].slack


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
