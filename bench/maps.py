"""How well threshold maps find a region, beside the figures of prototypes, and how fast they are built.

Readings are spread evenly over 100 x 100 with values 20 + 80 exp(-d^2/800) around a random point, 15 or more from the
edge; the other field is a rotated ellipse with noise in each reading. The heatmap has 50 x 50 cells and the threshold
is 80; a figure is Jaccard's index against the cells' true averages. The prototypes read a cell at its centre and took
no leaf for empty, so we do so here, and once more by overlap. The last three columns have no figures: centred sums,
read by their means, as maps are by default.

What the prototypes did not write down was inferred from their figures: the distance from the edge, that a cell is read
at its centre, and that the truth is that of the readings. The ellipse's size and noise are ours.

`python -m bench.maps [RUNS [FILE.parquet]]`; the file, if given, has columns time, lat, lon and pm25.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bench.clock import seconds
from louver.noise import Bits
from louver.noise.bits import SYSTEM
from louver.space.adaptive import Adaptive
from louver.space.bounds import Bounds
from louver.space.cut import Cut, count_share_for
from louver.space.decomposition import Decomposition
from louver.space.field import Field
from louver.space.metrics import jaccard
from louver.space.recipient import heatmap, posterior
from louver.space.released import Map
from louver.space.structure import Structure
from louver.space.two_level import TwoLevel
from louver.space.uniform import Uniform

SIDE, CELLS, THRESHOLD, HIGH = 100.0, 50, 80, 100
Floats = NDArray[np.float64]
Generator = np.random.Generator
Readings = tuple[Floats, Floats, Floats]

ROWS = [(size, Fraction(epsilon)) for size in (10_000, 50_000) for epsilon in ("1/10", "1/2", "1")]
COLUMNS = ["U K=1", "AG", "U .05", "t3 1v", "t3 2v", "t3 maj", "t4 1v", "t4 2v", "t4 maj", "cut"]
BY_MEANS = ["t3 centred", "U centred", "cut means"]
# Of the prototypes, for each row: 50 runs, standard error 0.01, or 0.035 in the first and for few votes (below 0.35).
FIGURES = [
    (0.13, 0.14, 0.20, 0.23, 0.00, 0.00, 0.18, 0.00, 0.00, 0.31),
    (0.13, 0.11, 0.62, 0.53, 0.08, 0.08, 0.52, 0.08, 0.08, 0.70),
    (0.13, 0.11, 0.67, 0.61, 0.32, 0.32, 0.62, 0.32, 0.32, 0.75),
    (0.13, 0.10, 0.64, 0.52, 0.09, 0.09, 0.52, 0.06, 0.06, 0.72),
    (0.13, 0.13, 0.76, 0.66, 0.64, 0.46, 0.66, 0.62, 0.47, 0.82),
    (0.13, 0.13, 0.79, 0.69, 0.73, 0.53, 0.66, 0.71, 0.52, 0.85),
]
# One vote, two votes and cut on the other field, which the prototypes' notes describe in words only.
OTHER = [
    (0.09, 0.00, 0.22),
    (0.46, 0.00, 0.62),
    (0.56, 0.20, 0.70),
    (0.44, 0.00, 0.65),
    (0.65, 0.57, 0.80),
    (0.66, 0.69, 0.83),
]
OTHER_COLUMNS = ["t3 1v", "t3 2v", "cut"]


def bump(draw: Generator, size: int) -> Readings:
    a, b = draw.uniform(15, SIDE - 15, 2)
    x, y = draw.uniform(0, SIDE, (2, size))
    return x, y, 20 + 80 * np.exp(-((x - a) ** 2 + (y - b) ** 2) / 800)


def ellipse(draw: Generator, size: int) -> Readings:
    """Half-axes 25 and 15 at a random angle, and reading noise of 5."""
    a, b = draw.uniform(15, SIDE - 15, 2)
    angle = draw.uniform(0, np.pi)
    x, y = draw.uniform(0, SIDE, (2, size))
    along = (x - a) * np.cos(angle) + (y - b) * np.sin(angle)
    across = (y - b) * np.cos(angle) - (x - a) * np.sin(angle)
    values = 20 + 80 * np.exp(-((along / 25) ** 2 + (across / 15) ** 2) / 2)
    return x, y, np.clip(values + draw.normal(0, 5, size), 0, HIGH)


def true_cells(x: Floats, y: Floats, values: Floats) -> NDArray[np.bool_]:
    """Which cells of the heatmap have an average above the threshold."""
    lines = np.linspace(0, SIDE, CELLS + 1)
    counts = np.histogram2d(y, x, [lines, lines])[0]
    sums = np.histogram2d(y, x, [lines, lines], weights=values)[0]
    return np.asarray(sums > THRESHOLD * counts)


def structures(epsilon: Fraction, size: int, mean_share: float) -> dict[str, Structure]:
    known = {"readings": size, "mean_share": mean_share}
    return {
        "U K=1": Uniform(epsilon, non_uniformity=1, **known),  # type: ignore[arg-type]
        "AG": Adaptive(epsilon, readings=size),
        "U .05": Uniform(epsilon, **known),  # type: ignore[arg-type]
        "t3": Decomposition(epsilon, depth=3),
        "t4": Decomposition(epsilon, depth=4),
        "cut": Cut(epsilon, readings=size, count_share=count_share_for(THRESHOLD, high=HIGH)),
        "t3 centred": Decomposition(epsilon, depth=3, centred=True),
        "U centred": Uniform(epsilon, centred=True, **known),  # type: ignore[arg-type]
    }


def structure_of(column: str) -> str:
    return column if column in ("U K=1", "U .05", "t3 centred", "U centred") else column.split()[0]


def heatmap_of(column: str, released: Map, read: str) -> NDArray[np.bool_]:
    if column in BY_MEANS:
        return heatmap(released, THRESHOLD, CELLS)
    votes = {"1v": "one vote", "2v": "two votes", "maj": "majority", "cut": "cut"}
    return heatmap(released, THRESHOLD, CELLS, rule=votes.get(column.split()[-1], "mean"), read=read, sure=0)


def scores(
    field: Callable[[Generator, int], Readings],
    size: int,
    epsilon: Fraction,
    runs: int,
    read: str = "centre",
    columns: Sequence[str] = (*COLUMNS, *BY_MEANS),
    seed: int = 6,
    bits: Bits = SYSTEM,
) -> Floats:
    """Jaccard's index: a row for each run, a column for each way."""
    draw = np.random.default_rng(seed)
    found = np.empty((runs, len(columns)))
    for run in range(runs):
        x, y, values = field(draw, size)
        truth = true_cells(x, y, values)
        atoms = Field.of(x, y, values, (0, 0, SIDE, SIDE), high=HIGH)
        ways = structures(epsilon, size, float(values.mean()) / HIGH)
        released = {name: ways[name].release(atoms, bits=bits) for name in sorted({*map(structure_of, columns)})}
        for place, column in enumerate(columns):
            found[run, place] = jaccard(truth, heatmap_of(column, released[structure_of(column)], read))
    return found


def apart(found: Floats, column: str, figure: float, row: int) -> bool:
    """Whether ours and the prototype's differ by more than 4 standard errors, and by more than rounding does."""
    few_votes = column.split()[-1] in ("2v", "maj") and figure < 0.35
    theirs = 0.035 if row == 0 or few_votes else 0.01
    ours = found.std(ddof=1) / np.sqrt(len(found))
    return bool(abs(found.mean() - figure) > 4 * np.hypot(ours, theirs) + 0.005)


def table(
    field: Callable[[Generator, int], Readings], columns: list[str], figures: list[tuple[float, ...]], runs: int
) -> None:
    print(f"\n{field.__name__}: ours +- standard error (prototype) [ours by overlap]; * where 4 standard errors apart")
    print(" " * 12, *(f"{column:^22}" for column in [*columns, *BY_MEANS]))
    for row, ((size, epsilon), expected) in enumerate(zip(ROWS, figures, strict=True)):
        centre = scores(field, size, epsilon, runs, columns=[*columns, *BY_MEANS])
        overlap = scores(field, size, epsilon, max(runs // 2, 2), read="overlap", columns=columns).mean(axis=0)
        means, errors = centre.mean(axis=0), centre.std(axis=0, ddof=1) / np.sqrt(runs)
        shown = []
        for place, (column, figure) in enumerate(zip(columns, expected, strict=True)):
            mark = "*" if apart(centre[:, place], column, figure, row) else " "
            shown.append(f"{means[place]:.2f} +-{errors[place]:.2f} ({figure:.2f}) [{overlap[place]:.2f}]{mark}")
        ours = range(len(columns), len(means))
        shown += [f"{means[place]:.2f} +-{errors[place]:.2f}{'':14}" for place in ours]
        print(f"{size:6} {float(epsilon):5}", *shown)


def speeds() -> None:
    draw = np.random.default_rng(6)
    print(f"\n{'milliseconds':54} {'':>8} {'of histogram2d':>15}")
    for size in (50_000, 10_000_000):
        x, y, values = bump(draw, size)
        repeats = 5 if size < 10**6 else 1
        lines = [[0, SIDE], [0, SIDE]]
        floor = seconds(lambda: np.histogram2d(y, x, 1024, lines, weights=values), repeats)  # noqa: B023
        print(f"{f'{size:,} readings, numpy histogram2d of the sums':54} {1000 * floor:8.1f} {1.0:15.2f}")
        for structure in (Uniform(1), TwoLevel(1), Adaptive(1), Decomposition(1), Cut(1)):

            def build(way: Structure = structure) -> Map:
                return way.release(Field.of(x, y, values, (0, 0, SIDE, SIDE), high=HIGH))  # noqa: B023

            taken = seconds(build, repeats)
            print(f"{f'{size:,} readings to a map, {structure.kind}':54} {1000 * taken:8.1f} {taken / floor:15.2f}")
            if size == 50_000:
                made = build()
                drawn, believed = seconds(lambda: heatmap(made, 80, CELLS)), seconds(lambda: posterior(made, 80, CELLS))  # noqa: B023
                print(f"{f'  50 x 50 heatmap, {len(made.parents)} nodes':54} {1000 * drawn:8.1f} {drawn / floor:15.2f}")
                print(f"{'  50 x 50 posterior':54} {1000 * believed:8.1f} {believed / floor:15.2f}")


AREA = Bounds(119.9, 21.8, 122.1, 25.5, degrees=True)


def truth_of(x: Floats, y: Floats, dust: Floats) -> Floats:
    """The averages of cells of a tenth of a degree; nothing where nobody is."""
    lines = [np.linspace(AREA.south, AREA.north, 38), np.linspace(AREA.west, AREA.east, 23)]
    counts, sums = (np.histogram2d(y, x, lines, weights=weights)[0] for weights in (None, np.clip(dust, 0, 150)))
    return np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)


def measured(path: str) -> None:
    """Days of fine dust: one map a day, of each station's hourly readings. A unit is one reading, not one station."""
    import duckdb

    query = "SELECT lon, lat, pm25, day(time) AS d FROM read_parquet(?) WHERE lat BETWEEN 21.8 AND 25.5 ORDER BY d"
    columns = duckdb.execute(query, [path]).fetchnumpy()
    longitude, latitude, dust, day = (np.asarray(columns[name]) for name in ("lon", "lat", "pm25", "d"))
    print("\nfine dust, a map for each of 31 days, 22 x 37 cells of 0.1 degrees: Jaccard's index +- standard error")
    for threshold in (55, 80):
        for epsilon in (1, 5):
            results: dict[str, list[float]] = {}
            for today in range(1, 32):
                x, y, values = (each[day == today].astype(np.float64) for each in (longitude, latitude, dust))
                truth = np.nan_to_num(truth_of(x, y, values)) > threshold
                if not truth.any():
                    continue
                field = Field.of(x, y, values, AREA, high=150)
                for structure in (
                    Uniform(epsilon, readings=12_000, centred=True),
                    Decomposition(epsilon, centred=True),
                    Cut(epsilon, readings=12_000, count_share=count_share_for(threshold, high=150)),
                ):
                    released = structure.release(field)
                    for rule in ("mean", "cut") if structure.kind == "cut" else ("mean",):
                        flags = heatmap(released, threshold, 22, 37, rule=rule)
                        results.setdefault(f"{structure.kind} by {rule}", []).append(jaccard(truth, flags))
            shown = [
                f"{name} {np.mean(found):.2f} +-{np.std(found, ddof=1) / np.sqrt(len(found)):.2f}"
                for name, found in results.items()
            ]
            print(f"above {threshold}, epsilon {epsilon}:", *shown, sep="  ")


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    table(bump, COLUMNS, [*FIGURES], runs)
    table(ellipse, OTHER_COLUMNS, [*OTHER], runs)
    speeds()
    if len(sys.argv) > 2:
        measured(sys.argv[2])


if __name__ == "__main__":
    main()
