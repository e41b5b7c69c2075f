"""From the journal to the channels: every notice at least once, in order for each rule and key.

A notice is marked as delivered after the other side has it. A crash in between sends it again, with the same id. Each
channel has a worker of its own, so that one which is broken holds up no other, and each notice waits by itself, so that
one which is refused holds up no other key. Where more than a few are due at once, channels that can take them together
get them so: people in one message.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from secrets import SystemRandom
from typing import Final

from louver.errors import LouverError
from louver.watch.alarms.alarm import Notice
from louver.watch.alarms.sink import DAY, LONGEST_WAIT, Channel, Gathers, LaterError, RefusedError
from louver.watch.alarms.words import printable, subject
from louver.watch.durations import written
from louver.watch.journal import Journal, clock
from louver.watch.journal_records import Waiting

POLL: Final = 1.0  # seconds until a change by another process is seen
FIRST_WAIT: Final = 1.0
LONGEST_SPAN: Final = 300.0
FEW: Final = 10  # notices that come one by one also where people read them
PAGE: Final = 100  # notices read at a time, to be sent one by one
AT_ONCE: Final = 1000  # notices in one message at most
LAST_CALL: Final = 30.0  # seconds that a watch which ends gives its channels
SECOND: Final = 1_000_000
_RANDOM: Final = SystemRandom()


def back_off(tries: int, uniform: Callable[[float, float], float]) -> float:
    """Seconds until the next try: a random part of a span that doubles, so that many do not come back at once."""
    span = min(FIRST_WAIT * 2.0 ** min(tries, 64), LONGEST_SPAN)
    return uniform(span / 2, span)


def _aloud(said: str) -> None:
    sys.stderr.write(f"{said}\n")
    sys.stderr.flush()


class Outbox:
    """Runs beside the watcher: `await outbox.run()` until it is cancelled, or `await outbox.flush()` once.

    `say` gets a sentence when a channel fails, is back, or a notice is given up. `resting` names the rules that do not
    ask at a time, outside of their hours: of these nobody is reminded.
    """

    def __init__(
        self,
        journal: Journal,
        channels: Mapping[str, Channel],
        *,
        say: Callable[[str], None] = _aloud,
        resting: Callable[[int], Collection[str]] = lambda _: (),
        now: Callable[[], int] = clock,
        uniform: Callable[[float, float], float] = _RANDOM.uniform,
    ) -> None:
        self._journal, self._deliveries = journal, journal.deliveries
        self._channels = dict(channels)
        self._say, self._resting, self._now, self._uniform = say, resting, now, uniform
        self._news = {name: asyncio.Event() for name in self._channels}
        self._failing: set[str] = set()
        self._strangers: set[str] = set()
        self._held: dict[str, str] = {}  # why the journal holds up a channel, as it was last said
        self._done: dict[int, str | None] = {}  # delivered, though the journal could not be told yet

    def wake(self) -> None:
        """There is something new in the journal; without this it is seen within a second."""
        for event in self._news.values():
            event.set()

    async def run(self) -> None:
        """Deliver until cancelled."""
        self._tell_of_strangers()
        async with asyncio.TaskGroup() as group:
            for channel in self._channels.values():
                group.create_task(self._work(channel))

    async def flush(self, seconds: float = LAST_CALL) -> None:
        """Try what is due now, on every channel at once; what fails, or takes longer, waits in the journal."""
        self._tell_of_strangers()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.gather(*(self._pass(channel) for channel in self._channels.values()))

    async def close(self) -> None:
        await asyncio.gather(*(channel.sink.close() for channel in self._channels.values()))

    async def _work(self, channel: Channel) -> None:
        news = self._news[channel.name]
        while True:
            news.clear()
            await self._pass(channel)
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL):
                    await news.wait()

    async def _pass(self, channel: Channel) -> None:
        """Until nothing is due. A journal that cannot be written is no reason to stop."""
        try:
            if channel.repeat is not None:
                now = self._now()
                resting = self._resting(now)
                self._deliveries.repeat(channel.name, channel.repeat, now, snoozes=channel.snoozes, resting=resting)
            while due := self._deliveries.due(
                channel.name, self._now(), snoozes=channel.snoozes, most=AT_ONCE if _gathers(channel) else PAGE
            ):
                failed: set[str] = set()  # what stands behind a notice that failed waits with it
                for group in _grouped(channel, due):
                    if len(group) > 1 or group[0].lane not in failed:
                        failed |= await self._try(channel, group)
            self._held.pop(channel.name, None)
        except LouverError as fault:
            self._hold_up(channel, f": {fault}")
        except Exception as fault:  # one channel that breaks must not end the others
            self._hold_up(channel, f" by a fault that was not foreseen ({type(fault).__name__}).")

    def _hold_up(self, channel: Channel, why: str) -> None:
        """Said once for each reason, and not every second."""
        if self._held.get(channel.name) != why:
            self._held[channel.name] = why
            self._tell(f"Alarms to {printable(channel.name)} are held up{why}")

    def _tell(self, sentence: str) -> None:
        """Said where somebody may read it; a closed terminal holds up nothing."""
        with suppress(Exception):
            self._say(sentence)

    async def _try(self, channel: Channel, group: Sequence[Waiting]) -> set[str]:
        """The lanes that wait now."""
        left = [each.notice for each in group if each.number not in self._done]
        try:
            if left:
                remark = await _sent(channel, left)
                self._done |= {each.number: remark for each in group if each.number not in self._done}
        except RefusedError as refused:
            self._give_up(channel, group, str(refused))
        except LaterError as failed:
            self._later(channel, group, failed)
        except Exception as fault:  # a sink that breaks must not take the others along
            self._later(channel, group, LaterError(f"It failed in an unforeseen way ({type(fault).__name__})."))
        else:
            self._delivered(channel, group)
            return set()
        return {each.lane for each in group}

    def _delivered(self, channel: Channel, group: Sequence[Waiting]) -> None:
        numbers, remark = [each.number for each in group], self._done[group[-1].number]
        self._deliveries.delivered(numbers, self._now(), remark)
        for number in numbers:
            del self._done[number]
        if remark is not None:
            self._tell(f"{_named(group)} to {printable(channel.name)}: {remark}")
        if channel.name in self._failing:
            self._failing.discard(channel.name)
            self._tell(f"Alarms reach {printable(channel.name)} again.")

    def _later(self, channel: Channel, group: Sequence[Waiting], failed: LaterError) -> None:
        now = self._now()
        ends = {each.number: (now if each.tried is None else each.tried) + channel.give_up for each in group}
        over = [each for each in group if now >= ends[each.number]]
        if over:
            self._give_up(channel, over, f"{failed} It was tried for {written(channel.give_up)}.")
        again = {each.number: self._next(each, now, failed) for each in group if now < ends[each.number]}
        if not again:
            return
        self._deliveries.later({number: min(at, ends[number]) for number, at in again.items()}, now, str(failed))
        if channel.name not in self._failing:
            self._failing.add(channel.name)
            self._tell(f"ALARMS DO NOT REACH {printable(channel.name)}: {failed} They are tried again.")

    def _next(self, waiting: Waiting, now: int, failed: LaterError) -> int:
        asked = 0.0 if failed.after is None else failed.after
        bounded = asked if asked <= LONGEST_WAIT else LONGEST_WAIT  # also where it is no number
        return now + int(max(back_off(waiting.tries, self._uniform), bounded) * SECOND)

    def _give_up(self, channel: Channel, group: Sequence[Waiting], why: str) -> None:
        self._deliveries.give_up([each.number for each in group], self._now(), why)
        was, said = ("was", "It") if len(group) == 1 else ("were", "The first")
        self._tell(
            f"GIVEN UP: {_named(group)[0].lower()}{_named(group)[1:]} {was} not delivered to "
            f"{printable(channel.name)}. {why} {said} said: {subject(group[0].notice)}."
        )

    def _tell_of_strangers(self) -> None:
        """Notices may wait for a channel that is no longer in the rules; after a day they are given up."""
        now = self._now()
        for name, count in self._deliveries.waiting().items():
            if name in self._channels:
                continue
            lost = self._deliveries.give_up_channel(name, now - DAY, now, "There is no such channel any more.")
            if name in self._strangers and not lost:
                continue
            self._strangers.add(name)
            wait = f"{count - lost} wait for it and {lost} are given up"
            self._tell(f"ALARMS DO NOT REACH {printable(name)}: there is no table [alarm.{printable(name)}]; {wait}.")


def _gathers(channel: Channel) -> bool:
    return isinstance(channel.sink, Gathers)


def _grouped(channel: Channel, due: Sequence[Waiting]) -> Iterator[Sequence[Waiting]]:
    """One by one; all together where they are many and the channel can take them so."""
    if len(due) > FEW and _gathers(channel):
        yield due
    else:
        yield from ([each] for each in due)


async def _sent(channel: Channel, notices: Sequence[Notice]) -> str | None:
    sink = channel.sink
    if len(notices) > 1 and isinstance(sink, Gathers):
        return await sink.deliver_many(notices)
    return await sink.deliver(notices[0])


def _named(group: Sequence[Waiting]) -> str:
    return f"Alarm {group[0].notice.id}" if len(group) == 1 else f"{len(group):,} alarms"
