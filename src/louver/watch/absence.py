"""When the feed was there, and of when nothing is known; kept in the store, because a restart must not hide a gap."""

from __future__ import annotations

import hashlib
from typing import Final, NamedTuple

from louver.sense.events import instant
from louver.sense.presence import Rule
from louver.sense.store import Store

BEGAN, THERE, SESSION = "began", "there until", "session"
_FROM, _TO = "away from", "away to"
NOT_THERE: Final = "The feed was not there"


class Missed(NamedTuple):
    """From when to when nothing is known, and why."""

    begin: int
    end: int
    why: str = NOT_THERE


class Absence:
    """Spans of time of which nothing is known, until no slot reaches into them any more."""

    def __init__(self, store: Store, timing: Rule) -> None:
        self._store, self._timing = store, timing
        begin, end = store.remembered(_FROM), store.remembered(_TO)
        self._spans = [] if begin is None or end is None else [Missed(begin, end)]

    def add(self, missed: Missed) -> None:
        """On disk when it returns; what is there as one span, which may be longer."""
        self._spans.append(missed)
        self._store.remember(_FROM, min(each.begin for each in self._spans))
        self._store.remember(_TO, max(each.end for each in self._spans))

    def why(self, slot: int) -> str:
        """Why it is not known who was there in a slot, or what would have come of it in time; empty where it is."""
        first, last = slot - self._timing.validity, slot + self._timing.lateness
        for each in self._spans:
            if each.begin <= last and first <= each.end:
                return f"{each.why}, so nothing was asked about {instant(slot):%H:%M}."
        return ""

    def forget(self, following: int) -> None:
        """What neither this slot nor a later one reaches into."""
        self._spans = [each for each in self._spans if each.end >= following - self._timing.validity]

    def there_until(self) -> int | None:
        """Until when the feed was there at least; None before the very first start."""
        found = self._store.remembered(THERE)
        return self._store.next_slot if found is None else found

    def saw(self, until: int, session: str) -> None:
        """The feed was there until now, by this session; what it missed before was added."""
        self._store.remember(THERE, until)
        if self._store.remembered(SESSION) != _number(session):
            self._store.remember(SESSION, _number(session))

    def knows(self, session: str) -> bool:
        """Whether this session is the one by which the feed was last there."""
        return bool(session) and self._store.remembered(SESSION) == _number(session)


def _number(session: str) -> int:
    return int.from_bytes(hashlib.sha256(session.encode()).digest()[:8]) >> 1 if session else 0
