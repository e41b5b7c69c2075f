"""Pseudonyms that change: each salt has a time to live, and is thrown away after it.

Two readings of "every so often" are in use. By default everybody's pseudonym changes at the same times, the whole
multiples of the time to live. With `per_device` each device has epochs of its own, counted from its earliest event:
where an earlier one comes later, epochs are counted from that one, if all events so far are still in the first epoch.
So any order within a lateness below the time to live gives the same people, and a batch does too.

It cuts the link between what one device does before and after a change. It makes no promise: counts do not depend on
names, a device that sends often is counted once per epoch within the validity, and whoever sees positions can follow
most people across a change. At a time to live of one second nearly every event is a person of its own.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from louver.sense.admitted import Admitted
from louver.sense.events import LATEST, Event
from louver.sense.presence import duration
from louver.sense.pseudonyms import admitted, hashed
from louver.sense.salt import SALT_BYTES, keep_salts, salts

MOST_SALTS = 10_000  # in a file; events of any time can ask for one


class Rotating:
    """A door whose salts live for `ttl`. An epoch's salt is kept until `discard`, for events that come late.

    They are in memory; `Rotating.open` keeps them in a file until then, so that a restart changes nobody's pseudonym.

    >>> from datetime import timedelta
    >>> door = Rotating(timedelta(seconds=10))
    >>> nine, eleven, twelve = (door.person("card 7", second * 1_000_000) for second in (9, 11, 12))
    >>> nine == eleven, eleven == twelve
    (False, True)
    """

    UNLIKE = "Pseudonyms did not change this often when the events in {} were taken in; change it back."
    CHANGES = True

    def __init__(self, ttl: timedelta | int, per_device: bool = False) -> None:
        self.ttl = duration("The time to live of a salt", ttl)
        self.per_device = per_device
        self._salts: dict[tuple[int, int], bytes] = {}
        self._own: dict[int, tuple[int, int]] = {}  # of each device the earliest and the latest time, in memory only
        # Which device an own epoch belongs to is known by a tag that nobody else can compute.
        self._tags = secrets.token_bytes(SALT_BYTES)
        self._file: Path | None = None
        self._is_saved = True

    @classmethod
    def open(cls, path: str | Path, ttl: timedelta | int) -> Rotating:
        """A door at which everybody changes at the same times, with the salts of epochs that are not over in a file."""
        door = cls(ttl)
        door._file = Path(path)
        door._salts = {(0, epoch): each for epoch, each in salts(path, door.ttl).items()}
        return door

    @property
    def fingerprint(self) -> int:
        """By which a store knows again how often pseudonyms change."""
        return hashed(b"pseudonyms that change", str(self.ttl))

    def person(self, device: str, time: int) -> int:
        """The pseudonym of a device at a time: a whole number from 0 to 2^63 - 1."""
        found = self._person(device, time)
        self._save()
        return found

    def _person(self, device: str, time: int) -> int:
        whose, first = 0, 0
        if self.per_device:
            whose = hashed(self._tags, device)
            first = self._began(whose, time)
        epoch = (time - first) // self.ttl
        salt = self._salts.get((whose, epoch))
        if salt is None:
            salt = self._salts[whose, epoch] = secrets.token_bytes(SALT_BYTES)
            self._is_saved = False
        return hashed(salt, device)

    def _began(self, whose: int, time: int) -> int:
        """Since when the device's epochs are counted."""
        first, last = self._own.get(whose, (time, time))
        if 0 <= time < LATEST:  # another time is no event's
            first = time if time < first and last - time < self.ttl else first
            self._own[whose] = first, max(last, time)
        return first

    def persons(self, devices: Iterable[str], times: Iterable[int]) -> NDArray[np.int64]:
        found = np.fromiter(map(self._person, devices, times), dtype=np.int64)
        self._save()
        return found

    def admit(self, events: Sequence[Event]) -> Admitted:
        """The events with the pseudonyms of their times; the device ids stay outside."""
        return admitted(events, self.persons((event.device for event in events), (int(event.time) for event in events)))

    def discard(self, before: int) -> int:
        """Throw away every salt whose epoch ended at this time or earlier, and give how many went.

        Later nobody, the owner included, can say which devices they stood for.
        """
        gone = [
            (whose, epoch)
            for whose, epoch in self._salts
            if self._own.get(whose, (0, 0))[0] + (epoch + 1) * self.ttl <= before
        ]
        for each in gone:
            del self._salts[each]
            self._is_saved = False
        self._save()
        return len(gone)

    def _save(self) -> None:
        """Before a pseudonym is used, its salt is on disk; before a salt is called gone, it is not there any more."""
        if self._file is not None and not self._is_saved:
            kept = sorted(epoch for _, epoch in self._salts)[:MOST_SALTS]
            keep_salts(self._file, self.ttl, {epoch: self._salts[0, epoch] for epoch in kept})
        self._is_saved = True

    def __repr__(self) -> str:
        return "<door whose salts change>"
