"""Whether a round begins and ends where the days or slots of its unit do, so that no other round shares one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from louver.privacy import Scope
from louver.privacy.ranges import Between
from louver.source import derived
from louver.source.derived import DAY, MINUTES_A_DAY, SLOT
from louver.source.moments import slot_start


def tells_rounds_apart(box: Scope, charged: Scope) -> bool:
    """For the box of a round's rows, and what of it the unit fixes: one of its columns is in no other round."""
    ranges = dict(box.ranges)
    return any(_is_whole(column, ranges) for column, _ in charged.ranges)


def _is_whole(column: str, ranges: Mapping[str, object]) -> bool:
    part = derived.parse(column)
    if part is None:
        return _is_time(ranges[column])
    period = ranges.get(part.column)
    if part.part not in (DAY, SLOT) or not isinstance(period, Between) or not _is_time(period):
        return False
    minutes = part.minutes or MINUTES_A_DAY
    return all(isinstance(edge, datetime) and slot_start(edge, minutes) == edge for edge in (period.start, period.end))


def _is_time(given: object) -> bool:
    return isinstance(given, Between) and isinstance(given.start, datetime) and isinstance(given.end, datetime)
