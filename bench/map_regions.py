"""How honest a map's errors are where readings lie in clusters: of regions that cut cells, and of flagged cells.

Regions: counts and averages of random boxes against what really lies in them, as root mean squares, in stated errors
and in noise alone. Above 1 a stated error would be too small. Flags: a town of phones, quiet but for two hot spots;
which cells a best guess flags, and which are clearly above.

`python -m bench.map_regions [RUNS]`
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from louver.space.bounds import Bounds
from louver.space.cut import Cut
from louver.space.decomposition import Decomposition
from louver.space.field import Field
from louver.space.judged import Numbers
from louver.space.regions import region
from louver.space.structure import Structure

Floats = NDArray[np.float64]
Generator = np.random.Generator
SIDE, READINGS, BOXES = 100.0, 20_000, 12


def evenly(draw: Generator, size: int) -> Floats:
    return draw.uniform(0, SIDE, (2, size))


def one_cluster(draw: Generator, size: int) -> Floats:
    """60% around the centre."""
    places, inside = draw.uniform(0, SIDE, (2, size)), size * 6 // 10
    places[:, :inside] = [draw.normal(50, 10, inside), draw.normal(50, 8, inside)]
    return places


def towns(draw: Generator, size: int) -> Floats:
    """40 of all sizes."""
    centres, shares = draw.uniform(5, 95, (40, 2)), draw.dirichlet(np.full(40, 0.5))
    return np.asarray((centres[draw.choice(40, size, p=shares)] + draw.normal(0, 2.5, (size, 2))).T)


def spots(draw: Generator, size: int) -> Floats:
    """200 stations."""
    return np.asarray(draw.uniform(0, SIDE, (200, 2))[draw.integers(0, 200, size)].T)


def scores(structure: Structure, spread: Callable[[Generator, int], Floats], runs: int) -> Floats:
    """For each box: the count's and the average's distance from the truth, in errors and in noise alone."""
    draw, found = np.random.default_rng(3), []
    for _ in range(runs):
        x, y = spread(draw, READINGS)
        inside = (x >= 0) & (x <= SIDE) & (y >= 0) & (y <= SIDE)
        x, y = x[inside], y[inside]
        a, b = draw.uniform(20, 80, 2)
        values = np.clip(20 + 80 * np.exp(-((x - a) ** 2 + (y - b) ** 2) / 800) + draw.normal(0, 4, len(x)), 0, 100)
        released = structure.release(Field.of(x, y, values, (0, 0, SIDE, SIDE), high=100, atoms=256))
        for _ in range(BOXES):
            wide, high = draw.uniform(8, 60, 2)
            west, south = draw.uniform(0, SIDE - wide), draw.uniform(0, SIDE - high)
            within = (x >= west) & (x < west + wide) & (y >= south) & (y < south + high)
            told = region(released, (west, south, west + wide, south + high))
            if within.sum() < 20 or not math.isfinite(told.average.error):
                continue
            count, average = told.count.value - within.sum(), told.average.value - values[within].mean()
            found.append(
                [
                    count / told.count.error,
                    count / told.count.noise,
                    average / told.average.error,
                    average / told.average.noise,
                ]
            )
    return np.array(found)


def regions(runs: int) -> None:
    print("regions: root mean squares in stated errors (in noise alone), boxes that hold a whole cell")
    print(f"{'':14} {'cut, count':>16} {'cut, average':>16} {'tree, count':>16} {'tree, average':>16}   boxes")
    for spread in (evenly, one_cluster, towns, spots):
        shown, boxes = [], []
        for structure in (Cut(1), Decomposition(1, centred=True)):
            found = scores(structure, spread, runs)
            count, count_noise, average, average_noise = np.sqrt((found**2).mean(axis=0))
            shown += [f"{count:.2f} ({count_noise:.2f})", f"{average:.2f} ({average_noise:.2f})"]
            boxes.append(len(found))
        print(f"{spread.__name__:14}", *(f"{each:>16}" for each in shown), "  ", *boxes)


def phones(draw: Generator) -> Field:
    """6,000 noise levels of 2,000 phones, 60% of them in the centre of a city: 50 dB but for two hot spots."""
    area = Bounds(13.2, 52.42, 13.6, 52.62, degrees=True)
    x, y = draw.uniform(area.west, area.east, 6000), draw.uniform(area.south, area.north, 6000)
    x[:3600], y[:3600] = draw.normal(13.4, 0.03, 3600), draw.normal(52.52, 0.018, 3600)
    level = np.full(6000, 50.0)
    for a, b, loud in ((13.4, 52.52, 25), (13.33, 52.5, 18)):
        level += loud * np.exp(-(((x - a) / 0.02) ** 2) - ((y - b) / 0.012) ** 2)
    return Field.of(x, y, level + draw.normal(0, 3, 6000), area, low=30, high=110, atoms=256)


def flags(runs: int) -> None:
    print("\nflags: cells above 60 in a town of phones, means over maps, and how many of them are truly above")
    heads = ("guessed", "clearly above", "maybe", "below", "unknown")
    print(f"{'':22} {'cells':>6} {'true':>6}", *(f"{head:>14}" for head in heads))
    field = phones(np.random.default_rng(11))
    for epsilon in (Fraction(1, 3), Fraction(1)):
        for rate in (Fraction(1, 20), Fraction(1, 100)):
            found = []
            for _ in range(runs):
                released = Cut(epsilon).release(field)
                numbers = Numbers.of_leaves(released)
                judged = numbers.judge(60, miss_rate=rate)
                counts, sums = field.totals(released.rectangles[released.tree.leaves])
                truth = 30 * counts + float(field.values.step) * sums > 60 * counts
                kinds = (
                    judged.known & (judged.probabilities > 0.5),
                    judged.above,
                    judged.maybe,
                    judged.below,
                    ~judged.known,
                )
                line = [len(truth), truth.sum()]
                for kind in kinds:
                    line += [kind.sum(), (kind & truth).sum()]
                found.append(line)
            means = np.mean(found, axis=0)
            pairs = [f"{means[at]:.2f} ({means[at + 1]:.2f})" for at in range(2, len(means), 2)]
            head = f"epsilon {float(epsilon):.2f}, rate {float(rate):.2f}"
            print(f"{head:22} {means[0]:6.1f} {means[1]:6.2f}", *(f"{each:>14}" for each in pairs))


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    regions(runs)
    flags(4 * runs)


if __name__ == "__main__":
    main()
