"""When the feed was there, and of when nothing is known; kept in the store, because a restart must not hide a gap."""

from __future__ import annotations

import hashlib
from typing import Final, NamedTuple

from louver.sense.events import instant
from louver.sense.presence import Rule
from louver.sense.store import Store

BEGAN, THERE, SESSION, LOSSY = "began", "there until", "session", "not all kept of"
_FROM, _TO = "away from", "away to"
NOT_THERE: Final = "The feed was not there"


class Missed(NamedTuple):
    """From when to when nothing is known, and why."""

    begin: int
    end: int
    why: str = NOT_THERE


class Absence:
    """Spans of time of which nothing is known, until no slot reaches into them any more.

    A slot of presence is an instant, and what was said a validity before it counts. One of readings lasts for
    `lasting`, and what was said in it counts.
    """

    def __init__(self, store: Store, timing: Rule, lasting: int = 0) -> None:
        self._store = store
        self._before = timing.skew if lasting else timing.validity
        self._after = lasting + timing.lateness
        begin, end = store.remembered(_FROM), store.remembered(_TO)
        self._spans = [] if begin is None or end is None else [Missed(begin, end)]

    def add(self, missed: Missed) -> None:
        """On disk when it returns; what is there as one span, which may be longer."""
        self._spans.append(missed)
        begin, end = min(each.begin for each in self._spans), max(each.end for each in self._spans)
        self._store.remember_all({_FROM: begin, _TO: end})

    def why(self, slot: int) -> str:
        """Why it is not known who was there in a slot, or what would have come of it in time; empty where it is."""
        first, last = slot - self._before, slot + self._after
        for each in self._spans:
            if each.begin <= last and first <= each.end:
                return f"{each.why}, so nothing was asked about {instant(slot):%H:%M}."
        return ""

    def forget(self, following: int) -> None:
        """What neither this slot nor a later one reaches into."""
        self._spans = [each for each in self._spans if each.end >= following - self._before]

    def there_until(self) -> int | None:
        """Until when the feed was there at least; None before the very first start."""
        found = self._store.remembered(THERE)
        return self._store.next_slot if found is None else found

    def saw(self, until: int, session: str, *, is_kept: bool = True) -> None:
        """The feed was there until now, by this session; what it missed before was added.

        A session by which something was once sent that nobody keeps is never trusted again.
        """
        number = _number(session)
        new = {THERE: until, SESSION: number} if is_kept else {THERE: until, SESSION: 0, f"{LOSSY} {number}": 1}
        self._store.remember_all(new)

    def doubt(self) -> None:
        """A connection is about to be made: until the feed was seen there, it may have lost its session."""
        if self._store.remembered(SESSION):
            self._store.remember(SESSION, 0)

    def knows(self, session: str) -> bool:
        """Whether this session is the one by which the feed was last there."""
        return bool(session) and self._store.remembered(SESSION) == _number(session)

    def trusts(self, session: str) -> bool:
        """Whether everything that was sent by this session so far would have been kept."""
        return bool(session) and self._store.remembered(f"{LOSSY} {_number(session)}") is None


def _number(session: str) -> int:
    return int.from_bytes(hashlib.sha256(session.encode()).digest()[:8]) >> 1 if session else 0
