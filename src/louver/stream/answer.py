"""A published stream: the released value of every tick and region with its band, as columns, files and a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver.errors import ParameterError
from louver.parameters import Number
from louver.publishing.columns import as_csv, as_frame, json_value, write
from louver.steward import Release
from louver.stream.accuracy import LEVEL
from louver.stream.places import Region
from louver.stream.plan import StreamPlan
from louver.stream.released import FLAGGED, LAST, Floats, Released

TICK, VALUE, LOW, HIGH = "tick", "value", "low", "high"


@dataclass(frozen=True, eq=False)
class Stream:
    """What was released, what it promises and protects, and what it cost. All of it may be published.

    `heads` are the names of the region columns as the source declares them.
    """

    plan: StreamPlan
    release: Release
    heads: tuple[str, ...]
    remaining: Fraction | None = None
    ledger: str | None = None
    spent: Fraction | None = None
    level: Fraction = field(default=LEVEL)

    @property
    def released(self) -> Released:
        return Released.from_dict(self.release.answer)

    @property
    def promise(self) -> str:
        return self.release.promise

    @property
    def protected(self) -> str:
        return self.plan.protected

    def band(self, level: Number | None = None) -> Floats | None:
        """Half the width of the error band, ticks by regions; from what is released. None where none is known."""
        return self.plan.band(self.level if level is None else level, self.released.deviations)

    @property
    def columns(self) -> dict[str, list[Any]]:
        """One row per tick and region, ticks in order: region, tick, value, and the band's ends or None.

        With `last` and `above` where the plan asks for them.
        """
        regions, starts = self.plan.regions, self.plan.ticks.starts()
        released, half, digits = self.released.values, self.band(), self.plan.digits
        made: dict[str, list[Any]] = {
            head: [region[at] for _ in starts for region in regions] for at, head in enumerate(self.heads)
        }
        made[TICK] = [start for start in starts for _ in regions]
        made[VALUE] = _plain(released, digits)
        made[LOW] = _plain(released - half, digits) if half is not None else [None] * released.size
        made[HIGH] = _plain(released + half, digits) if half is not None else [None] * released.size
        asked = {LAST: self.released.recent, FLAGGED: self.released.flags}
        return made | {name: _plain(each, digits) for name, each in asked.items() if each is not None}

    @property
    def recent(self) -> NDArray[Any] | None:
        """The sum of the last ticks at each tick, ticks by regions, where the plan has `last`."""
        return self.released.recent

    @property
    def flags(self) -> NDArray[np.bool_] | None:
        """Which ticks of which regions are above their limit, ticks by regions, where the plan has `above`."""
        return self.released.flags

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the promise, the price, and `columns` with times as texts."""
        columns = {name: [json_value(value) for value in values] for name, values in self.columns.items()}
        return {
            "protected": self.protected,
            "promise": self.promise,
            "mechanism": self.plan.kernel,
            "level": str(self.level),
            "worst": str(self.release.worst),
            "charged": str(self.release.charged),
            "kind": self.plan.price.kind,
            "remaining": None if self.remaining is None else str(self.remaining),
            "number": self.release.number,
            "again": self.release.again,
            "columns": columns,
        }

    def to_csv(self, path: str | Path | None = None) -> str:
        """A line per tick and region; what is not known is empty. Also written to a file."""
        text = as_csv(self.columns)
        if path is not None:
            write(path, text)
        return text

    def to_frame(self, kind: str = "pandas") -> Any:
        """The same as a frame of pandas, polars or arrow."""
        return as_frame(self.columns, kind, "A stream")

    def plot(self, path: str | Path | None = None, *, truth: ArrayLike | None = None) -> str:
        """Released values with their bands, as SVG. `truth`, ticks by regions, is for invented data only."""
        from louver.stream.picture import picture

        if path is not None and Path(path).suffix.lower() != ".svg":
            raise ParameterError(f"A picture is written as SVG, so its file must end in .svg, not {Path(path).name!r}.")
        shown = None if truth is None else np.asarray(truth, dtype=np.float64)
        if shown is not None and shown.shape != self.released.values.shape:
            raise ParameterError("The truth must be one number for each tick and region.")
        drawn = picture(self, shown, alone=path is not None)
        if path is not None:
            write(path, drawn)
        return drawn

    def __repr__(self) -> str:
        size = f"{len(self.plan.ticks):,} ticks of {len(self.plan.regions):,} regions"
        return f"Stream({size}, number {self.release.number})"

    def _repr_html_(self) -> str:
        """For notebooks."""
        return self.plot()


def label(region: Region) -> str:
    named = ", ".join(str(json_value(value)) for value in region if value is not None)
    return named or ("total" if region else "all rows")


def _plain(values: Any, digits: int) -> list[Any]:
    listed = (np.round(values, digits) + 0.0 if values.dtype.kind == "f" else values).ravel().tolist()
    return [None if value != value else value for value in listed]
