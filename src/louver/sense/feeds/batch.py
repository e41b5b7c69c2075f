"""What a feed gives: batches, each acknowledged by whoever stored it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Protocol

from louver.sense.events import Event, Rejected, Tally


class Batch:
    """Some events, and how many messages were none and why.

    Call `done` when the events are stored, and not before: a feed that can send again then forgets them.
    """

    __slots__ = ("_acknowledge", "events", "faults")

    def __init__(
        self, outcomes: Iterable[Event | Rejected], acknowledge: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self.events: list[Event] = []
        self.faults = Tally()
        for each in outcomes:
            if isinstance(each, Event):
                self.events.append(each)
            else:
                self.faults.add(each)
        self._acknowledge = acknowledge

    async def done(self) -> None:
        """Acknowledge what the batch was made of; a second time does nothing."""
        acknowledge, self._acknowledge = self._acknowledge, None
        if acknowledge is not None:
            await acknowledge()

    def __repr__(self) -> str:
        return f"Batch({len(self.events)} events, {self.faults})"


class Feed(Protocol):
    """An asynchronous iterator of batches, which reads on when it is asked for the next."""

    def __aiter__(self) -> AsyncIterator[Batch]: ...

    async def close(self) -> None:
        """End it; what was not acknowledged stays so."""
