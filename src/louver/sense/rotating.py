"""Pseudonyms that change: each salt has a time to live, and is thrown away after it.

Two readings of "every so often" are in use. By default everybody's pseudonym changes at the same times, the whole
multiples of the time to live. With `per_device` each device has epochs of its own, counted from its first event.

It cuts the link between what one device does before and after a change. It makes no promise: counts do not depend on
names, a device that sends often is counted once per epoch within the validity, and whoever sees positions can follow
most people across a change. At a time to live of one second nearly every event is a person of its own.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from louver.sense.admitted import Admitted
from louver.sense.events import Event
from louver.sense.presence import duration
from louver.sense.pseudonyms import admitted, hashed
from louver.sense.salt import SALT_BYTES


class Rotating:
    """A door whose salts live for `ttl`. An epoch's salt is kept until `discard`, for events that come late.

    >>> from datetime import timedelta
    >>> door = Rotating(timedelta(seconds=10))
    >>> nine, eleven, twelve = (door.person("card 7", second * 1_000_000) for second in (9, 11, 12))
    >>> nine == eleven, eleven == twelve
    (False, True)
    """

    def __init__(self, ttl: timedelta | int, per_device: bool = False) -> None:
        self.ttl = duration("The time to live of a salt", ttl)
        self.per_device = per_device
        self._salts: dict[tuple[int, int], bytes] = {}
        self._first: dict[int, int] = {}
        self._newest: dict[int, int] = {}
        # Which device an own epoch belongs to is known by a tag that nobody else can compute.
        self._tags = secrets.token_bytes(SALT_BYTES)

    def person(self, device: str, time: int) -> int:
        """The pseudonym of a device at a time: a whole number from 0 to 2^63 - 1."""
        whose, first = 0, 0
        if self.per_device:
            whose = hashed(self._tags, device)
            first = self._first.setdefault(whose, time)
            self._newest[whose] = max(time, self._newest.get(whose, time))
        epoch = (time - first) // self.ttl
        salt = self._salts.get((whose, epoch))
        if salt is None:
            salt = self._salts[whose, epoch] = secrets.token_bytes(SALT_BYTES)
        return hashed(salt, device)

    def persons(self, devices: Iterable[str], times: Iterable[int]) -> NDArray[np.int64]:
        return np.fromiter(map(self.person, devices, times), dtype=np.int64)

    def admit(self, events: Sequence[Event]) -> Admitted:
        """The events with the pseudonyms of their times; the device ids stay outside."""
        return admitted(events, self.persons((event.device for event in events), (int(event.time) for event in events)))

    def discard(self, before: int) -> int:
        """Throw away every salt whose epoch ended at this time or earlier, and own epochs of devices unseen since.

        Gives how many salts went. Later nobody, the owner included, can say which devices they stood for.
        """
        gone = [
            (whose, epoch)
            for whose, epoch in self._salts
            if self._first.get(whose, 0) + (epoch + 1) * self.ttl <= before
        ]
        for each in gone:
            del self._salts[each]
        for whose in [whose for whose, newest in self._newest.items() if newest + self.ttl <= before]:
            del self._first[whose], self._newest[whose]
        return len(gone)

    def __repr__(self) -> str:
        return "<door whose salts change>"
