"""One asyncio process: a feed's batches go through the pipeline in a thread of its own, and alarms go out meanwhile.

A batch is acknowledged when its events are stored. In a replay slots become final by the events' own times, or all at
the end where the rules name a range. Live they become final by the wall clock, while the feed is there and has nothing
more from before: nobody there means no events, and that must be decided too. A broker's feed proves up to when it has
nothing more; another one is believed when it rests.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeVar

from louver.errors import AccessError, DataError, LouverError, ParameterError
from louver.sense.events import Tally
from louver.sense.feeds.batch import Batch, Feed
from louver.stream.tick import Tick
from louver.watch.alarms.alarm import Alarm
from louver.watch.attendance import Attendance, session
from louver.watch.clock import LONGEST_BACK, Clock
from louver.watch.deciding import Decided
from louver.watch.forecast import Forecast
from louver.watch.journal import Journal
from louver.watch.moments import shown
from louver.watch.pipeline import Pipeline
from louver.watch.ranged import RangedPipeline
from louver.watch.rules import WALL, Rules
from louver.watch.streams import Ticked

TICK = 1.0  # seconds without a batch after which a feed that proves nothing has nothing more from before
CATCHING_UP = 60.0  # seconds after which such a feed that never rests is believed to have caught up
NOTED = 10.0  # seconds between two notes in the store that the feed is there

Made = TypeVar("Made")


@dataclass(slots=True)
class Watched:
    """What a watch came to: slots decided (one for each rule), undecided among them, alarms, the largest price paid.

    `told` counts the alarms by state. `ticks` were published by streams, `missing` among them.
    """

    slots: int = 0
    undecided: int = 0
    alarms: int = 0
    paid: Fraction = Fraction(0)
    tally: Tally = field(default_factory=Tally)
    told: Counter[str] = field(default_factory=Counter)
    ticks: int = 0
    missing: int = 0

    def add(self, decided: list[Decided]) -> None:
        for each in decided:
            self.slots += each.of_a_slot
            self.undecided += each.of_a_slot and each.undecided > 0
            self.add_alarms(each.alarms)
            self.paid = max(self.paid, each.paid)

    def add_alarms(self, alarms: Sequence[Alarm]) -> None:
        self.alarms += len(alarms)
        self.told.update(alarm.state for alarm in alarms)


class Watcher:
    """Watches a feed by rules, until it ends or is stopped.

    `told` hears what was decided, and `ticked` what streams published. `clock` is "wall" or "events"; `now` is the
    wall's time, for tests: a `Clock`, or a function that is believed whatever it says.
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
        ticked: Ticked = lambda *_: None,
        token: str | None = None,
        now: Clock | Callable[[], int] | None = None,
        tick: float = TICK,
    ) -> None:
        self._rules, self._feed, self._journal = rules, feed, journal
        self._clock = clock or rules.clock or WALL
        self._check()
        self._told, self._started, self._tick = told, started, tick
        self._ticked, self._token = ticked, token
        self._time = now if isinstance(now, Clock) else Clock() if now is None else Clock(now, steady=None)
        self._stopped = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="louver watch")
        self._pipeline: Pipeline | None = None
        self._attendance = self._attending()
        self._noted = -NOTED
        self._silent = False
        self.watched = Watched()

    def stop(self) -> None:
        """End after the batch that is under way."""
        self._stopped.set()

    async def run(self) -> Watched:
        """Until the feed ends; what was stored and not decided before is decided first."""
        try:
            kind = Pipeline if self._rules.begin is None else RangedPipeline
            loop = asyncio.get_running_loop()

            def ticked(name: str, tick: Tick, is_last: bool) -> None:
                loop.call_soon_threadsafe(self._hear, name, tick, is_last)

            self._pipeline = await self._apart(
                lambda: kind.open(
                    self._rules,
                    self._journal,
                    clock=self._clock,
                    now=self._time.now,
                    ticked=ticked,
                    token=self._token,
                )
            )
            self._attendance = self._attending(self._pipeline)
            await self._doubt()
            if hasattr(self._feed, "connecting"):
                self._feed.connecting = self._doubt
            self.watched.add_alarms(self._pipeline.left)
            self._started(replace(self._pipeline.forecast, first=self._pipeline.first_slot))
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
                await self._apart(pipeline.erase)
                if not next_batch.done():
                    await self._idle(pipeline)
                    continue
                batch, next_batch = await self._received(pipeline, next_batch), None
                if batch is None:
                    await self._finish(pipeline)
                    return
                await self._take(pipeline, batch)
            await self._note(pipeline, at_once=True)
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
        await self._look(pipeline)
        self.watched.tally += batch.faults
        await self._apart(lambda: pipeline.take(batch.events))
        await batch.done()
        await self._advance(pipeline, by_clock=self._attendance.rested(CATCHING_UP))

    async def _idle(self, pipeline: Pipeline) -> None:
        """Nothing came for a while: time goes on where the feed is there and had that while to tell."""
        await self._look(pipeline)
        if self._attendance.rested(self._tick):
            await self._advance(pipeline, by_clock=True)

    async def _advance(self, pipeline: Pipeline, *, by_clock: bool) -> None:
        until = self._attendance.known_until()
        self._say(await self._apart(lambda: pipeline.advance(by_clock=by_clock, until=until)))

    async def _finish(self, pipeline: Pipeline) -> None:
        """The feed has ended; what is left is decided part by part, until it is stopped."""
        await self._look(pipeline)
        parts = pipeline.finish()
        while not self._stopped.is_set() and (part := await self._apart(lambda: next(parts, None))) is not None:
            self._say(part)
            await self._apart(pipeline.erase)
        await self._note(pipeline, at_once=True)

    async def _look(self, pipeline: Pipeline) -> None:
        """Before anything is taken or decided: whether the clock was set, and whether the feed is there."""
        if self._clock == WALL and (step := self._time.step()) is not None:
            self._attendance.hold()  # what happened while the machine slept may still come
            await self._apart(lambda: pipeline.away(*step.span, str(step)))
        was_kept, missed = self._attendance.is_kept, self._attendance.look()
        if self._clock == WALL and missed is not None:
            await self._apart(lambda: pipeline.away(*missed))
        await self._note(pipeline, at_once=was_kept and not self._attendance.is_kept)
        if self._clock == WALL and (deafness := getattr(self._feed, "deafness", "")):
            self._say(await self._apart(lambda: pipeline.no_data(deafness)))
            raise AccessError(deafness)
        reason = self._attendance.silence() or await self._set_back(pipeline)
        if reason and not self._silent:
            self._say(await self._apart(lambda: pipeline.no_data(reason)))
        self._silent = bool(reason)

    async def _set_back(self, pipeline: Pipeline) -> str:
        """Why nothing is decided for a while, where the clock is behind what is decided; far behind, the watch ends."""
        now, following, slot = self._time.now(), pipeline.next_slot, self._rules.timing.slot
        if self._clock != WALL or following is None or now >= following - slot:
            return ""
        reason = (
            f"The clock says {shown(now)}, and slots up to {shown(following - slot)} are decided already, "
            "so it was set back."
        )
        if now >= following - slot - LONGEST_BACK:
            return reason
        self._say(await self._apart(lambda: pipeline.no_data(reason)))
        raise DataError(f"{reason} Set it right and start the watch again, or take another store and journal.")

    async def _note(self, pipeline: Pipeline, *, at_once: bool = False) -> None:
        """Keep until when the feed was there, now and then: after a restart the time since is missing."""
        until, session, is_kept = self._attendance.there_until, self._attendance.session, self._attendance.is_kept
        if self._clock != WALL or until is None or not self._attendance.is_current:
            return
        if at_once or time.monotonic() - self._noted >= NOTED:
            self._noted = time.monotonic()
            await self._apart(lambda: pipeline.absence.saw(until, session, is_kept=is_kept))

    async def _doubt(self) -> None:
        """Before the feed connects: the session counts as lost until a look has found that it was not."""
        pipeline = self._pipeline
        if self._clock == WALL and pipeline is not None:
            self._noted = -NOTED
            await self._apart(pipeline.absence.doubt)

    def _attending(self, pipeline: Pipeline | None = None) -> Attendance:
        absence = None if pipeline is None or self._clock != WALL else pipeline.absence
        return Attendance(
            self._feed,
            self._time.now,
            patience=self._rules.no_data_after,
            heartbeats=self._rules.heartbeat is not None,
            there_until=None if absence is None else absence.there_until(),
            known=absence is not None and absence.knows(session(self._feed)),
            is_kept=absence is None or absence.trusts(session(self._feed)),
        )

    def _check(self) -> None:
        """What the rules ask of the feed and the clock."""
        wanted = self._rules.heartbeat
        if wanted is not None and getattr(self._feed, "heartbeat", None) != wanted:
            raise ParameterError(f"Only a broker has heartbeats; this feed does not listen to {wanted!r}.")
        if self._rules.begin is not None and self._clock == WALL:
            raise ParameterError("A range is for recordings, whose slots do not end by the wall's clock.")

    def _say(self, decided: list[Decided]) -> None:
        self.watched.add(decided)
        if decided:
            self._told(decided)

    def _hear(self, name: str, tick: Tick, is_last: bool) -> None:
        self.watched.ticks += 1
        self.watched.missing += tick.missing
        self._ticked(name, tick, is_last)

    async def _apart(self, work: Callable[[], Made]) -> Made:
        """Blocking work, in the pipeline's thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


async def _next(batches: AsyncIterator[Batch]) -> Batch | None:
    """The next batch; None at the end."""
    return await anext(batches, None)
