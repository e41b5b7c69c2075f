"""One asyncio process: a feed's batches go through the pipeline in a thread of its own, and alarms go out meanwhile.

A batch is acknowledged when its events are stored. Slots become final by the events' own times; by the wall clock as
well, where that is chosen, the feed is connected and has nothing more from before: nobody there means no events, and
that must be decided too.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from louver.errors import LouverError
from louver.sense.events import Tally
from louver.sense.feeds.batch import Batch, Feed
from louver.watch.deciding import Decided
from louver.watch.durations import written
from louver.watch.forecast import Forecast
from louver.watch.journal import Journal
from louver.watch.pipeline import Pipeline, wall_clock
from louver.watch.rules import WALL, Rules

TICK = 1.0  # seconds without a batch after which a feed has nothing more from before
CATCHING_UP = 60.0  # seconds after which a connected feed that never rests is believed to have caught up

Made = TypeVar("Made")


@dataclass(slots=True)
class Watched:
    """What a watch came to: slots decided (one for each rule), undecided among them, alarms, the largest price paid."""

    slots: int = 0
    undecided: int = 0
    alarms: int = 0
    paid: Fraction = Fraction(0)
    tally: Tally = field(default_factory=Tally)

    def add(self, decided: list[Decided]) -> None:
        for each in decided:
            self.slots += each.of_a_slot
            self.undecided += each.of_a_slot and each.undecided > 0
            self.alarms += len(each.alarms)
            self.paid = max(self.paid, each.paid)


class Watcher:
    """Watches a feed by rules, until it ends or is stopped.

    `told` hears what was decided. `clock` is "wall" or "events"; `now` is the wall's, for tests.
    """

    def __init__(
        self,
        rules: Rules,
        feed: Feed,
        journal: Journal,
        *,
        clock: str | None = None,
        told: Callable[[list[Decided]], None] = lambda _: None,
        started: Callable[[Forecast], None] = lambda _: None,
        now: Callable[[], int] = wall_clock,
        tick: float = TICK,
    ) -> None:
        self._rules, self._feed, self._journal = rules, feed, journal
        self._clock = clock or rules.clock or WALL
        self._told, self._started, self._now, self._tick = told, started, now, tick
        self._stopped = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="louver watch")
        self._pipeline: Pipeline | None = None
        self._was_connected, self._connected_since = True, time.monotonic()  # or else since when it is not
        self._silent = False
        self._last_there = now()
        self.watched = Watched()

    def stop(self) -> None:
        """End after the batch that is under way."""
        self._stopped.set()

    async def run(self) -> Watched:
        """Until the feed ends; what was stored and not decided before is decided first."""
        try:
            self._pipeline = await self._apart(
                lambda: Pipeline.open(self._rules, self._journal, clock=self._clock, now=self._now)
            )
            self._started(self._pipeline.forecast)
            await self._watch(self._pipeline)
        finally:
            await self._feed.close()
            if self._pipeline is not None:
                self.watched.tally += self._pipeline.tally
                await self._apart(self._pipeline.close)
            self._thread.shutdown()
        return self.watched

    async def _watch(self, pipeline: Pipeline) -> None:
        self._say(await self._apart(pipeline.advance))
        stopped = asyncio.ensure_future(self._stopped.wait())
        batches = aiter(self._feed)
        next_batch: asyncio.Future[Batch | None] | None = None
        try:
            while not self._stopped.is_set():
                if next_batch is None:
                    next_batch = asyncio.ensure_future(_next(batches))
                both: set[asyncio.Future[Any]] = {next_batch, stopped}
                await asyncio.wait(both, timeout=self._tick, return_when=asyncio.FIRST_COMPLETED)
                if not next_batch.done():
                    await self._idle(pipeline)
                    continue
                batch, next_batch = await self._received(pipeline, next_batch), None
                if batch is None:
                    self._say(await self._apart(pipeline.finish))
                    return
                await self._take(pipeline, batch)
        finally:
            for waiting in (stopped, next_batch):
                if waiting is not None:
                    waiting.cancel()
                    with suppress(asyncio.CancelledError, Exception):
                        await waiting

    async def _received(self, pipeline: Pipeline, batch: asyncio.Future[Batch | None]) -> Batch | None:
        try:
            return batch.result()
        except LouverError as fault:
            reason = str(fault)
            self._say(await self._apart(lambda: pipeline.no_data(reason)))
            raise

    async def _take(self, pipeline: Pipeline, batch: Batch) -> None:
        self.watched.tally += batch.faults
        await self._apart(lambda: pipeline.take(batch.events))
        await batch.done()
        caught_up = self._is_connected() and time.monotonic() - self._connected_since > CATCHING_UP
        self._say(await self._apart(lambda: pipeline.advance(by_clock=caught_up)))

    async def _idle(self, pipeline: Pipeline) -> None:
        """Nothing came for a while: time goes on where the feed is connected; where it is not, that is told."""
        if self._is_connected():
            self._silent = False
            self._say(await self._apart(lambda: pipeline.advance(by_clock=True)))
            return
        gone = round((time.monotonic() - self._connected_since) * 1e6)
        if gone > self._rules.no_data_after and not self._silent:
            self._silent = True
            reason = f"The feed is not connected for more than {written(self._rules.no_data_after)}."
            self._say(await self._apart(lambda: pipeline.no_data(reason)))

    def _is_connected(self) -> bool:
        """Whether the feed is there: its connection, and never how many events came."""
        connected = bool(getattr(self._feed, "connected", True))
        if connected != self._was_connected:
            self._was_connected, self._connected_since = connected, time.monotonic()
            if connected and self._pipeline is not None:
                self._pipeline.away(self._last_there, self._now())
        if connected:
            self._last_there = self._now()
        return connected

    def _say(self, decided: list[Decided]) -> None:
        self.watched.add(decided)
        if decided:
            self._told(decided)

    async def _apart(self, work: Callable[[], Made]) -> Made:
        """Blocking work, in the pipeline's thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


async def _next(batches: AsyncIterator[Batch]) -> Batch | None:
    """The next batch; None at the end."""
    return await anext(batches, None)
