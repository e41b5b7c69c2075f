"""Tables with exact totals: the figures of the notes beside ours, bias beside top-down rounding, and speed.

`python -m bench.tables [FILE]`: FILE is a Parquet file of counties with columns state and births_2019; without it
invented counties of the same shape stand in. Speeds are beside numpy's floating-point Laplace, which is not private.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.clock import seconds
from louver.errors import LouverError
from louver.table import CrossedTable, Gaussian, Invariants, Laplace, WholeTable

RUNS = 400
EPSILONS = (Fraction(1, 10), Fraction(1, 40))
COUNTIES, STATES = 3142, 51
SHOWN = "Illinois"  # the state of the talk's plot


def main() -> None:
    figures()
    values, states = counties(sys.argv[1] if len(sys.argv) > 1 else None)
    for epsilon in EPSILONS:
        bias(values, states, epsilon)
    speed(states)
    crossed()


def figures() -> None:
    print(f"{'figure':58} {'notes':>9} {'ours':>9} {'s.e.':>8}")
    draws = 1_000_000
    for cells, rate, variance, still in ((3, Fraction(1), 0.66123, 0.47937), (4, Fraction(6, 5), 0.55501, 0.39750)):
        noise = WholeTable(Invariants.total(cells), epsilon=2 * rate).draw(draws)
        squares = noise[:, 0].astype(float) ** 2
        row(f"Var(v1), {cells} cells, rate {float(rate):g}", variance, squares.mean(), squares.std() / math.sqrt(draws))
        zero = (~noise.any(axis=1)).mean()
        row(f"P(v = 0), {cells} cells, rate {float(rate):g}", still, zero, math.sqrt(still * (1 - still) / draws))
    for cells in (2, 64):
        total = Invariants.total(cells)
        ours = [
            Gaussian(total, Fraction(1, 2), neighbours="presence", way=way).variances()[0]
            for way in ("extension", "projection")
        ]
        row(f"Gaussian variance, extension, {cells} cells", (1 - 1 / cells) ** 2, ours[0], 0)
        row(f"Gaussian variance, projection, {cells} cells", 1 - 1 / cells, ours[1], 0)
    print(
        "\nVariance of a cell with Laplace noise, epsilon 1 for a moved record, and for a present one on a fine grid:"
    )
    print(f"{'cells':>8} {'moved: projected':>18} {'conditioned':>12} {'present: projected':>20} {'conditioned':>12}")
    for cells in (2, 3, 4, 10, 64):
        total = Invariants.total(cells)
        moved = WholeTable(total, epsilon=1).draw(200_000)
        # One record's part in the null space is 2 (1 - 1/n) long, on the grid of 1/n that holds it.
        rate = 1 / (2 * (1 - Fraction(1, cells)))
        present = WholeTable(total, epsilon=2 * rate / cells).draw(200_000) / cells
        print(
            f"{cells:8} {Laplace(total, 1).variances()[0]:18.3f} {moved.var():12.3f} "
            f"{Laplace(total, 1, neighbours='presence').variances()[0]:20.3f} {present.var():12.3f}"
        )


def row(name: str, stated: float, ours: float, error: float) -> None:
    print(f"{name:58} {stated:9.5f} {ours:9.5f} {error:8.5f}")


def counties(path: str | None) -> tuple[NDArray[np.int64], NDArray[Any]]:
    if path is not None:
        import duckdb

        query = "SELECT births_2019, state FROM read_parquet(?) ORDER BY state"
        values, states = map(np.array, zip(*duckdb.execute(query, [path]).fetchall(), strict=True))
        return values.astype(np.int64), states
    generator = np.random.default_rng(1)
    numbers = np.sort(np.concatenate((np.arange(STATES), generator.integers(0, STATES, COUNTIES - STATES))))
    names = np.array([f"invented state {number}" for number in numbers])
    return np.exp(generator.normal(5.7, 1.5, COUNTIES)).astype(np.int64), names


def bias(values: NDArray[np.int64], states: NDArray[Any], epsilon: Fraction) -> None:
    """Mean errors of counties by size, as the talk's plot shows them: ours, and projection with rounding."""
    invariants = Invariants.groups(states.tolist(), name="the state totals")
    mechanism = WholeTable(invariants, epsilon=epsilon)
    free = Laplace(invariants, epsilon)
    ours, theirs = np.empty((RUNS, len(values))), np.empty((RUNS, len(values)))
    for run in range(RUNS):
        release = mechanism.release(values)
        assert (invariants.of(release) == invariants.of(values)).all()
        ours[run] = release - values
        theirs[run] = top_down(values + free._noise(1)[0], invariants, invariants.of(values)) - values
    by_size = np.argsort(values, kind="stable")
    one_state = SHOWN if SHOWN in states else states[0]
    for name, order, parts in (("all states", by_size, 10), (one_state, by_size[states[by_size] == one_state], 5)):
        print(
            f"\nMean error by size, counties of {name}, epsilon {float(epsilon)}, {RUNS} releases, state totals exact:"
        )
        by_part(values, ours, theirs, np.array_split(order, parts))
    print(f"root mean square error: ours {np.sqrt((ours**2).mean()):.2f}, top-down {np.sqrt((theirs**2).mean()):.2f}")


def by_part(
    values: NDArray[np.int64], ours: NDArray[Any], theirs: NDArray[Any], parts: list[NDArray[np.int64]]
) -> None:
    print(f"{'smallest':>9} {'largest':>9} {'ours':>9} {'s.e.':>7} {'top-down':>9} {'s.e.':>7}")
    for part in parts:
        shown = []
        for errors in (ours, theirs):
            means = errors[:, part].mean(axis=1)
            shown += [means.mean(), means.std() / math.sqrt(RUNS)]
        print(
            f"{values[part].min():9,} {values[part].max():9,} "
            f"{shown[0]:9.3f} {shown[1]:7.3f} {shown[2]:9.3f} {shown[3]:7.3f}"
        )


def top_down(noisy: NDArray[np.int64], invariants: Invariants, totals: NDArray[Any]) -> NDArray[np.int64]:
    """The nearest table without negative counts that has the totals, rounded to whole numbers by largest remainder.

    One level of what a census does in several; its smallest cells are far smaller than a county.
    """
    result = np.empty(len(noisy), dtype=np.int64)
    for group, total in enumerate(totals.tolist()):
        cells = np.flatnonzero(invariants.group_of == group)
        falling = np.sort(noisy[cells])[::-1].astype(float)
        shifts = (np.cumsum(falling) - total) / np.arange(1, len(cells) + 1)
        shift = shifts[np.flatnonzero(falling > shifts)[-1]] if total else falling[0]
        real = np.maximum(noisy[cells] - shift, 0)
        whole = np.floor(real).astype(np.int64)
        left = total - int(whole.sum())
        whole[np.argsort(whole - real, kind="stable")[:left]] += 1
        result[cells] = whole
    return result


def speed(states: NDArray[Any]) -> None:
    generator = np.random.default_rng()
    table = np.full(COUNTIES, 1000)
    groups = Invariants.groups(states.tolist(), name="the state totals")
    wide = Invariants.total(10_000)
    lines: list[tuple[str, int, Callable[[], object]]] = [
        (
            f"{COUNTIES} counties, {STATES} totals, Laplace, whole",
            COUNTIES,
            one(WholeTable(groups, epsilon=0.5), table),
        ),
        (
            f"{COUNTIES} counties, {STATES} totals, Gaussian, whole",
            COUNTIES,
            one(WholeTable(groups, rho=0.1, noise="gaussian"), table),
        ),
        (f"{COUNTIES} counties, {STATES} totals, Gaussian, extension", COUNTIES, one(Gaussian(groups, 0.1), table)),
        ("10,000 cells, one total, Laplace, whole", 10_000, one(WholeTable(wide, epsilon=0.5), np.zeros(10_000, int))),
    ]
    lines += [
        (
            f"{cells} cells, one total, Laplace, whole",
            cells,
            one(WholeTable(Invariants.total(cells), epsilon=1), np.zeros(cells, int)),
        )
        for cells in (4, 64, 1024)
    ]
    print(f"\n{'a release of':58} {'ms':>9} {'of numpy':>9}")
    for name, cells, work in lines:
        floor = seconds(lambda cells=cells: generator.laplace(size=cells), repeats=50)  # type: ignore[misc]
        took = seconds(work, repeats=10)
        print(f"{name:58} {took * 1e3:9.3f} {took / floor:9.0f}")


def crossed() -> None:
    """Both margins exact: the same price by completion and by a mixture of Gaussians; and Gaussian noise, any size."""
    generator = np.random.default_rng()
    print("\nBoth margins of n x n cells exact, two records move, epsilon 1; Gaussian: rho 0.01, all in ms:")
    heads = f"{'n':>4} {'make':>8} {'release':>8} {'of numpy':>9} {'variance':>9} {'s.e.':>6}"
    print(f"{heads} {'completed':>10} {'variance':>9}")
    for size in (3, 4, 5, 10, 14):
        margins = two_way(size)
        make = seconds(lambda margins=margins: CrossedTable(margins, epsilon=1, moved=2), repeats=1)  # type: ignore[misc]
        mixed = CrossedTable(margins, epsilon=1, moved=2)
        draws = 2000 if size < 10 else 40
        took = seconds(lambda mixed=mixed, draws=draws: mixed.draw(draws), repeats=1) / draws  # type: ignore[misc]
        floor = seconds(lambda size=size: generator.laplace(size=size * size), repeats=50)  # type: ignore[misc]
        variance, error = spread(mixed.draw(draws))
        line = f"{size:4} {make * 1e3:8.0f} {took * 1e3:8.1f} {took / floor:9.0f} {variance:9.2f} {error:6.2f} "
        if size < 10:
            whole = WholeTable(margins, epsilon=1, moved=2)
            again = seconds(lambda whole=whole: whole.draw(2000), repeats=1) / 2000  # type: ignore[misc]
            line += f"{again * 1e3:10.1f} {spread(whole.draw(2000))[0]:9.2f}"
        else:
            refused = seconds(lambda margins=margins: refusal(margins), repeats=1)  # type: ignore[misc]
            line += f"{'refused in':>10} {refused * 1e3:9.1f}"
        print(line)
    for size in (10, 20, 30):
        margins = two_way(size)
        make = seconds(lambda margins=margins: gaussian(margins), repeats=1)  # type: ignore[misc]
        table = gaussian(margins)
        took = seconds(lambda table=table: table.draw(1), repeats=2)  # type: ignore[misc]
        floor = seconds(lambda size=size: generator.laplace(size=size * size), repeats=50)  # type: ignore[misc]
        variance, error = spread(table.draw(5))
        stated = float(table.parameter) * (1 - 1 / size) ** 2
        line = f"{size:4} {make * 1e3:8.0f} {took * 1e3:8.1f} {took / floor:9.0f} {variance:9.2f} {error:6.2f} "
        print(f"{line} Gaussian: {stated:.2f} meant")


def two_way(size: int) -> Invariants:
    """Row and column totals, all but the last column's, which follows."""
    eye, ones = np.eye(size, dtype=np.int64), np.ones(size, dtype=np.int64)
    return Invariants(np.concatenate([np.kron(eye, ones), np.kron(ones, eye)[:-1]]), name="the margins")


def spread(draws: NDArray[np.int64]) -> tuple[float, float]:
    """The variance of a cell, over all cells, and its standard error."""
    squares = (draws.astype(float) ** 2).mean(axis=1)
    return float(squares.mean()), float(squares.std() / math.sqrt(len(draws)))


def gaussian(margins: Invariants) -> WholeTable:
    return WholeTable(margins, rho=Fraction(1, 100), noise="gaussian", moved=2)


def refusal(margins: Invariants) -> None:
    with contextlib.suppress(LouverError):
        WholeTable(margins, epsilon=1, moved=2)


def one(mechanism: WholeTable | Gaussian, table: NDArray[np.int64]) -> Callable[[], object]:
    return lambda: mechanism.release(table)


if __name__ == "__main__":
    main()
