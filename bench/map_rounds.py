"""How a map gets better from round to round: the same people report again, and pay one price for the whole window.

Readings are spread evenly over 100 x 100 with values 20 + 80 exp(-d^2/800) around a random point, anew in each round,
as people move; the values stay. Epsilon 1 is for all rounds of the window together, so that each costs 1 / rounds.
The heatmap has 50 x 50 cells and the threshold is 80; a figure is Jaccard's index against the field itself.

`python -m bench.map_rounds [RUNS]`
"""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np

from bench.maps import CELLS, HIGH, SIDE, THRESHOLD
from louver.space.cut import Cut, count_share_for
from louver.space.field import Field
from louver.space.metrics import jaccard
from louver.space.recipient import heatmap
from louver.space.rounds import combined
from louver.space.ways import sized_for_rounds

WINDOWS, SIZES = (4, 16), (10_000, 50_000)


def main(runs: int) -> None:
    share = count_share_for(THRESHOLD, high=HIGH)
    middles = (np.arange(CELLS) + 0.5) * SIDE / CELLS
    print(f"{runs} runs; Jaccard (standard error)")
    for size in SIZES:
        for window in WINDOWS:
            draw = np.random.default_rng(size + window)
            shown = sorted({1, 2, 4, window} | ({8} if window > 8 else set()))
            found: dict[str, list[float]] = {}
            for _ in range(runs):
                a, b = draw.uniform(15, SIDE - 15, 2)
                truth = _value(*np.meshgrid(middles, middles), a, b) > THRESHOLD
                fields = []
                for _ in range(window):
                    x, y = draw.uniform(0, SIDE, (2, size))
                    fields.append(Field.of(x, y, _value(x, y, a, b), (0, 0, SIDE, SIDE), high=HIGH, atoms=256))
                structure = Cut(Fraction(1, window), readings=sized_for_rounds(size, window), count_share=share)
                maps = [structure.release(each) for each in fields]
                figures = {f"{rounds:2} combined": combined(maps[:rounds]) for rounds in shown}
                figures["last alone"] = maps[-1]
                figures["one map of one round, at the whole price"] = Cut(1, readings=size, count_share=share).release(
                    fields[0]
                )
                for name, released in figures.items():
                    found.setdefault(name, []).append(jaccard(truth, heatmap(released, THRESHOLD, CELLS)))
            print(f"\n{size:,} readings a round, {window} rounds for epsilon 1")
            for name, values in found.items():
                print(f"  {name:42} {np.mean(values):.2f} ({np.std(values) / np.sqrt(runs):.2f})")


def _value(x: np.ndarray, y: np.ndarray, a: float, b: float) -> np.ndarray:
    return np.asarray(20 + 80 * np.exp(-((x - a) ** 2 + (y - b) ** 2) / 800))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
