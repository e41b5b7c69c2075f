"""Where accepted events, the rows of final slots and presence are kept: a folder of one's own, or PostgreSQL.

What `append` and `put` returned for is on disk, once, whatever happens afterwards. Pseudonyms are stored, device ids
never. What expires or is erased is really taken out of the files. Releases and the ledger stay as they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from louver.errors import DataError, ParameterError
from louver.sense.events import instant
from louver.sense.presence import last_hour

if TYPE_CHECKING:
    from louver.sense.admitted import Admitted
    from louver.sense.presence import Presence
    from louver.sense.pseudonyms import Door
    from louver.sense.rotating import Rotating
    from louver.sense.rows import Rows, Slots

_SERVERS = ("postgresql://", "postgres://")
# What a store remembers beside its rows: the first slot, the first that is not final, what has expired, from when on
# everybody can have been heard, by what the salt is known again, whether pseudonyms change, from when on presence is
# kept and up to when it is final, and (with the start behind it) the end of a time of which it is not known.
FIRST, NEXT, EXPIRED, COMPLETE, SALT, CHANGES = "first", "next", "expired", "complete", "salt", "changes"
STAYS, SETTLED, UNKNOWN = "stays", "settled", "unknown:"
_OWN = "own:"  # what others have the store remember cannot be mistaken for its own marks


@dataclass(frozen=True, slots=True)
class Appended:
    """How many events were stored, and how many had been before."""

    stored: int
    duplicate: int


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How much is gone: events, rows of occupancy, and pieces of presence.

    After an erasure this tells about one person, so it is for the owner only.
    """

    events: int
    rows: int
    presence: int = 0


class InUseError(DataError):
    """Another process has the store."""

    def __init__(self, address: str) -> None:
        super().__init__(f"The store {address} is in use by another process, such as a watch; end that one first.")


class Store(ABC):
    """Events, rows and presence that can be added, read by time, and forgotten. Open one with `Store.open`.

    One process has it at a time, so that a slot is stored once and nothing comes back that was erased.
    """

    address: str

    @staticmethod
    def open(where: str | Path) -> Store:
        """The store in this folder or at this postgresql:// address, which is made where it is missing."""
        given: object = where
        if not isinstance(given, str | Path) or not str(given):
            raise ParameterError("A store is a folder or a postgresql:// address.")
        if isinstance(where, str) and where.startswith(_SERVERS):
            from louver.sense.store_postgres import PostgresStore

            return PostgresStore(where)
        from louver.sense.store_folder import FolderStore

        return FolderStore(where)

    @abstractmethod
    def append(self, events: Admitted) -> Appended:
        """Store events in one transaction. An event that is there already is not stored again."""

    @abstractmethod
    def events(self, since: int = 0, until: int | None = None) -> Admitted:
        """The stored events from this time on, and before the other, in no order."""

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[Any]:
        """All that is read and written within counts at once, or not at all."""

    @abstractmethod
    def _marks(self) -> Mapping[str, int]: ...

    @abstractmethod
    def _mark(self, marks: Mapping[str, int]) -> None: ...

    @abstractmethod
    def _insert(self, slots: Slots) -> None: ...

    @abstractmethod
    def _rows(self, slot: int) -> Rows: ...

    @abstractmethod
    def _presence(self, begin: int, end: int) -> Presence: ...

    @abstractmethod
    def _expire(self, before: int) -> Forgotten: ...

    @abstractmethod
    def _erase(self, people: Sequence[int]) -> Forgotten: ...

    @property
    def next_slot(self) -> int | None:
        """The first slot that is not stored; none as long as no slot is."""
        return self._marks().get(NEXT)

    def put(self, slots: Slots) -> bool:
        """Store what slots that became final have, in one transaction; false where they are there already."""
        if not len(slots):
            return False
        with self._transaction():
            marks = self._marks()
            following = marks.get(NEXT)
            if following is not None and slots.end <= following:
                return False
            if following is not None and slots.begin != following:
                raise ParameterError(f"Slots are stored in order, and the next one is {_at(following)}.")
            if CHANGES in marks:
                slots = replace(slots, presence=None)
            self._insert(slots)
            since = slots.end if slots.presence is None else marks.get(STAYS, slots.begin)
            settled = last_hour(slots.end - slots.step)  # the last slot, after which more may come
            new = {FIRST: marks.get(FIRST, slots.begin), NEXT: slots.end, STAYS: since, SETTLED: settled}
            self._mark({name: value for name, value in new.items() if marks.get(name) != value})
        return True

    @property
    def complete_from(self) -> int | None:
        """The first time at which everybody can have been heard; none as long as it was not said."""
        return self._marks().get(COMPLETE)

    def begin(self, complete_from: int) -> None:
        """Say from when on everybody can have been heard. It is said once, and outlives a restart."""
        with self._transaction():
            if COMPLETE not in self._marks():
                self._mark({COMPLETE: complete_from})

    def remember(self, name: str, value: int) -> None:
        """Keep one whole number under a name of the caller's own, in place of the one before."""
        self.remember_all({name: value})

    def remember_all(self, values: Mapping[str, int]) -> None:
        """The same for several numbers, all of them or none."""
        with self._transaction():
            self._mark({f"{_OWN}{name}": value for name, value in values.items()})

    def remembered(self, name: str) -> int | None:
        """What was last kept under this name; none where nothing was."""
        return self._marks().get(f"{_OWN}{name}")

    def bind(self, door: Door | Rotating) -> None:
        """Keep to one salt, or to salts that change as often: or else everybody would be there twice for a while."""
        with self._transaction():
            marks, new = self._marks(), {SALT: door.fingerprint} | ({CHANGES: 1} if door.CHANGES else {})
            if marks.get(SALT, door.fingerprint) != door.fingerprint:
                raise DataError(door.UNLIKE.format(self.address))
            self._mark({name: value for name, value in new.items() if name not in marks})

    @property
    def salt(self) -> int | None:
        """The fingerprint of the door to which the store keeps; none as long as it is not bound."""
        return self._marks().get(SALT)

    def unknown(self, begin: int, end: int) -> None:
        """Say that it is not known who was where in [begin, end), so that presence of then is refused."""
        with self._transaction():
            marks = self._marks()
            # One that goes on is one with what is there, so that they stay few.
            since = max((start for start, until in _unknown(marks) if start <= begin <= until), default=begin)
            name = f"{UNKNOWN}{since}"
            self._mark({name: max(end, marks.get(name, end))})

    def rows(self, slot: int) -> Rows:
        """The rows of one slot that is final and has not expired.

        A slot that has expired is refused and not answered as if nobody had been there: that would break the promise
        about misses. Where one person was erased, the rows of the others are what is there.
        """
        marks = self._marks()
        if slot < marks.get(EXPIRED, 0):
            raise DataError(f"The rows of the slot {_at(slot)} have expired; what was released about it stands.")
        if NEXT not in marks or slot >= marks[NEXT]:
            raise DataError(f"The slot {_at(slot)} is not final yet; ask again when the events of its time are in.")
        return self._rows(slot)

    def presence(self, begin: int, end: int) -> Presence:
        """Who was where from when to when, as far as it lies in [begin, end). It is known up to the last whole hour.

        Refused, as rows of a slot are, where some of that time has expired, is not final yet or was never known; and
        where pseudonyms change: one person's day would be that of several people.
        """
        marks = self._marks()
        if CHANGES in marks:
            raise DataError("Presence is not kept where pseudonyms change, because nobody stays longer than one.")
        since = max(marks.get(STAYS, 0), marks.get(COMPLETE, 0))
        if STAYS not in marks or begin < since:
            kept = f"is kept from {_at(since)} on" if STAYS in marks else "was not kept so far"
            raise DataError(f"Presence {kept}; ask about a time after that.")
        if begin < marks.get(EXPIRED, 0):
            raise DataError(f"Presence from before {_at(marks[EXPIRED])} has expired; what was released stands.")
        if end > (final := marks.get(SETTLED, 0)):
            raise DataError(f"Presence is final up to {_at(final)}; ask again when more is.")
        for start, until in _unknown(marks):
            if start < end and begin < until:
                raise DataError(
                    f"Presence is not known from {_at(start)} to {_at(until)}, because the feed was not there or the "
                    "clock was set; ask about a time before or after."
                )
        return self._presence(begin, end).within(begin, end)

    def expire(self, before: int) -> Forgotten:
        """Forget events, slots and presence before this time, also in the files."""
        return self._expire(before)

    def erase(self, *people: int) -> Forgotten:
        """Forget all events, rows and presence of one pseudonym or several, also in the files, which is done once."""
        given: tuple[object, ...] = people
        if not all(isinstance(each, int) and not isinstance(each, bool) for each in given):
            raise ParameterError("Erase by a pseudonym, which is a whole number, or by a device id and the door.")
        return self._erase(people)

    def erase_device(self, device: str, door: Door) -> Forgotten:
        """Forget all events and rows of one device; its id goes through the door and no further."""
        self.bind(door)
        return self.erase(door.person(device))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<store at {self.address}>"


def _unknown(marks: Mapping[str, int]) -> list[tuple[int, int]]:
    """From when to when presence is not known, in order."""
    return sorted((int(name.removeprefix(UNKNOWN)), end) for name, end in marks.items() if name.startswith(UNKNOWN))


def _at(slot: int) -> str:
    return f"{instant(slot):%Y-%m-%d %H:%M:%S} UTC"
