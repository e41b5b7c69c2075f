"""Replaying the past at a chosen speed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from louver.parameters import positive

TICK: Final = 0.05  # seconds of waiting that are worth a batch of their own


class Pace:
    """When an event is due: as long after the first one as its time says, divided by the speed.

    Events that are due within one tick go together at its end, so that none comes before its time. Who takes batches
    more slowly than they are due gets the next one at once.
    """

    def __init__(
        self,
        speed: float,
        *,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._speed = float(positive("speed", speed))
        self._now, self._sleep = now, sleep
        self._first: int | None = None
        self._start = self._horizon = 0.0

    def waits(self, time: int) -> bool:
        """Whether what was collected must go out before this event joins."""
        if self._first is None:
            self._first, self._start = time, self._now()
            self._horizon = self._start
        return self._due(time) > self._horizon

    async def rest(self) -> None:
        """Until what was collected is due."""
        left = self._horizon - self._now()
        if left > 0:
            await self._sleep(left)

    def go_on(self, time: int) -> None:
        """The next tick, which ends no earlier than this event is due."""
        self._horizon = max(self._horizon + TICK, self._due(time))

    def _due(self, time: int) -> float:
        return self._start + (time - (self._first or 0)) / 1e6 / self._speed
