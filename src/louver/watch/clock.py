"""The wall's time, and when somebody set it: by the side of it runs a clock that nobody sets."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, NamedTuple

from louver.sense.events import instant
from louver.watch.durations import MICROSECONDS

TOLERANCE: Final = 2 * MICROSECONDS["second"]  # what clocks may differ between two looks
LONGEST_BACK: Final = MICROSECONDS["hour"]  # a clock that is further back ends a watch


def wall_clock() -> int:
    """Now, in microseconds UTC since 1970."""
    return time.time_ns() // 1000


def steady_clock() -> int:
    """Microseconds since some time, which go on evenly. Those in which the machine slept may be missing."""
    return time.monotonic_ns() // 1000


class Step(NamedTuple):
    """What time it was when the clock was set, and what it was set to."""

    before: int
    after: int

    @property
    def span(self) -> tuple[int, int]:
        """The time that is missing, or that comes twice."""
        return min(self), max(self)

    def __str__(self) -> str:
        way = "forward" if self.after > self.before else "back"
        return f"The clock was set {way} from {instant(self.before):%H:%M:%S} to {instant(self.after):%H:%M:%S} UTC"


class Clock:
    """Tells the time as the wall does, but follows a step of it (a machine that slept, a clock that was set) only when
    that was taken note of: until then time goes on as if there had been none.

    Without a `steady` clock the wall is believed whatever it says.
    """

    def __init__(self, wall: Callable[[], int] = wall_clock, steady: Callable[[], int] | None = steady_clock) -> None:
        self._wall = wall
        self._steady = wall if steady is None else steady
        self._trusted = steady is None
        self._ahead = 0 if self._trusted else wall() - self._steady()

    def now(self) -> int:
        """Microseconds UTC since 1970."""
        if self._trusted:
            return self._wall()
        wall, expected = self._wall(), self._steady() + self._ahead
        return expected if abs(wall - expected) > TOLERANCE else wall

    def step(self) -> Step | None:
        """How the clock was set since the last look, if it was; from now on the new time counts."""
        if self._trusted:
            return None
        wall, steady = self._wall(), self._steady()
        expected = steady + self._ahead
        self._ahead = wall - steady  # clocks that drift apart slowly are no step
        return Step(expected, wall) if abs(wall - expected) > TOLERANCE else None
