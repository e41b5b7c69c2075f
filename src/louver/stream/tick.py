"""One published tick of a stream, as it goes to a broker, a table or a file; the same where the stream is not live."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Self

from louver.stream.accuracy import LEVEL
from louver.stream.places import Region
from louver.stream.plan import StreamPlan
from louver.stream.released import FLAGGED, LAST, Floats, Released


@dataclass(frozen=True, slots=True)
class Tick:
    """One published tick: its number and start, and for each region the value and half the width of its band.

    Where it is `missing`, nothing is known of it, and no value is published.
    """

    number: int
    start: datetime
    keys: tuple[str, ...]
    regions: tuple[Region, ...]
    values: tuple[int | float | None, ...]
    bands: tuple[float | None, ...]
    missing: bool = False
    recent: tuple[int | float | None, ...] | None = None
    flags: tuple[bool | None, ...] | None = None

    @property
    def columns(self) -> dict[str, tuple[Any, ...]]:
        """What is published beside values and bands, by its name."""
        asked = {LAST: self.recent, FLAGGED: self.flags}
        return {name: column for name, column in asked.items() if column is not None}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """From what `to_dict` gives, where regions are texts and numbers."""
        regions = plain["regions"]
        known = ("value", "band", LAST, FLAGGED)
        keys = tuple(name for name in regions[0] if name not in known)
        recent, flags = (
            tuple(region[name] for region in regions) if name in regions[0] else None for name in (LAST, FLAGGED)
        )
        return cls(
            plain["number"],
            datetime.fromisoformat(plain["tick"]),
            keys,
            tuple(tuple(region[key] for key in keys) for region in regions),
            tuple(region["value"] for region in regions),
            tuple(region["band"] for region in regions),
            plain.get("missing", False),
            recent,
            flags,
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "tick": self.start.isoformat(),
            "number": self.number,
            **({"missing": True} if self.missing else {}),
            "regions": [dict(self._region(at)) for at in range(len(self.regions))],
        }

    def _region(self, at: int) -> Iterator[tuple[str, Any]]:
        yield from zip(self.keys, map(_plain, self.regions[at]), strict=True)
        yield from (("value", self.values[at]), ("band", self.bands[at]))
        yield from ((name, column[at]) for name, column in self.columns.items())


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def tick_of(plan: StreamPlan, number: int, plain: Any, missing: bool) -> Tick:
    """The tick of a live stream, from what it released."""
    if missing:
        nothing = (None,) * len(plan.regions)
        recent, flags = (nothing if name in plan.beside else None for name in (LAST, FLAGGED))
        return Tick(number, plan.ticks.start(number), plan.keys, plan.regions, nothing, nothing, True, recent, flags)
    found = Released.from_dict(plain)
    return _tick(plan, number, found, 0, plan.band_at(number, LEVEL, found.deviations))


def ticks_of(plan: StreamPlan, released: Released) -> Iterator[Tick]:
    """All ticks of a stream that was released as a whole."""
    halves = plan.band(LEVEL, released.deviations)
    for number in range(len(plan.ticks)):
        yield _tick(plan, number, released, number, None if halves is None else halves[number])


def _tick(plan: StreamPlan, number: int, found: Released, at: int, half: Floats | None) -> Tick:
    """The tick whose numbers are in row `at`."""
    values = _known(found.values[at])
    bands = (None,) * len(values) if half is None else tuple(round(float(each), plan.digits) for each in half)
    sums = None if found.recent is None else _known(found.recent[at])
    flagged = None if found.flags is None else tuple(found.flags[at].tolist())
    return Tick(number, plan.ticks.start(number), plan.keys, plan.regions, values, bands, recent=sums, flags=flagged)


def _known(values: Any) -> tuple[int | float | None, ...]:
    return tuple(None if value != value else value for value in values.tolist())
