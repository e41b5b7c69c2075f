"""A watch from beginning to end: journal, channels, outbox and watcher together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from louver.sense.feeds.batch import Feed
from louver.sense.formats.fields import PRESENCE, READING
from louver.sense.formats.names import check_gives
from louver.watch.alarms.settings import channels
from louver.watch.deciding import Decided
from louver.watch.forecast import Forecast
from louver.watch.journal import Journal
from louver.watch.outbox import Outbox
from louver.watch.rules import Rules
from louver.watch.streams import Ticked
from louver.watch.watcher import Watched, Watcher


async def watch(
    rules: Rules,
    feed: Feed,
    *,
    clock: str | None = None,
    seconds: float | None = None,
    once: bool = False,
    told: Callable[[list[Decided]], None] = lambda _: None,
    started: Callable[[Forecast], None] = lambda _: None,
    ticked: Ticked = lambda *_: None,
    token: str | None = None,
    stopping: Callable[[Callable[[], None]], None] = lambda _: None,
    stream: TextIO | None = None,
) -> Watched:
    """Watch a feed until it ends, for so many seconds, or until the first slot is decided.

    `ticked` hears what streams publish. `stopping` is given the function that stops the watch, for signals. Alarms for
    the terminal go to `stream`.
    """
    check_gives(feed, PRESENCE if rules.combining is None else READING)
    places = channels(rules.channels, stream=stream)
    with Journal.open(rules.journal) as journal:
        outbox = Outbox(journal, places, resting=rules.resting)
        sending: asyncio.Task[None] | None = None

        def hear(decided: list[Decided]) -> None:
            told(decided)
            outbox.wake()
            if once:
                watcher.stop()

        def begin(forecast: Forecast) -> None:
            """Only now is it sure that no other watcher has the store and the journal, and sends these alarms."""
            nonlocal sending
            sending = asyncio.create_task(outbox.run())
            started(forecast)

        watcher = Watcher(rules, feed, journal, clock=clock, told=hear, started=begin, ticked=ticked, token=token)
        stopping(watcher.stop)
        if seconds is not None:
            asyncio.get_running_loop().call_later(seconds, watcher.stop)
        try:
            return await watcher.run()
        finally:
            if sending is not None:
                sending.cancel()
                with suppress(asyncio.CancelledError):
                    await sending
                await outbox.flush()
            await outbox.close()
