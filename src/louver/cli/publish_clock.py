"""The time that a live stream goes by: a clock that leaps ahead must not bring ticks to their end before they were.

A tick that is released before its rows have come is lost, and a clock that leaps ahead by years would release all that
are left, empty, at once. So the wall clock is compared, at every look, with one that nobody sets:

- Set forward by a minute or more, it is not believed. The stream goes on at the pace that it had, which is right where
  the clock is wrong now, and late where it was wrong before. Started again, it takes the time as it finds it.
- Set back, it is believed, and the stream waits. Set forward again as far, it is where it was.
- Set by less than a minute, which is the shortest tick, it is followed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from louver.sense.events import instant
from louver.watch.clock import Clock, Step, wall_clock
from louver.watch.durations import MICROSECONDS

LEAP: Final = MICROSECONDS["minute"]
LONGEST_NAP: Final = 30.0  # seconds: a clock that was set is noticed after that


def steady_clock() -> int:
    """Microseconds since some time, also those in which the machine slept, where the system counts them: what a table
    got meanwhile is read."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)) // 1000


class LiveClock:
    """Tells the time that is believed, and waits for one; `say` gets a sentence when the clock was set."""

    def __init__(
        self,
        say: Callable[[str], None],
        wall: Callable[[], int] = wall_clock,
        steady: Callable[[], int] = steady_clock,
        nap: Callable[[float], None] = time.sleep,
    ) -> None:
        self._say, self._nap = say, nap
        self._clock = Clock(wall, steady)
        self._ahead = 0  # of what is believed; below 0 where it was set back

    def now(self) -> datetime:
        step = self._clock.step()
        if step is not None:
            self._follow(step)
        return instant(self._clock.now() - max(self._ahead, 0))

    def wait_until(self, moment: datetime) -> None:
        while (left := (moment - self.now()) / timedelta(seconds=1)) > 0:
            self._nap(min(left, LONGEST_NAP))

    def _follow(self, step: Step) -> None:
        before, ahead = self._ahead, self._ahead + step.after - step.before
        self._ahead = ahead if abs(ahead) >= LEAP else 0
        if self._ahead == before:
            return
        if self._ahead > 0:
            then = (
                "the stream does not follow it, because ticks would be released whose rows have not come. If the clock "
                "is right now, start the stream again"
            )
        else:
            then = "the stream waits until it is as late again" if self._ahead else "the stream goes on by it"
        self._say(f"The clock was set from {_shown(step.before)} to {_shown(step.after)}; {then}.")


def _shown(time: int) -> str:
    return f"{instant(time):%Y-%m-%d %H:%M:%S} UTC"
