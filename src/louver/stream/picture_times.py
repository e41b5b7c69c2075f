"""The times under a picture of a stream: round ones, as many as there is room for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Self

from louver.stream.ticks import Ticks

if TYPE_CHECKING:
    from louver.stream.picture import Frame

ROOM, NEAR_THE_END = 70, 44  # for one label, and before one that is at the end
MINUTES = (1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720)
DAY = 1440


@dataclass(frozen=True, slots=True)
class Times:
    """Times of a public range, each with its share of the way from begin to end."""

    begin: datetime
    end: datetime
    width: float
    marks: tuple[tuple[float, datetime], ...]

    @classmethod
    def of(cls, ticks: Ticks, width: float) -> Self:
        begin, end = ticks.begin, ticks.end
        minutes = (end - begin) / timedelta(minutes=1)
        days = (DAY * 2**power for power in itertools.count())
        step = next(each for each in itertools.chain(MINUTES, days) if minutes / each <= width / ROOM)
        since = int(begin.timestamp()) // 60
        at = range(since + step - since % step, since + int(minutes), step)
        found = ((each - since) / minutes for each in at)
        return cls(begin, end, width, tuple((share, begin + share * (end - begin)) for share in found))

    def lines(self, frame: Frame) -> Iterator[str]:
        for share, _ in self.marks:
            x = frame.x + share * frame.width
            yield f'<path d="M{x:.1f} {frame.y:.1f}v{frame.height:.1f}" stroke="currentColor" stroke-opacity="0.1"/>'

    def labels(self, left: float) -> Iterator[tuple[float, str, str]]:
        """Where each label is, on which side of it, and what it says."""
        yield left, "start", self._said(self.begin)
        for share, time in self.marks:
            x = share * self.width
            if NEAR_THE_END <= x <= self.width - NEAR_THE_END:
                yield left + x, "middle", self._said(time)
        yield left + self.width, "end", self._said(self.end)

    def _said(self, time: datetime) -> str:
        """The hour; of a longer range, the day where one begins."""
        is_day = self.end - self.begin > timedelta(days=1) and (time.hour, time.minute) == (0, 0)
        return f"{time:%m-%d}" if is_day else f"{time:%H:%M}"
