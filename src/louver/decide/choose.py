"""Which strategy, and how many levels: what each would cost, foretold from what may be known about the margins.

All candidates keep the same promise; they differ in price. One look has the least worst price there is. Going step by
step has a worst price about 30% higher and charges far less where most keys are far from their threshold. How
much less depends on the margins, so the table is only as good as its `Margins`. Prices and flags follow from the exact
law of stopping (`louver.decide.stopping`); nothing is simulated, nothing private is read. The adaptive strategy charges
what the schedule charges (`louver.decide.adaptive` says why), so it has no line of its own.

Min-entropy is that of the expected number of keys per level: the number itself scatters, by less than 0.01 of
the normalised value from 100 keys on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from louver import parameters
from louver.decide.foreseen import Floats, foreseen_grid
from louver.decide.objectives import ENTROPY, MEAN, OBJECTIVES, WORST
from louver.decide.shown import up
from louver.decide.spread import Margins
from louver.decide.stopping import stops
from louver.errors import ParameterError
from louver.privacy import LevelGrid
from louver.privacy.entropy.beliefs import interval_ends
from louver.privacy.entropy.nested import search_nested

ONE_SHOT, PROGRESSIVE, ADAPTIVE = "one-shot", "progressive", "adaptive"
MOST_LEVELS = 10
NODES = 200
LARGEST_SLACK = 2**40


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to decide, and what it is expected to cost.

    `worst` is the price that is reserved, `mean` the expected mean of what keys are charged. `min_entropy` is
    normalised to [0, 1]. False alarms are expected numbers of keys: `false_alarms` of all that are at or below their
    threshold and flagged (MiM's second privacy metric), `far_alarms` of those at or below threshold - slack. `misses`
    likewise. All three are None where a question has several comparisons: they would depend on which margins go
    together.
    """

    strategy: str
    levels: int
    worst: Fraction
    mean: float
    min_entropy: float
    false_alarms: float | None = None
    far_alarms: float | None = None
    misses: float | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """What one look is expected to charge: its worst price, and for each level its price and how many keys stop."""

    worst: Fraction
    prices: Floats
    counts: Floats


@dataclass(frozen=True, slots=True)
class Table:
    """The candidates, and what they were reckoned from."""

    candidates: tuple[Candidate, ...]
    keys: int
    source: str

    def best(self, objective: str) -> Candidate:
        """The candidate with the least worst price, the least mean price, or the largest min-entropy.

        Where the objective is min-entropy, the steps are taken by the adaptive strategy.
        """
        if objective not in OBJECTIVES:
            raise ParameterError(f"objective must be one of {', '.join(OBJECTIVES)}, not {objective!r}.")
        if objective == WORST:
            return min(self.candidates, key=lambda each: each.worst)
        if objective == MEAN:
            return min(self.candidates, key=lambda each: each.mean)
        return max(self.named(objective), key=lambda each: each.min_entropy)

    def named(self, objective: str) -> tuple[Candidate, ...]:
        """The candidates, with the strategy that takes their steps where this is the objective."""
        if objective != ENTROPY:
            return self.candidates
        return tuple(replace(each, strategy=ADAPTIVE) if each.levels > 1 else each for each in self.candidates)


def estimate(
    known: Margins,
    *,
    miss_rate: object,
    slack: object,
    false_alarm_rate: object | None = None,
    sensitivity: object = 1,
    times: object = 1,
    together: bool = False,
) -> Table:
    """The table of one look, and of 2 to 10 levels.

    `times` is how often one unit pays e. Where keys pay `together`, all are charged the clearest level that any key
    reached.

    >>> table = estimate(Margins({-200: 20, -5: 3, 30: 1}), miss_rate=0.05, slack=10)
    >>> [(each.strategy, each.levels) for each in map(table.best, OBJECTIVES)]
    [('one-shot', 1), ('progressive', 8), ('adaptive', 9)]
    """
    miss = parameters.error_rate("miss_rate", miss_rate)
    alarm = miss if false_alarm_rate is None else parameters.error_rate("false_alarm_rate", false_alarm_rate)
    width = parameters.integer("sensitivity", sensitivity, 1, LARGEST_SLACK)
    free = parameters.integer("slack", slack, 0, LARGEST_SLACK)
    often = parameters.integer("times", times, 1, LARGEST_SLACK)
    candidates = tuple(
        _candidate(known, miss, free, alarm, width, levels, often, together) for levels in range(1, MOST_LEVELS + 1)
    )
    return Table(candidates, round(known.keys), known.source)


def _candidate(
    known: Margins, miss: Fraction, slack: int, alarm: Fraction, width: int, levels: int, times: int, together: bool
) -> Candidate:
    grid = foreseen_grid(miss, slack, alarm, width, levels)
    law = stops(grid, known.values)
    below, far = known.values <= 0, known.values <= 1 - grid.steps
    flagged = known.weights * law.flagged
    return replace(
        joined_candidate(levels, times * grid.worst_price, _expected(known, grid, law.at, times, together)),
        false_alarms=float(flagged[below].sum()),
        far_alarms=float(flagged[far].sum()),
        misses=float((known.weights - flagged)[~below].sum()),
    )


def joined_candidate(levels: int, worst: Fraction, paid: Expected) -> Candidate:
    """The candidate of so many levels whose keys pay this."""
    return Candidate(
        strategy=ONE_SHOT if levels == 1 else PROGRESSIVE,
        levels=levels,
        worst=worst,
        mean=float(paid.counts @ paid.prices / paid.counts.sum()),
        min_entropy=_least_entropy(paid.prices, paid.counts),
    )


def expected(
    known: Margins, miss: Fraction, slack: int, alarm: Fraction, width: int, levels: int, times: int, together: bool
) -> Expected:
    """What a look with so many levels is expected to charge."""
    grid = foreseen_grid(miss, slack, alarm, width, levels)
    return _expected(known, grid, stops(grid, known.values).at, times, together)


def _expected(known: Margins, grid: LevelGrid, at: Floats, times: int, together: bool) -> Expected:
    counts = _largest(at, known.weights) * known.keys if together else at @ known.weights
    prices = times * np.array([float(level) for level in grid.levels])
    return Expected(times * grid.worst_price, prices, counts)


def _largest(at: Floats, weights: Floats) -> Floats:
    """The law of the clearest level that any key reaches; keys are independent."""
    with np.errstate(divide="ignore"):
        all_done = np.exp(np.log(np.clip(np.cumsum(at, axis=0), 0.0, 1.0)) @ weights)
    all_done[-1] = 1.0
    return np.diff(all_done, prepend=0.0)


def _least_entropy(prices: Floats, counts: Floats) -> float:
    """The normalised min-entropy of so many keys at each price, rounded so that they add up."""
    whole = np.diff(np.round(np.cumsum(counts)), prepend=0.0).astype(np.int64)
    keys = int(whole.sum())
    if keys < 2:
        return 0.0
    some = np.flatnonzero(whole > 0)[::-1]  # falling prices
    found = search_nested(interval_ends(prices[some], np.ones(len(some)), whole[some]), NODES)
    return float(min(max(found.best / math.log(keys), 0.0), 1.0))


def explain(table: Table, objective: str) -> str:
    """The table in words and columns, the choice marked: what `--explain` prints."""
    chosen = table.best(objective)
    heads = ("strategy", "levels", "worst", "mean", "entropy", "false alarms", "of them far", "misses")
    lines = [heads, *(_line(each) for each in table.named(objective))]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    marks = ["  ", *("* " if each.levels == chosen.levels else "  " for each in table.candidates)]
    rows = [
        mark
        + "  ".join(
            cell.ljust(width) if not column else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for mark, line in zip(marks, lines, strict=True)
    ]
    aims = {WORST: "the least worst price", MEAN: "the least mean price", ENTROPY: "the largest min-entropy"}
    return "\n".join(
        [
            f"Reckoned for {table.keys:,} keys; {table.source}.",
            *rows,
            f"* {chosen.strategy}: {aims[objective]}. All keep the same promise.",
            "Worst is the price that is reserved, mean what keys are expected to be charged. Entropy says how unsure",
            "whoever sees the charges must remain about which key a record belongs to: 1 is not knowing at all.",
            "False alarms and misses are expected numbers of keys; far ones are beyond the slack."
            if chosen.misses is not None
            else "How many false alarms and misses to expect is not reckoned for several comparisons.",
        ]
    )


def _line(each: Candidate) -> Sequence[str]:
    return (
        each.strategy,
        str(each.levels),
        up(each.worst),
        f"{each.mean:.4f}",
        f"{each.min_entropy:.4f}",
        *("-" if keys is None else f"{keys:.2f}" for keys in (each.false_alarms, each.far_alarms, each.misses)),
    )
