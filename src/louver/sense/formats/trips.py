"""Trips from taps: a card taps on at one stop and off at another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from louver.errors import ParameterError
from louver.sense.events import Event, Rejected, Tally
from louver.sense.formats.fields import OFF, ON

UNMATCHED: Final = Rejected("unmatched")
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Trip:
    """From the tap on to the tap off of one card; its text leaves the card out."""

    device: str = field(repr=False)
    start: str
    end: str
    began: int
    ended: int

    @property
    def seconds(self) -> float:
        return (self.ended - self.began) / 1_000_000

    def event(self) -> Event:
        """The trip as an event: where it began, when it ended and so became known, and how many seconds it took."""
        return Event(self.device, self.start, self.ended, self.seconds)


class Trips:
    """Pairs the taps of each card, which must come in the order of their times.

    A tap on opens a trip and the next tap off of the card closes it. A second tap on, a tap off without a trip, and a
    trip longer than the cap are unmatched: their taps are counted in `tally` and make no trip, because any duration
    would be invented. `forget` drops trips that can no longer end within the cap, so that what is held stays bounded.
    """

    def __init__(self, longest: timedelta = timedelta(hours=4)) -> None:
        if longest <= timedelta(0):
            raise ParameterError("The longest trip must be longer than 0.")
        self._longest = longest // _MICROSECOND
        self._open: dict[str, Event] = {}
        self.tally = Tally()

    def add(self, taps: Iterable[Event | Rejected]) -> list[Trip]:
        """The trips that these taps end; what a format rejected is counted as it is."""
        trips = []
        for tap in taps:
            if isinstance(tap, Rejected):
                self.tally.add(tap)
                continue
            trip = self._tap(tap)
            if trip is not None:
                trips.append(trip)
        return trips

    def forget(self, now: int) -> int:
        """Count the trips that began longer ago than the cap as unmatched; the number of trips still open."""
        gone = [card for card, tap in self._open.items() if now - tap.time > self._longest]
        for card in gone:
            del self._open[card]
        self.tally.add(UNMATCHED, len(gone))
        return len(self._open)

    def _tap(self, tap: Event) -> Trip | None:
        if tap.value == ON:
            if tap.device in self._open:
                self.tally.add(UNMATCHED)
            self._open[tap.device] = tap
            return None
        if tap.value != OFF:
            self.tally.add("no value")
            return None
        began = self._open.pop(tap.device, None)
        if began is None:
            self.tally.add(UNMATCHED)
            return None
        if not 0 <= tap.time - began.time <= self._longest:
            self.tally.add(UNMATCHED, 2)
            return None
        self.tally.add("accepted", 2)
        return Trip(tap.device, began.place, tap.place, began.time, tap.time)
