"""Whether a live feed is there, since when, and what it missed: by its connection and its heartbeat, never by events.

Nobody there and no events is private, so how much comes says nothing. A broker that kept the session sends what came
meanwhile: then nothing is missed, only late. Where it did not, and for a feed that nobody keeps anything for, the time
since the feed was last there is missed. Where sensors give heartbeats, so is the time between two of them that are
further apart than the rules allow.

What a broker kept can take long to come, with pauses. So time goes on only as far as the feed proves that everything
came, and a session of a feed that proves nothing is not trusted.
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
    `is_kept` is whether everything that is sent meanwhile is kept, and becomes false for good once something is not.
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
        is_kept: bool = True,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._feed, self._now, self._steady = feed, now, steady
        self._patience, self._by_heartbeats = patience, heartbeats
        self._is_strange = not known
        self._alive_until = self._whole_until = there_until
        self.session, self.is_kept = session(feed), is_kept
        self.link = Link(False, connections=0, losses=0)
        self._since = self._held = steady()  # when the connection was last made or lost, and from when proofs count

    @property
    def there_until(self) -> int | None:
        if self._alive_until is None or self._whole_until is None:
            return None
        return min(self._alive_until, self._whole_until)

    def look(self) -> Missed | None:
        """The time that was missed, where that is found now."""
        old, new, now = self.link, linked(self._feed, self.link), self._now()
        if new[:2] != old[:2]:
            self._since = self._steady()
        if not new.connected:
            self.link = old._replace(connected=False)  # the rest is looked at when it is back
            return None
        self.link, there_until, alive_until = new, self.there_until, self._alive_until
        if there_until is None or alive_until is None:
            self._alive_until = self._whole_until = now
        self.is_kept = self.is_kept and new.session != "" and new.heard is not None
        is_lost = self._is_strange or new.losses != old.losses
        is_lost = is_lost or (new.connections != old.connections and not self.is_kept)
        is_alive = not self._by_heartbeats or new.heartbeats != old.heartbeats
        self._is_strange = False
        if is_alive:
            self._alive_until = now
        if new.heard is None:
            self._whole_until = now
        elif new.heard >= self._held:
            self._whole_until = now - int(max(0.0, self._steady() - new.heard) * 1e6)
        if there_until is None or alive_until is None:
            return None
        if is_lost:
            return Missed(there_until - UNNOTICED, now)
        if is_alive and self._by_heartbeats and now - alive_until > self._patience:
            return Missed(alive_until, now, f"No heartbeat came for more than {written(self._patience)}")
        return None

    @property
    def is_current(self) -> bool:
        """Whether the connection is still the one of the last look."""
        return self.link.connected and linked(self._feed, self.link)[:3] == self.link[:3]

    def rested(self, seconds: float) -> bool:
        """Whether what waited for it has come; where nothing proves that, whether it is connected for so long."""
        return self.link.connected and (self.link.heard is not None or self._steady() - self._since >= seconds)

    def hold(self) -> None:
        """As if it had connected just now, and proven nothing so far."""
        self._since = self._held = self._steady()

    def known_until(self) -> int:
        """Up to when something that happened would have been heard of."""
        alive = self._alive_until if self._by_heartbeats else None
        whole = self._whole_until if self.link.heard is not None else None
        return min(each for each in (self._now(), alive, whole) if each is not None)

    def silence(self) -> str:
        """Why nothing is known for longer than the rules allow; empty where something is."""
        if (self._steady() - self._since) * 1e6 <= self._patience:
            return ""
        if not self.link.connected:
            return f"The feed is not connected for more than {written(self._patience)}."
        now = self._now()
        if self._by_heartbeats and self._alive_until is not None and now - self._alive_until > self._patience:
            return f"No heartbeat came for more than {written(self._patience)}, so the sensors may be silent."
        if now - self.known_until() > self._patience:
            return (
                f"For more than {written(self._patience)} not everything has come that was sent; the broker must let "
                "the watch read and write its topic below louver/echo/, or has too much to tell."
            )
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
