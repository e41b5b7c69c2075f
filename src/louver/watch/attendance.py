"""Whether a live feed is there, since when, and what it missed: by its connection and its heartbeat, never by events.

Nobody there and no events is private, so how much comes says nothing. A broker that kept the session sends what came
meanwhile: then nothing is missed, only late. Where it did not, and for a feed that nobody keeps anything for, the time
since the feed was last there is missed. Where sensors give heartbeats, so is the time between two of them that are
further apart than the rules allow.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from louver.sense.feeds.batch import Feed
from louver.sense.feeds.link import Link
from louver.watch.absence import Missed
from louver.watch.durations import MICROSECONDS, written

UNNOTICED: Final = 30 * MICROSECONDS["second"]  # for so long a connection can be dead before that is seen


class Attendance:
    """Looked at often. `there_until` is the last time at which the feed was surely there, as the wall tells it; None
    before the very first start.

    `known` is whether the session is the one that was used until then: what another one kept is something else.
    """

    def __init__(
        self,
        feed: Feed,
        now: Callable[[], int],
        *,
        patience: int,
        heartbeats: bool = False,
        there_until: int | None = None,
        known: bool = False,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._feed, self._now, self._steady = feed, now, steady
        self._patience, self._by_heartbeats = patience, heartbeats
        self._is_strange = not known
        self.there_until = there_until
        self.link = Link(False, connections=0, losses=0)
        self._since = steady()  # when the connection was last made or lost

    def look(self) -> Missed | None:
        """The time that was missed, where that is found now."""
        old, new, now = self.link, linked(self._feed, self.link), self._now()
        if new[:2] != old[:2]:
            self._since = self._steady()
        if not new.connected:
            self.link = old._replace(connected=False)  # the rest is looked at when it is back
            return None
        self.link, began = new, self.there_until
        if began is None:
            self.there_until = now
        is_lost, self._is_strange = new.losses != old.losses or self._is_strange, False
        is_alive = not self._by_heartbeats or new.heartbeats != old.heartbeats
        if is_alive:
            self.there_until = now
        if began is None:
            return None
        if is_lost:
            return Missed(began - UNNOTICED, now)
        if is_alive and self._by_heartbeats and now - began > self._patience:
            return Missed(began, now, f"No heartbeat came for more than {written(self._patience)}")
        return None

    def rested(self, seconds: float) -> bool:
        """Whether it is connected for so long, so that what waited for it can have come."""
        return self.link.connected and self._steady() - self._since >= seconds

    def hold(self) -> None:
        """As if it had connected just now."""
        self._since = self._steady()

    def known_until(self) -> int:
        """Up to when something that happened would have been heard of."""
        now = self._now()
        return now if not self._by_heartbeats or self.there_until is None else min(now, self.there_until)

    def silence(self) -> str:
        """Why nothing is known for longer than the rules allow; empty where something is."""
        if (self._steady() - self._since) * 1e6 <= self._patience:
            return ""
        if not self.link.connected:
            return f"The feed is not connected for more than {written(self._patience)}."
        if self._now() - self.known_until() > self._patience:
            return f"No heartbeat came for more than {written(self._patience)}, so the sensors may be silent."
        return ""


def linked(feed: Feed, before: Link) -> Link:
    """How a feed stands. One that does not tell keeps nothing: what comes while it is away is lost."""
    link = getattr(feed, "link", None)
    if isinstance(link, Link):
        return link
    connected = bool(getattr(feed, "connected", True))
    made = connected and not before.connected
    return before._replace(connected=connected, connections=before.connections + made, losses=before.losses + made)


def session(feed: Feed) -> str:
    """By which name something is kept for a feed while it is away; empty where nothing is."""
    return linked(feed, Link(False)).session
