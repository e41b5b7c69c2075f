"""A stream that a watch publishes beside its rules: what is counted, at which price, from when to when, and where to.

Its ticks are the watch's slots. It is paid for as a whole before its first tick, so a stream that goes on for months is
cut into parts with `each`: every day, say, is a stream of its own, with a key, a charge and noise of its own. Parts do
not overlap and a unit is in one slot, so no unit pays for two of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from louver.errors import ParameterError
from louver.sense.building import Building
from louver.sense.events import instant, microseconds
from louver.source import Bound, Source, Table
from louver.source.names import instead_of
from louver.stream.plan import StreamPlan
from louver.stream.planning import stream
from louver.stream.ticks import Ticks
from louver.stream.window_units import ticks_in
from louver.watch.durations import MICROSECONDS, written
from louver.watch.hours import local_day, midnight_after
from louver.watch.rules import LEVELS, SLOT

MINUTE, DAY = MICROSECONDS["minute"], MICROSECONDS["day"]


class Part(NamedTuple):
    """One stream that is paid for as a whole, from its first slot up to but not including its end."""

    begin: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRule:
    """One standing stream. It has an end, or parts that follow each other; times are microseconds UTC.

    `by` are levels of the building, `asked` are further parameters of `louver.stream.stream`, its price among them, and
    `to` is where its ticks go. `key` is under what it is paid, unless that is made of its name.
    """

    name: str
    by: tuple[str, ...] = (LEVELS[0],)
    asked: Mapping[str, Any] = field(default_factory=dict)
    begin: int | None = None
    end: int | None = None
    each: int | None = None
    to: str
    key: str | None = None
    audience: str | None = None

    def __post_init__(self) -> None:
        for level in self.by:
            if level not in LEVELS:
                raise ParameterError(f"A stream is by levels, and there is no {level!r}{instead_of(level, LEVELS)}.")
        if len(set(self.by)) < len(self.by):
            raise ParameterError("A stream names each of its levels once.")
        if self.each is None and (self.begin is None or self.end is None):
            raise ParameterError('A stream is paid for as a whole: give it from and until, or each = "1d" to renew it.')
        if self.begin is not None and self.end is not None and self.begin >= self.end:
            raise ParameterError("A stream must end after it begins; until is not part of it.")
        if self.each is not None and (not 0 < self.each <= DAY or DAY % self.each):
            raise ParameterError("each is a day, or hours or minutes that divide one, like '1d' or '6h'.")

    def check_slots(self, slot: int) -> None:
        """Ticks are the slots of the watch; a stream's tick lasts minutes that divide a day."""
        if slot % MINUTE or DAY % slot:
            raise ParameterError(
                f"The ticks of a stream are the watch's slots, which then last minutes that divide a day, as 5 and 15 "
                f"do; here they last {written(slot)}."
            )
        if self.each is not None and self.each % slot:
            raise ParameterError(f"each is a whole number of slots, which last {written(slot)}.")

    def part(self, slot: int, zone: ZoneInfo, step: int) -> Part | None:
        """The stream that a slot is a tick of; None where it is before the first or after the last.

        Parts are counted from midnight in the building's time zone, so the last one of a day may be shorter or longer
        where clocks change.
        """
        first = -DAY if self.begin is None else self.begin
        last = slot + 2 * DAY if self.end is None else self.end
        if not first <= slot < last:
            return None
        if self.each is None:
            return Part(first, last)
        end = midnight_after(slot, zone)
        begin = _midnight_before(slot, zone)
        if self.each < DAY:
            begin += (slot - begin) // self.each * self.each
            end = min(end, begin + self.each)
        return Part(max(_up(begin, step), first), min(_up(end, step), last))

    def key_of(self, part: Part) -> str:
        """Under which key a part is paid for; the same after every restart."""
        named = self.key or begun_as(self.name)
        return named if self.each is None else f"{named} {instant(part.begin):%Y-%m-%dT%H:%M}"

    def plan(self, part: Part, table: Table, building: Building, step: int) -> StreamPlan:
        """The plan of one part. Everybody has one row in a slot, which counts."""
        self.check_slots(step)
        finest = next((level for level in LEVELS if level in self.by), LEVELS[0])
        domain = building.domain(finest)
        return stream(
            Source(table, domains=domain, bound=Bound(1)),
            every=timedelta(microseconds=step),
            begin=instant(part.begin),
            end=instant(part.end),
            by=self.by,
            time=SLOT,
            domain=domain if self.by else None,
            **{**self.asked, **self._window(part, step), "live": True},
        )

    def _window(self, part: Part, step: int) -> dict[str, int]:
        """A length of time in units, of which everybody has one in each slot."""
        if "window" not in self.asked:
            return {}
        ticks = Ticks(SLOT, instant(part.begin), instant(part.end), timedelta(microseconds=step))
        return {"window": ticks_in(self.asked["window"], ticks, "window")}


def begun_as(name: str) -> str:
    """How the keys of a stream begin that has none of its own."""
    return f"stream {name}"


def _midnight_before(slot: int, zone: ZoneInfo) -> int:
    """The last local midnight that is not after a slot."""
    day = local_day(slot, zone)
    return microseconds(datetime(day.year, day.month, day.day, tzinfo=zone))


def _up(moment: int, step: int) -> int:
    return -(-moment // step) * step
