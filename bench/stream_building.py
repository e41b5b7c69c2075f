"""An invented building through a day: how often bands hold where people are, and which sum of the last hour is best.

Bands: the share of ticks and regions where the truth is within the band of 95 of 100, by how many are there. Sums of
the last hour, mean absolute error where anybody was in the hour: of the levels that ticks take now (the rule of
PeGaSus), of released values, of noisy counts, and of levels that stay near the noisy counts, which is `last` of a
segment.

Run: script/bench stream_building [RUNS]
"""

from __future__ import annotations

import secrets
import sys
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from louver.sense import Batch, Building, Door, Rule
from louver.sense.simulate import PRESETS, simulate
from louver.stream.recent import Anchored, Recent
from louver.stream.segment import Segment

MINUTE, HOUR, DAY = 60 * 10**6, 60, 24 * 60
LEVEL = Fraction(19, 20)
EPSILONS = (0.1, 0.3, 1.0)
CROWDS = {"all": (0, None), "nobody": (0, 1), "anybody": (1, None), "1-4": (1, 5), "5-19": (5, 20), "20+": (20, None)}


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    kinds = (*CROWDS, "", "levels", "released", "noisy", "last")
    print(f"{'tick':>6} {'epsilon':>8}", *(f"{kind:>9}" for kind in kinds))
    for minutes in (5, 15):
        counts = counted(minutes)
        for epsilon in EPSILONS:
            held, off = measured(counts, epsilon, HOUR // minutes, runs)
            bands, sums = (f"{each:9.1%}" for each in held), (f"{each:9.2f}" for each in off)
            print(f"{minutes:4} m {epsilon:8}", *bands, f"{'':9}", *sums)


def counted(minutes: int) -> NDArray[np.int64]:
    """True counts of a day, ticks by regions."""
    with TemporaryDirectory() as folder:
        simulate("demo", days=1).write(Path(folder))
        building = Building.read(Path(folder) / "building.toml")
        rule = Rule(slot=minutes * MINUTE)
        events = Batch(Path(folder) / "events.parquet", rule, building.access_points, Door(secrets.token_bytes(32)))
        rows = events.occupancy()
    begin = np.datetime64(PRESETS["demo"].start).astype("datetime64[us]").astype(np.int64)
    tick = (rows.slot - begin) // (minutes * MINUTE)
    counts = np.zeros((DAY // minutes, len(rows.regions)), dtype=np.int64)
    inside = (tick >= 0) & (tick < len(counts))
    np.add.at(counts, (tick[inside], rows.region[inside]), 1)
    return counts


def measured(counts: NDArray[np.int64], epsilon: float, window: int, runs: int) -> tuple[list[float], list[float]]:
    """How often bands hold for each crowd, and how far each sum of the last ticks is off."""
    many = np.tile(counts, runs)
    stream = Segment(epsilon, many.shape[1])
    released, trace = stream.run(many), stream.trace
    if trace.variances is None:
        raise AssertionError
    inside = np.abs(released - many) <= np.sqrt(trace.variances) * stream.factor(LEVEL)
    held = [float(inside[(many >= least) & (many < (below or np.inf))].mean()) for least, below in CROWDS.values()]
    truth = summed(many, window)
    sums = (
        Recent(stream, window).sums(trace),
        summed(released, window),
        summed(trace.noisy, window),
        Anchored(stream, window).sums(trace),
    )
    return held, [float(np.abs(each - truth)[truth > 0].mean()) for each in sums]


def summed(values: NDArray[np.int64] | NDArray[np.float64], window: int) -> NDArray[np.float64]:
    so_far = np.concatenate((np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)))
    ends = np.arange(1, len(so_far))
    return np.asarray(so_far[ends] - so_far[np.maximum(ends - window, 0)])


if __name__ == "__main__":
    main()
