"""What the strategies cost: published and Louver's own, at equal promises.

Run: python bench/strategies.py [keys]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bench.clock import seconds
from louver.decide.adaptive import next_level
from louver.decide.choose import Table, estimate
from louver.decide.mim_cost import (
    Known,
    mim_choose,
    mim_false_alarms_baseline,
    mim_false_alarms_progressive,
)
from louver.decide.objectives import MEAN
from louver.decide.published import dppwlm, mim_baseline, mim_progressive, ppwlm
from louver.decide.sparse import sparse_test
from louver.decide.spread import Margins, edges, guessed, private_margins
from louver.decide.stopping import stops
from louver.noise import levels
from louver.privacy import LevelGrid, grid_levels, min_entropy, one_shot, predict_gradual

Whole: TypeAlias = NDArray[np.int64]
Rule: TypeAlias = Callable[[LevelGrid, int, Whole, Whole], int]
RATE = Fraction(1, 20)
ROUNDS = 20
LOOKS = (Fraction(1, 200), Fraction(1, 50))


def every_level(_grid: LevelGrid, level: int, _seen: Whole, _stopped: Whole) -> int:
    return level + 1


def skipping(grid: LevelGrid, level: int, seen: Whole, _stopped: Whole) -> int:
    return next_level(grid, level, seen)


def one_ahead(grid: LevelGrid, level: int, seen: Whole, stopped: Whole) -> int:
    """The thesis' rule on a grid: what stays open after the next level is taken to pay the last."""
    prices, last = prices_of(grid), len(grid.levels) - 1
    best, found = -1.0, last
    for candidate in range(level + 1, last + 1):
        eliminated, accepted = grid.limits(candidate)
        staying = predict_gradual(seen, grid.levels[level], grid.levels[candidate], eliminated + 0.5, accepted - 0.5)
        left = 0 if candidate == last else round(float(staying.sum()))
        guess = np.repeat([prices[candidate], prices[last]], [len(seen) - left, left])
        value = min_entropy(np.concatenate((guess, prices[stopped]))).value
        if value >= best:
            best, found = value, candidate
    return found


def prices_of(grid: LevelGrid) -> NDArray[np.float64]:
    return np.array([float(level) for level in grid.levels])


def run(grid: LevelGrid, margins: Whole, chains: Whole, rule: Rule) -> tuple[Whole, int]:
    """The level at which each key stops, and how many levels were taken."""
    last = len(grid.levels) - 1
    stopped, is_open = np.full(len(margins), last), np.ones(len(margins), dtype=np.bool_)
    level, looks = 0, 0
    while True:
        looks += 1
        eliminated, accepted = grid.limits(level)
        seen = margins + chains[level]
        decided = is_open & ((seen <= eliminated) | (seen >= accepted))
        stopped[decided] = level
        is_open &= ~decided
        if level == last or not is_open.any():
            return stopped, looks
        level = rule(grid, level, seen[is_open], stopped[~is_open])


def spreads(keys: int) -> list[tuple[str, Callable[[np.random.Generator], Whole]]]:
    return [
        ("uniform within 100", lambda dice: dice.integers(-100, 101, keys)),
        ("uniform within 400", lambda dice: dice.integers(-400, 401, keys)),
        ("uniform within 2000", lambda dice: dice.integers(-2000, 2001, keys)),
        ("geometric, mean -50", lambda dice: dice.geometric(1 / 50, keys) - 100),
        (
            "two heaps, -250 and 40",
            lambda dice: np.where(
                dice.random(keys) < 0.8, dice.integers(-300, -200, keys), dice.integers(20, 60, keys)
            ),
        ),
        ("uniform within 20", lambda dice: dice.integers(-20, 21, keys)),
    ]


def rules(keys: int) -> None:
    print(f"Which level next: {keys} keys, miss rate 0.05, slack 10, 7 levels; mean price, min-entropy, looks")
    print(f"{'margins':24} {'every level':>24} {'skip empty ones':>24} {'thesis, one ahead':>24}")
    grid = grid_levels(RATE, 10)
    prices = prices_of(grid)
    for name, draw in spreads(keys):
        dice = np.random.default_rng(1)
        found: dict[Rule, list[tuple[float, float, int]]] = {every_level: [], skipping: [], one_ahead: []}
        for _ in range(ROUNDS):
            margins, chains = draw(dice), levels(grid.levels, keys)
            for rule, kept in found.items():
                stopped, looks = run(grid, margins, chains, rule)
                paid = prices[stopped]
                kept.append((float(paid.mean()), min_entropy(paid).normalised, looks))
        cells = [np.mean(kept, axis=0) for kept in found.values()]
        print(f"{name:24} " + " ".join(f"{mean:>9.4f} {kept:>7.4f} {looks:>6.1f}" for mean, kept, looks in cells))


def few_keys() -> None:
    print("\nLooks taken, margins uniform within 100, slack 10: every level, and skipping empty ones")
    grid, dice = grid_levels(RATE, 10), np.random.default_rng(4)
    for keys in (1, 3, 10, 24):
        taken = []
        for _ in range(10 * ROUNDS):
            margins, chains = dice.integers(-100, 101, keys), levels(grid.levels, keys)
            taken.append([run(grid, margins, chains, rule)[1] for rule in (every_level, skipping)])
        every, some = np.mean(taken, axis=0)
        print(f"{keys:>8} keys {every:>6.1f} {some:>6.1f}")


def private_looks() -> None:
    print("\nWhat a private look saves, slack 21: mean price above the best choice's after a look of some rate")
    columns = ["always one look", "always 10 levels", *(f"rate {rate}" for rate in LOOKS)]
    print(f"{'margins':20} {'keys':>6} " + " ".join(f"{column:>16}" for column in columns))
    cuts, dice = edges(grid_levels(RATE, 21)), np.random.default_rng(5)
    for name, low, high in (("-25 to 10", -25, 10), ("within 60", -60, 60), ("within 400", -400, 400)):
        for keys in (200, 1000, 5000):
            rows = []
            for _ in range(ROUNDS // 2):
                margins = dice.integers(low, high + 1, keys)
                values, counts = np.unique(margins, return_counts=True)
                truth = table_of(Margins(dict(zip(values.tolist(), counts.tolist(), strict=True))))
                picks = [1, 10, *(table_of(private_margins(margins, cuts, rate)).best(MEAN).levels for rate in LOOKS)]
                rows.append([truth.candidates[levels - 1].mean - truth.best(MEAN).mean for levels in picks])
            print(f"{name:20} {keys:>6} " + " ".join(f"{regret:>16.4f}" for regret in np.mean(rows, axis=0)))


def table_of(known: Margins) -> Table:
    return estimate(known, miss_rate=RATE, slack=21)


def schedules() -> None:
    print("\nMean price, counts uniform around the threshold, miss and false-alarm rate 0.05, slack 21 (alpha 10)")
    print(f"{'within':>8} {'PPWLM, m=4':>12} {'grid, 7 levels':>16} {'saved':>7} {'one look':>10}")
    grid, last = grid_levels(RATE, 21), math.log(4 / (2 * RATE)) / 10
    for reach in (100, 400, 2000):
        counts = np.random.default_rng(2).uniform(-reach, reach, 1_000_000)
        published = ppwlm(counts, 0, beta=RATE, alpha=10, first_epsilon=last / 64, steps=4).epsilon.mean()
        ours = float((prices_of(grid) @ stops(grid, np.arange(-reach, reach + 1)).at).mean())
        look = float(one_shot(RATE, 21).epsilon)
        print(f"{reach:>8} {published:>12.4f} {ours:>16.4f} {1 - ours / published:>7.0%} {look:>10.4f}")


def broken_promise() -> None:
    print("\nDPPWLM, 200 counts just above their threshold, promised miss rate 0.05")
    for steps in (2, 4):
        missed = [
            1 - dppwlm(np.full(200, 1e-9), 0, beta=RATE, alpha=1, first_epsilon=1e-5, steps=steps, fine_steps=3).flagged
            for _ in range(500)
        ]
        rate = float(np.mean(missed))
        print(f"m = {steps}: missed {rate:.4f}, standard error {math.sqrt(rate * (1 - rate) / 100_000):.4f}")


def mim_table() -> None:
    print("\nMiM, table 1, false alarms with counts at x1 and x2: drawn (and as its model has them)")
    print(f"{'data':>5} {'epsilon':>8} {'baseline':>18} {'two steps':>18}")
    table = {"D1": Known(240, 10, 28, 25, 100), "D2": Known(300, 10, 60, 40, 100), "D3": Known(400, 10, 103, 40, 100)}
    for name, known in table.items():
        counts = np.tile(np.repeat([known.x1, known.x2], [int(known.h1), int(known.h2)]), 1000)
        for epsilon in (0.05, 0.08, 0.1):
            _, first = mim_choose(known, epsilon, RATE)
            assert first is not None
            look = mim_baseline(counts, known.c, beta=RATE, epsilon=epsilon).flagged.sum() / 1000
            steps = mim_progressive(counts, known.c, epsilons=[first, epsilon], betas=[RATE / 2, RATE / 2])
            model = mim_false_alarms_baseline(known, epsilon, RATE)
            stepped = mim_false_alarms_progressive(known, first, epsilon, RATE)
            drawn = steps.flagged.sum() / 1000
            print(f"{name:>5} {epsilon:>8} {look:>8.2f} ({model:>7.2f}) {drawn:>8.2f} ({stepped:>7.2f})")


def standing() -> None:
    print("\nA standing question, slack 21: price for one unit that touches so many comparisons")
    print(f"{'touched':>8} {'one look each':>14} {'sparse, 1 alarm':>16} {'5 alarms':>9} {'5, none raised':>15}")
    single, few = (sparse_test(RATE, 21, alarms=alarms, monotone=True) for alarms in (1, 5))
    for touched in (1, 3, 8, 24, 720):
        look = float(touched * one_shot(RATE, 21).epsilon)
        sparse = f"{float(single.epsilon):>16.3f} {float(few.epsilon):>9.3f} {float(few.charge(0)):>15.3f}"
        print(f"{touched:>8} {look:>14.3f} {sparse}")


def speed() -> None:
    grid = grid_levels(RATE, 21)
    seen = np.random.default_rng(3).integers(-1000, 1001, 100_000)
    floor = seconds(lambda: np.sort(seen))
    taken = seconds(lambda: next_level(grid, 0, seen))
    print(f"\nnext level for 100,000 keys: {taken * 1000:.1f} ms, {taken / floor:.1f} times sorting them")
    grid_time = seconds(lambda: grid_levels(RATE, 21, levels=10))
    table = seconds(lambda: estimate(guessed(1000, 400), miss_rate=RATE, slack=21))
    print(f"table of 10 candidates: {table * 1000:.0f} ms, {table / grid_time:.1f} times one exact grid of 10 levels")


def main(keys: int = 400) -> None:
    rules(keys)
    few_keys()
    private_looks()
    schedules()
    broken_promise()
    mim_table()
    standing()
    speed()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
