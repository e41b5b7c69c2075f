"""Sums of real values cut off at a private threshold: how much better than a binary tree with the bound, and how fast.

Run: script/bench stream_real
     script/bench stream_real FILE COLUMN BOUND STEP    for a column of a CSV or Parquet file, in order

The improvement factor is the error of a plain binary tree whose noise is for the bound, over the error here, after the
lag: once on the largest error of a run, averaged over runs, once on the root mean square.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import duckdb
import numpy as np
from numpy.typing import NDArray

from bench.clock import seconds
from louver.noise.grid import Grid
from louver.stream.smooth_sensitivity import smooth_sensitivity
from louver.stream.truncated import COUNTINGS, TruncatedSum

TICKS, LAG = 250_000, 50_000
RUNS = 40
MOST_TICKS = 10_000_000
STEPS = 16
WAYS = {
    "smooth, binary": {"threshold": "smooth", "counting": "binary"},
    "penalised, binary": {"counting": "binary"},
    "penalised, tree": {"counting": "tree"},
    "penalised, k-ary": {"counting": "kary"},
    "penalised, signed": {"counting": "signed"},
}
# What published algorithms reach: PAK with r = 1 and ToPS with a binary tree, and ToPS with signed 19-ary sums.
KNOWN = {
    ("Exp(20), bound 1440", 1.0): {"smooth, binary": 3.3, "penalised, binary": 8.9, "penalised, signed": 20.5},
    ("Exp(20), bound 1440", 0.2): {"smooth, binary": 1.0, "penalised, binary": 11.1, "penalised, signed": 25.7},
    ("LogN(3, 0.8), bound 3000", 1.0): {"smooth, binary": 4.0, "penalised, binary": 10.4, "penalised, signed": 20.0},
    ("LogN(3, 0.8), bound 3000", 0.2): {"smooth, binary": 1.0, "penalised, binary": 15.3, "penalised, signed": 27.8},
}
DICE = np.random.default_rng(1)
STREAMS: dict[str, tuple[int, Callable[[], NDArray[np.float64]]]] = {
    "Exp(20), bound 1440": (1440, lambda: DICE.exponential(20, TICKS)),
    "LogN(3, 0.8), bound 3000": (3000, lambda: DICE.lognormal(3, 0.8, TICKS)),
}


@dataclass
class Errors:
    """Of some runs: the largest error of each, its mean square, and the threshold."""

    largest: list[float]
    square: list[float]
    threshold: list[float]

    def add(self, error: NDArray[np.float64], threshold: float) -> None:
        self.largest.append(float(np.abs(error).max()))
        self.square.append(float(np.mean(error**2)))
        self.threshold.append(threshold)


def factor(over: list[float], under: list[float], power: float) -> tuple[float, float]:
    """The ratio of two means, to some power, and its standard error by leaving out one run at a time."""
    a, b = np.array(over), np.array(under)
    runs = len(a)
    left = [((a.sum() - x) / (b.sum() - y)) ** power for x, y in zip(a, b, strict=True)]
    return float((a.sum() / b.sum()) ** power), float(np.sqrt((runs - 1) * np.var(left)))


def compare(
    name: str, made: Callable[[], NDArray[np.int64]], high: int, steps: float, epsilon: float, runs: int
) -> None:
    found = {way: Errors([], [], []) for way in ["bound", *WAYS]}
    for _ in range(runs):
        values = made()
        truth = values.cumsum()
        horizon = len(values)
        lag = min(LAG, horizon // 5) if horizon != TICKS else LAG
        plain = COUNTINGS["binary"](horizon, epsilon=epsilon, sensitivity=high, high=high)
        found["bound"].add((plain.run(values) - truth)[lag:].astype(np.float64), high / steps)
        for way, given in WAYS.items():
            stream = TruncatedSum(epsilon, high, horizon, lag=lag, **given)  # type: ignore[arg-type]
            error = (stream.run(values) - truth)[lag:]
            assert stream.thresholds is not None
            found[way].add(error, stream.thresholds[0] / steps)
    for way in WAYS:
        by_largest = factor(found["bound"].largest, found[way].largest, 1)
        by_square = factor(found["bound"].square, found[way].square, 0.5)
        known = KNOWN.get((name, epsilon), {}).get(way)
        print(
            f"{name:26} {epsilon:>4} {way:18} {np.mean(found[way].threshold):>9.1f}"
            f" {by_largest[0]:>8.1f} +-{by_largest[1]:>5.2f} {by_square[0]:>8.1f} +-{by_square[1]:>5.2f}"
            f" {'' if known is None else f'{known:.1f}':>9}"
        )


def heading(runs: int) -> None:
    print(f"Improvement factor over a binary tree with the bound, {runs} runs")
    print(
        f"{'stream':26} {'eps':>4} {'threshold, sums':18} {'threshold':>9} {'on largest':>16} {'on rms':>16}"
        f" {'known':>9}"
    )


def from_file(path: str, column: str, bound: str, step: str) -> None:
    with duckdb.connect() as engine:
        engine.execute(f"SELECT \"{column}\" FROM '{path}'")  # noqa: S608
        rows = engine.fetchnumpy()[column]
    grid = Grid(0, Fraction(bound), Fraction(step))
    values = grid.quantise(np.ma.filled(rows.astype(np.float64), np.nan))
    runs = max(4, min(RUNS, MOST_TICKS // len(values)))
    print("The paper has 3.5 on train trips (bound 24 hours) and 9 on supermarket bills (bound 3000), neither public.")
    heading(runs)
    for epsilon in (1.0, 0.2):
        compare(f"{column}, {len(values):,}", lambda: values, grid.highest, float(1 / grid.step), epsilon, runs)


def in_steps(drawn: Callable[[], NDArray[np.float64]]) -> NDArray[np.int64]:
    return np.rint(drawn() * STEPS).astype(np.int64)


def run(values: NDArray[np.int64], high: int, given: dict[str, str]) -> None:
    TruncatedSum(1, high, TICKS, lag=LAG, **given).run(values)  # type: ignore[arg-type]


def speed() -> None:
    values = np.rint(DICE.exponential(20 * STEPS, TICKS)).astype(np.int64)
    ordered = np.sort(values[:LAG])
    high = 1440 * STEPS
    floor = seconds(lambda: np.cumsum(values + DICE.laplace(0, 1, TICKS)), 3)
    print(f"\n{TICKS:,} ticks: numpy laplace and cumsum {floor * 1000:.1f} ms")
    for way, given in WAYS.items():
        taken = seconds(partial(run, values, high, given), 3)
        print(
            f"{way:18} {taken * 1000:>8.1f} ms, {taken / floor:>5.1f} times, {TICKS / taken / 1e6:.1f} million a second"
        )
    sorting = seconds(lambda: np.sort(values[:LAG]), 3)
    taken = seconds(lambda: smooth_sensitivity(ordered, 49_750, high, 0.0157), 3)
    print(f"smooth sensitivity of {LAG:,} sorted values {taken * 1000:.2f} ms, sorting them {sorting * 1000:.2f} ms")


def main() -> None:
    given = sys.argv[1:]
    if given:
        from_file(*given)
        return
    heading(RUNS)
    for name, (bound, drawn) in STREAMS.items():
        made = partial(in_steps, drawn)
        for epsilon in (1.0, 0.2):
            compare(name, made, bound * STEPS, STEPS, epsilon, RUNS)
    speed()


if __name__ == "__main__":
    main()
