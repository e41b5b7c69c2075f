"""What a feed says, before the door: events, why a message is none, and how many there were of each outcome.

An event holds a raw device id, so it is never stored, printed or logged; what comes after the door is `Admitted`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from louver.errors import ParameterError

ACCEPTED, DUPLICATE, LATE, FUTURE = "accepted", "duplicate", "late", "from the future"
FAULTS = (
    "empty",
    "too long",
    "too deep",
    "not text",
    "not JSON",
    "not an object",
    "a field twice",
    "a missing field",
    "a wrong type",
    "no number",
    "no device",
    "no place",
    "no time",
    "no value",
    "unknown place",
    "unknown message",
    "unknown format",
    "a departure",
    "time without a zone",
    "time out of range",
    "unmatched",
)
# Of these a message was meant for somebody, and could be read: that there was one would tell of that unit.
_READ = ("no number", "no value", "unknown place", "unknown message", "a departure", "unmatched", "time out of range")
MALFORMED = tuple(fault for fault in FAULTS if fault not in _READ)
OUTCOMES = (ACCEPTED, DUPLICATE, LATE, FUTURE, *FAULTS)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = (datetime(2200, 1, 1, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Event:
    """A device was at a place (an access point, a gate, a meter) at a time, in whole microseconds UTC since 1970.

    Its text leaves the device and the exact position out, so that no log has them.

    >>> Event("aa:bb:cc:dd:ee:ff", "ap-17", 1_514_764_800_000_000)
    Event(place='ap-17', time=1514764800000000, value=None)
    """

    device: str = field(repr=False)
    place: str
    time: int
    value: float | None = None
    position: tuple[float, float] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a message is no event: one of `FAULTS`, and nothing of the message."""

    kind: str

    def __post_init__(self) -> None:
        if self.kind not in FAULTS:
            raise ParameterError(f"A message is rejected for one of these: {', '.join(FAULTS)}.")


class Tally:
    """How many messages and events had each outcome. It holds no id, no place and no time.

    >>> tally = Tally()
    >>> tally.add("accepted", 3)
    >>> tally.add("late")
    >>> tally + Tally({"late": 1})
    Tally({'accepted': 3, 'late': 2})
    """

    __slots__ = ("_counts",)

    def __init__(self, counts: Mapping[str, int] | None = None) -> None:
        self._counts = dict.fromkeys(OUTCOMES, 0)
        for outcome, count in (counts or {}).items():
            self.add(outcome, count)

    def add(self, outcome: str | Rejected, count: int = 1) -> None:
        """Count an outcome, by its name or as the rejection itself."""
        name: object = outcome.kind if isinstance(outcome, Rejected) else outcome
        more: object = count
        if not isinstance(name, str) or name not in self._counts:
            raise ParameterError(f"An outcome is one of these: {', '.join(OUTCOMES)}.")
        if not isinstance(more, int) or isinstance(more, bool) or more < 0:
            raise ParameterError("A tally adds whole numbers that are not negative.")
        self._counts[name] += more

    def __getitem__(self, outcome: str) -> int:
        return self._counts[outcome]

    def __iter__(self) -> Iterator[str]:
        """The outcomes that there were."""
        return (name for name, count in self._counts.items() if count)

    def __add__(self, other: Tally) -> Tally:
        return Tally({name: self[name] + other[name] for name in OUTCOMES})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tally) and self._counts == other._counts

    __hash__ = None  # type: ignore[assignment]

    @property
    def total(self) -> int:
        return sum(self._counts.values())

    def to_dict(self) -> dict[str, int]:
        """Plain values for JSON; outcomes that did not occur are left out."""
        return {name: self[name] for name in self}

    @classmethod
    def from_dict(cls, plain: object) -> Tally:
        if not isinstance(plain, Mapping):
            raise ParameterError("A stored tally must be an object of outcomes and their numbers.")
        return cls(plain)

    @classmethod
    def of(cls, outcomes: Iterable[Event | Rejected]) -> Tally:
        """The tally of what a format read: events are accepted so far."""
        tally = cls()
        for each in outcomes:
            tally.add(each if isinstance(each, Rejected) else ACCEPTED)
        return tally

    def __repr__(self) -> str:
        return f"Tally({self.to_dict()})"


def microseconds(time: Any) -> int:
    """Microseconds UTC since 1970 of a `datetime` with a zone; whole numbers are taken as they are."""
    if isinstance(time, int) and not isinstance(time, bool):
        return time
    if not isinstance(time, datetime) or time.tzinfo is None:
        raise ParameterError("A time is a datetime with a zone, or whole microseconds UTC since 1970.")
    return (time - EPOCH) // timedelta(microseconds=1)


def instant(time: int) -> datetime:
    """The `datetime` of microseconds UTC since 1970."""
    return EPOCH + timedelta(microseconds=int(time))
