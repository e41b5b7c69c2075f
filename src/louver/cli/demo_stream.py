"""`louver demo --plot FILE.svg`: a day of an invented building as a private stream, drawn beside the truth.

The stream is planned, paid for and released by the steward as any other, with a ledger that is thrown away. The rows
are nobody's, so the demo may also count them itself: the truth is drawn, and errors are said, only here.
"""

from __future__ import annotations

import math
import secrets
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from louver.errors import DataError, ParameterError
from louver.ledger import Cap, Ledger
from louver.sense import Batch, Building, Door, Rows, Rule
from louver.sense.simulate import PRESETS, simulate
from louver.source import Source
from louver.stream import Stream, publish

EPSILON = Fraction(1, 10)
TICK = 15  # minutes


def run(path: Path) -> None:
    _check(path)
    with TemporaryDirectory() as folder:
        building, rows = _sensed(Path(folder))
        source = Source(rows.table(dataset=building.id), domains=building.domain("region"))
        ledger, _ = Ledger.create(
            Path(folder) / "building.ledger",
            dataset=building.id,
            unit=source.table.unit,
            caps=[Cap(epsilon=EPSILON)],
            key=Path(folder) / "key",
        )
        day = np.datetime64(PRESETS["demo"].start)
        with ledger:
            stream = publish(
                source,
                ledger=ledger,
                by="region",
                every=f"{TICK}m",
                begin=str(day),
                end=str(day + 1),
                epsilon=EPSILON,
                rows_per_unit=1,
            )
    truth = _true_counts(stream, rows)
    stream.plot(path, truth=truth)
    _say(stream, truth, path)


def _check(path: Path) -> None:
    """Before the work."""
    if path.suffix.lower() != ".svg":
        raise ParameterError(f"--plot writes an SVG picture, so its file must end in .svg, not {path.name!r}.")
    if not path.parent.is_dir():
        raise ParameterError(f"There is no folder {path.parent} for the picture.")
    if path.exists():
        raise DataError(f"{path} is there already; name another file.")


def _sensed(folder: Path) -> tuple[Building, Rows]:
    """The building and who was where in each quarter of an hour; the salt of the pseudonyms is not kept."""
    simulate("demo", days=1).write(folder)
    building = Building.read(folder / "building.toml")
    rule = Rule(slot=TICK * 60 * 10**6)
    events = Batch(folder / "events.parquet", rule, building.access_points, Door(secrets.token_bytes(32)))
    return building, events.occupancy()


def _true_counts(stream: Stream, rows: Rows) -> NDArray[np.int64]:
    """Ticks by regions. Nobody could have this of people."""
    ticks, regions = stream.plan.ticks, [str(region) for (region,) in stream.plan.regions]
    counts = np.zeros((len(ticks), len(regions)), dtype=np.int64)
    tick = (rows.slot - int(ticks.begin.timestamp()) * 10**6) // (TICK * 60 * 10**6)
    column = np.array([regions.index(region) for region in rows.regions])[rows.region]
    inside = (tick >= 0) & (tick < len(ticks))
    np.add.at(counts, (tick[inside], column[inside]), 1)
    return counts


def _say(stream: Stream, truth: NDArray[np.int64], path: Path) -> None:
    errors = np.abs(stream.released.values - truth)
    half = stream.band()
    inside, busy = np.zeros_like(errors, dtype=np.bool_) if half is None else errors <= half, truth > 0
    a = math.exp(-EPSILON)
    fresh = 2 * a / (1 - a * a)
    ticks, regions = truth.shape
    print(
        f"{stream.protected} Price: epsilon {float(EPSILON):g}, paid before a row was read; its ledger is thrown away."
    )
    print(
        f"Devices in {regions} regions of an invented building were published at {ticks} ticks, off by "
        f"{errors.mean():.2f} on average and by {errors[busy].mean():.2f} where anybody was; "
        f"fresh noise at this price is off by {fresh:.2f}."
    )
    print(
        f"The truth is inside the band at {inside.mean():.1%} of ticks and regions, and at {inside[busy].mean():.1%} "
        "of those where anybody was; the band is an estimate from what is released alone, and 95% is meant."
    )
    print(f"Wrote {path}; the truth is in it, because these rows are nobody's.")
