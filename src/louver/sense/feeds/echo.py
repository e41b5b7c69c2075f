"""A message to oneself through the broker, which comes back behind everything that was sent before it.

So a feed knows that it has heard all up to the time at which the message went out, also what waited while the feed was
away, and that its connection is alive.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from secrets import token_bytes
from typing import Final

from louver.errors import AccessError
from louver.sense.feeds.connection import ANSWER, Connection, LostError

EVERY: Final = 1.0  # seconds from one that came back to the next
MOST_SENT: Final = 1000  # on their way; the broker may have dropped some
PREFIX: Final = "louver/echo/"


class Echo:
    """`heard` is the time, by `time.monotonic`, at which the last one that came back went out."""

    def __init__(self, client: str) -> None:
        self.topic = PREFIX + client
        self.heard = float("-inf")
        self.is_refused = False
        self._sent: dict[bytes, float] = {}
        self._is_back = asyncio.Event()

    async def send(self, connection: Connection) -> None:
        """One after the other, until the connection ends or the broker refuses."""
        with suppress(LostError):
            while not self.is_refused:
                payload = token_bytes(16)
                self._is_back.clear()
                self._sent[payload] = time.monotonic()
                if len(self._sent) > MOST_SENT:
                    del self._sent[next(iter(self._sent))]
                try:
                    await connection.publish(self.topic, payload)
                except AccessError:
                    self.is_refused = True
                    return
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._is_back.wait(), ANSWER)
                await asyncio.sleep(EVERY)

    def came(self, payload: bytes) -> None:
        """One is back, and what came before it was taken; one of another run says nothing."""
        at = self._sent.get(payload)
        if at is not None:
            self.heard = max(self.heard, at)
            self._sent = {each: sent for each, sent in self._sent.items() if sent > at}
            self._is_back.set()
