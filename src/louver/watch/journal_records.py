"""What the journal gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from louver.watch.alarms.alarm import Alarm, Notice
from louver.watch.journal_states import CLEAR, FIRING, FIRING_UNDECIDED, NO_DATA, PENDING, STATES, UNDECIDED

__all__ = [
    "CLEAR",
    "DELIVERED",
    "FIRING",
    "FIRING_UNDECIDED",
    "GIVEN_UP",
    "NOT_NEEDED",
    "NO_DATA",
    "PENDING",
    "STATES",
    "UNDECIDED",
    "Failing",
    "Raised",
    "Released",
    "Sent",
    "Snooze",
    "State",
    "Waiting",
]

DELIVERED: Final = "delivered"
GIVEN_UP: Final = "given up"
NOT_NEEDED: Final = "not needed"


@dataclass(frozen=True, slots=True)
class State:
    """Where a key of a rule stands: since when, and for how many slots in a row it was flagged or not.

    `slot` is when that was decided, `first` the first of the flagged slots in a row.
    """

    state: str
    since: int
    streak: int
    clear_streak: int
    slot: int
    first: int | None = None


class Released(NamedTuple):
    """What one slot released about one key: whether it was flagged, or the number."""

    slot: int
    key: str
    value: bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Sent:
    """How a notice fares on one channel: `outcome` is None while it waits, else delivered, given up or not needed."""

    channel: str
    notice: int
    tries: int
    outcome: str | None
    why: str | None


@dataclass(frozen=True, slots=True)
class Raised:
    """An alarm as the journal keeps it: when it was raised and closed, who saw it, and whom it reached."""

    alarm: Alarm
    raised: int
    closed: int | None
    acknowledged: int | None
    who: str | None
    sent: tuple[Sent, ...]

    @property
    def open(self) -> bool:
        return self.closed is None


@dataclass(frozen=True, slots=True)
class Snooze:
    """Notices of a rule, or of one of its keys, wait until then."""

    rule: str
    key: str | None
    until: int
    who: str


class Failing(NamedTuple):
    """A channel for which so many notices wait: how often one was tried at most, and why the last try failed."""

    channel: str
    notices: int
    tries: int
    why: str | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A delivery whose turn it is: its number, how often it was tried so far, and when first.

    Those of one `lane` go out in order.
    """

    number: int
    notice: Notice
    tries: int
    tried: int | None
    lane: str
