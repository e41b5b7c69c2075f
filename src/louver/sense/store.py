"""Where accepted events and the rows of final slots are kept: a folder of one's own, or a PostgreSQL database.

What `append` and `put` returned for is on disk, once, whatever happens afterwards. Pseudonyms are stored, device ids
never. What expires or is erased is really taken out of the files. Releases and the ledger stay as they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from louver.errors import DataError, ParameterError
from louver.sense.events import instant

if TYPE_CHECKING:
    from louver.sense.admitted import Admitted
    from louver.sense.pseudonyms import Door
    from louver.sense.rows import Rows, Slots

_SERVERS = ("postgresql://", "postgres://")
# What a store remembers beside its rows: the first slot, the first that is not final, what has expired, from when on
# everybody can have been heard, and by what the salt is known again.
FIRST, NEXT, EXPIRED, COMPLETE, SALT = "first", "next", "expired", "complete", "salt"


@dataclass(frozen=True, slots=True)
class Appended:
    """How many events were stored, and how many had been before."""

    stored: int
    duplicate: int


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many events and rows are gone. After an erasure this tells about one person, so it is for the owner only."""

    events: int
    rows: int


class Store(ABC):
    """Events and rows that can be added, read by slot, and forgotten. Open one with `Store.open`."""

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
    def events(self, since: int = 0) -> Admitted:
        """The stored events from this time on, in no order."""

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def _marks(self) -> Mapping[str, int]: ...

    @abstractmethod
    def _put(self, rows: Rows, marks: Mapping[str, int]) -> None: ...

    @abstractmethod
    def _rows(self, slot: int) -> Rows: ...

    def _mark(self, marks: Mapping[str, int]) -> None:
        from louver.sense.rows import Rows

        self._put(Rows.none(()), marks)

    @abstractmethod
    def _expire(self, before: int) -> Forgotten: ...

    @abstractmethod
    def _erase(self, person: int) -> Forgotten: ...

    @property
    def next_slot(self) -> int | None:
        """The first slot that is not stored; none as long as no slot is."""
        return self._marks().get(NEXT)

    def put(self, slots: Slots) -> bool:
        """Store the rows of slots that became final, in one transaction; false where they are there already."""
        if not len(slots):
            return False
        marks = self._marks()
        following = marks.get(NEXT)
        if following is not None and slots.end <= following:
            return False
        if following is not None and slots.begin != following:
            raise ParameterError(f"Slots are stored in order, and the next one is {_at(following)}.")
        self._put(slots.rows, {FIRST: marks.get(FIRST, slots.begin), NEXT: slots.end})
        return True

    @property
    def complete_from(self) -> int | None:
        """The first time at which everybody can have been heard; none as long as it was not said."""
        return self._marks().get(COMPLETE)

    def begin(self, complete_from: int) -> None:
        """Say from when on everybody can have been heard. It is said once, and outlives a restart."""
        if COMPLETE not in self._marks():
            self._mark({COMPLETE: complete_from})

    def bind(self, door: Door) -> None:
        """Keep to one salt: with another one everybody would be there twice, and could not be erased."""
        known = self._marks().get(SALT)
        if known is None:
            self._mark({SALT: door.fingerprint})
        elif known != door.fingerprint:
            raise DataError(
                f"The salt is not the one with which the events in {self.address} were taken in; restore that one."
            )

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

    def expire(self, before: int) -> Forgotten:
        """Forget events and slots before this time, also in the files."""
        return self._expire(before)

    def erase(self, person: int) -> Forgotten:
        """Forget all events and rows of one pseudonym, also in the files."""
        given: object = person
        if not isinstance(given, int) or isinstance(given, bool):
            raise ParameterError("Erase by a pseudonym, which is a whole number, or by a device id and the door.")
        return self._erase(person)

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


def _at(slot: int) -> str:
    return f"{instant(slot):%Y-%m-%d %H:%M:%S} UTC"
