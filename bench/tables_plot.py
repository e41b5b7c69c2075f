"""The plot of the talk: mean errors of counties by size, ours beside top-down rounding, state totals exact in both.

`python -m bench.tables_plot OUT.svg [FILE]`: FILE is a Parquet file of counties with columns state and births_2019;
without it invented counties of the same shape stand in.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.tables import counties, top_down
from louver.table import Invariants, Laplace, WholeTable

RUNS, PARTS, EPSILON = 400, 40, Fraction(1, 40)
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 360, 56, 16, 40, 48
STYLE = (
    "text{font:12px sans-serif;fill:#333}line{stroke:#ccc}.ours{fill:#6a3fc8;stroke:#6a3fc8}"
    ".theirs{fill:#d07a00;stroke:#d07a00}@media(prefers-color-scheme:dark){text{fill:#ddd}line{stroke:#555}"
    ".ours{fill:#b79cff;stroke:#b79cff}.theirs{fill:#ffc04d;stroke:#ffc04d}}"
)


def main() -> None:
    if not 2 <= len(sys.argv) <= 3:
        sys.exit("usage: python -m bench.tables_plot OUT.svg [FILE]")
    values, states = counties(sys.argv[2] if len(sys.argv) > 2 else None)
    ours, theirs = errors(values, states)
    parts = np.array_split(np.argsort(values, kind="stable"), PARTS)
    Path(sys.argv[1]).write_text(picture(values, ours, theirs, parts), encoding="utf-8")
    print(f"{sys.argv[1]}: {len(values):,} counties in {PARTS} parts by size, {RUNS} releases at epsilon {EPSILON}")


def errors(values: NDArray[np.int64], states: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of each release and county: ours, and the nearest table without negative counts, rounded."""
    invariants = Invariants.groups(states.tolist(), name="the state totals")
    mechanism, free = WholeTable(invariants, epsilon=EPSILON), Laplace(invariants, EPSILON)
    totals = invariants.of(values)
    ours, theirs = np.empty((RUNS, len(values))), np.empty((RUNS, len(values)))
    for run in range(RUNS):
        ours[run] = mechanism.release(values) - values
        theirs[run] = top_down(values + free._noise(1)[0], invariants, totals) - values
    return ours, theirs


def picture(
    values: NDArray[np.int64], ours: NDArray[np.float64], theirs: NDArray[np.float64], parts: list[NDArray[np.int64]]
) -> str:
    means = [[each[:, part].mean(axis=1) for part in parts] for each in (ours, theirs)]
    top = max(float(mean.mean()) for each in means for mean in each) * 1.1
    bottom = min(float(mean.mean()) for each in means for mean in each) * 1.3
    sizes = [max(float(np.median(values[part])), 1) for part in parts]
    low, high = math.log10(sizes[0]), math.log10(sizes[-1])

    def across(size: float) -> float:
        return LEFT + (math.log10(size) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def down(error: float) -> float:
        return TOP + (top - error) / (top - bottom) * (HEIGHT - TOP - BOTTOM)

    said = (
        "Mean error by county size: around 0 at every size for Louver, above 0 for small and below for large otherwise"
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{said}">',
        f"<style>{STYLE}</style>",
    ]
    for tick in range(math.ceil(bottom / 5) * 5, math.floor(top) + 1, 5):
        lines.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{down(tick):.1f}" y2="{down(tick):.1f}"/>')
        lines.append(f'<text x="{LEFT - 8}" y="{down(tick) + 4:.1f}" text-anchor="end">{tick}</text>')
    lines += [
        f'<text x="{across(10**power):.1f}" y="{HEIGHT - 28}" text-anchor="middle">{10**power:,}</text>'
        for power in range(math.ceil(low), math.floor(high) + 1)
    ]
    lines.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle">births in the county</text>')
    for name, label, each, at in (
        ("ours", "Louver", means[0], LEFT),
        ("theirs", "nearest table without negative counts, rounded", means[1], LEFT + 90),
    ):
        lines.append(f'<circle class="{name}" cx="{at + 6}" cy="16" r="4"/><text x="{at + 16}" y="20">{label}</text>')
        for size, mean in zip(sizes, each, strict=True):
            error = 2 * float(mean.std()) / math.sqrt(RUNS)
            x, y = across(size), float(mean.mean())
            lines.append(
                f'<circle class="{name}" cx="{x:.1f}" cy="{down(y):.1f}" r="3"/>'
                f'<path class="{name}" d="M{x:.1f} {down(y - error):.1f}V{down(y + error):.1f}"/>'
            )
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    main()
