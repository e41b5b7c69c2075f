"""Where notices go: one small protocol, and the two ways in which sending can fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol, runtime_checkable

from louver.errors import DataError
from louver.watch.alarms.alarm import Notice

DAY: Final = timedelta(days=1) // timedelta(microseconds=1)
LONGEST_WAIT: Final = 3600.0  # seconds, of those that the other side may ask for


class LaterError(DataError):
    """It did not work this time and may work later, not before `after` seconds where the other side says so.

    Nobody waits for longer than an hour, whatever the other side says.
    """

    def __init__(self, why: str, after: float | None = None) -> None:
        super().__init__(why)
        self.after = after


class RefusedError(DataError):
    """The other side said no, and would say so again."""


class Sink(Protocol):
    """Sends notices to one place."""

    async def deliver(self, notice: Notice) -> str | None:
        """Returns when the other side has it, with what the operator should know; else `LaterError`, `RefusedError`.

        The same notice may come again after a crash, with the same `id`.
        """

    async def close(self) -> None:
        """Let go of connections."""


@runtime_checkable
class Gathers(Protocol):
    """A sink that takes many notices at once: people get one message, a file all of its lines."""

    async def deliver_many(self, notices: Sequence[Notice]) -> str | None:
        """As `deliver`, for all of them together."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A sink with its name and its patience; times in microseconds.

    An alarm that is open and that nobody acknowledged is told again every `repeat`, None for never. After `give_up` a
    notice that could not be delivered is given up. Where `snoozes` is false, no snooze holds notices back.
    """

    name: str
    sink: Sink
    repeat: int | None = None
    give_up: int = DAY
    snoozes: bool = True
