"""The truth from files: a building and the events of its access points. The owner's own look, which no price covers."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from louver.attack.truth import TICK_MINUTES, Truth
from louver.errors import DataError
from louver.sense.building import Building

if TYPE_CHECKING:
    from louver.sense.simulate.simulated import Column, Simulated

Whole = NDArray[np.int64]
ENDINGS = ("parquet", "csv", "ndjson")
_LATEST = 2**53  # microseconds; far beyond any event


def of_simulated(made: Simulated, minutes: int = TICK_MINUTES) -> Truth:
    """Events of a preset of `louver.sense.simulate` that has a building."""
    if "building.toml" not in made.texts:
        raise DataError("This simulation has no building; the presets 'building' and 'demo' have one.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "building.toml"
        path.write_text(made.texts["building.toml"], encoding="utf-8")
        building = Building.read(path)
    events = made.tables["events"]
    return _of(building, _coded(events["device"])[1], *_coded(events["place"]), np.asarray(events["time"]), minutes)


def read(building: str | Path, events: str | Path | None = None, days: int | None = None) -> Truth:
    """From `building.toml` and a file with the columns device, place and time."""
    described = Building.read(building)
    truth = _of(described, *_events(Path(events) if events is not None else _beside(Path(building))), TICK_MINUTES)
    return truth if days is None or days >= truth.days else truth.last(days)


def _of(
    building: Building, device: Whole, names: Sequence[str], place: Whole, time: NDArray[np.generic], minutes: int
) -> Truth:
    """From numbers of devices, and of places in a list of their names."""
    numbers = {region.id: number for number, region in enumerate(building.regions)}
    points = {point: numbers[region] for point, region in building.access_points.items()}
    region = np.array([points.get(name, -1) for name in names], dtype=np.int64)[place]
    at = time.astype("datetime64[us]").astype(np.int64)
    inside = at[region >= 0]
    if not len(inside):
        raise DataError("There is no event at an access point of the building.")
    zone = ZoneInfo(building.timezone)
    first, last = (
        datetime.fromtimestamp(int(each) // 1_000_000, UTC).astimezone(zone).date()
        for each in (inside.min(), inside.max())
    )
    return Truth.of_events(
        device,
        region,
        at,
        regions=numbers,
        first=first,
        days=(last - first) // timedelta(days=1) + 1,
        timezone=building.timezone,
        minutes=minutes,
        building=building,
    )


def _coded(column: Column) -> tuple[Sequence[str], Whole]:
    from louver.sense.simulate.simulated import Coded

    if isinstance(column, Coded):
        return column.names, np.asarray(column.codes, dtype=np.int64)
    names, codes = np.unique(column.astype(str), return_inverse=True)
    return names.tolist(), codes


def _beside(building: Path) -> Path:
    found = [building.parent / f"events.{ending}" for ending in ENDINGS]
    for path in found:
        if path.is_file():
            return path
    raise DataError(f"There are no events beside {building}; name the file with --events.")


def _events(path: Path) -> tuple[Whole, list[str], Whole, NDArray[np.generic]]:
    from louver.sense.batch_reading import opened

    with opened(path, {}, has_door=True) as connection:
        connection.execute(
            "CREATE TEMP TABLE kept AS SELECT * FROM events "
            "WHERE device IS NOT NULL AND place IS NOT NULL AND time BETWEEN 0 AND $latest",
            {"latest": _LATEST},
        )
        named = connection.execute("SELECT DISTINCT place FROM kept ORDER BY place").fetchall()
        rows = connection.execute(
            "SELECT dense_rank() OVER (ORDER BY device) AS device, "
            "dense_rank() OVER (ORDER BY place) - 1 AS place, time FROM kept"
        ).fetchnumpy()
    device, place, time = (np.asarray(rows[name], dtype=np.int64) for name in ("device", "place", "time"))
    return device, [name for (name,) in named], place, time
