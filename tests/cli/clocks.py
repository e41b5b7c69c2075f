"""A wall clock and one that nobody sets, which go on while a live stream naps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from louver.cli.publish_clock import LiveClock
from louver.sense.events import microseconds


class Clocks:
    """From a time on; `leaps` says how far the wall clock is set, by the seconds after which it is."""

    def __init__(self, begin: datetime, leaps: Mapping[float, timedelta] | None = None) -> None:
        self.begin, self.leaps = begin, dict(leaps or {})
        self.naps: list[float] = []
        self._live = LiveClock

    @property
    def passed(self) -> timedelta:
        return timedelta(seconds=sum(self.naps))

    def wall(self) -> int:
        leapt = [leap for after, leap in self.leaps.items() if timedelta(seconds=after) <= self.passed]
        return microseconds(self.begin + self.passed + sum(leapt, timedelta()))

    def steady(self) -> int:
        return self.passed // timedelta(microseconds=1)

    def live(self, say: Callable[[str], None]) -> LiveClock:
        return self._live(say, self.wall, self.steady, self.naps.append)
